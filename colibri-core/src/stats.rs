//! Counts that are always on.

use core::cell::Cell;
use core::time::Duration;

use crate::priority::Priority;

/// Overruns up to here, 100 µs, are no news. A slice that is used to its end always takes some µs longer: two looks at the clock are
/// 20 µs apart, and the one that a loop of short iterations gives way at comes 7 µs late at the median, 27 µs at the 99th
/// percentile. Whoever is later by more has a long gap between two checkpoints, or was kept off the processor.
pub(crate) const SLIGHT_OVERRUN_NANOS: u64 = 100_000;

/// What a scheduler has done so far. Taking it is O(1); keeping it costs about 1 ns a poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    classes: [ClassStats; 3],
    /// Slices run.
    pub slices: u64,
    /// Slices that took longer than their length by more than 100 µs: what loops of short iterations take is no overrun.
    pub overruns: u64,
    /// The most by which a slice took longer, be it little.
    pub worst_overrun: Duration,
    /// Time spent in slices, by the scheduler's clock.
    pub busy: Duration,
    /// Tasks accepted.
    pub spawned: u64,
    /// Tasks that ended, in whatever way.
    pub ended: u64,
    /// Tasks refused, since the scheduler was full or shut down.
    pub refused: u64,
    /// Panics that were swallowed, since there is no handle that could tell them: of detached tasks, destructors, wakers, the
    /// observer, the host's hook, a stall detector's callbacks. The panic of a task that has a handle is none of them. Modulo
    /// 2³². Without the feature `std` no panic is caught.
    pub contained_panics: u64,
}

impl Stats {
    /// The figures of one class.
    #[must_use]
    pub fn class(&self, priority: Priority) -> ClassStats {
        self.classes[priority as usize]
    }

    /// What was counted since `earlier`, of the same scheduler. What is ready is so now; the longest waits and the worst overrun
    /// are those since the scheduler was made.
    #[must_use]
    pub fn since(&self, earlier: &Stats) -> Stats {
        Stats {
            classes: core::array::from_fn(|class| self.classes[class].since(&earlier.classes[class])),
            slices: self.slices.wrapping_sub(earlier.slices),
            overruns: self.overruns.wrapping_sub(earlier.overruns),
            worst_overrun: self.worst_overrun,
            busy: self.busy.saturating_sub(earlier.busy),
            spawned: self.spawned.wrapping_sub(earlier.spawned),
            ended: self.ended.wrapping_sub(earlier.ended),
            refused: self.refused.wrapping_sub(earlier.refused),
            contained_panics: self.contained_panics.wrapping_sub(earlier.contained_panics),
        }
    }

    /// The mean time of a poll, over all; zero before the first.
    #[must_use]
    pub fn mean_run(&self) -> Duration {
        let runs: u64 = self.classes.iter().map(|class| class.runs).sum();
        mean(self.busy, runs)
    }
}

/// The figures of one class. A task counts to the class it was spawned or put into, promoted or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassStats {
    /// Tasks that are ready now, at this level.
    pub ready: usize,
    /// Polls.
    pub runs: u64,
    /// Polls after which the task stayed ready.
    pub yields: u64,
    /// Rises to the class above, because of too long a wait.
    pub promotions: u64,
    /// The sum of all waits, each from becoming ready to the poll, in steps of 1 µs.
    pub total_wait: Duration,
    /// The longest wait from becoming ready to the poll, in steps of 1 µs. Waits beyond 71 minutes (2³² µs) are counted
    /// less that time.
    pub longest_wait: Duration,
}

impl ClassStats {
    fn since(&self, earlier: &ClassStats) -> ClassStats {
        ClassStats {
            ready: self.ready,
            runs: self.runs.wrapping_sub(earlier.runs),
            yields: self.yields.wrapping_sub(earlier.yields),
            promotions: self.promotions.wrapping_sub(earlier.promotions),
            total_wait: self.total_wait.saturating_sub(earlier.total_wait),
            longest_wait: self.longest_wait,
        }
    }

    /// The mean wait from becoming ready to the poll; zero before the first poll.
    #[must_use]
    pub fn mean_wait(&self) -> Duration {
        mean(self.total_wait, self.runs)
    }
}

/// What one task used so far; see [`Task::stats`](crate::Task::stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskStats {
    /// Polls.
    pub polls: u64,
    /// Polls after which it stayed ready: it gave way, or was woken meanwhile.
    pub yields: u64,
    /// The sum of its polls' times.
    pub ran: Duration,
    /// Its longest poll: how long it held the thread.
    pub longest_run: Duration,
    /// The sum of its waits, each from becoming ready to the poll, in steps of 1 µs.
    pub waited: Duration,
    /// Its longest wait.
    pub longest_wait: Duration,
}

