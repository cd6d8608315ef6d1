//! Shapes that numbers are drawn from: run lengths and the times between arrivals.
//!
//! Each is a rising function of one even draw ([`Even`]), so that shrinking the draw towards zero shrinks the value
//! towards its smallest, whatever the shape.

use std::time::Duration;

/// An even draw; `0` is the smallest value of every shape, `u32::MAX` nearly the largest.
pub type Even = u32;

/// Even draws from a seed, for loads that need a million of them (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Draws that depend on `seed` alone.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next draw.
    pub fn even(&mut self) -> Even {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (mix(self.0) >> 32) as u32
    }
}

/// A word in which each bit depends on each bit of `word`: the finalizer of SplitMix64.
pub(crate) fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// How run lengths (or pauses) are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Always the mean.
    Constant,
    /// Evenly from nothing to twice the mean.
    Uniform,
    /// A tenth of the mean, or (one in ten) nine times as much as it.
    Bimodal,
    /// Exponential: what independent arrivals and many services look like.
    Exponential,
    /// Pareto with exponent 1.5, cut at 60 times the mean: few, huge ones carry half of the work.
    Pareto,
}

impl Shape {
    /// All of them, the plainest first.
    pub const ALL: [Shape; 5] =
        [Shape::Constant, Shape::Uniform, Shape::Bimodal, Shape::Exponential, Shape::Pareto];

    /// The value at `even` of this shape with the given mean (that of [`Shape::Pareto`] is cut, hence a little less), in round
    /// numbers.
    pub fn at(self, even: Even, mean: Duration) -> Duration {
        round(self.exactly_at(even, mean))
    }

    /// The same to the nanosecond: round numbers meet each other more often than chance would have it.
    pub fn exactly_at(self, even: Even, mean: Duration) -> Duration {
        // The half keeps both ends open: neither ln 0 nor a division by zero.
        let part = (f64::from(even) + 0.5) / (f64::from(u32::MAX) + 1.0);
        let factor = match self {
            Shape::Constant => 1.0,
            Shape::Uniform => 2.0 * part,
            Shape::Bimodal if part < 0.9 => 0.1,
            Shape::Bimodal => 9.1,
            Shape::Exponential => -(1.0 - part).ln(),
            Shape::Pareto => ((1.0 - part).powf(-1.0 / 1.5) / 3.0).min(60.0),
        };
        mean.mul_f64(factor)
    }
}

/// How tasks arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// All at the start.
    AtOnce,
    /// Each a fixed time after the one before.
    Periodic,
    /// Independently of each other, at a mean rate.
    Poisson,
    /// In groups of so many, a group's times apart.
    Bursts(u32),
}

impl Arrivals {
    /// The times of arrival for these draws, `interval` apart on average.
    pub fn times(
        self,
        draws: impl Iterator<Item = Even>,
        interval: Duration,
    ) -> impl Iterator<Item = Duration> {
        let mut last = Duration::ZERO;
        draws.zip(0u32..).map(move |(even, place)| {
            last = match self {
                Arrivals::AtOnce => Duration::ZERO,
                Arrivals::Periodic => interval * place,
                Arrivals::Poisson => last + Shape::Exponential.at(even, interval),
                Arrivals::Bursts(many) => interval * many * (place / many.max(1)),
            };
            last
        })
    }
}

/// Three significant digits of microseconds, so that a workload is pleasant to read.
fn round(span: Duration) -> Duration {
    let nanos = span.as_nanos() as u64;
    let step = match nanos {
        0..1_000 => 1,
        1_000..1_000_000 => 1_000,
        1_000_000..100_000_000 => 10_000,
        _ => 1_000_000,
    };
    Duration::from_nanos(nanos.div_ceil(step) * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN: Duration = Duration::from_millis(10);

    #[test]
    fn every_shape_rises_and_keeps_its_mean() {
        for shape in Shape::ALL {
            let draws = (0..10_000u32).map(|step| shape.at(step * (u32::MAX / 10_000), MEAN));
            let values = draws.collect::<Vec<_>>();
            assert!(values.is_sorted(), "{shape:?}");
            let mean = values.iter().sum::<Duration>().as_secs_f64() / values.len() as f64;
            let ratio = mean / MEAN.as_secs_f64();
            // The cut takes a few percent of Pareto's mean; 10 000 steps miss part of its tail.
            assert!((0.85..1.01).contains(&ratio), "{shape:?}: {ratio}");
        }
    }

    #[test]
    fn arrivals_come_in_order() {
        for arrivals in [Arrivals::AtOnce, Arrivals::Periodic, Arrivals::Poisson, Arrivals::Bursts(3)] {
            let times = arrivals.times([7, u32::MAX, 0, 1 << 30].into_iter(), MEAN).collect::<Vec<_>>();
            assert!(times.is_sorted(), "{arrivals:?}: {times:?}");
        }
        let bursts = Arrivals::Bursts(2).times([0; 4].into_iter(), MEAN).collect::<Vec<_>>();
        assert_eq!(bursts, [Duration::ZERO, Duration::ZERO, MEAN * 2, MEAN * 2]);
    }
}
