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

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, SCENARIOS};
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
        Command::List => {
            for scenario in SCENARIOS {
                anstream::println!("{:<10} {}", scenario.name, scenario.about);
            }
            Ok(())
        }
        Command::All => SCENARIOS.iter().try_for_each(|scenario| finish(cli, (scenario.run)(&cli.options)?)),
        Command::Latency => finish(cli, latency::run(&cli.options)?),
        Command::Overhead(choice) => finish(cli, overhead::run(&cli.options, choice)?),
        Command::Ops => finish(cli, ops::run(&cli.options)?),
        Command::Scale => finish(cli, scale::run(&cli.options)?),
        Command::Kernel { kernel, way, repeats } => {
            overhead::repeat(kernel, *way, *repeats);
            Ok(())
        }
        Command::Memory { executor, tasks, waits } => {
            let bytes = scale::measure_memory(*executor, *tasks, *waits).ok_or_else(|| {
                Failure::Run("this system does not tell how much memory is used".to_owned())
            })?;
            anstream::println!("{bytes}");
            Ok(())
        }
    }
}

/// Prints what a scenario found and saves it, so that a later scenario cannot lose it.
fn finish(cli: &Cli, report: Report) -> Result<(), Failure> {
    anstream::println!("{}", report.text());
    for warning in report.warnings() {
        anstream::eprintln!("{}warning:{} {warning}\n", cli::WARNING, cli::PLAIN);
    }
    let folder = &cli.options.out;
    let files = report.save(folder)?;
    anstream::println!("Saved in {}: {}", folder.display(), files.join(", "));
    Ok(())
}
