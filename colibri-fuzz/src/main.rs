//! `colibri-fuzz`: is the scheduler fair? Started by `cargo xtask fairness`.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use clap::{ArgAction, Parser};
use colibri_fuzz::canary;
use colibri_fuzz::case::{Case, Extra, judge};
use colibri_fuzz::colibri::Colibri;
use colibri_fuzz::compare::{self, Verdict};
use colibri_fuzz::page::Page;
use colibri_fuzz::portrait::portrait;
use colibri_fuzz::regression::{self, Regression};
use colibri_fuzz::run::{Extent, HANG_AFTER, Outcome, reduce, run, watched};
use colibri_fuzz::simulate::simulate;
use colibri_fuzz::workload::Settings;
use colibri_fuzz::{chart, latency, report, span};
use indicatif::{ProgressBar, ProgressStyle};

/// Cases of a quick run: some seconds in a release build.
const QUICK_CASES: u64 = 20_000;

/// Batches of arrivals at each load of the latency table: at the fullest, means are then good to some 10 %.
const LATENCY_BATCHES: u64 = 16;

/// The same on the page, beside theory: means are then good to some 15 %.
const PAGE_BATCHES: u64 = 8;

/// The same in each run, beside the targets: their percentiles are far from them.
const QUICK_BATCHES: u64 = 1;

/// Cases of the page's comparison.
const PAGE_COMPARED_CASES: u64 = 500;

/// Cases of a comparison.
const COMPARED_CASES: u64 = 2_000;

/// Cases in which each canary must be caught: a tenth of the quick run's.
const CANARY_CASES: u64 = QUICK_CASES / 10;

/// colibri is held to everything.
const ALL: Extra = Extra { twice: true, related: true, model: true };

/// Tests colibri's scheduler with random workloads on virtual time, and checks every promise over what happened.
///
/// Failures kept in colibri-fuzz/regressions are replayed first. A new failure is reduced to the smallest workload
/// that shows it, told with a timeline and the command that repeats it, and kept there.
#[derive(Debug, Parser)]
#[command(name = "fairness", version, after_help = "Exit status: 0 fair, 1 unfair, 2 wrong use.")]
struct Arguments {
    /// How many cases [default: 20000, or without limit beside --time]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cases: Option<u64>,
    /// The run's seed: the same seed draws the same cases
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Only this case of the seed
    #[arg(long, value_name = "K", conflicts_with_all = ["cases", "time", "replay"])]
    case: Option<u64>,
    /// For how long, such as 90s, 10min, 1h
    #[arg(long, value_name = "LENGTH", value_parser = some_time)]
    time: Option<Duration>,
    /// Only the workload in this file: a kept failure, or one written by hand (may be given several times)
    #[arg(long, value_name = "FILE", action = ArgAction::Append, conflicts_with_all = ["cases", "time"])]
    replay: Vec<PathBuf>,
    /// On how many threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Which promises other schedulers keep: colibri, tokio, async-executor and a plain queue on the same cases [default: 2000]
    #[arg(long, conflicts_with_all = ["time", "replay", "case"])]
    compare: bool,
    /// The broken schedulers that the harness must catch, and which promise each one broke
    #[arg(long, conflicts_with_all = ["time", "replay", "case", "compare"])]
    canaries: bool,
    /// How long each class waits at loads from 0.3 to 0.98, beside queueing theory and the targets
    #[arg(long, conflicts_with_all = ["time", "replay", "case", "compare", "canaries", "cases"])]
    latency: bool,
    /// Write a page with plots (fairness.html, which needs no network) and its data (fairness.json) into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["replay", "case", "compare", "canaries", "latency"])]
    report: Option<PathBuf>,
    /// Do not keep new failures in the regressions folder
    #[arg(long)]
    no_keep: bool,
}

/// A length of time in which something can be tried.
fn some_time(text: &str) -> Result<Duration, String> {
    let time = span::from_text(text)?;
    if time.is_zero() {
        return Err("no case can be tried in no time: give a length such as 10s".to_owned());
    }
    Ok(time)
}

fn main() -> ExitCode {
    // clap ends wrong use with status 2 by itself.
    let arguments = Arguments::parse();
    // Panics are told as broken promises, with all that is needed to repeat them.
    std::panic::set_hook(Box::new(|_| {}));
    match std::panic::catch_unwind(|| run_as_told(&arguments)) {
        Ok(Ok(true)) => match LOST.get() {
            None => ExitCode::SUCCESS,
            Some(error) => {
                complain(&format!("error: all was fair, but the report could not be written: {error}"));
                ExitCode::from(2)
            }
        },
        Ok(Ok(false)) => ExitCode::from(1),
        Ok(Err(message)) => {
            complain(&format!("error: {message}"));
            ExitCode::from(2)
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            complain(&format!("error: the harness itself panicked: {text}. Please report this."));
            ExitCode::from(2)
        }
    }
}

