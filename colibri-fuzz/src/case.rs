//! One case: drawn from a seed, simulated, judged.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::draw::mix;
use crate::generate::any_workload;
use crate::metamorphic;
use crate::model::Model;
use crate::property::{Breach, check_for};
use crate::rules::{Right, Rules};
use crate::simulate::simulate;
use crate::subject::Subject;
use crate::trace::{Event, Trace, What};
use crate::workload::Workload;

/// Which case: the run's seed and its number within the run. A case can be repeated alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// The run's seed.
    pub seed: u64,
    /// The case's number, from 0.
    pub number: u64,
}

impl Case {
    /// Draws this case's workload: always the same one.
    ///
    /// # Panics
    ///
    /// If the strategy declines, which it has no filters to do.
    pub fn workload(self) -> Workload {
        let rng = TestRng::from_seed(RngAlgorithm::XorShift, &self.entropy());
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        any_workload().new_tree(&mut runner).expect("a strategy without filters declines nothing").current()
    }

    /// Sixteen bytes in which each bit depends on each bit of seed and number.
    fn entropy(self) -> [u8; 16] {
        // 2^64 divided by the golden ratio keeps neighbouring numbers apart.
        let first = mix(self.seed ^ mix(self.number.wrapping_add(0x9E37_79B9_7F4A_7C15)));
        let second = mix(first.wrapping_add(0x9E37_79B9_7F4A_7C15));
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        // Xorshift must not start from zero alone.
        bytes[8..].copy_from_slice(&(second | 1).to_le_bytes());
        bytes
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "case {} of seed {}", self.number, self.seed)
    }
}

/// The promise over two runs: the same workload gives the same trace, to the letter.
pub const REPEATABLE: &str = "repeatable";

/// Cases of more tasks are not held against the model.
pub const LARGEST_MODELLED: usize = 3_000;

/// A trace, and what was wrong with it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What happened.
    pub trace: Trace,
    /// The first promise that broke, if any.
    pub breach: Option<Breach>,
    /// The promises that the case put to the test, if all were kept.
    pub tested: Vec<&'static str>,
}

/// The promise against the reference: the trace is the [`Model`]'s, in every decision.
pub const AS_THE_MODEL: &str = "as the model";

/// Not a promise of the scheduler: that the [`Model`] gets through the case.
pub const HARNESS: &str = "the harness";

/// What is checked beside the promises about one trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// That a second simulation gives the same trace.
    pub twice: bool,
    /// That the [`metamorphic`] relations hold.
    pub related: bool,
    /// That the [`Model`] takes the same decisions: for schedulers that follow colibri's rules to the letter.
    pub model: bool,
}

/// Simulates `workload` on a scheduler of kind `S` and checks all promises, and what `extra` asks for.
///
/// A panic that gets out of the scheduler is a breach as well; the trace is then empty.
pub fn judge<S: Subject>(workload: &Workload, extra: Extra) -> Judged {
    match contain(|| simulate::<S>(workload)) {
        Ok(trace) => match check::<S>(&trace, workload, extra) {
            Ok(tested) => Judged { trace, breach: None, tested },
            Err(breach) => Judged { trace, breach: Some(breach), tested: Vec::new() },
        },
        Err(breach) => {
            Judged { trace: Trace::empty(&workload.settings), breach: Some(breach), tested: Vec::new() }
        }
    }
}

/// The promises that a trace put to the test, or the first breach.
fn check<S: Subject>(trace: &Trace, workload: &Workload, extra: Extra) -> Result<Vec<&'static str>, Breach> {
    let mut tested = check_for(trace, S::SKILLS)?;
    if extra.twice {
        let again = contain(|| simulate::<S>(workload))?;
        differ(trace, &again).map_or(Ok(()), Err)?;
        tested.push(REPEATABLE);
    }
    if extra.related {
        tested.extend(contain(|| metamorphic::check::<S>(workload))??);
    }
    // It searches its lists from the front, which takes too long with a crowd.
    if extra.model && workload.tasks.len() <= LARGEST_MODELLED {
        hold_against::<Right>(trace, workload)?;
        tested.extend([AS_THE_MODEL, HARNESS]);
    }
    Ok(tested)
}

/// Holds a trace against that of a model of these rules.
pub(crate) fn hold_against<R: Rules>(trace: &Trace, workload: &Workload) -> Result<(), Breach> {
    let model = catch_unwind(AssertUnwindSafe(|| simulate::<Model<R>>(workload)));
    let model = model.map_err(|payload| {
        let text = format!(
            "the reference model panicked, a fault of the harness and not of the scheduler: {}",
            message(&*payload)
        );
        Breach { promise: HARNESS, place: 0, text }
    })?;
    leaves_the_model(trace, &model).map_or(Ok(()), Err)
}

/// Where two traces part, as a breach of [`AS_THE_MODEL`]. Every event counts, at its time and in its order: see [`STREAMS`].
fn leaves_the_model(trace: &Trace, model: &Trace) -> Option<Breach> {
    let parts = STREAMS.iter().filter_map(|belongs| part(&stream(trace, *belongs), &stream(model, *belongs)));
    parts.min_by_key(|breach| breach.place)
}

