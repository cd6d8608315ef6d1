//! What the rounds of an executor gave for one operation.

use crate::measure::{Disturbed, Rounds, Used};
use crate::report::{Report, Row, digits, percent};

/// What a round tells of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// The thread's own time of one of them, ns.
    pub(crate) nanos: f64,
    /// The time of all of them.
    pub(crate) used: Used,
}

/// The rounds of one operation on one executor.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timings {
    /// The thread's own time of one operation, ns, by round.
    pub(crate) nanos: Vec<f64>,
    /// Rounds that other programs disturbed.
    disturbed: Disturbed,
}

impl Timings {
    /// Adds a round.
    pub(crate) fn add(&mut self, sample: Sample) {
        self.nanos.push(sample.nanos);
        self.disturbed.add(&sample.used);
    }

    /// All rounds; none where the executor has no such operation.
    pub(crate) fn rounds(&self) -> Option<Rounds> {
        (!self.nanos.is_empty()).then(|| Rounds::of(self.nanos.iter().copied()))
    }

    /// The best round.
    pub(crate) fn best(&self) -> Option<f64> {
        self.rounds().map(|rounds| rounds.min)
    }

    /// The best and the middle round; empty where there is none.
    pub(crate) fn cell(&self) -> String {
        self.rounds()
            .map_or(String::new(), |rounds| format!("{} / {}", digits(rounds.min), digits(rounds.median)))
    }
}

/// The share of the rounds of each executor that other programs disturbed, over all of its `timings`: kept in `report`,
/// and as cells. The last is that of all executors.
pub(crate) fn disturbed<'a, const N: usize>(
    report: &mut Report,
    names: [&str; N],
    timings: impl IntoIterator<Item = &'a [Timings]>,
) -> ([String; N], Option<f64>) {
    let mut each = [Disturbed::default(); N];
    for timings in timings {
        each.iter_mut().zip(timings).for_each(|(sum, one)| sum.merge(one.disturbed));
    }
    let mut all = Disturbed::default();
    for (name, disturbed) in names.iter().zip(each) {
        all.merge(disturbed);
        if let Some(share) = disturbed.share() {
            report.row(Row::of_figure(name, "share of disturbed rounds", "1", share));
        }
    }
    (each.map(|one| one.share().map_or(String::new(), percent)), all.share())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn rounds_have_a_best_a_median_and_a_share_that_was_disturbed() {
        let second = Duration::from_secs(1);
        let mut timings = Timings::default();
        assert_eq!((timings.cell(), timings.best()), (String::new(), None));
        for (nanos, own) in [(16.4, second), (16.1, second / 2), (18.0, second), (16.4, second)] {
            timings.add(Sample { nanos, used: Used::new(second, Some(own)) });
        }
        assert_eq!((timings.cell().as_str(), timings.best()), ("16.1 / 16.4", Some(16.1)));
        let mut report = Report::new("ops", String::new());
        let both = [timings, Timings::default()];
        let (cells, all) = disturbed(&mut report, ["colibri", "other"], [&both[..], &both[..]]);
        assert_eq!((cells, all), (["25.0 %".to_owned(), String::new()], Some(0.25)));
        assert_eq!((report.rows.len(), report.rows[0].p50), (1, 0.25));
    }
}
