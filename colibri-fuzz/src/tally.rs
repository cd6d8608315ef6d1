//! What a run adds up: cases, dispatches, and how long tasks waited.

use hdrhistogram::Histogram;

use crate::ledger::Ledger;
use crate::trace::{Trace, What};
use crate::workload::Class;

/// A case counts as a feasible load if the thread was busy at most this part of the time.
pub const FEASIBLE_LOAD: f64 = 0.8;

/// The latency targets of the classes at feasible load, in nanoseconds: 16, 100 and 1000 ms.
pub const TARGETS_NANOS: [u64; 3] = [16_000_000, 100_000_000, 1_000_000_000];

/// The longest wait that is told apart from longer ones: an hour.
const LONGEST_WAIT_NANOS: u64 = 3_600_000_000_000;

/// What a run adds up.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Cases run.
    pub cases: u64,
    /// Of these, cases with a feasible load.
    pub feasible: u64,
    /// Polls of tasks.
    pub dispatches: u64,
    /// Virtual time, in nanoseconds.
    pub virtual_nanos: u128,
    /// From ready to running, in nanoseconds, by class, at feasible load.
    pub waits: [Histogram<u64>; 3],
}

impl Default for Tally {
    fn default() -> Self {
        // Three digits: a tenth of a percent, finer than any target.
        let empty = || Histogram::new_with_max(LONGEST_WAIT_NANOS, 3).expect("an hour in nanoseconds fits");
        Tally { cases: 0, feasible: 0, dispatches: 0, virtual_nanos: 0, waits: [empty(), empty(), empty()] }
    }
}

impl Tally {
    /// Adds one case.
    pub fn add(&mut self, trace: &Trace) {
        self.cases += 1;
        self.dispatches += trace.dispatches();
        let end = trace.events.last().map_or(0, |event| event.at);
        self.virtual_nanos += u128::from(end);
        if is_feasible(trace, end) {
            self.feasible += 1;
            self.add_waits(trace);
        }
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Tally) {
        self.cases += other.cases;
        self.feasible += other.feasible;
        self.dispatches += other.dispatches;
        self.virtual_nanos += other.virtual_nanos;
        for class in Class::ALL {
            // Both were made with the same limits.
            let _ = self.waits[class as usize].add(&other.waits[class as usize]);
        }
    }

    fn add_waits(&mut self, trace: &Trace) {
        let mut ledger = Ledger::new(trace);
        let mut arrived = vec![false; trace.tasks.len()];
        for event in &trace.events {
            match event.what {
                What::Spawned(_) | What::Woken => arrived[event.task as usize] = true,
                // Only the first run after an arrival: going round the queue is no wait of the user's.
                What::Started(_) if std::mem::take(&mut arrived[event.task as usize]) => {
                    let entry = ledger.task(event.task);
                    self.waits[entry.class as usize].saturating_record(event.at - entry.since);
                }
                _ => {}
            }
            ledger.apply(event);
        }
    }
}

/// Whether the thread had time to spare, and the host was always there when work was.
fn is_feasible(trace: &Trace, end: u64) -> bool {
    let (mut busy, mut began, mut ended) = (0, None, None);
    for event in &trace.events {
        match event.what {
            What::Started(_) => began = Some(event.at),
            What::Yielded(_) | What::Suspended | What::Finished | What::Panicked => {
                busy += began.take().map_or(0, |began| event.at - began);
            }
            What::SliceEnded { work_left: true, .. } => ended = Some(event.at),
            What::SliceStarted(_) if ended.take().is_some_and(|ended| ended < event.at) => return false,
            _ => {}
        }
    }
    busy > 0 && busy as f64 <= end as f64 * FEASIBLE_LOAD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::colibri::Colibri;
    use crate::simulate::simulate;

    #[test]
    fn adds_up_and_merges() {
        let traces = (0..60).map(|number| simulate::<Colibri>(&Case { seed: 1, number }.workload())).collect::<Vec<_>>();
        let mut whole = Tally::default();
        traces.iter().for_each(|trace| whole.add(trace));
        let (mut one, mut other) = (Tally::default(), Tally::default());
        traces[..20].iter().for_each(|trace| one.add(trace));
        traces[20..].iter().for_each(|trace| other.add(trace));
        one.merge(&other);
        assert_eq!((one.cases, one.feasible, one.dispatches), (60, whole.feasible, whole.dispatches));
        assert_eq!(one.waits, whole.waits);
        assert!(whole.feasible > 0, "some of 60 cases leave the thread time to spare");
    }
}
