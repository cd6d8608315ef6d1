//! The scenario `ops`: what single operations cost, beside other executors of one thread.

pub(crate) mod operations;

use crate::allowance::Allowance;
use crate::cli::Options;
use crate::executors::each_executor;
use crate::failure::Failure;
use crate::measure::Rounds;
use crate::progress::Progress;
use crate::report::{Bar, Plot, Report, Row, digits};
use crate::warning::Warning;

use self::operations::{Operation, measure};

/// What the scenario measures, in one line.
pub(crate) const ABOUT: &str =
    "ns per yield, wake, spawn, cancel, pause, timer beside other executors of one thread";

/// The peer that ratios are to.
const BASE: &str = "tokio current_thread";

/// Measures it.
pub(crate) fn run(options: &Options) -> Result<Report, Failure> {
    let allowance = Allowance::of(options);
    let executors = each_executor!(measure);
    let rounds = options.rounds();
    let progress = Progress::new("ops", u64::from(rounds) * Operation::ALL.len() as u64);
    // ns, by operation, executor and round.
    let mut nanos = vec![vec![Vec::new(); executors.len()]; Operation::ALL.len()];
    let mut made = 0;
    for round in allowance.rounds(rounds) {
        for (operation, nanos) in Operation::ALL.iter().zip(&mut nanos) {
            progress.begin(format!("round {round} of {rounds}: {}", operation.name()));
            for ((_, measure), nanos) in executors.iter().zip(nanos) {
                nanos.extend(measure((*operation, 1)));
            }
            progress.step();
        }
        made = round;
    }
    drop(progress);
    let rounds = made;

    let names = executors.map(|(name, _)| name);
    let mut report = Report::new("ops", format!("cargo xtask bench ops --rounds {rounds}"));
    report.say(&format!(
        "Time of one operation in ns, the thread's own (an interruption is not in it): the best of {rounds} rounds, in which\n\
         the executors take turns in one process. Futures of some 48 bytes, in tasks that need not be Send. Empty: the executor\n\
         has no such operation. The ratio is colibri's to {BASE}."
    ));
    let rows = Operation::ALL.iter().zip(&nanos).map(|(operation, nanos)| {
        let figures: Vec<Option<f64>> = nanos.iter().map(|nanos| best(nanos)).collect();
        let cell = |place: usize| figures[place].map_or(String::new(), digits);
        let base = names.iter().position(|&name| name == BASE).expect("it is one of them");
        let ratio = figures[0].zip(figures[base]).map(|(own, base)| digits(own / base));
        let [a, b, c, d, e, f] = std::array::from_fn(cell);
        [operation.name(), a, b, c, d, e, f, ratio.unwrap_or_default()]
    });
    let [a, b, c, d, e, f] = names;
    report.table(["operation, ns", a, b, c, d, e, f, "ratio"], rows.collect());
    plot(&mut report, &nanos);
    for (operation, nanos) in Operation::ALL.iter().zip(&nanos) {
        for (name, nanos) in names.iter().zip(nanos).filter(|(_, nanos)| !nanos.is_empty()) {
            report.row(Row::of_figures(name, &operation.name(), "ns", nanos));
        }
    }
    if let Some(warning) = Warning::debug_build() {
        report.warn(warning);
    }
    Ok(report)
}

/// The best round.
fn best(nanos: &[f64]) -> Option<f64> {
    (!nanos.is_empty()).then(|| Rounds::of(nanos.iter().copied()).min)
}

/// What operations take on colibri, to what they take on the peer: `nanos` by operation, executor and round.
fn plot(report: &mut Report, nanos: &[Vec<Vec<f64>>]) {
    let names = each_executor!(measure).map(|(name, _)| name);
    let base = names.iter().position(|&name| name == BASE).expect("it is one of them");
    let bars = Operation::ALL.iter().zip(nanos).filter_map(|(operation, nanos)| {
        let (own, base) = best(&nanos[0]).zip(best(&nanos[base]))?;
        Some(Bar::of(&operation.name(), own / base, digits))
    });
    report.plot(Plot::log_bars(
        &format!("Time on colibri, to that on {BASE} (best of the rounds)"),
        bars.collect(),
    ));
}
