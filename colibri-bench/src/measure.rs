//! How things are measured: wall and CPU time of this thread, histograms that cannot saturate, best and median of rounds.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// Significant decimal digits that a histogram keeps: an error of 0.1 % at every scale.
const DIGITS: u8 = 3;

/// Time that a stretch of work took, on the wall and on the CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    /// From its start to its end.
    pub(crate) wall: Duration,
    /// Of it, on the CPU; none where the system does not tell.
    cpu: Option<Duration>,
}

impl Used {
    /// A time that was measured elsewhere, for tests.
    #[cfg(test)]
    pub(crate) fn new(wall: Duration, cpu: Option<Duration>) -> Self {
        Self { wall, cpu }
    }

    /// No time yet, for sums.
    pub(crate) fn none() -> Self {
        Self { wall: Duration::ZERO, cpu: Some(Duration::ZERO) }
    }

    /// Both, one after the other.
    pub(crate) fn and(self, next: Self) -> Self {
        let cpu = self.cpu.zip(next.cpu).map(|(one, other)| one + other);
        Self { wall: self.wall + next.wall, cpu }
    }

    /// The share of the time in which this thread was kept off the CPU, from 0 to 1. Work that never waits should have
    /// none: whatever is here, other programs took.
    pub(crate) fn off_cpu(&self) -> Option<f64> {
        let wall = self.wall.as_secs_f64();
        self.cpu.map(|cpu| (1.0 - cpu.as_secs_f64() / wall).max(0.0))
    }

    /// The thread's own time, or, where the system does not tell, the wall's.
    pub(crate) fn cpu_or_wall(&self) -> Duration {
        self.cpu.unwrap_or(self.wall)
    }

    /// Whether the thread was kept off the CPU for a share of the time that shows; false where the system does not tell.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.off_cpu().is_some_and(|share| share > DISTURBED_SHARE)
    }

    /// Whether the thread was kept off the CPU for more than `limit`; false where the system does not tell.
    pub(crate) fn was_kept_off(&self, limit: Duration) -> bool {
        self.cpu.is_some_and(|cpu| self.wall.saturating_sub(cpu) > limit)
    }
}

/// A running measurement on one thread.
#[derive(Debug)]
pub(crate) struct Watch {
    cpu: Option<Duration>,
    wall: Instant,
}

impl Watch {
    /// Begins.
    pub(crate) fn start() -> Self {
        let cpu = thread_cpu_time();
        Self { cpu, wall: Instant::now() }
    }

    /// Ends; on the thread that started it.
    pub(crate) fn stop(self) -> Used {
        let wall = self.wall.elapsed();
        let cpu = thread_cpu_time().zip(self.cpu).map(|(end, start)| end.saturating_sub(start));
        Used { wall, cpu }
    }
}

/// CPU time of the calling thread so far.
fn thread_cpu_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).ok()
    }
    #[cfg(not(unix))]
    None
}

/// A stretch of work is disturbed if the thread was kept off the CPU for more than this share of it.
pub(crate) const DISTURBED_SHARE: f64 = 0.01;

/// Slices of the time in which a thread works without a pause, to tell how many of them other programs disturbed.
#[derive(Debug)]
pub(crate) struct Slices {
    length: Duration,
    current: Watch,
    shares: Disturbed,
}

/// How many of how many stretches of work were disturbed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Disturbed {
    /// So many were.
    pub(crate) disturbed: u64,
    /// Of so many.
    pub(crate) all: u64,
}

impl Slices {
    /// From now on, slices of at least this length.
    pub(crate) fn start(length: Duration) -> Self {
        Self { length, current: Watch::start(), shares: Disturbed::default() }
    }

    /// Ends the slice that runs, if it is long enough, and begins another.
    pub(crate) fn cut(&mut self) {
        if self.current.wall.elapsed() >= self.length {
            let used = std::mem::replace(&mut self.current, Watch::start()).stop();
            self.shares.add(&used);
        }
    }

    /// All that have ended.
    pub(crate) fn disturbed(&self) -> Disturbed {
        self.shares
    }
}

impl Disturbed {
    /// Counts a stretch of work.
    pub(crate) fn add(&mut self, used: &Used) {
        self.all += 1;
        self.disturbed += u64::from(used.is_disturbed());
    }

    /// Counts those of `other`, too.
    pub(crate) fn merge(&mut self, other: Self) {
        self.all += other.all;
        self.disturbed += other.disturbed;
    }

    /// From 0 to 1; none of none.
    pub(crate) fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.disturbed as f64 / self.all as f64)
    }
}

/// An empty histogram of durations in ns that grows with what it is given.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("three digits are allowed")
}

/// The histogram of `nanos`.
pub(crate) fn histogram_of(nanos: &[u64]) -> Histogram<u64> {
    let mut histogram = histogram();
    for &value in nanos {
        histogram.record(value).expect("it resizes itself");
    }
    histogram
}

/// One figure per round, seen as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rounds {
    /// The highest.
    pub(crate) max: f64,
    /// The lowest.
    pub(crate) min: f64,
    /// The middle one, or the mean of the middle two.
    pub(crate) median: f64,
    count: usize,
}

impl Rounds {
    /// Of at least one figure.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_unstable_by(f64::total_cmp);
        let middle = figures.len() / 2;
        let median = if figures.len() % 2 == 1 {
            figures[middle]
        } else {
            f64::midpoint(figures[middle - 1], figures[middle])
        };
        Self { max: figures[figures.len() - 1], min: figures[0], median, count: figures.len() }
    }

    /// How far the rounds lie apart, as a share of their median: the machine's noise, as the subject sees it. One round
    /// says nothing about it.
    pub(crate) fn spread(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.max - self.min) / self.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_have_a_best_a_median_and_a_spread() {
        assert_eq!(Rounds::of([3.0, 1.0, 2.0]), Rounds { max: 3.0, min: 1.0, median: 2.0, count: 3 });
        assert_eq!(Rounds::of([4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(Rounds::of([90.0, 110.0, 100.0]).spread(), Some(0.2));
        assert_eq!(Rounds::of([5.0, 5.0]).spread(), Some(0.0));
        assert_eq!(Rounds::of([5.0]).spread(), None, "one round is not perfect precision");
    }

    #[test]
    fn nothing_saturates() {
        let hours = 3_600_000_000_000 * 5;
        let histogram = histogram_of(&[1, 1_000, hours]);
        assert_eq!(histogram.len(), 3);
        assert!(histogram.max() >= hours);
    }

    #[cfg(unix)]
    #[test]
    fn work_is_on_the_cpu_and_sleep_is_not() {
        let watch = Watch::start();
        std::thread::sleep(Duration::from_millis(30));
        let used = watch.stop();
        assert!(used.off_cpu().unwrap() > 0.9 && used.was_kept_off(Duration::from_millis(20)));

        let second = Duration::from_secs(1);
        let both = Used::new(second, Some(second)).and(Used::new(3 * second, Some(second)));
        assert_eq!((both.wall, both.off_cpu()), (4 * second, Some(0.5)));

        let before = thread_cpu_time().unwrap();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        assert!(thread_cpu_time().unwrap() > before);
    }
}
