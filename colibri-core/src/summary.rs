//! One line every so often: what a scheduler did since the last.

use alloc::boxed::Box;
use core::cell::Cell;
use core::fmt;
use core::time::Duration;

use crate::engine::Engine;
use crate::instant::nanos;
use crate::priority::Priority;
use crate::stats::Stats;

/// What a scheduler did in a stretch of time; see [`Builder::summary`](crate::Builder::summary). Displayed, it is one line:
///
/// ```
/// use std::time::Duration;
/// use colibri_core::{ManualClock, Priority, Scheduler, yield_now};
///
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder()
///     .clock(clock.clone())
///     .summary(Duration::from_secs(1), |summary| println!("{summary}"))
///     .build();
/// drop(scheduler.spawn(Priority::Normal, async { yield_now().await }));
/// scheduler.run_slice();
/// clock.advance(Duration::from_secs(1));
/// scheduler.run_slice(); // 1.000s: 0.0 % busy in 2 slices, 0 overran …
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How long the stretch was, by the scheduler's clock.
    pub over: Duration,
    /// What was counted in it. What is ready is so at its end; the longest wait and the worst overrun are those since the
    /// scheduler was made.
    pub stats: Stats,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { over, stats } = self;
        let busy = 100.0 * stats.busy.as_secs_f64() / over.as_secs_f64().max(f64::MIN_POSITIVE);
        let [immediate, normal, idle] = Priority::ALL.map(|priority| stats.class(priority).ready);
        write!(
            f,
            "{over:.3?}: {busy:.1} % busy in {} slices, {} overran (worst ever {:.1?}); ready {immediate}, {normal}, {idle}",
            stats.slices, stats.overruns, stats.worst_overrun
        )?;
        for priority in Priority::ALL {
            let class = stats.class(priority);
            if class.runs > 0 {
                write!(f, "; {priority:?}: {} runs, waited {:.1?}", class.runs, class.mean_wait())?;
                write!(f, " (longest ever {:.1?})", class.longest_wait)?;
            }
            if class.promotions > 0 {
                write!(f, ", {} rose", class.promotions)?;
            }
        }
        Ok(())
    }
}

/// Whom to tell, and what it was told.
pub(crate) struct Summaries {
    every: u64,
    tell: Box<dyn Fn(&Summary)>,
    began: Cell<u64>,
    before: Cell<Stats>,
}

impl Summaries {
    pub(crate) fn new(every: Duration, tell: Box<dyn Fn(&Summary)>) -> Self {
        Summaries { every: nanos(every), tell, began: Cell::new(0), before: Cell::new(Stats::default()) }
    }

    pub(crate) fn begin(&self, now: u64) {
        self.began.set(now);
    }

    /// A slice ended at `now`.
    pub(crate) fn slice_ended(&self, engine: &Engine, now: u64) {
        let over = now.saturating_sub(self.began.get());
        if over < self.every {
            return;
        }
        let stats = engine.stats();
        let summary =
            Summary { over: Duration::from_nanos(over), stats: stats.since(&self.before.replace(stats)) };
        self.began.set(now);
        engine.contained().contain(|| (self.tell)(&summary));
    }
}
