//! The bench of colibri: what a responsive thread feels while long work runs on it.
//!
//! The flow: read the command line, run the scenarios it names one after the other, print and save each result as soon
//! as it is there. A scenario reads its input once, gives every subject the same load in interleaved rounds, and
//! hands back a [`Report`].

mod cli;
mod failure;

mod classes;
mod latency;
mod observe;
mod ops;
mod overhead;
mod scale;
mod slices;

mod compare;

mod executors;
mod kernels;
mod loads;

mod allowance;
mod arrivals;
mod input;
mod job;
mod plan;

mod peers;

mod machine;
mod measure;
mod progress;
mod random;
mod report;
mod warning;

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, LatencyChoice, Options, SCENARIOS};
use crate::failure::Failure;
use crate::latency::LoadName;
use crate::report::{Page, Report};

/// What is measured if nothing is named.
const DEFAULT: Command = Command::Latency(LatencyChoice { load: LoadName::Index });

fn main() -> ExitCode {
    let mut cli = Cli::parse();
    cli.options.is_of_all = matches!(cli.command, Some(Command::All));
    match run(&cli) {
        Ok(code) => code,
        Err(failure) => {
            anstream::eprintln!("{}error:{} {failure}", cli::ERROR, cli::PLAIN);
            failure.exit_code()
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let mut run = Run { options: &cli.options, page: Page::default() };
    let command = cli.command.as_ref().unwrap_or(&DEFAULT);
    let done = match command {
        Command::List => SCENARIOS
            .iter()
            .map(|scenario| (scenario.name, scenario.about))
            .chain([("all", "every one of these, one after the other")])
            .try_for_each(|(name, about)| say(&format!("{name:<20} {about}"))),
        Command::All => SCENARIOS.iter().try_for_each(|scenario| run.measure(scenario.run)),
        Command::Latency(choice) => run.measure(choice.load.scenario().run),
        Command::Classes => run.measure(classes::CLASSES.run),
        Command::Slices => run.measure(slices::SLICES.run),
        Command::Compare(comparison) => {
            let compared = compare::compare(comparison)?;
            say(&compared.text)?;
            return Ok(compared.exit_code());
        }
        Command::Overhead(choice) => run.measure(|options| overhead::run(options, choice)),
        Command::Ops => run.measure(ops::run),
        Command::Scale => run.measure(scale::run),
        Command::Observe(choice) => run.measure(|options| observe::run(options, choice)),
        Command::Counted => say(&observe::counted()),
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
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// The scenarios of one start of the program.
#[derive(Debug)]
struct Run<'a> {
    options: &'a Options,
    page: Page,
}

impl Run<'_> {
    /// Runs a scenario, saves what it found and prints it, in this order: neither a later scenario nor an output that
    /// cannot be written may lose minutes of measuring.
    fn measure(&mut self, scenario: impl Fn(&Options) -> Result<Report, Failure>) -> Result<(), Failure> {
        let folder = &self.options.out;
        report::try_folder(folder)?; // before a minute of measuring
        let report = scenario(self.options)?;
        let saved = report.save(folder);
        let drawn = self.page.add(&report, folder);
        let printed = say(&report.text());
        if !std::io::stdout().is_terminal() {
            for warning in report.warnings() {
                // Where this cannot be written, it is in the text and in the files all the same.
                _ = writeln!(anstream::stderr(), "{}warning:{} {warning}\n", cli::WARNING, cli::PLAIN);
            }
        }
        let mut files = saved?;
        files.push(drawn?.to_owned());
        printed?;
        say(&format!("\nSaved in {}: {}\n", folder.display(), files.join(", ")))
    }
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
