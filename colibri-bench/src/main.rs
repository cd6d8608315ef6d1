//! The bench of colibri: what a responsive thread feels while long work runs on it.
//!
//! The flow: read the command line, run the scenarios it names one after the other, print and save each result as soon
//! as it is there. A scenario reads its input once, gives every subject the same load in interleaved rounds, and
//! hands back a [`Report`].

mod cli;
mod failure;

mod latency;
mod ops;
mod overhead;
mod scale;

mod executors;
mod kernels;

mod allowance;
mod arrivals;
mod index;
mod input;
mod plan;

mod peers;

mod machine;
mod measure;
mod progress;
mod random;
mod report;
mod warning;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, Options, SCENARIOS};
use crate::failure::Failure;
use crate::report::Report;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            anstream::eprintln!("{}error:{} {failure}", cli::ERROR, cli::PLAIN);
            failure.exit_code()
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    match cli.command.as_ref().unwrap_or(&Command::Latency) {
        Command::List => SCENARIOS
            .iter()
            .try_for_each(|scenario| say(&format!("{:<10} {}", scenario.name, scenario.about))),
        Command::All => SCENARIOS.iter().try_for_each(|scenario| measure(cli, scenario.run)),
        Command::Latency => measure(cli, latency::run),
        Command::Overhead(choice) => measure(cli, |options| overhead::run(options, choice)),
        Command::Ops => measure(cli, ops::run),
        Command::Scale => measure(cli, scale::run),
        Command::Kernel { kernel, way, repeats } => {
            overhead::repeat(kernel, *way, *repeats);
            Ok(())
        }
        Command::Memory { executor, tasks, waits } => {
            let bytes = scale::measure_memory(*executor, *tasks, *waits).ok_or_else(|| {
                Failure::Run("this system does not tell how much memory is used".to_owned())
            })?;
            say(&bytes.to_string())
        }
    }
}

/// Runs a scenario, prints what it found and saves it, so that a later scenario cannot lose it.
fn measure(cli: &Cli, scenario: impl Fn(&Options) -> Result<Report, Failure>) -> Result<(), Failure> {
    let folder = &cli.options.out;
    report::try_folder(folder)?; // before a minute of measuring
    let report = scenario(&cli.options)?;
    say(&report.text())?;
    for warning in report.warnings() {
        anstream::eprintln!("{}warning:{} {warning}\n", cli::WARNING, cli::PLAIN);
    }
    let files = report.save(folder)?;
    say(&format!("Saved in {}: {}", folder.display(), files.join(", ")))
}

/// Prints a line. A reader that has gone away (`| head`) wants no more of it, which is no failure of ours.
fn say(line: &str) -> Result<(), Failure> {
    match writeln!(anstream::stdout(), "{line}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("standard output cannot be written ({error})")))
        }
        _ => Ok(()),
    }
}
