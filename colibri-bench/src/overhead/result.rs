//! What the rounds of a kernel gave.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::{Done, Way};
use crate::failure::Failure;
use crate::kernels::Kernel;
use crate::measure::{self, Rounds, Used};

/// A slice is disturbed if the thread was kept off the CPU for longer than this in it. The CPU's clock is read outside of
/// the wall's two readings, so that an undisturbed slice has more time on it than on the wall's.
const SLICE_OFF_CPU: Duration = Duration::from_micros(1);

/// Fewer undisturbed rounds than this have no middle one that means more than that of all.
pub(super) const CALM_LEAST: usize = 3;

/// A kernel with its rounds and slices.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) kernel: &'static Kernel,
    rounds: Vec<Round>,
    outcome: Option<u64>,
    /// By how much polls overran their budget, ns: the slices that were not disturbed.
    pub(super) overshoot: Histogram<u64>,
    /// How many were.
    pub(super) disturbed_slices: u64,
}

/// What each way took, in the order of `Way`'s variants.
type Round = [Option<Used>; 5];

/// How a way compares with the plain function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratio {
    /// Its best round to the plain function's best.
    pub(super) best: f64,
    /// The middle one of its rounds' ratios, each to the plain function's round beside it.
    pub(super) median: f64,
}

impl Measured {
    pub(super) fn of(kernel: &'static Kernel) -> Self {
        Self {
            kernel,
            rounds: Vec::new(),
            outcome: None,
            overshoot: measure::histogram(),
            disturbed_slices: 0,
        }
    }

    pub(super) fn begin_round(&mut self) {
        self.rounds.push([None; 5]);
    }

    /// How many rounds there were.
    pub(super) fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Adds what a way took in this round.
    pub(super) fn add(&mut self, way: Way, done: Done) -> Result<(), Failure> {
        let round = self.rounds.last_mut().expect("a round has begun");
        round[way as usize] = Some(done.used);
        self.check(way, done.outcome)
    }

    /// A figure of work that was not done is worth nothing.
    pub(super) fn check(&mut self, way: Way, outcome: u64) -> Result<(), Failure> {
        if *self.outcome.get_or_insert(outcome) == outcome {
            return Ok(());
        }
        let (kernel, way) = (self.kernel.name, way.name());
        Err(Failure::Run(format!(
            "\"{kernel}\" came to different results; the way that was last run is \"{way}\". Please report this."
        )))
    }

    /// Adds a poll that its budget ended.
    pub(super) fn add_slice(&mut self, used: Used, budget: Duration) {
        if used.was_kept_off(SLICE_OFF_CPU) {
            self.disturbed_slices += 1;
        } else {
            let nanos = used.wall.saturating_sub(budget).as_nanos() as u64;
            self.overshoot.record(nanos).expect("it resizes itself");
        }
    }

    /// Polls that their budget ended.
    pub(super) fn slices(&self) -> u64 {
        self.overshoot.len() + self.disturbed_slices
    }

    /// Seconds of each round. They are the thread's own where the system tells: an interruption is not in them, so that
    /// the best one may be one that was disturbed.
    pub(super) fn seconds(&self, way: Way) -> Vec<f64> {
        self.rounds.iter().filter_map(|round| round[way as usize]).map(seconds).collect()
    }

    /// Each round's ratio to the plain function; those in which neither was disturbed, or all if
    /// these are too few.
    pub(super) fn ratios(&self, way: Way) -> Vec<f64> {
        self.chosen(way).0
    }

    /// Whether the ratios are those of all rounds, since too few were undisturbed.
    pub(super) fn are_all(&self, way: Way) -> bool {
        self.chosen(way).1
    }

    fn chosen(&self, way: Way) -> (Vec<f64>, bool) {
        let pairs: Vec<(Used, Used)> = self
            .rounds
            .iter()
            .filter_map(|round| round[way as usize].zip(round[Way::Plain as usize]))
            .collect();
        let ratio = |(own, plain): &(Used, Used)| seconds(*own) / seconds(*plain);
        let calm = pairs.iter().filter(|(own, plain)| !own.is_disturbed() && !plain.is_disturbed());
        let calm: Vec<f64> = calm.map(ratio).collect();
        let are_all = calm.len() < CALM_LEAST;
        (if are_all { pairs.iter().map(ratio).collect() } else { calm }, are_all)
    }

