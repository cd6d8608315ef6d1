//! All canaries at once: each must be found out, within a few functions.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::arguments::Arguments;
use crate::canary::{CANARIES, Canary};
use crate::case::Case;
use crate::judge::{Failure, Setting, Verdict, judge};
use crate::project::Project;
use crate::say;

/// Functions that each canary changes, in one round: few, since most are found by the first. Those that are not get
/// another round, of twice as many.
const FUNCTIONS: usize = 4;
/// Rounds after which a canary counts as missed.
const ROUNDS: usize = 4;
/// A function without anything that the canary changes is none; after so many in a row there are none.
const PATIENCE: u64 = 3_000;

/// Hunts them all; true if each is found out.
pub(crate) fn hunt(arguments: &Arguments) -> Result<bool, String> {
    let start = Instant::now();
    let project = Project::new()?;
    let mut found: BTreeMap<&str, String> = BTreeMap::new();
    let mut next: BTreeMap<&str, u64> = BTreeMap::new();
    let mut functions = 0;
    for round in 0..ROUNDS {
        let hunted = CANARIES.into_iter().filter(|canary| !found.contains_key(canary.name));
        let cases = hunted
            .flat_map(|canary| {
                let first = next.entry(canary.name).or_insert(arguments.first);
                changed(canary, arguments.seed, first, FUNCTIONS << round)
            })
            .collect::<Vec<_>>();
        if cases.is_empty() {
            break;
        }
        functions += cases.len();
        let cooperative =
            |case: &Case| of(case).map_or_else(|| case.cooperative(None), |canary| canary.cooperative(case));
        let setting =
            Setting { cooperative: &cooperative, inputs: arguments.inputs, lost_warnings_count: false };
        for (case, verdict) in cases.iter().zip(judge(&project, &cases, &setting)?) {
            if let (Verdict::Differ(failure), Some(canary)) = (verdict, of(case))
                && is_seen(&failure)
            {
                found.entry(canary.name).or_insert_with(|| format!("{} in {}", failure.title(), case.name));
            }
        }
    }
    for canary in CANARIES {
        let how = found.get(canary.name).map_or("MISSED", String::as_str);
        say(&format!("{:<16} {:<44} {}", canary.name, how, canary.what));
    }
    say(&format!(
        "{} of {} canaries found out with {functions} functions in {:.1} s",
        found.len(),
        CANARIES.len(),
        start.elapsed().as_secs_f64()
    ));
    Ok(found.len() == CANARIES.len())
}

/// The next cases that are not the same with the canary, `next` being where to look on.
fn changed(canary: Canary, seed: u64, next: &mut u64, many: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut in_a_row = 0;
    while cases.len() < many && in_a_row < PATIENCE {
        let case = Case::generated(seed, *next);
        *next += 1;
        in_a_row += 1;
        if canary.changes(&case) {
            let name = format!("{}_{}", canary.name.replace('-', "_"), *next - 1);
            cases.push(case.with_text(name, case.text.clone()));
            in_a_row = 0;
        }
    }
    cases
}

fn of(case: &Case) -> Option<Canary> {
    let (name, _) = case.name.rsplit_once('_')?;
    Canary::named(&name.replace('_', "-"))
}

/// Text that was changed may be no Rust at all, or get a warning: that proves nothing. A temporary that does not live long
/// enough does: it is what this mistake is known by.
fn is_seen(failure: &Failure) -> bool {
    match failure.kind.as_str() {
        "compile" => failure.detail == "E0716",
        kind => !matches!(kind, "warning" | "lost-warning"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_canary_changes_something_often_enough() {
        for canary in CANARIES {
            let mut next = 0;
            let cases = changed(canary, 1, &mut next, FUNCTIONS);
            assert_eq!(cases.len(), FUNCTIONS, "{}", canary.name);
            assert!(next < 400, "{}: {next} functions for {FUNCTIONS}", canary.name);
            assert_eq!(of(&cases[0]).map(|of| of.name), Some(canary.name));
        }
    }
}
