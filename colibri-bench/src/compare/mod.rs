//! `compare A B`: two JSON files of one scenario, figure by figure.
//!
//! A figure counts as moved only if the rounds of the two files differ by more than rounds differ anyway; what has no rounds
//! (a percentile of all of them) is not judged.

mod noise;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::cli::Comparison;
use crate::failure::Failure;
use crate::report::{Report, Row, count, digits, duration, percent, table};

use self::noise::{Judgement, judge};

/// The exit code that says that something became worse.
const WORSE: u8 = 3;

/// What two files come to.
#[derive(Debug)]
pub(crate) struct Compared {
    /// It in words.
    pub(crate) text: String,
    worse: usize,
}

impl Compared {
    /// 0 if nothing became worse beyond noise, else 3.
    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.worse > 0 { WORSE.into() } else { ExitCode::SUCCESS }
    }
}

/// Compares the files.
///
/// # Errors
///
/// [`Failure::Input`] if one of them is no report of this program, or they are of different scenarios, or have no figure
/// in common.
pub(crate) fn compare(comparison: &Comparison) -> Result<Compared, Failure> {
    let (before, after) = (read(&comparison.before)?, read(&comparison.after)?);
    if before.scenario != after.scenario {
        return Err(Failure::Input(format!(
            "{} is of the scenario {}, {} of {}: name two files of one scenario",
            comparison.before.display(),
            before.scenario,
            comparison.after.display(),
            after.scenario
        )));
    }
    let pairs: Vec<Pair<'_>> = before.rows.iter().filter_map(|row| Pair::find(row, &after)).collect();
    if pairs.is_empty() {
        return Err(Failure::Input(format!(
            "{} and {} have no figure in common: measure both with the same options",
            comparison.before.display(),
            comparison.after.display()
        )));
    }
    let worse = pairs.iter().filter(|pair| pair.is_worse()).count();
    Ok(Compared { text: say(&before, &after, &pairs, comparison.every), worse })
}

fn read(path: &Path) -> Result<Report, Failure> {
    let refuse = |why: String| {
        Failure::Input(format!(
            "{} {why}: name a JSON file that a scenario has saved, target/colibri-bench/latency.json for example",
            path.display()
        ))
    };
    let text = fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read ({error})")))?;
    serde_json::from_str(&text).map_err(|error| refuse(format!("is no report of this bench ({error})")))
}

/// A figure in both files.
#[derive(Debug)]
struct Pair<'a> {
    before: &'a Row,
    after: &'a Row,
    judgement: Option<Judgement>,
}

impl<'a> Pair<'a> {
    fn find(before: &'a Row, after: &'a Report) -> Option<Self> {
        let is_same = |row: &&Row| {
            (&row.subject, &row.metric, &row.unit) == (&before.subject, &before.metric, &before.unit)
        };
        let after = after.rows.iter().find(is_same)?;
        let judgement = judge(&before.rounds, &after.rounds);
        Some(Self { before, after, judgement })
    }

    /// Of rounds, the middle ones; else the 99th percentiles.
    fn figures(&self) -> (f64, f64) {
        match &self.judgement {
            Some(judgement) => (judgement.before, judgement.after),
            None => (self.before.p99, self.after.p99),
        }
    }

    fn has_moved(&self) -> bool {
        self.judgement.as_ref().is_some_and(|judgement| judgement.has_moved)
    }

    fn is_worse(&self) -> bool {
        let (before, after) = self.figures();
        // Of throughput more is better, of all else less.
        let is_more_better = self.before.unit.ends_with("/s");
        self.has_moved() && (if is_more_better { after < before } else { after > before })
    }

    fn cells(&self) -> Vec<String> {
        let (before, after) = self.figures();
        let value = |figure: f64| match self.before.unit.as_str() {
            "ns" if figure >= 999.5 => duration(figure as u64),
            "1" => digits(figure),
            unit => format!("{} {unit}", digits(figure)),
        };
        let verdict = match (&self.judgement, self.has_moved()) {
            (None, _) => "no rounds",
            (Some(judgement), _) if !judgement.can_tell => "too few rounds",
            (_, false) => "noise",
            _ if self.is_worse() => "worse",
            _ => "better",
        };
        vec![
            self.before.subject.clone(),
            self.before.metric.clone(),
            value(before),
            value(after),
            if before == 0.0 { String::new() } else { format!("{:.3}", after / before) },
            self.judgement
                .as_ref()
                .map_or(String::new(), |judgement| format!("± {}", percent(judgement.noise))),
            verdict.to_owned(),
        ]
    }
}

fn say(before: &Report, after: &Report, pairs: &[Pair<'_>], every: bool) -> String {
    let mut text = format!("# {}\n\nA: {}\nB: {}", before.scenario, before.command, after.command);
    if before.machine != after.machine {
        text.push_str(&format!(
            "\n\nThe machines differ, so that ratios say little about the code:\nA: {}\nB: {}",
            before.machine, after.machine
        ));
    }
    let shown: Vec<Vec<String>> =
        pairs.iter().filter(|pair| every || pair.has_moved()).map(Pair::cells).collect();
    if !shown.is_empty() {
        let header = ["subject", "metric", "A", "B", "B / A", "noise", "moved"].map(str::to_owned);
        text.push_str("\n\n");
        text.push_str(&table(&header, &shown));
    }
    let judged = pairs.iter().filter(|pair| pair.judgement.as_ref().is_some_and(|one| one.can_tell)).count();
    let (moved, worse) = (
        pairs.iter().filter(|pair| pair.has_moved()).count(),
        pairs.iter().filter(|pair| pair.is_worse()).count(),
    );
    text.push_str(&format!(
        "\n\n{} of {} figures moved beyond noise: {} worse, {} better.\n\
         {} more could not be judged (no rounds, or fewer than {}).\n\
         A figure has moved if chance alone would move its rounds so far less than once in {} times, and if its medians\n\
         differ by more than the rounds' own noise (half the range of their middle half). Of {} figures, chance moves about {}.",
        count(moved as u64),
        count(judged as u64),
        count(worse as u64),
        count((moved - worse) as u64),
        count((pairs.len() - judged) as u64),
        noise::ROUNDS_LEAST,
        (1.0 / noise::CHANCE).round(),
        count(judged as u64),
        (judged as f64 * noise::CHANCE).round()
    ));
    if !every {
        text.push_str("\n--every shows the others.");
    }
    text
}
