//! A [`Scheduler`] as a future on tokio's current-thread runtime.
//!
//! The scheduler gets a slice, then the runtime gets its turn: it polls its other tasks and looks at its sockets and
//! timers. However much work the scheduler has, a socket waits for one slice at most, plus one gap between two
//! checkpoints. A server that answers within a millisecond takes a slice of half of one:
//!
//! ```
//! use std::time::Duration;
//! use colibri_core::{Priority, Scheduler, cooperative};
//! use colibri_tokio::Drive as _;
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
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let scheduler = Scheduler::builder().slice(Duration::from_micros(500)).build();
//! let compaction = scheduler.spawn(Priority::Idle, compact(1_000_000));
//! tokio::select! {
//!     () = scheduler.drive() => unreachable!("nobody shuts it down"),
//!     answer = async {
//!         tokio::time::sleep(Duration::from_millis(1)).await; // any of the runtime's own work
//!         compaction.await.unwrap()
//!     } => assert_ne!(answer, 0),
//! }
//! # }
//! ```
//!
//! Single cooperative futures need no scheduler: `tokio::spawn(compact(1_000_000))` gives way every 0.5 ms, on the
//! multi-thread runtime too. What the scheduler adds are classes, pause and resume, and an account of who ran.
//!
//! # Why a crate of its own
//!
//! tokio's current-thread runtime looks at its sockets when its queue is empty, or after 61 polls. A future that wakes
//! itself keeps the queue full: 61 slices of 8 ms would pass before a socket is seen. [`Drive`] gives way through
//! tokio's own `yield_now`, after which the runtime looks first.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use colibri_core::{Instant, Scheduler};
use tokio::sync::Notify;

/// Drives a scheduler on the runtime of the calling task.
pub trait Drive {
    /// Gives the scheduler a slice whenever it has work, and the runtime its turn after each. It is done when the
    /// scheduler is shut down; until then it waits for wakes, timers, and spawns from wherever they come.
    ///
    /// It takes the scheduler's [`on_ready`](Scheduler::on_ready) hook. Drive a scheduler in one place at a time. Dropping
    /// the future stops the driving; the tasks stay, and whoever drives next goes on with them.
    ///
    /// # Panics
    ///
    /// When it is polled outside of a tokio runtime with its timers enabled, once the scheduler has a timer to wait for.
    fn drive(&self) -> impl Future<Output = ()>;
}

impl Drive for Scheduler {
    async fn drive(&self) {
        let ready = Arc::new(Notify::new());
        let hook = Arc::clone(&ready);
        self.on_ready(move || hook.notify_one());
        loop {
            let report = self.run_slice();
            if self.is_shut_down() {
                return;
            }
            if report.work_left {
                tokio::task::yield_now().await;
                continue;
            }
            match report.next_timer {
                None => ready.notified().await,
                Some(due) => {
                    // Whichever comes first; a timer that is set meanwhile and due earlier notifies.
                    let _ = tokio::time::timeout(until(self, due), ready.notified()).await;
                }
            }
        }
    }
}

/// How long until then, on the scheduler's clock.
fn until(scheduler: &Scheduler, due: Instant) -> Duration {
    due.duration_since(scheduler.now())
}
