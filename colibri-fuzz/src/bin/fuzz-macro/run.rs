//! A run: kept failures first, then batches of new functions, then what differs is made small and kept.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Arguments;
use crate::case::Case;
use crate::judge::{Failure, Setting, Verdict, judge};
use crate::kept;
use crate::project::Project;
use crate::say;
use crate::shrink::shrink;
use crate::summary::Summary;

/// Functions of a run that says nothing else.
const USUAL_FUNCTIONS: u64 = 400;
/// Of this many batches one is compiled with all optimisations.
const OPTIMISED_EVERY: u64 = 8;

/// Runs; true if all twins agree.
pub(crate) fn run(arguments: &Arguments) -> Result<bool, String> {
    let start = Instant::now();
    let mut project = Project::new()?;
    let wrong = arguments.canary;
    let cooperative = move |case: &Case| match wrong {
        Some(canary) => canary.cooperative(case),
        None => case.cooperative(None),
    };
    let setting = Setting {
        cooperative: &cooperative,
        inputs: arguments.inputs,
        lost_warnings_count: arguments.lost_warnings,
    };
    let folder = arguments.keep.clone().unwrap_or_else(kept::folder);
    let are_kept_well = match wrong {
        None if !arguments.no_replay => replay(&project, &folder, &setting)?,
        _ => true,
    };
    let summary = batches(&mut project, arguments, &setting, start)?;
    for (case, why) in summary.invalid.iter().filter(|_| arguments.show_invalid) {
        say(&format!("{}: {}", case.name, why.trim_end()));
    }
    say(&summary.text(start.elapsed()));
    project.is_optimised = arguments.optimised;
    if let Some(canary) = wrong {
        let found = summary.differing() > 0;
        say(&format!(
            "the canary {} ({}) was {}",
            canary.name,
            canary.what,
            if found { "found out" } else { "missed" }
        ));
        return Ok(found);
    }
    for (many, case, failure) in summary.failures.values() {
        tell(&project, arguments, &folder, &setting, (*many, case, failure));
    }
    Ok(summary.failures.is_empty() && are_kept_well)
}

/// Judges the kept failures; true if all of them agree now.
fn replay(project: &Project, folder: &Path, setting: &Setting<'_>) -> Result<bool, String> {
    let cases = kept::read(folder)?;
    if cases.is_empty() {
        return Ok(true);
    }
    let mut is_well = true;
    for (case, verdict) in cases.iter().zip(judge(project, &cases, setting)?) {
        match verdict {
            Verdict::Agree { .. } => {}
            Verdict::Invalid(why) => {
                return Err(format!("{}: the kept function does not compile plain:\n{why}", case.name));
            }
            Verdict::Differ(failure) => {
                is_well = false;
                say(&format!("differs (kept): {}: {}\n{}", case.name, failure.title(), failure.seen));
            }
        }
    }
    say(&format!(
        "replayed {} kept functions: {}",
        cases.len(),
        if is_well { "all agree" } else { "some differ" }
    ));
    Ok(is_well)
}

fn batches(
    project: &mut Project,
    arguments: &Arguments,
    setting: &Setting<'_>,
    start: Instant,
) -> Result<Summary, String> {
    let most =
        arguments.functions.unwrap_or(if arguments.time.is_some() { u64::MAX } else { USUAL_FUNCTIONS });
    let end = arguments.first.saturating_add(most);
    let bar = progress_bar(most);
    let mut summary = Summary::default();
    let mut next = arguments.first;
    let mut number = 0;
    while next < end && arguments.time.is_none_or(|time| start.elapsed() < time) {
        number += 1;
        let last = next.saturating_add(arguments.batch).min(end);
        let cases = (next..last).map(|number| Case::generated(arguments.seed, number)).collect::<Vec<_>>();
        project.is_optimised = arguments.optimised || number % OPTIMISED_EVERY == 0;
        for (case, verdict) in cases.iter().zip(judge(project, &cases, setting)?) {
            if let Some(title) = summary.add(case, verdict) {
                // At once: a long run may be stopped before its end.
                bar.suspend(|| say(&format!("differs: {title}: {}", case.name)));
            }
        }
        next = last;
        bar.set_position(summary.functions);
        bar.set_message(match summary.differing() {
            0 => String::new(),
            many => format!("{many} differ"),
        });
    }
    bar.finish_and_clear();
    Ok(summary)
}

/// On a terminal only: a pipe gets no progress.
fn progress_bar(functions: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (bar, template) = if functions == u64::MAX {
        (ProgressBar::new_spinner(), "{spinner} {pos} functions, {elapsed} {msg}")
    } else {
        (ProgressBar::new(functions), "{wide_bar} {pos} of {len} functions, {eta} {msg}")
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Makes a failure small, tells it, and keeps it.
fn tell(
    project: &Project,
    arguments: &Arguments,
    folder: &Path,
    setting: &Setting<'_>,
    (many, case, failure): (u64, &Case, &Failure),
) {
    let number = case.name.rsplit('n').next().unwrap_or_default();
    let mut command =
        format!("cargo xtask fuzz-macro --seed {} --first {number} --functions 1", arguments.seed);
    if arguments.optimised {
        command.push_str(" --optimised");
    }
    let (small, seen) = shrink(project, case, failure, setting, Instant::now() + arguments.shrink);
    let kept = match arguments.no_keep {
        true => String::new(),
        false => match kept::keep(folder, &small, &seen, &command) {
            Ok(path) => format!("kept as {}\n", path.display()),
            Err(error) => format!("warning: it could not be kept: {error}\n"),
        },
    };
    say(&format!(
        "---- {} ({many} functions)\n{}\n\n{}\n{kept}to repeat it: {command}\n",
        seen.title(),
        seen.seen.trim_end(),
        small.text.trim_end()
    ));
}
