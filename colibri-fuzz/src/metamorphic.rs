//! Promises over two runs: what a change of the workload must, and must not, change in the trace. Nobody needs to know
//! what is right for that.

use std::time::Duration;

use crate::property::{Breach, Judgement};
use crate::simulate::simulate;
use crate::span::nanos;
use crate::subject::Subject;
use crate::trace::{Event, HOST, Trace, What, Why};
use crate::workload::{Action, Faults, Outside, Plan, Punctuality, Step, Workload};

/// By how much times are scaled: a number that no rounding to powers of two or ten forgives.
const SCALE: u32 = 3;

/// What is charged for a stretch without a look of 1 s and more does not scale.
const LONGEST_SCALED: Duration = Duration::from_millis(300);

/// A relation between two runs: its name, its rule, and the function that looks for a breach.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// What it is called in reports.
    pub name: &'static str,
    /// The rule.
    pub rule: &'static str,
}

/// All relations.
pub const RELATIONS: [Relation; 3] = [
    Relation {
        name: "scaled",
        rule: "all times three times as long: the same trace, three times as long (every 16th case)",
    },
    Relation {
        name: "permuted",
        rule: "tasks with other numbers, identical spawns in another order: the same trace but for the names (every 16th case)",
    },
    Relation {
        name: "split",
        rule: "slices cut in two at a checkpoint, and a host that comes back at once: the same tasks run at the same times (every 16th case)",
    },
];

/// Checks all relations on a scheduler of kind `S`: the names of those that the workload put to the test.
///
/// # Errors
///
/// The first relation that breaks.
pub fn check<S: Subject>(workload: &Workload) -> Result<Vec<&'static str>, Breach> {
    let checks = [scaled::<S>, permuted::<S>, split::<S>];
    let mut tested = Vec::new();
    for (relation, check) in RELATIONS.iter().zip(checks) {
        if check(workload)? {
            tested.push(relation.name);
        }
    }
    Ok(tested)
}

fn scaled<S: Subject>(workload: &Workload) -> Judgement {
    // Waits are kept in whole microseconds; and for how long a clock that steps back is waited for is a constant.
    let mut workload = Workload { clock: Faults::default(), ..workload.clone() };
    let micro = Duration::from_micros(1);
    let round = |span: &mut Duration| {
        *span = micro * u32::try_from(nanos(*span).div_ceil(1_000)).unwrap_or(u32::MAX);
    };
    each_span(&mut workload, round);
    for step in workload.tasks.iter_mut().flat_map(|plan| &mut plan.steps) {
        // No gap at all is one of a nanosecond, which would not scale.
        if let Step::Work { gap, .. } = step.innermost_mut() {
            *gap = (*gap).max(micro);
        }
    }
    if workload.tasks.iter().any(|plan| longest_stretch(plan) > LONGEST_SCALED) {
        return Ok(false);
    }
    let mut longer = workload.clone();
    each_span(&mut longer, |span| *span *= SCALE);
    let (plain, long) = (simulate::<S>(&workload), simulate::<S>(&longer));
    let stretch = |time: u64| if time == u64::MAX { time } else { time * u64::from(SCALE) };
    let expected = plain.events.iter().map(|event| Event {
        at: stretch(event.at),
        task: event.task,
        what: match event.what {
            What::SliceStarted(length) => What::SliceStarted(stretch(length)),
            What::SliceEnded { work_left, next_timer } => {
                What::SliceEnded { work_left, next_timer: stretch(next_timer) }
            }
            What::Sleeps(until) => What::Sleeps(stretch(until)),
            What::Limits(until) => What::Limits(stretch(until)),
            What::Due(at) => What::Due(stretch(at)),
            what => what,
        },
    });
    differ("scaled", &long, &expected.collect::<Vec<_>>())
}

/// For how long a task may run without a look at the clock, at most.
fn longest_stretch(plan: &Plan) -> Duration {
    let stretch = |step: &Step| match step.innermost() {
        Step::Hold(span) => *span,
        Step::Work { total, gap } => *gap.min(total),
        _ => Duration::ZERO,
    };
    plan.steps.iter().map(stretch).sum()
}

