//! The scenario `ops`: what single operations cost, beside other executors of one thread.

pub(crate) mod operations;
pub(crate) mod timings;

use crate::allowance::Allowance;
use crate::cli::Options;
use crate::executors::each_executor;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::{Bar, Plot, Report, Row, digits, rounds_of};
use crate::warning::Warning;

use self::operations::{Operation, measure};
use self::timings::{Timings, disturbed};

/// What the scenario measures, in one line.
pub(crate) const ABOUT: &str =
    "ns per yield, wake, spawn, cancel, pause, timer beside other executors of one thread";

/// The peer that users know best: ratios are to it, and to whichever peer is best.
const BASE: &str = "tokio current_thread";

/// Measures it.
pub(crate) fn run(options: &Options) -> Result<Report, Failure> {
    let allowance = Allowance::of(options);
    let executors = each_executor!(measure);
    let rounds = options.rounds();
    let progress = Progress::new("ops", u64::from(rounds) * Operation::ALL.len() as u64);
    // By operation and executor.
    let mut timings = vec![vec![Timings::default(); executors.len()]; Operation::ALL.len()];
    let mut made = 0;
    for round in allowance.rounds(rounds) {
        for (operation, timings) in Operation::ALL.iter().zip(&mut timings) {
            progress.begin(format!("round {round} of {rounds}: {}", operation.name()));
            for ((_, measure), timings) in executors.iter().zip(timings) {
                if let Some(sample) = measure((*operation, 1)) {
                    timings.add(sample);
                }
            }
            progress.step();
        }
        made = round;
    }
    drop(progress);

    let names = executors.map(|(name, _)| name);
    let mut report = Report::new("ops", format!("cargo xtask bench ops --rounds {made}"));
    report.say(&format!(
        "Time of one operation in ns, the thread's own (an interruption is not in it): best / median of {}, in which the\n\
         executors take turns in one process. Futures of some 48 bytes, in tasks that need not be Send. Empty: the executor\n\
         has no such operation. The ratios are colibri's best to that of {BASE}, and to that of the best peer for the\n\
         operation. Disturbed: rounds of an operation in which other programs had over 1 % of the time.",
        rounds_of(made as usize, rounds)
    ));
    let ratio = |of: Option<f64>| of.map_or(String::new(), digits);
    let mut rows: Vec<[String; 9]> = Operation::ALL
        .iter()
        .zip(&timings)
        .map(|(operation, timings)| {
            let [a, b, c, d, e, f] = std::array::from_fn(|place| timings[place].cell());
            [operation.name(), a, b, c, d, e, f, ratio(to_base(timings)), ratio(to_best(timings))]
        })
        .collect();
    let (cells, share) = disturbed(&mut report, names, timings.iter().map(|timings| &timings[..]));
    let [a, b, c, d, e, f] = cells;
    rows.push(["disturbed rounds".to_owned(), a, b, c, d, e, f, String::new(), String::new()]);
    let [a, b, c, d, e, f] = names;
    report.table(["operation, ns", a, b, c, d, e, f, "to tokio", "to the best peer"], rows);
    plot(&mut report, &timings, &format!("to that on {BASE}"), to_base);
    plot(&mut report, &timings, "to that on the best peer", to_best);
    for (operation, timings) in Operation::ALL.iter().zip(&timings) {
        for (name, timings) in names.iter().zip(timings).filter(|(_, timings)| !timings.nanos.is_empty()) {
            report.row(Row::of_figures(name, &operation.name(), "ns", &timings.nanos));
        }
    }
    let all =
        [Warning::debug_build(), Warning::few_rounds(made as usize), share.and_then(Warning::runs_disturbed)];
    all.into_iter().flatten().for_each(|warning| report.warn(warning));
    Ok(report)
}

/// colibri's best time of an operation to that of the peer which users know best; none where one of them has none.
fn to_base(timings: &[Timings]) -> Option<f64> {
    let names = each_executor!(measure).map(|(name, _)| name);
    let base = names.iter().position(|&name| name == BASE).expect("it is one of them");
    Some(timings[0].best()? / timings[base].best()?)
}

/// The same to the best of all peers.
fn to_best(timings: &[Timings]) -> Option<f64> {
    Some(timings[0].best()? / timings[1..].iter().filter_map(Timings::best).reduce(f64::min)?)
}

/// What operations take on colibri, as ratios to what `base` says: `timings` by operation and executor.
fn plot(report: &mut Report, timings: &[Vec<Timings>], base: &str, ratio: fn(&[Timings]) -> Option<f64>) {
    let bars = Operation::ALL
        .iter()
        .zip(timings)
        .filter_map(|(operation, timings)| Some(Bar::of(&operation.name(), ratio(timings)?, digits)));
    report.plot(Plot::log_bars(&format!("Time on colibri, {base} (best of the rounds)"), bars.collect()));
}

#[cfg(test)]
mod tests {
    use super::timings::Sample;
    use super::*;
    use crate::measure::Used;

    #[test]
    fn ratios_are_to_tokio_and_to_whichever_peer_is_best() {
        let of = |nanos: Option<f64>| {
            let mut timings = Timings::default();
            nanos.into_iter().for_each(|nanos| timings.add(Sample { nanos, used: Used::none() }));
            timings
        };
        let names = each_executor!(measure).map(|(name, _)| name);
        assert_eq!(names[0], "colibri");
        let mut timings: Vec<Timings> =
            names.iter().map(|&name| of(Some(if name == BASE { 40.0 } else { 50.0 }))).collect();
        timings[0] = of(Some(20.0));
        timings[5] = of(Some(10.0));
        assert_eq!((to_base(&timings), to_best(&timings)), (Some(0.5), Some(2.0)));
        timings[1..].fill(of(None));
        assert_eq!((to_base(&timings), to_best(&timings)), (None, None));
    }
}