impl TaskStats {
    pub(crate) fn began(&mut self, wait_micros: u32) {
        let wait = Duration::from_micros(u64::from(wait_micros));
        self.polls += 1;
        self.waited += wait;
        self.longest_wait = self.longest_wait.max(wait);
    }

    pub(crate) fn ran(&mut self, nanos: u64) {
        let time = Duration::from_nanos(nanos);
        self.ran += time;
        self.longest_run = self.longest_run.max(time);
    }
}

fn mean(total: Duration, count: u64) -> Duration {
    if count == 0 {
        return Duration::ZERO;
    }
    Duration::from_nanos(u64::try_from(total.as_nanos() / u128::from(count)).unwrap_or(u64::MAX))
}

/// The counts as they are kept.
#[derive(Default)]
pub(crate) struct Counters {
    classes: [ClassCounters; 3],
    pub(crate) slices: Cell<u64>,
    overruns: Cell<u64>,
    worst_overrun: Cell<u64>,
    busy: Cell<u64>,
    spawned: Cell<u64>,
    ended: Cell<u64>,
    refused: Cell<u64>,
}

/// Counts over all classes.
pub(crate) struct Totals {
    pub(crate) runs: u64,
    pub(crate) yields: u64,
    pub(crate) promotions: u64,
}

#[derive(Default)]
struct ClassCounters {
    runs: Cell<u64>,
    yields: Cell<u64>,
    promotions: Cell<u64>,
    wait_micros: Cell<u64>,
    longest_wait_micros: Cell<u32>,
}

#[inline(always)]
fn add(counter: &Cell<u64>, amount: u64) {
    // To measure what it costs, which the bench's scenario `observe` does.
    if cfg!(colibri_uncounted) {
        return;
    }
    counter.set(counter.get().wrapping_add(amount));
}

impl Counters {
    #[inline(always)]
    pub(crate) fn run(&self, class: Priority, wait_micros: u32) {
        let class = &self.classes[class as usize];
        add(&class.runs, 1);
        add(&class.wait_micros, u64::from(wait_micros));
        if !cfg!(colibri_uncounted) && wait_micros > class.longest_wait_micros.get() {
            class.longest_wait_micros.set(wait_micros);
        }
    }

    #[inline(always)]
    pub(crate) fn yielded(&self, class: Priority) {
        add(&self.classes[class as usize].yields, 1);
    }

    pub(crate) fn promoted(&self, class: Priority) {
        add(&self.classes[class as usize].promotions, 1);
    }

    pub(crate) fn spawned(&self) {
        add(&self.spawned, 1);
    }

    pub(crate) fn ended(&self) {
        add(&self.ended, 1);
    }

    pub(crate) fn refused(&self) {
        add(&self.refused, 1);
    }

    /// Notes a slice that took `used` nanoseconds, `overrun` of them too many.
    pub(crate) fn slice(&self, used: u64, overrun: u64) {
        add(&self.slices, 1);
        add(&self.busy, used);
        if overrun > SLIGHT_OVERRUN_NANOS {
            add(&self.overruns, 1);
        }
        self.worst_overrun.set(self.worst_overrun.get().max(overrun));
    }

    /// Over all classes, for the slice's report.
    pub(crate) fn totals(&self) -> Totals {
        let sum = |count: fn(&ClassCounters) -> u64| self.classes.iter().map(count).sum();
        Totals {
            runs: sum(|class| class.runs.get()),
            yields: sum(|class| class.yields.get()),
            promotions: sum(|class| class.promotions.get()),
        }
    }

    pub(crate) fn stats(&self, contained_panics: u32, ready: impl Fn(Priority) -> usize) -> Stats {
        Stats {
            classes: Priority::ALL.map(|priority| {
                let class = &self.classes[priority as usize];
                ClassStats {
                    ready: ready(priority),
                    runs: class.runs.get(),
                    yields: class.yields.get(),
                    promotions: class.promotions.get(),
                    total_wait: Duration::from_micros(class.wait_micros.get()),
                    longest_wait: Duration::from_micros(u64::from(class.longest_wait_micros.get())),
                }
            }),
            slices: self.slices.get(),
            overruns: self.overruns.get(),
            worst_overrun: Duration::from_nanos(self.worst_overrun.get()),
            busy: Duration::from_nanos(self.busy.get()),
            spawned: self.spawned.get(),
            ended: self.ended.get(),
            refused: self.refused.get(),
            contained_panics: u64::from(contained_panics),
        }
    }
}
