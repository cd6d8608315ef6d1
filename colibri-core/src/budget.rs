//! Budgets: how much a computation may do before it must give way.

use core::time::Duration;

use crate::instant::nanos;
use crate::local;
use crate::meter::{Saved, UNLIMITED};

/// What a computation may use before its next checkpoint makes it give way: a time, a number of checks, or both,
/// whichever ends first.
///
/// A check is one iteration of a loop in a `#[cooperative]` function, or one [`checkpoint`](crate::checkpoint).
///
/// ```
/// use colibri_core::Budget;
/// use std::time::Duration;
///
/// let budget = Budget::time(Duration::from_millis(2)).and_checks(10_000);
/// assert_ne!(budget, Budget::UNLIMITED);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    time: Option<Duration>,
    checks: Option<u32>,
}

impl Budget {
    /// No limit of its own. A budget around it still holds.
    pub const UNLIMITED: Budget = Budget { time: None, checks: None };

    /// A time, from when the budget is opened. Without the feature `std` there is no clock to ask, and it does not end. It is overdrawn by at most the time between two looks at the clock
    /// (about 20 µs) or one iteration, whichever is longer.
    #[must_use]
    pub const fn time(time: Duration) -> Self {
        Budget { time: Some(time), checks: None }
    }

    /// A number of checks, exactly: `checks` of them pass and the next gives way.
    ///
    /// The check that gave way is passed when the computation is polled again, so that even `checks(0)` makes
    /// progress: one iteration a poll. Counting every check costs a few ns each; [`Budget::time`] does not.
    #[must_use]
    pub const fn checks(checks: u32) -> Self {
        Budget { time: None, checks: Some(checks) }
    }

    /// The same, with at most `checks` checks.
    #[must_use]
    pub const fn and_checks(self, checks: u32) -> Self {
        let checks = match self.checks {
            Some(fewer) if fewer < checks => fewer,
            _ => checks,
        };
        Budget { time: self.time, checks: Some(checks) }
    }
}

/// Runs `f`, for example one poll of a future, under a budget of its own.
///
/// Budgets nest: the tighter limit wins inside, and the outer one is back in force when `f` returns or panics, less
/// the checks that were made inside.
///
/// Inside a scheduler's task the time is the scheduler's clock, elsewhere the system's.
///
/// ```
/// use colibri_core::{Budget, checkpoint, with_budget};
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
///
/// let mut steps = 0;
/// let mut count = pin!(async {
///     loop {
///         checkpoint().await;
///         steps += 1;
///     }
/// });
/// let mut context = Context::from_waker(Waker::noop());
/// let poll: Poll<()> = with_budget(Budget::checks(3), || count.as_mut().poll(&mut context));
/// assert!(poll.is_pending());
/// drop(count);
/// assert_eq!(steps, 3);
/// ```
pub fn with_budget<R>(budget: Budget, f: impl FnOnce() -> R) -> R {
    let _open = Open::new(budget);
    f()
}

/// Whether the budget in force is over, so that a hand-written poll or a synchronous loop should return soon.
///
/// It never changes the budget. Without a budget it is `false`. Under a budget of time, and in a scheduler's task,
/// each call reads the clock (20 to 40 ns): ask once for each few µs of work.
#[must_use]
pub fn should_yield() -> bool {
    local::with(|local| local.meter.is_over())
}

/// An open budget; dropping it puts the outer one back, so that a panic cannot leak it.
struct Open {
    saved: Saved,
    checks: u64,
}

impl Open {
    fn new(budget: Budget) -> Self {
        let checks = budget.checks.map_or(UNLIMITED, u64::from);
        let saved = local::with(|local| local.meter.open(budget.time.map(nanos), checks));
        Open { saved, checks }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        local::with(|local| local.meter.close(self.saved, self.checks));
    }
}