    /// How `way` compares; none if no round ran it.
    pub(super) fn ratio(&self, way: Way) -> Option<Ratio> {
        let ratios = self.ratios(way);
        (!ratios.is_empty()).then(|| Ratio {
            best: Rounds::of(self.seconds(way)).min / Rounds::of(self.seconds(Way::Plain)).min,
            median: Rounds::of(ratios).median,
        })
    }

    /// Runs of all ways that other programs disturbed, and how many there were.
    pub(super) fn disturbed(&self) -> (usize, usize) {
        let runs = || self.rounds.iter().flatten().flatten();
        (runs().filter(|used| used.is_disturbed()).count(), runs().count())
    }

    /// Whether the system tells the thread's CPU time.
    pub(super) fn knows_cpu(&self) -> bool {
        self.rounds.iter().flatten().flatten().all(|used| used.off_cpu().is_some())
    }
}

fn seconds(used: Used) -> f64 {
    used.cpu_or_wall().as_secs_f64()
}

/// The geometric mean; none of none.
pub(super) fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) =
        ratios.into_iter().fold((0.0, 0_u32), |(sum, count), ratio: f64| (sum + ratio.ln(), count + 1));
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;

    fn used(millis: u64, cpu_millis: u64) -> Used {
        Used::new(Duration::from_millis(millis), Some(Duration::from_millis(cpu_millis)))
    }

    fn measured(rounds: &[(Used, Used)]) -> Measured {
        let mut measured = Measured::of(kernels::find("sieve").unwrap());
        for &(plain, own) in rounds {
            measured.begin_round();
            measured.add(Way::Plain, Done { used: plain, outcome: 7 }).unwrap();
            measured.add(Way::Cooperative, Done { used: own, outcome: 7 }).unwrap();
        }
        measured
    }

    #[test]
    fn disturbed_rounds_are_left_out_and_counted() {
        let measured = measured(&[
            (used(10, 10), used(11, 11)),
            (used(10, 10), used(12, 12)),
            (used(10, 10), used(11, 11)),
            (used(9, 9), used(30, 14)),
            (used(40, 12), used(10, 10)),
        ]);
        assert_eq!(measured.disturbed(), (2, 10));
        let ratio = measured.ratio(Way::Cooperative).unwrap();
        assert!((ratio.best - 10.0 / 9.0).abs() < 1e-9 && (ratio.median - 1.1).abs() < 1e-9, "{ratio:?}");
        assert_eq!(measured.ratio(Way::Consuming), None);
        assert!(!measured.are_all(Way::Cooperative));
    }

    #[test]
    fn where_every_round_was_disturbed_all_count() {
        let measured = measured(&[(used(10, 5), used(20, 10))]);
        assert_eq!(measured.ratio(Way::Cooperative), Some(Ratio { best: 2.0, median: 2.0 }));
        assert!(measured.are_all(Way::Cooperative));
    }

    #[test]
    fn another_outcome_is_a_failure() {
        let mut measured = measured(&[(used(1, 1), used(1, 1))]);
        let failure = measured.check(Way::Scheduled, 8).unwrap_err();
        assert!(failure.to_string().contains("\"sieve\" came to different results"), "{failure}");
    }

    #[test]
    fn slices_tell_by_how_much_they_overran() {
        let mut measured = measured(&[]);
        let budget = Duration::from_millis(1);
        let slice = |micros| Used::new(Duration::from_micros(micros), Some(Duration::from_micros(1001)));
        measured.add_slice(slice(1002), budget);
        measured.add_slice(slice(1800), budget);
        assert_eq!((measured.slices(), measured.disturbed_slices), (2, 1));
        assert_eq!(measured.overshoot.max(), 2000);
    }

    #[test]
    fn the_geometric_mean_multiplies() {
        assert!((geometric_mean([1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean([]), None);
    }
}
