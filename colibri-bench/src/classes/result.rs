//! A subject of `classes` with one mix, and what its rounds gave.

use hdrhistogram::Histogram;

use super::burst::Burst;
use crate::measure::{self, Disturbed, Rounds};

/// A subject's bursts of one mix.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) slug: &'static str,
    /// Per round: what the burst took beyond its work, as a share of that.
    pub(super) overhead: Vec<f64>,
    /// Per round, ns.
    pub(super) total_nanos: Vec<f64>,
    /// Per round, ns.
    pub(super) work_nanos: Vec<f64>,
    /// Per round, ns.
    pub(super) decision_nanos: Vec<f64>,
    /// Per round, ns.
    pub(super) hold_nanos: Vec<f64>,
    /// By class: the mean of each round, ns.
    pub(super) mean_waits_nanos: [Vec<f64>; 3],
    /// By class: all rounds.
    pub(super) waits: [Histogram<u64>; 3],
    /// Tasks that other programs disturbed.
    pub(super) disturbed: Disturbed,
}

impl Subject {
    /// Without any round.
    pub(super) fn new(name: &'static str, slug: &'static str) -> Self {
        Self {
            name,
            slug,
            overhead: Vec::new(),
            total_nanos: Vec::new(),
            work_nanos: Vec::new(),
            decision_nanos: Vec::new(),
            hold_nanos: Vec::new(),
            mean_waits_nanos: Default::default(),
            waits: std::array::from_fn(|_| measure::histogram()),
            disturbed: Disturbed::default(),
        }
    }

    /// Adds a round.
    pub(super) fn add(&mut self, burst: Burst) {
        let (total, work) = (burst.total.as_nanos() as f64, burst.work.as_nanos() as f64);
        self.overhead.push(total / work - 1.0);
        self.total_nanos.push(total);
        self.work_nanos.push(work);
        self.decision_nanos.push(burst.decision_nanos);
        self.hold_nanos.push(burst.hold.as_nanos() as f64);
        self.disturbed.merge(burst.disturbed);
        for (class, waits) in burst.waits_nanos.iter().enumerate().filter(|(_, waits)| !waits.is_empty()) {
            let histogram = measure::histogram_of(waits);
            self.mean_waits_nanos[class].push(histogram.mean());
            self.waits[class].add(histogram).expect("it resizes itself");
        }
    }

    /// The middle round's mean wait of a class.
    pub(super) fn mean_wait_nanos(&self, class: usize) -> Option<f64> {
        let means = &self.mean_waits_nanos[class];
        (!means.is_empty()).then(|| Rounds::of(means.iter().copied()).median)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn overhead_is_what_was_no_work() {
        let mut subject = Subject::new("a", "a");
        for total in [510, 505, 500] {
            subject.add(Burst {
                total: Duration::from_millis(total),
                work: Duration::from_millis(500),
                waits_nanos: [vec![], vec![1_000, 3_000], vec![]],
                ..Burst::default()
            });
        }
        let overhead = Rounds::of(subject.overhead.iter().copied());
        assert!((overhead.median - 0.01).abs() < 1e-9 && overhead.min.abs() < 1e-9);
        assert_eq!(subject.mean_wait_nanos(0), None);
        assert!((subject.mean_wait_nanos(1).unwrap() - 2_000.0).abs() < 10.0);
        assert_eq!(subject.waits[1].len(), 6);
    }
}
