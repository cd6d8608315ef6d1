//! The host that is a whole thread: it parks when nothing is ready.

use core::cell::Cell;
use core::future::{Future, pending};
use core::pin::pin;
use core::task::{Context, Poll};
use core::time::Duration;

use crate::engine::Engine;
use crate::priority::Priority;
use crate::scheduler::{Scheduler, spawn_on};
use crate::slice::SliceReport;
use crate::slot::HIDDEN;
use crate::unwind;

/// How long a thread is parked at most while a clock that is not the system's goes on elsewhere, on another thread
/// for example: it can not be waited for, only looked at. 1 ms, the resolution of timers elsewhere, costs a thousand looks a
/// second, less than a thousandth of the thread.
const LONGEST_PARK_ON_FOREIGN_CLOCK: Duration = Duration::from_millis(1);

impl Scheduler {
    /// Hands the thread over: runs tasks, and parks when nothing is ready.
    ///
    /// It returns when nothing can become ready any more: every task has ended or hovers, and no
    /// [`Spawner`](crate::Spawner) is left; or when the scheduler is shut down.
    ///
    /// # Panics
    ///
    /// When a task calls it on its own scheduler.
    pub fn run(&self) {
        let engine = self.engine();
        loop {
            let report = self.run_slice();
            if engine.is_closed() {
                return;
            }
            if !report.work_left {
                if engine.all_stopped() && engine.remote.is_alone() {
                    return;
                }
                park(engine, &report);
            }
        }
    }

    /// Runs `future`, and the scheduler's tasks beside it, until `future` is done; parks when nothing is ready.
    ///
    /// `future` runs as an Immediate task does. It need not be `'static`.
    ///
    /// # Panics
    ///
    /// When `future` panics. When the scheduler is shut down, before or meanwhile. When a task calls it on its own
    /// scheduler: await the future there, or the handle of a task that runs it. A `block_on` of another scheduler is
    /// allowed anywhere.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let engine = self.engine();
        assert!(
            !engine.in_slice.get(),
            "block_on was called by a task of the same scheduler, which could never finish: await the future \
             instead, or spawn it and await its handle"
        );
        let mut future = pin!(future);
        let ended = Cell::new(None);
        let mut root = |context: &mut Context<'_>| match unwind::catch(|| future.as_mut().poll(context)) {
            Ok(Poll::Pending) => false,
            Ok(Poll::Ready(output)) => {
                ended.set(Some(Ok(output)));
                true
            }
            Err(payload) => {
                ended.set(Some(Err(payload)));
                true
            }
        };
        // The future is not `'static` and cannot be a task: a hidden one stands in the lists for it.
        let _stand_in = spawn_on(engine, Priority::Immediate, HIDDEN, None, pending::<()>()).cancel_on_drop();
        loop {
            let report = engine.run_slice(engine.slice.get(), Some(&mut root));
            match ended.take() {
                Some(Ok(output)) => return output,
                Some(Err(payload)) => unwind::resume(payload),
                None => {}
            }
            assert!(
                !engine.is_closed(),
                "the scheduler was shut down before the future that block_on waits for was done"
            );
            if !report.work_left {
                park(engine, &report);
            }
        }
    }
}

/// Parks this thread until something is ready.
fn park(engine: &Engine, report: &SliceReport) {
    let until_timer =
        report.next_timer.map(|due| Duration::from_nanos(due.as_nanos().saturating_sub(engine.read_clock())));
    let timeout = if engine.every_check {
        Some(until_timer.unwrap_or(LONGEST_PARK_ON_FOREIGN_CLOCK).min(LONGEST_PARK_ON_FOREIGN_CLOCK))
    } else {
        until_timer
    };
    engine.remote.park(timeout);
}