/// Whether all was fair.
fn run_as_told(arguments: &Arguments) -> Result<bool, String> {
    if arguments.canaries {
        let (table, all) = canary::table(arguments.seed, arguments.cases.unwrap_or(CANARY_CASES));
        say(&table);
        Ok(all)
    } else if arguments.latency {
        let theory = waits_by_load(&latency::without_turns(), arguments.seed, LATENCY_BATCHES);
        let targets = waits_by_load(&Settings::default(), arguments.seed, LATENCY_BATCHES);
        say(&latency::report(&theory, &targets, LATENCY_BATCHES));
        let missed = tell_what_was_missed(theory.iter().chain(&targets));
        if !missed {
            say("fair: waits are those of theory, and keep their targets");
        }
        Ok(!missed)
    } else if arguments.compare {
        Ok(compare_all(arguments))
    } else if !arguments.replay.is_empty() {
        replay_all(&arguments.replay)
    } else if let Some(number) = arguments.case {
        Ok(repeat(Case { seed: arguments.seed, number }))
    } else {
        test(arguments)
    }
}

/// Other schedulers beside colibri's. It is colibri that is on trial.
fn compare_all(arguments: &Arguments) -> bool {
    let columns = compare::columns(arguments.seed, arguments.cases.unwrap_or(COMPARED_CASES));
    say(&compare::table(&columns));
    columns[0].verdicts.iter().all(|verdict| *verdict == Verdict::Kept)
}

/// The usual run: kept failures first, then new cases.
fn test(arguments: &Arguments) -> Result<bool, String> {
    let folder = regression::folder();
    let kept =
        regression::files(&folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    if !kept.is_empty() && !replay_all(&kept)? {
        say("a failure that is known already is back (or still there); no new cases were run");
        return Ok(false);
    }
    if let Some(folder) = &arguments.report {
        // Now, and not after an hour.
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))?;
    }
    let outcome = run_cases(arguments);
    say(&report::summary(arguments.seed, &outcome));
    for (promise, case) in &outcome.failures {
        tell_and_keep(promise, *case, (!arguments.no_keep).then_some(&*folder));
    }
    let targets = waits_by_load(&Settings::default(), arguments.seed, QUICK_BATCHES);
    say(&latency::summary(&targets));
    let mut missed = tell_what_was_missed(&targets);
    let page = arguments.report.as_ref().map_or(Ok(()), |folder| {
        let theory = waits_by_load(&latency::without_turns(), arguments.seed, PAGE_BATCHES);
        missed |= tell_what_was_missed(&theory);
        write_page(folder, arguments.seed, &outcome, [theory, targets])
    });
    if outcome.failures.is_empty() && !missed {
        let open = report::not_judged(&outcome);
        say(&format!("fair: all promises kept in {} cases, and all targets{open}", outcome.tally.cases));
        return page.map(|()| true);
    }
    // That it was unfair matters more than that the page could not be written.
    if let Err(error) = page {
        complain(&error);
    }
    let targets = if missed { ", and targets were missed" } else { "" };
    say(&format!("unfair: {} of {} cases broke a promise{targets}", outcome.unfair, outcome.tally.cases));
    Ok(false)
}

/// The page: the run, one case of it, waits by load, and other schedulers.
fn write_page(
    folder: &Path,
    seed: u64,
    outcome: &Outcome,
    latency: [Vec<latency::Line>; 2],
) -> Result<(), String> {
    let failure = outcome.failures.iter().next();
    let reduced = failure.and_then(|(promise, case)| reduce::<Colibri>(&case.workload(), promise));
    let picture = match (failure, &reduced) {
        (Some((promise, case)), Some(failure)) => {
            let title = format!("\"{promise}\" is broken ({case}, reduced)");
            chart::picture(&title, &failure.workload, &failure.trace)
        }
        _ => {
            let workload = portrait();
            chart::picture("three classes for 150 ms", &workload, &simulate::<Colibri>(&workload))
        }
    };
    let comparison = compare::columns(seed, PAGE_COMPARED_CASES);
    let page = Page::of(seed, outcome, picture, latency, comparison);
    let path =
        page.write(folder).map_err(|error| format!("cannot write into {}: {error}", folder.display()))?;
    say(&format!("the page is {}", path.display()));
    Ok(())
}

fn waits_by_load(settings: &Settings, seed: u64, batches: u64) -> Vec<latency::Line> {
    let bar = bar_of(latency::LOADS.len() as u64, "loads");
    let lines = latency::measure_all::<Colibri>(settings, seed, batches, || bar.inc(1));
    bar.finish_and_clear();
    lines
}

/// Whether any row was missed; each is told.
fn tell_what_was_missed<'a>(lines: impl IntoIterator<Item = &'a latency::Line>) -> bool {
    let missed = lines.into_iter().filter_map(latency::Line::missed).collect::<Vec<_>>();
    missed.iter().for_each(|line| say(&format!("unfair: {line}")));
    !missed.is_empty()
}