fn permuted<S: Subject>(workload: &Workload) -> Judgement {
    let mut workload = workload.clone();
    // Spawns in the order in which they came, whatever the numbers are.
    let mut spawns = Vec::new();
    for (number, plan) in workload.tasks.iter_mut().enumerate() {
        spawns.extend(plan.arrives.take().map(|at| Outside { at, action: Action::Spawn(number) }));
    }
    spawns.sort_by_key(|outside| outside.at);
    spawns.append(&mut workload.outside);
    workload.outside = spawns;
    let many = workload.tasks.len();
    let other = |number: usize| many - 1 - number % many;
    let mut renamed = workload.clone();
    renamed.tasks.reverse();
    for plan in &mut renamed.tasks {
        for step in &mut plan.steps {
            match step.innermost_mut() {
                Step::Join(of) => *of = other(*of),
                Step::Do(action) | Step::WaitDoing(action) => rename(action, other),
                _ => {}
            }
        }
    }
    renamed.outside.iter_mut().for_each(|outside| rename(&mut outside.action, other));
    let (plain, trace) = (simulate::<S>(&workload), simulate::<S>(&renamed));
    // At the end the host resumes, and the scheduler drops, in the order of numbers: that is no decision.
    let decisions = |trace: &Trace| trace.events.iter().copied().take_while(|event| !ends(event)).collect();
    let name = |task: u32| if task == HOST { HOST } else { other(task as usize) as u32 };
    let expected = Vec::into_iter(decisions(&plain)).map(|event: Event| Event {
        task: name(event.task),
        what: match event.what {
            What::Joins(of) => What::Joins(name(of)),
            What::Joined(of) => What::Joined(name(of)),
            what => what,
        },
        ..event
    });
    let expected = expected.collect::<Vec<_>>();
    differ("permuted", &Trace { events: decisions(&trace), ..trace }, &expected)
}

fn ends(event: &Event) -> bool {
    matches!(event.what, What::LastResumes | What::ShutDown | What::CutShort)
}

fn rename(action: &mut Action, other: impl Fn(usize) -> usize) {
    if let Some(of) = action.target_mut() {
        *of = other(*of);
    }
}

fn split<S: Subject>(workload: &Workload) -> Judgement {
    // A limit is looked at once a poll.
    if workload.tasks.iter().flat_map(|plan| &plan.steps).any(|step| matches!(step, Step::Within { .. })) {
        return Ok(false);
    }
    let mut whole = workload.clone();
    whole.host.away.clear();
    whole.settings.policy.clear();
    if whole.host.turns.is_empty() {
        whole.host.turns.push(whole.settings.slice);
    }
    let mut split = whole.clone();
    let halves = |length: &Duration| [*length / 2, *length - *length / 2];
    split.host.turns = whole.host.turns.iter().flat_map(halves).collect();
    let (whole, split) = (simulate::<S>(&whole), simulate::<S>(&split));
    // A guest goes home after it ran, whatever cut it short: there the place of the cut counts.
    let promoted = |trace: &Trace| trace.events.iter().any(|event| matches!(event.what, What::Promoted(_)));
    if promoted(&whole) || promoted(&split) {
        return Ok(false);
    }
    let (expected, seen) = (runs(&whole), runs(&split));
    let both = expected.iter().zip(&seen).take_while(|((_, one), (_, other))| one == other).count();
    if both == expected.len() && both == seen.len() {
        return Ok(true);
    }
    let show = |runs: &[(usize, Run)]| {
        runs.get(both).map_or("nobody".to_owned(), |(_, (task, begin, end))| {
            format!("#{task} from {:.6} to {:.6} ms", *begin as f64 / 1e6, *end as f64 / 1e6)
        })
    };
    let text =
        format!("run {both} of the cut slices is {}, of the whole ones {}", show(&seen), show(&expected));
    let place = seen.get(both).map_or(split.events.len().saturating_sub(1), |(place, _)| *place);
    Err(Breach { promise: "split", place, text })
}

