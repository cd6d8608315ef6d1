//! A [`Scheduler`] as a future on smol, or on whatever else waits in async-io's reactor.
//!
//! The scheduler gets a slice, then the executor gets its turn, and with it its sockets and timers. However much work
//! the scheduler has, a socket waits for one slice at most, plus one gap between two checkpoints.
//!
//! ```
//! use std::time::Duration;
//! use colibri_core::{Priority, Scheduler, cooperative};
//! use colibri_smol::Drive as _;
//! use futures::future::{Either, select};
//!
//! #[cooperative]
//! fn compact(rounds: u64) -> u64 {
//!     let mut sum = 0;
//!     for round in 0..rounds {
//!         sum ^= round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
//!     }
//!     sum
//! }
//!
//! let scheduler = Scheduler::builder().slice(Duration::from_micros(500)).build();
//! let compaction = scheduler.spawn(Priority::Idle, compact(1_000_000));
//! let answer = async_io::block_on(async {
//!     match select(std::pin::pin!(scheduler.drive()), compaction).await {
//!         Either::Left(_) => unreachable!("nobody shuts it down"),
//!         Either::Right((answer, _)) => answer.unwrap(),
//!     }
//! });
//! assert_ne!(answer, 0);
//! ```
//!
//! Single cooperative futures need no scheduler: `smol::spawn(compact(1_000_000))` gives way every 0.5 ms. What the
//! scheduler adds are classes, pause and resume, and an account of who ran.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use async_io::Timer;
use colibri_core::{Scheduler, yield_now};
use event_listener::Event;
use futures::future::select;

/// Drives a scheduler on the executor of the calling task.
pub trait Drive {
    /// Gives the scheduler a slice whenever it has work, and the executor its turn after each. It is done when the
    /// scheduler is shut down; until then it waits for wakes, timers, and spawns from wherever they come.
    ///
    /// It takes the scheduler's [`on_ready`](Scheduler::on_ready) hook. Drive a scheduler in one place at a time. Dropping
    /// the future stops the driving; the tasks stay, and whoever drives next goes on with them.
    fn drive(&self) -> impl Future<Output = ()>;
}

impl Drive for Scheduler {
    async fn drive(&self) {
        let ready = Arc::new(Event::new());
        let hook = Arc::clone(&ready);
        self.on_ready(move || {
            hook.notify(usize::MAX);
        });
        loop {
            // Before the slice: what becomes ready after it is not missed.
            let notified = ready.listen();
            let report = self.run_slice();
            if self.is_shut_down() {
                return;
            }
            if report.work_left {
                yield_now().await;
                continue;
            }
            match report.next_timer {
                None => notified.await,
                Some(due) => {
                    let timer = pin!(Timer::after(due.duration_since(self.now())));
                    select(notified, timer).await;
                }
            }
        }
    }
}
