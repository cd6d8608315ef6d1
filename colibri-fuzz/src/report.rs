//! What a person reads: the summary of a run, and a failure told in full.

use std::fmt::Write;

use crate::case::{AS_THE_MODEL, Case, HARNESS, REPEATABLE};
use crate::metamorphic::RELATIONS;
use crate::property::PROMISES;
use crate::run::{Failure, Outcome};
use crate::span::short;
use crate::tally::{FEASIBLE_LOAD, KINDS, TARGETS_NANOS, Tally};
use crate::workload::Class;

/// So many events before a breach are shown.
const TIMELINE_EVENTS: usize = 40;

/// All promises with their rules: those about one trace, then those that take two.
pub(crate) fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    let over_two = [
        (REPEATABLE, "the same workload gives the same trace, event by event (every 8th case)"),
        (
            AS_THE_MODEL,
            "every event is the one of the reference model, at the same time and in the same order (up to 3000 tasks)",
        ),
        (
            HARNESS,
            "the reference model itself does not panic: if it does, it is at fault, and not the scheduler",
        ),
    ];
    let related = RELATIONS.iter().map(|relation| (relation.name, relation.rule));
    PROMISES.iter().map(|promise| (promise.name, promise.rule)).chain(related).chain(over_two)
}

/// The summary of a run: cases, dispatches, a verdict per promise, waits per class.
pub fn summary(seed: u64, outcome: &Outcome) -> String {
    let mut text = String::new();
    let Tally { cases, dispatches, virtual_nanos, .. } = &outcome.tally;
    let seconds = outcome.took.as_secs_f64();
    let rate = *dispatches as f64 / seconds.max(1e-9) / 1e6;
    let _ = writeln!(
        text,
        "seed {seed}: {cases} cases, {dispatches} dispatches, {:.0} s of virtual time in {seconds:.1} s ({rate:.1} million dispatches a second, checks included)\n",
        *virtual_nanos as f64 / 1e9
    );
    for (name, rule) in rules() {
        match outcome.failures.get(name) {
            None => match outcome.tested.get(name) {
                None => writeln!(text, "  NOT JUDGED        {name:<21} {rule}"),
                Some(cases) => writeln!(text, "  kept in {cases:>8}  {name:<21} {rule}"),
            },
            Some(case) => {
                writeln!(text, "  BROKEN            {name:<21} {rule}: first in case {}", case.number)
            }
        }
        .unwrap_or_default();
    }
    text += "  (of so many cases each was put to the test by)\n";
    let happened = KINDS.iter().zip(outcome.tally.happened).map(|(kind, times)| format!("{times} {kind}"));
    let happened = happened.collect::<Vec<_>>();
    let _ = writeln!(text, "\nthey were put to the test by:");
    happened.chunks(4).for_each(|line| text += &format!("  {}\n", line.join(", ")));
    text += "\n";
    text += &waits(&outcome.tally);
    text
}

/// The promises that no case has put to the test, as an addition to a verdict.
pub fn not_judged(outcome: &Outcome) -> String {
    let known = |name: &str| outcome.tested.contains_key(name) || outcome.failures.contains_key(name);
    let names = rules().map(|(name, _)| name).filter(|name| !known(name)).collect::<Vec<_>>();
    if names.is_empty() {
        String::new()
    } else {
        format!("; not judged, for want of such a case: {}", names.join(", "))
    }
}

/// Waits per class, from ready to running, at feasible load.
pub fn waits(tally: &Tally) -> String {
    let mut text = format!(
        "waits from ready to running in the {} cases with at most {:.0} % load and a prompt host (times include quanta up to 10 ms and tasks that never check):\n",
        tally.feasible,
        FEASIBLE_LOAD * 100.0
    );
    let _ = writeln!(
        text,
        "  {:<10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}   latency target",
        "class", "waits", "p50", "p90", "p99", "p99.9", "max"
    );
    for class in Class::ALL {
        let waits = &tally.waits[class as usize];
        let at = |quantile| short(waits.value_at_quantile(quantile));
        let _ = writeln!(
            text,
            "  {:<10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}   {}",
            format!("{class:?}"),
            waits.len(),
            at(0.5),
            at(0.9),
            at(0.99),
            at(0.999),
            short(waits.max()),
            short(TARGETS_NANOS[class as usize])
        );
    }
    text
}

/// A failure in full: the promise with its numbers, the seed, the smallest workload, a timeline, and how to repeat it.
pub fn failure(failure: &Failure, case: Option<Case>, file: Option<&str>) -> String {
    let Failure { breach, workload, trace } = failure;
    let rule = rules().find(|(name, _)| *name == breach.promise).map_or("", |(_, rule)| rule);
    let mut text = format!(
        "unfair: \"{}\" is broken\n\n  promised: {rule}\n  seen:     {}\n",
        breach.promise, breach.text
    );
    if let Some(case) = case {
        let _ = writeln!(text, "  found in: {case}");
    }
    let _ = writeln!(text, "\nthe smallest workload that shows it:\n");
    workload.to_string().lines().for_each(|line| text += &format!("  {line}\n"));
    let _ = writeln!(text, "\nthe same in Rust (use colibri_fuzz::workload::*):\n");
    workload.to_rust().lines().for_each(|line| text += &format!("  {line}\n"));
    let _ = writeln!(text, "\nwhat happens (→: here it is seen):\n");
    text += &trace.timeline(breach.place, TIMELINE_EVENTS);
    text += "\nto repeat it:\n";
    if let Some(file) = file {
        let _ = writeln!(text, "  cargo xtask fairness --replay {file}");
    }
    if let Some(Case { seed, number }) = case {
        let _ = writeln!(text, "  cargo xtask fairness --seed {seed} --case {number}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Extra, judge};
    use crate::colibri::Colibri;
    use crate::property::Breach;

    #[test]
    fn a_summary_names_each_promise() {
        let mut outcome = Outcome::default();
        outcome.failures.insert("slice", Case { seed: 1, number: 7 });
        outcome.tested.insert("lag", 12);
        let text = summary(1, &outcome);
        for promise in PROMISES {
            assert!(text.contains(promise.name) && text.contains(promise.rule));
        }
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().trim();
        assert!(
            line(" slice   ").starts_with("BROKEN") && line(" slice   ").ends_with("first in case 7"),
            "{text}"
        );
        assert!(
            line(" lag   ").starts_with("kept in       12") && line(" ends   ").starts_with("NOT JUDGED"),
            "{text}"
        );
        let left = not_judged(&outcome);
        assert!(left.contains("ends") && !left.contains("lag") && !left.contains("slice,"), "{left}");
        assert!(text.contains("Immediate") && text.contains("p99.9"), "{text}");
    }

    #[test]
    fn a_failure_tells_all_that_is_needed() {
        let case = Case { seed: 3, number: 4 };
        let workload = case.workload();
        let trace = judge::<Colibri>(&workload, Extra::default()).trace;
        let breach = Breach { promise: "slice", place: 5, text: "it was too long".to_owned() };
        let text =
            failure(&Failure { breach, workload, trace }, Some(case), Some("regressions/slice-3-4.json"));
        for part in [
            "\"slice\" is broken",
            "it was too long",
            "slice lasts at most",
            "quantum",
            "→",
            "--seed 3 --case 4",
            "--replay regressions/",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }
}
