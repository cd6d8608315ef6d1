//! The bench of colibri: what a responsive thread feels while long work runs on it.
//!
//! The flow: read the command line, run the scenarios it names one after the other, print and save each result as soon
//! as it is there. A scenario reads its input once, gives every subject the same load in interleaved rounds, and
//! hands back a [`Report`](report::Report).

mod cli;
mod failure;

mod latency;

mod arrivals;
mod index;
mod input;
mod plan;

mod peers;

mod machine;
mod measure;
mod progress;
mod report;
mod warning;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, SCENARIOS, Scenario};
use crate::failure::Failure;

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
    match cli.command.as_ref().unwrap_or(&Command::All) {
        Command::List => {
            for scenario in SCENARIOS {
                anstream::println!("{:<10} {}", scenario.name, scenario.about);
            }
            Ok(())
        }
        Command::All => SCENARIOS.iter().try_for_each(|scenario| measure(scenario, cli)),
        Command::Latency => measure(&cli::LATENCY, cli),
    }
}

/// Runs one scenario, prints what it found and saves it, so that a later scenario cannot lose it.
fn measure(scenario: &Scenario, cli: &Cli) -> Result<(), Failure> {
    let report = (scenario.run)(&cli.options)?;
    anstream::println!("{}", report.text());
    for warning in report.warnings() {
        anstream::eprintln!("{}warning:{} {warning}\n", cli::WARNING, cli::PLAIN);
    }
    let folder = &cli.options.out;
    let files = report.save(folder)?;
    anstream::println!("Saved in {}: {}", folder.display(), files.join(", "));
    Ok(())
}
