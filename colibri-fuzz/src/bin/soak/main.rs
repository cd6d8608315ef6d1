//! `soak`: a scheduler under fire for minutes or hours. Started by `cargo xtask soak`.
//!
//! Rounds of a million tasks on one scheduler: they wait, yield, sleep, await each other, panic, run out of time (`subject`),
//! while the host pauses, resumes, moves, cancels and forgets them (`round`), and four threads wake them, abort them and
//! spawn more (`rival`) through places that both sides know (`post`). After each round nothing may be lost (`tally`), and the
//! memory must be what it was (`memory`).

mod arguments;
mod memory;
mod post;
mod random;
mod report;
mod rival;
mod round;
mod subject;
mod tally;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser as _;
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Arguments;
use crate::memory::Memory;
use crate::report::Report;
use crate::round::Soak;

fn main() -> ExitCode {
    // clap ends wrong use with status 2 by itself.
    let arguments = Arguments::parse();
    let begin = Instant::now();
    let mut report = Report::new(&arguments);
    // What the process makes once, for its first threads and its first task, is none of the scheduler's.
    drop(Soak::new(1000, arguments.seed).round());
    let before = Memory::now();
    soak(&arguments, begin, &mut report);
    let after = Memory::now().without(report.bytes());
    let verdict = report.end(begin.elapsed(), before, after);
    println!("{report}");
    match verdict {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}\nRepeat it with: {}", arguments.command());
            ExitCode::FAILURE
        }
    }
}

/// Runs rounds on one scheduler until the time is over, or something was lost. Nothing but the report is left of it.
fn soak(arguments: &Arguments, begin: Instant, report: &mut Report) {
    let bar = ProgressBar::new(arguments.time.as_secs());
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} s {msg}").expect("a good template"));
    let mut soak = Soak::new(arguments.tasks, arguments.seed);
    loop {
        let round = soak.round();
        let lost = round.lost.is_some();
        report.add(begin.elapsed(), round, Memory::now().without(report.bytes()));
        bar.set_position(begin.elapsed().as_secs().min(arguments.time.as_secs()));
        bar.set_message(report.line());
        if lost || begin.elapsed() >= arguments.time {
            break;
        }
    }
    bar.finish_and_clear();
}