/// A trace is held against the model in two streams, since a scheduler may tell its observer of what happened as soon as it
/// is safe to: within an instant, what it tells may come before or after what tasks note in their polls. The first stream is
/// what it tells; the second what tasks and host note, each within its poll.
const STREAMS: [fn(What) -> bool; 2] = [What::is_decision, |what| !what.is_decision() || what.is_of_a_poll()];

/// The events of one stream, with their places in the trace. In which order a shutdown drops what is left is not promised.
fn stream(trace: &Trace, belongs: fn(What) -> bool) -> Vec<(usize, Event)> {
    let mut events = trace.events.iter().copied().enumerate().collect::<Vec<_>>();
    let end = events.iter().position(|(_, event)| event.what == What::ShutDown).unwrap_or(events.len());
    events[end..].sort_by_key(|(_, event)| event.task);
    events.retain(|(_, event)| belongs(event.what));
    events
}

/// Where two streams part.
fn part(real: &[(usize, Event)], model: &[(usize, Event)]) -> Option<Breach> {
    let both = real.iter().zip(model).take_while(|((_, real), (_, model))| real == model).count();
    if both == real.len() && both == model.len() {
        return None;
    }
    let show =
        |event: Option<&(usize, Event)>| event.map_or("(nothing)".to_owned(), |(_, event)| event.to_string());
    let place = real.get(both).or(real.last()).map_or(0, |(place, _)| *place);
    let text = format!("here it has \"{}\", the model \"{}\"", show(real.get(both)), show(model.get(both)));
    Some(Breach { promise: AS_THE_MODEL, place, text })
}

/// What `simulate` came to; a panic that gets out of it is a breach.
fn contain<T>(simulate: impl FnOnce() -> T) -> Result<T, Breach> {
    catch_unwind(AssertUnwindSafe(simulate)).map_err(|payload| {
        let text = format!("a panic got out of the scheduler: {}", message(&*payload));
        Breach { promise: "no stray panic", place: 0, text }
    })
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or("no message".to_owned())
}

/// Where two traces part, as a breach of [`REPEATABLE`].
fn differ(one: &Trace, other: &Trace) -> Option<Breach> {
    let place = first_difference(one, other)?;
    let show =
        |trace: &Trace| trace.events.get(place).map_or("(nothing)".to_owned(), |event| event.to_string());
    let text = format!("event {place} is \"{}\", and when run again \"{}\"", show(one), show(other));
    Some(Breach { promise: REPEATABLE, place, text })
}

/// The first place at which two traces differ.
pub(crate) fn first_difference(one: &Trace, other: &Trace) -> Option<usize> {
    let both = one.events.iter().zip(&other.events);
    let place = both.take_while(|(one, other)| one == other).count();
    (place < one.events.len().max(other.events.len())).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colibri::Colibri;

    #[test]
    fn a_case_is_its_seed_and_number() {
        let case = Case { seed: 7, number: 3 };
        assert_eq!(case.workload(), case.workload());
        assert_ne!(case.workload(), Case { seed: 8, number: 3 }.workload());
        assert_ne!(case.workload(), Case { seed: 7, number: 4 }.workload());
    }

    #[test]
    fn two_runs_leave_the_same_trace() {
        for number in 0..20 {
            let workload = Case { seed: 1, number }.workload();
            let (one, other) = (simulate::<Colibri>(&workload), simulate::<Colibri>(&workload));
            assert_eq!(first_difference(&one, &other), None);
            assert_eq!(one.fingerprint(), other.fingerprint());
        }
    }

    #[derive(Debug, Default)]
    struct Panics;

    impl Rules for Panics {
        fn refuses(&self, _live: usize, _most: Option<usize>) -> bool {
            panic!("a seeded fault")
        }
    }

    #[test]
    fn a_panic_of_the_model_is_told_as_one_of_the_harness() {
        let workload = Case { seed: 1, number: 1 }.workload();
        let breach = hold_against::<Panics>(&simulate::<Colibri>(&workload), &workload).unwrap_err();
        assert_eq!(breach.promise, HARNESS);
        assert!(
            breach.text.contains("reference model panicked") && breach.text.contains("a seeded fault"),
            "{breach}"
        );
    }

    #[test]
    fn each_kind_of_event_is_held_against_the_model() {
        // Each fault shows in events of another kind.
        let workload = Case { seed: 1, number: 2 }.workload();
        let trace = simulate::<Colibri>(&workload);
        assert_eq!(leaves_the_model(&trace, &trace), None);
        for place in 0..trace.events.len() {
            let mut other = trace.clone();
            let event = other.events.remove(place);
            let breach = leaves_the_model(&trace, &other);
            assert!(breach.is_some_and(|breach| breach.promise == AS_THE_MODEL), "without \"{event}\"");
        }
    }

    #[test]
    fn the_place_where_traces_part_is_found() {
        let one = simulate::<Colibri>(&Case { seed: 1, number: 1 }.workload());
        let mut other = one.clone();
        other.events.truncate(3);
        assert_eq!(first_difference(&one, &other), Some(3));
        assert_eq!(differ(&one, &other).map(|breach| breach.promise), Some(REPEATABLE));
    }
}