/// Who ran, from when to when.
type Run = (u32, u64, u64);

/// Who ran when, with the place where that began; a run that the slice's end cut goes on.
fn runs(trace: &Trace) -> Vec<(usize, Run)> {
    let mut runs = Vec::<(usize, Run)>::new();
    let (mut running, mut cut) = (false, false);
    for (place, event) in trace.events.iter().enumerate() {
        match event.what {
            What::Started(_) => {
                running = true;
                match runs.last_mut() {
                    Some((_, (task, _, end))) if cut && *task == event.task && *end == event.at => {}
                    _ => runs.push((place, (event.task, event.at, event.at))),
                }
            }
            // A task may also be cancelled when its run is over.
            What::Yielded(_) | What::Suspended | What::Finished | What::Panicked | What::Cancelled => {
                if let Some((_, (task, _, end))) = runs.last_mut()
                    && running
                    && *task == event.task
                {
                    *end = event.at;
                    running = false;
                    cut = event.what == What::Yielded(Why::Slice);
                }
            }
            _ => {}
        }
    }
    // What takes no time may happen in one poll or in two.
    runs.retain(|(_, (_, begin, end))| begin < end);
    runs
}

/// Holds a trace against what was expected.
fn differ(relation: &'static str, trace: &Trace, expected: &[Event]) -> Judgement {
    let both = trace.events.iter().zip(expected).take_while(|(one, other)| one == other).count();
    if both == trace.events.len() && both == expected.len() {
        return Ok(true);
    }
    let show = |event: Option<&Event>| event.map_or("(nothing)".to_owned(), ToString::to_string);
    let text = format!(
        "event {both} of the changed run is \"{}\", expected was \"{}\"",
        show(trace.events.get(both)),
        show(expected.get(both))
    );
    Err(Breach { promise: relation, place: both, text })
}

/// Every length of time in a workload.
fn each_span(workload: &mut Workload, mut change: impl FnMut(&mut Duration)) {
    let settings = &mut workload.settings;
    [&mut settings.slice, &mut settings.quantum, &mut settings.upgrade_after]
        .into_iter()
        .chain(&mut settings.policy)
        .chain(&mut workload.host.turns)
        .chain(&mut workload.host.away)
        .chain(workload.outside.iter_mut().map(|outside| &mut outside.at))
        .for_each(&mut change);
    for timer in &mut workload.host.timers {
        if let Punctuality::Early(by) | Punctuality::Late(by) = timer {
            change(by);
        }
    }
    for plan in &mut workload.tasks {
        plan.arrives.iter_mut().chain(&mut plan.deadline).for_each(&mut change);
        for step in &mut plan.steps {
            let mut next = Some(step);
            while let Some(step) = next.take() {
                match step {
                    Step::Work { total, gap } => {
                        change(total);
                        change(gap);
                    }
                    Step::Hold(span) | Step::Sleep(span) => change(span),
                    Step::Within { limit, step } => {
                        change(limit);
                        next = Some(&mut **step);
                    }
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::{ByTheClock, ByTheNumber, Swapped};
    use crate::case::Case;
    use crate::colibri::Colibri;
    use crate::model::Model;

    fn caught<S: Subject>() -> Vec<&'static str> {
        let cases = (0..200).map(|number| Case { seed: 1, number }.workload());
        let small = cases.filter(|workload| workload.tasks.len() < 60);
        let mut names = small
            .filter_map(|workload| check::<S>(&workload).err().map(|breach| breach.promise))
            .collect::<Vec<_>>();
        names.sort_unstable();
        names.dedup();
        names
    }

    #[test]
    fn colibri_keeps_all_relations() {
        assert_eq!(caught::<Colibri>(), [] as [&str; 0]);
    }

    #[test]
    fn each_relation_finds_what_it_is_for() {
        assert!(caught::<Model<ByTheClock>>().contains(&"scaled"));
        assert!(caught::<Model<ByTheNumber>>().contains(&"permuted"));
        assert!(caught::<Model<Swapped>>().contains(&"split"));
    }
}
