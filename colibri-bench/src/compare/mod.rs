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
use crate::overhead::Way;
use crate::report::{Report, Row, count, digits, duration, percent, table};

use self::noise::{Judgement, judge};

/// The exit code that says that something became worse.
const WORSE: u8 = 3;

/// What two files come to.
#[derive(Debug)]
pub(crate) struct Compared {
    /// It in words.
    pub(crate) text: String,
    /// Figures of colibri's own that became worse.
    worse: usize,
}

impl Compared {
    /// 0 if nothing of colibri's became worse beyond noise, else 3. That a peer did, or that other programs took more of
    /// the machine, is no fault of its.
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
    let pairs = Pair::all(&before, &after);
    if pairs.is_empty() {
        return Err(Failure::Input(format!(
            "{} and {} have no figure in common: measure both with the same options",
            comparison.before.display(),
            comparison.after.display()
        )));
    }
    let worse = pairs.iter().filter(|pair| pair.is_worse() && pair.is_ours).count();
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
    /// Whether it says how colibri does, and not how a peer or the machine does.
    is_ours: bool,
}

impl<'a> Pair<'a> {
    /// All figures that both have, judged together.
    fn all(before: &'a Report, after: &'a Report) -> Vec<Self> {
        let key = |row: &'a Row| (&row.subject, &row.metric, &row.unit);
        let find = |row| after.rows.iter().find(|other| key(other) == key(row));
        let rows: Vec<(&Row, &Row)> =
            before.rows.iter().filter_map(|row| find(row).map(|other| (row, other))).collect();
        let judgements = judge(rows.iter().map(|(one, other)| (&one.rounds[..], &other.rounds[..])));
        rows.into_iter()
            .zip(judgements)
            .map(|((row, other), judgement)| Self {
                before: row,
                after: other,
                judgement,
                is_ours: is_ours(&before.scenario, row),
            })
            .collect()
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

/// Whether `row` says how colibri does. In `slices` nobody else takes part; in `overhead` the subject is a kernel, and the
/// metric ends with the way that ran it.
fn is_ours(scenario: &str, row: &Row) -> bool {
    let is_way = |way: Way| row.metric.ends_with(&format!(", {}", way.name()));
    let is_of_colibri = match scenario {
        "slices" => true,
        "overhead" => is_way(Way::Cooperative) || is_way(Way::Scheduled),
        _ => row.subject == "colibri",
    };
    is_of_colibri && !row.metric.starts_with("share of ")
}

/// The command without what only says how often: two files of the same work have the same.
fn work_of(command: &str) -> String {
    let mut words = command.split_whitespace();
    let mut work = Vec::new();
    while let Some(word) = words.next() {
        if word == "--rounds" {
            words.next();
        } else {
            work.push(word);
        }
    }
    work.join(" ")
}

fn say(before: &Report, after: &Report, pairs: &[Pair<'_>], every: bool) -> String {
    let mut text = format!("# {}\n\nA: {}\nB: {}", before.scenario, before.command, after.command);
    if before.machine != after.machine {
        text.push_str(&format!(
            "\n\nThe machines differ, so that ratios say little about the code:\nA: {}\nB: {}",
            before.machine, after.machine
        ));
    }
    if work_of(&before.command) != work_of(&after.command) {
        text.push_str(
            "\n\nWarning: the commands ask for different work, so that ratios say little about the code. Measure both with the\n\
             same options; a quick run cuts its input by itself unless --input-limit says how much.",
        );
    }
    let judged = pairs.iter().filter(|pair| pair.judgement.as_ref().is_some_and(|one| one.can_tell)).count();
    let every = every || judged == 0;
    let shown: Vec<Vec<String>> =
        pairs.iter().filter(|pair| every || pair.has_moved()).map(Pair::cells).collect();
    if !shown.is_empty() {
        let header = ["subject", "metric", "A", "B", "B / A", "noise", "moved"].map(str::to_owned);
        text.push_str("\n\n");
        text.push_str(&table(&header, &shown));
    }
    let with_rounds = pairs.iter().filter(|pair| pair.judgement.is_some()).count();
    let least = noise::rounds_least(with_rounds);
    if judged == 0 {
        text.push_str(&format!(
            "\n\nNothing could be judged: to tell {} figures from noise, both files need some {least} rounds or more (--rounds).",
            count(with_rounds as u64)
        ));
        return text;
    }
    let moved: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.has_moved()).collect();
    let worse: Vec<&&Pair<'_>> = moved.iter().filter(|pair| pair.is_worse()).collect();
    let own = worse.iter().filter(|pair| pair.is_ours).count();
    text.push_str(&format!(
        "\n\n{} of {} figures moved beyond noise: {} worse, {} better; of those that are worse, {} say how colibri does.\n\
         {} more could not be judged (no rounds, or too few: for all of them some {least} rounds).\n\
         A figure has moved if its medians differ by more than the rounds' own noise (half the range of their middle half),\n\
         and if chance would not move its rounds so far: it calls any of all these figures moved in one of {} comparisons\n\
         (Mann, Whitney and Wilcoxon's test of the rounds with Holm's correction).",
        count(moved.len() as u64),
        count(judged as u64),
        count(worse.len() as u64),
        count((moved.len() - worse.len()) as u64),
        count(own as u64),
        count((pairs.len() - judged) as u64),
        (1.0 / noise::CHANCE).round(),
    ));
    if !every {
        text.push_str("\n--every shows the others.");
    }
    text
}
