//! What a run adds up: cases, dispatches, and how long tasks waited.

use hdrhistogram::Histogram;

use crate::ledger::Ledger;
use crate::trace::{Event, Trace, What, Why};
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
    /// Slices by the part of their length that they took, in hundredths; the last place is for twice and more.
    pub slices: [u64; SLICE_PLACES],
    /// How often things happened that promises are about, in the order of [`KINDS`]. A promise that was never put to
    /// the test is not kept.
    pub happened: [u64; KINDS.len()],
}

/// Places for slices of no length to slices of twice their length.
const SLICE_PLACES: usize = 201;

/// Things that promises are about.
pub const KINDS: [&str; 17] = [
    "spawns",
    "wakes",
    "own yields",
    "quanta used up",
    "cuts by the slice",
    "cuts by a higher class",
    "cuts by the host",
    "promotions",
    "runs as a guest",
    "lifted by a waiter",
    "sleeps",
    "joins",
    "pauses",
    "cancels",
    "panics",
    "class changes",
    "spawns from another thread",
];

/// For waits, of three digits: a tenth of a percent, finer than any target.
pub(crate) fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST_WAIT_NANOS, 3).expect("an hour in nanoseconds fits")
}

impl Default for Tally {
    fn default() -> Self {
        let empty = empty_histogram;
        Tally {
            cases: 0,
            feasible: 0,
            dispatches: 0,
            virtual_nanos: 0,
            waits: [empty(), empty(), empty()],
            slices: [0; SLICE_PLACES],
            happened: [0; KINDS.len()],
        }
    }
}

impl Tally {
    /// Adds one case.
    pub fn add(&mut self, trace: &Trace) {
        self.cases += 1;
        self.dispatches += trace.dispatches();
        let end = trace.events.last().map_or(0, |event| event.at);
        self.virtual_nanos += u128::from(end);
        let feasible = trace.true_clock && is_feasible(trace, end);
        self.feasible += u64::from(feasible);
        let mut ledger = Ledger::new(trace);
        let mut arrived = vec![false; trace.tasks.len()];
        for event in &trace.events {
            if let Some(kind) = kind(event, &ledger) {
                self.happened[kind] += 1;
            }
            match event.what {
                What::Spawned(_) | What::Admitted(_) | What::Woken => arrived[event.task as usize] = feasible,
                // Only the first run after an arrival: going round the queue is no wait of the user's.
                What::Started(_) if std::mem::take(&mut arrived[event.task as usize]) => {
                    let entry = ledger.task(event.task);
                    self.waits[entry.class as usize].saturating_record(event.at - entry.since);
                }
                What::SliceEnded { .. } => {
                    if let Some((begin, length)) = ledger.slice {
                        let part = (event.at - begin).saturating_mul(100) / length.max(1);
                        self.slices[(part as usize).min(SLICE_PLACES - 1)] += 1;
                    }
                }
                _ => {}
            }
            ledger.apply(event);
            self.happened[9] += u64::from(matches!(event.what, What::Joins(_)) && !ledger.moved.is_empty());
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
        for (mine, theirs) in self.happened.iter_mut().zip(other.happened) {
            *mine += theirs;
        }
        for (mine, theirs) in self.slices.iter_mut().zip(other.slices) {
            *mine += theirs;
        }
    }
}

/// Which of [`KINDS`] an event is.
fn kind(event: &Event, ledger: &Ledger) -> Option<usize> {
    Some(match event.what {
        What::Spawned(_) => 0,
        What::Woken => 1,
        What::Yielded(Why::Own) => 2,
        What::Yielded(Why::Quantum) => 3,
        What::Yielded(Why::Slice) => 4,
        What::Yielded(Why::Preempted) => 5,
        What::Yielded(Why::Host) => 6,
        What::Promoted(_) => 7,
        What::Started(_) if !ledger.task(event.task).is_at_home() => 8,
        What::Sleeps(_) => 10,
        What::Joins(_) => 11,
        What::PauseCalled => 12,
        What::CancelCalled => 13,
        What::Panicked => 14,
        What::Moved(_) => 15,
        What::Sent => 16,
        _ => return None,
    })
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
    fn all_that_promises_are_about_happens_in_a_tenth_of_the_quick_run() {
        let mut tally = Tally::default();
        for number in 0..2_000 {
            tally.add(&simulate::<Colibri>(&Case { seed: 1, number }.workload()));
        }
        for (kind, times) in KINDS.iter().zip(tally.happened) {
            assert!(times >= 50, "{kind}: {times} times in 2000 cases");
        }
    }

    #[test]
    fn adds_up_and_merges() {
        let traces = (0..60)
            .map(|number| simulate::<Colibri>(&Case { seed: 1, number }.workload()))
            .collect::<Vec<_>>();
        let mut whole = Tally::default();
        traces.iter().for_each(|trace| whole.add(trace));
        let (mut one, mut other) = (Tally::default(), Tally::default());
        traces[..20].iter().for_each(|trace| one.add(trace));
        traces[20..].iter().for_each(|trace| other.add(trace));
        one.merge(&other);
        assert_eq!((one.cases, one.feasible, one.dispatches), (60, whole.feasible, whole.dispatches));
        assert_eq!(one.waits, whole.waits);
        assert_eq!(one.happened, whole.happened);
        assert!(whole.feasible > 0, "some of 60 cases leave the thread time to spare");
    }
}
