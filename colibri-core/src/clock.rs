//! Where time comes from.

use alloc::rc::Rc;
#[cfg(target_has_atomic = "64")]
use alloc::sync::Arc;
#[cfg(target_has_atomic = "64")]
use core::fmt;
#[cfg(target_has_atomic = "64")]
use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(target_has_atomic = "64")]
use core::time::Duration;

use crate::instant::{Instant, nanos};

/// A source of time for a scheduler.
///
/// It should be monotonic; a scheduler that is handed an earlier time than before goes on with the later one.
/// Reading it should be cheap: it is read about every 20 µs.
pub trait Clock: 'static {
    /// The time now.
    fn now(&self) -> Instant;

    /// Whether each single checkpoint and each switch between tasks reads this clock.
    ///
    /// `false` by default: reads are then some 20 µs apart, and what lies between is counted. `true` makes every
    /// decision exact, which is what tests on a virtual clock want.
    fn every_check(&self) -> bool {
        false
    }
}

impl<C: Clock + ?Sized> Clock for Rc<C> {
    fn now(&self) -> Instant {
        (**self).now()
    }

    fn every_check(&self) -> bool {
        (**self).every_check()
    }
}

/// The operating system's monotonic clock. Its origin is its first use in the process.
///
/// A read costs 20 to 40 ns on common machines. In a browser (wasm32-unknown-unknown) there is no system to ask: it stands still
/// there, and the host brings the page's clock (`colibri-web`).
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[cfg(feature = "std")]
impl Clock for SystemClock {
    fn now(&self) -> Instant {
        system_now()
    }
}

/// The system's time, for budgets outside of a scheduler.
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub(crate) fn system_now() -> Instant {
    static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let origin = *ORIGIN.get_or_init(std::time::Instant::now);
    Instant::from_nanos(nanos(std::time::Instant::now().saturating_duration_since(origin)))
}

/// Without std, or in a browser, there is no system to ask: outside of a scheduler no time passes.
#[cfg(any(not(feature = "std"), all(target_family = "wasm", target_os = "unknown")))]
pub(crate) fn system_now() -> Instant {
    Instant::ZERO
}

/// A clock that moves only when it is told to: for tests and simulations.
///
/// Clones share one time. A task simulates work by advancing the clock. Under it every checkpoint and every
/// switch reads the time, so that what happens is exact.
///
/// ```
/// use colibri_core::{ManualClock, Priority, Scheduler, sleep};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder().clock(clock.clone()).build();
/// let task = scheduler.spawn(Priority::Normal, sleep(Duration::from_secs(60)));
/// scheduler.run_slice();
/// clock.advance(Duration::from_secs(59));
/// scheduler.run_slice();
/// assert!(!task.is_finished());
/// clock.advance(Duration::from_secs(1));
/// scheduler.run_slice();
/// assert!(task.is_finished());
/// ```
#[cfg(target_has_atomic = "64")]
#[derive(Clone, Default)]
pub struct ManualClock(Arc<AtomicU64>);

#[cfg(target_has_atomic = "64")]
impl ManualClock {
    /// A clock that stands at its origin.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The time now: what was advanced, less what was stepped back.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Acquire))
    }

    /// Moves the time on by exactly `duration`.
    pub fn advance(&self, duration: Duration) {
        self.shift(|now| now.saturating_add(nanos(duration)));
    }

    /// Moves the time back, as a faulty clock does: at most to the origin.
    pub fn step_back(&self, duration: Duration) {
        self.shift(|now| now.saturating_sub(nanos(duration)));
    }

    fn shift(&self, change: impl Fn(u64) -> u64) {
        // The closure never declines, so this cannot fail.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| Some(change(now)));
    }
}

#[cfg(target_has_atomic = "64")]
impl Clock for ManualClock {
    fn now(&self) -> Instant {
        ManualClock::now(self)
    }

    fn every_check(&self) -> bool {
        true
    }
}

#[cfg(target_has_atomic = "64")]
impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}