fn run_cases(arguments: &Arguments) -> Outcome {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let extent = Extent {
        seed: arguments.seed,
        first: 0,
        cases: arguments.cases.unwrap_or(if arguments.time.is_some() { u64::MAX } else { QUICK_CASES }),
        time: arguments.time,
        threads: arguments.threads.map_or(cores, usize::from),
        model: ALL.model,
    };
    let bar = progress_bar(&extent);
    let outcome = run::<Colibri>(
        extent,
        |done| bar.set_position(done),
        |case| {
            let file = (!arguments.no_keep)
                .then(|| keep_as_it_is(HANGS, "it does not come back", case, &regression::folder()));
            complain(&format!(
                "unfair: {case} does not come back{}. To repeat it: cargo xtask fairness --seed {} --case {}",
                file.flatten().map_or(String::new(), |file| format!(", and is kept as {file}")),
                case.seed,
                case.number
            ));
            std::process::exit(1);
        },
    );
    bar.finish_and_clear();
    outcome
}

fn progress_bar(extent: &Extent) -> ProgressBar {
    if extent.cases < u64::MAX {
        return bar_of(extent.cases, "cases");
    }
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {pos} cases, {per_sec}, {elapsed}");
    ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

/// On a terminal only: a pipe gets no progress.
fn bar_of(many: u64, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    // Without colours: there is nothing that NO_COLOR would have to switch off.
    let style = ProgressStyle::with_template(&format!("{{wide_bar}} {{pos}} of {{len}} {what}, {{eta}}"));
    ProgressBar::new(many).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Reduces a failure, tells it, and keeps it.
fn tell_and_keep(promise: &str, case: Case, folder: Option<&Path>) {
    let Some(failure) = reduce::<Colibri>(&case.workload(), promise) else {
        let found = "it broke, but not when the case was repeated";
        let file = folder.and_then(|folder| keep_as_it_is(promise, found, case, folder));
        let kept = file.map_or(String::new(), |file| format!("; kept as {file}"));
        say(&format!("unfair: \"{promise}\" broke in {case}, but not when that was repeated{kept}"));
        return;
    };
    let file = folder.and_then(|folder| keep(&Regression::of(&failure, case), folder));
    say(&report::failure(&failure, Some(case), file.as_deref()));
}

/// What is kept of a case that does not come back. No promise: nothing can be judged.
const HANGS: &str = "comes back";

/// Keeps a case that cannot be reduced, and returns its file.
fn keep_as_it_is(promise: &str, found: &str, case: Case, folder: &Path) -> Option<String> {
    let Case { seed, number } = case;
    let workload = case.workload();
    let regression =
        Regression { promise: promise.to_owned(), found: found.to_owned(), seed, case: number, workload };
    keep(&regression, folder)
}

fn keep(regression: &Regression, folder: &Path) -> Option<String> {
    match regression.keep(folder) {
        Ok(path) => Some(path.display().to_string()),
        Err(error) => {
            complain(&format!("warning: the failure could not be kept: {error}"));
            None
        }
    }
}

/// One case alone, told in full.
fn repeat(case: Case) -> bool {
    let judged = judge::<Colibri>(&case.workload(), ALL);
    match judged.breach {
        None => {
            say(&format!(
                "{case}:\n\n{}\nfair: all promises kept over {} events",
                case.workload(),
                judged.trace.events.len()
            ));
            true
        }
        Some(breach) => {
            tell_and_keep(breach.promise, case, None);
            false
        }
    }
}

/// Workloads from files. All of them run, whatever the first ones do.
fn replay_all(files: &[PathBuf]) -> Result<bool, String> {
    let workloads = files.iter().map(|file| regression::read(file)).collect::<Result<Vec<_>, _>>()?;
    let mut fair = true;
    for (file, workload) in files.iter().zip(workloads) {
        let file = file.display().to_string();
        let hangs = || {
            complain(&format!(
                "unfair: {file} does not come back. To repeat it: cargo xtask fairness --replay {file}"
            ));
            std::process::exit(1);
        };
        let judged = watched(HANG_AFTER, hangs, || judge::<Colibri>(&workload, ALL));
        match judged.breach {
            None => say(&format!("replayed {file}: fair")),
            Some(breach) => {
                fair = false;
                let failure = colibri_fuzz::run::Failure { breach, workload, trace: judged.trace };
                say(&report::failure(&failure, None, Some(&file)));
            }
        }
    }
    Ok(fair)
}

/// Prints a line. A reader that has gone away is no error; a report that cannot be written is, and is told at the end.
fn say(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error.to_string());
    }
}

/// Why a part of the report could not be written.
static LOST: OnceLock<String> = OnceLock::new();

/// Prints a line to stderr, if anybody takes it.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
