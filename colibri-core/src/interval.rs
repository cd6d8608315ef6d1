//! Periodic work.

use core::time::Duration;

use crate::instant::{Instant, nanos};
use crate::local;
use crate::timer::sleep_until;

/// What an [`Interval`] does when its ticks are asked for too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MissedTick {
    /// The missed ticks come at once, one after the other, until the time is caught up with.
    #[default]
    Burst,
    /// The next tick comes a whole period after the late one: the phase shifts.
    Delay,
    /// The missed ticks are left out; the next comes at a multiple of the period from the start: no drift.
    Skip,
}

/// Ticks with a period. The first tick comes at once.
///
/// # Panics
///
/// When `period` is zero: such an interval would never wait.
#[must_use]
pub fn interval(period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval needs a period above zero");
    Interval { period, next: None, missed: MissedTick::default() }
}

/// The ticks of [`interval`].
#[derive(Debug)]
pub struct Interval {
    period: Duration,
    next: Option<Instant>,
    missed: MissedTick,
}

impl Interval {
    /// Sets what happens to ticks that are asked for too late.
    #[must_use]
    pub fn missed_tick(mut self, missed: MissedTick) -> Self {
        self.missed = missed;
        self
    }

    /// The time between two ticks.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Waits for the next tick and returns when it was due. It may be dropped while it waits: no tick is lost.
    ///
    /// # Panics
    ///
    /// When it is awaited outside of a scheduler's task.
    pub async fn tick(&mut self) -> Instant {
        let Some(engine) = local::current() else {
            panic!("Interval::tick was awaited outside of a colibri scheduler, which has the clock")
        };
        let due = *self.next.get_or_insert_with(|| Instant::from_nanos(engine.read_clock()));
        sleep_until(due).await;
        let now = Instant::from_nanos(engine.read_clock());
        self.next = Some(self.next_after(due, now));
        due
    }

    fn next_after(&self, due: Instant, now: Instant) -> Instant {
        let next = due + self.period;
        if now < next {
            return next;
        }
        match self.missed {
            MissedTick::Burst => next,
            MissedTick::Delay => now + self.period,
            MissedTick::Skip => {
                let period = nanos(self.period);
                let periods = (now.as_nanos() - due.as_nanos()) / period + 1;
                Instant::from_nanos(due.as_nanos().saturating_add(periods.saturating_mul(period)))
            }
        }
    }
}
