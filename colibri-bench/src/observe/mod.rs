//! The scenario `observe`: what it costs to watch a scheduler.
//!
//! The counts behind `Stats` cannot be turned off. What they cost is told by a second build of this program, without them
//! (`--cfg colibri_uncounted`): `cargo xtask bench observe` makes it, and each round starts it once.

mod way;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::allowance::Allowance;
use crate::cli::Options;
use crate::failure::Failure;
use crate::measure::Used;
use crate::ops::timings::{Sample, Timings, disturbed};
use crate::progress::Progress;
use crate::report::{Report, Row, digits, rounds_of};
use crate::warning::Warning;

use self::way::{Load, Way};

/// What the scenario measures, in one line.
pub(crate) const ABOUT: &str = "what Stats, histograms, accounts, spans and stall detection cost a turn";

/// The row of the second build.
const UNCOUNTED: &str = "not watched at all";
/// The place of the row of what every scheduler has.
const COUNTS: usize = 1;
/// How many rows there are.
const ROWS: usize = 1 + Way::ALL.len();

/// What `observe` compares with.
#[derive(Debug, Default, Args)]
pub(crate) struct ObserveChoice {
    /// This program, built with `--cfg colibri_uncounted`; `cargo xtask bench observe` does it
    #[arg(long, value_name = "PROGRAM")]
    uncounted: Option<PathBuf>,
}

/// Measures it.
pub(crate) fn run(options: &Options, choice: &ObserveChoice) -> Result<Report, Failure> {
    let allowance = Allowance::of(options);
    let rounds = options.rounds();
    let progress = Progress::new("observe", u64::from(rounds) * ROWS as u64);
    // Of a bare turn, and of one with work.
    let mut timings: [[Timings; 2]; ROWS] = Default::default();
    let mut made = 0;
    for round in allowance.rounds(rounds) {
        if let Some(program) = &choice.uncounted {
            progress.begin(format!("round {round} of {rounds}: {UNCOUNTED}"));
            let samples = elsewhere(program)?;
            timings[0].iter_mut().zip(samples).for_each(|(timings, sample)| timings.add(sample));
        }
        progress.step();
        for (&way, timings) in Way::ALL.iter().zip(&mut timings[1..]) {
            progress.begin(format!("round {round} of {rounds}: {}", way.name()));
            timings.iter_mut().zip(turns(way)).for_each(|(timings, sample)| timings.add(sample));
            progress.step();
        }
        made = round;
    }
    drop(progress);
    Ok(report(&timings, made, rounds))
}

/// What a turn takes that is watched as every scheduler's are: a bare one and one with work, in ns.
pub(crate) fn counted() -> String {
    turns(Way::Counts).map(|sample| sample.nanos.to_string()).join(" ")
}

fn turns(way: Way) -> [Sample; 2] {
    [Load::NOTHING, Load::LOOK].map(|load| way.turn(load))
}

/// Asks another build of this program for [`counted`].
fn elsewhere(program: &Path) -> Result<[Sample; 2], Failure> {
    let refuse = |why: &str| Failure::Run(format!("`{} counted` does not measure: {why}", program.display()));
    let output = Command::new(program)
        .arg("counted")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| refuse(&error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let figures: Option<Vec<f64>> = said.split_whitespace().map(|figure| figure.parse().ok()).collect();
    match figures.as_deref() {
        // What else the machine did meanwhile is known there, and not told.
        Some(&[bare, work]) => Ok([bare, work].map(|nanos| Sample { nanos, used: Used::none() })),
        _ => Err(refuse(String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn report(timings: &[[Timings; 2]; ROWS], made: u32, rounds: u32) -> Report {
    let mut report = Report::new("observe", format!("cargo xtask bench observe --rounds {made}"));
    report.say(&format!(
        "The thread's own time of a turn of one of {} tasks, best / median of {}: of one that does nothing but give way,\n\
         and of one that works for about as long as a cooperative function does between two looks at the clock. More: the\n\
         best rounds, Stats beside not being watched at all, all else beside Stats. The last column is what a bare turn\n\
         takes more, as a share of a turn with work: there the machine's noise is a thousand times smaller.",
        way::TASKS,
        rounds_of(made as usize, rounds)
    ));
    let names = std::iter::once(UNCOUNTED).chain(Way::ALL.iter().map(|way| way.name()));
    let rows = names.zip(timings).enumerate().map(|(place, (name, [bare, work]))| {
        for (timings, metric) in [(bare, "bare turn"), (work, "turn with work")] {
            if !timings.nanos.is_empty() {
                report.row(Row::of_figures(name, metric, "ns", &timings.nanos));
            }
        }
        let base = &timings[usize::from(place > COUNTS)];
        let more = |of: usize| {
            let own = timings[place][of].best().filter(|_| !std::ptr::eq(base, &timings[place]));
            own.zip(base[of].best()).map(|(own, base)| own - base)
        };
        let share = |more: Option<f64>| {
            more.zip(base[1].best())
                .map_or(String::new(), |(more, work)| format!("{:.2} %", more / work * 100.0))
        };
        let nanos = more(0).map_or(String::new(), digits);
        [name.to_owned(), bare.cell(), nanos, work.cell(), share(more(1)), share(more(0))]
    });
    let rows = rows.collect();
    report.table(
        ["watched by", "bare turn, ns", "more, ns", "turn with work, ns", "more", "more, by bare turns"],
        rows,
    );
    if timings[0][0].nanos.is_empty() {
        report.say(
            "What the counts behind Stats cost is not measured: `cargo xtask bench observe` does, which builds this\n\
             program without them as well.",
        );
    }
    let watched = timings[COUNTS..].iter().map(|row| &row[..]);
    let (_, share) = disturbed(&mut report, ["bare turn", "turn with work"], watched);
    let all =
        [Warning::debug_build(), Warning::few_rounds(made as usize), share.and_then(Warning::runs_disturbed)];
    all.into_iter().flatten().for_each(|warning| report.warn(warning));
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(figures: [f64; 2]) -> [Timings; 2] {
        figures.map(|nanos| {
            let mut timings = Timings::default();
            timings.add(Sample { nanos, used: Used::none() });
            timings
        })
    }

    #[test]
    fn each_row_is_beside_what_it_adds_to() {
        let mut timings: [[Timings; 2]; ROWS] = std::array::from_fn(|_| of([17.0, 20_000.0]));
        timings[0] = of([15.0, 19_900.0]);
        timings[ROWS - 1] = of([117.0, 20_200.0]);
        let text = report(&timings, 1, 1).text();
        let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(row(UNCOUNTED).contains("15.0 / 15.0"), "{text}");
        let counts = row("Stats, as always");
        assert!(counts.contains("2.00") && counts.contains("0.50 %") && counts.contains("0.01 %"), "{text}");
        let last = row(Way::ALL[ROWS - 2].name());
        assert!(last.contains("100") && last.contains("1.00 %") && last.contains("0.50 %"), "{text}");
    }

    #[test]
    fn without_the_second_build_it_says_how_to_get_it() {
        let mut timings: [[Timings; 2]; ROWS] = std::array::from_fn(|_| of([17.0, 20_000.0]));
        timings[0] = Default::default();
        assert!(report(&timings, 1, 1).text().contains("cargo xtask bench observe"));
    }

    #[test]
    fn a_program_that_measures_nothing_is_a_failure() {
        let failure = elsewhere(Path::new("/nowhere/colibri-bench")).unwrap_err().to_string();
        assert!(failure.contains("/nowhere/colibri-bench counted"), "{failure}");
    }
}
