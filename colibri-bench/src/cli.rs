//! The command line: which scenarios there are, and what can be set.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Reset, Style};
use clap::{Args, Parser, Subcommand};

use crate::classes;
use crate::failure::Failure;
use crate::input::{self, NotUtf8};
use crate::kernels::{self, Kernel};
use crate::latency::{self, LoadName};
use crate::observe::{self, ObserveChoice};
use crate::ops;
use crate::overhead::{self, Way};
use crate::report::Report;
use crate::scale;
use crate::slices;

/// How an error's first word looks on a terminal.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// How a warning's first word looks on a terminal.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Back to the terminal's own look.
pub(crate) const PLAIN: Reset = Reset;

/// Most queries in a second: above this, one sender thread cannot keep its own plan.
const RATE_MAX_PER_SECOND: u32 = 200_000;
/// Most rounds: beyond this the histograms say nothing new.
const ROUNDS_MAX: u32 = 1_000;

/// Rounds when the caller names none: 1000 queries in a second then give more than ten beyond p99.9.
const ROUNDS: u32 = 15;
/// Rounds of a quick run: a round that another program disturbed leaves a median that it did not.
const ROUNDS_QUICK: u32 = 5;
/// Rounds of `overhead`: the best of so many is within 1 % from run to run where other programs take a share of the machine.
const OVERHEAD_ROUNDS: u32 = 25;
/// And of a quick run.
const OVERHEAD_ROUNDS_QUICK: u32 = 7;
/// Input when the caller names no limit, MiB: at 100 MB/s, not yielding holds the thread for hundreds of ms.
const INPUT_MIB: u64 = 64;

/// A scenario that can be asked for by name.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Its name on the command line and in file names.
    pub(crate) name: &'static str,
    /// What it measures, in one line.
    pub(crate) about: &'static str,
    /// Measures it.
    pub(crate) run: fn(&Options) -> Result<Report, Failure>,
}

/// The scenario `overhead`.
pub(crate) const OVERHEAD: Scenario = Scenario {
    name: "overhead",
    about: overhead::ABOUT,
    run: |options| overhead::run(options, &OverheadChoice::default()),
};

/// The scenario `ops`.
pub(crate) const OPS: Scenario = Scenario { name: "ops", about: ops::ABOUT, run: ops::run };

/// The scenario `scale`.
pub(crate) const SCALE: Scenario = Scenario { name: "scale", about: scale::ABOUT, run: scale::run };

/// The scenario `observe`.
pub(crate) const OBSERVE: Scenario = Scenario {
    name: "observe",
    about: observe::ABOUT,
    run: |options| observe::run(options, &ObserveChoice::default()),
};

/// All scenarios, in the order in which `all` runs them.
pub(crate) const SCENARIOS: [&Scenario; 9] = [
    &latency::LATENCY,
    &latency::GZIP,
    &latency::JSON,
    &classes::CLASSES,
    &slices::SLICES,
    &OVERHEAD,
    &OPS,
    &SCALE,
    &OBSERVE,
];

/// Measures colibri beside its peers: same input, same arrivals, same process.
#[derive(Debug, Parser)]
#[command(
    name = "colibri-bench",
    version,
    after_help = "\
Exit codes: 0 measured and saved; 1 measuring or saving failed; 2 wrong use or unusable input;
3 (compare) something of colibri's became worse beyond noise.
NO_COLOR=1 turns colours off; the progress bar only shows on a terminal."
)]
pub(crate) struct Cli {
    /// What to measure; `latency` if none is named.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// How to measure it.
    #[command(flatten)]
    pub(crate) options: Options,
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Point queries beside bulk work on one core, colibri and each peer: waits and throughput
    Latency(LatencyChoice),
    /// A burst of 1000 tasks of 0.5 ms, equal and in three classes: overhead, decisions, waits, holds
    Classes,
    /// The same load under slices from 0.5 to 50 ms: responsiveness against throughput, and the curve's knee
    Slices,
    /// Kernels plain, cooperative and as written for tokio: ratios of time, and how late a yield is
    Overhead(OverheadChoice),
    /// Single operations (yield, wake, spawn, cancel, pause, timer) beside other executors of one thread
    Ops,
    /// From a hundred to a million live tasks: cost of a pick, bytes of a task
    Scale,
    /// What Stats, histograms, accounts, spans and stall detection cost a turn
    Observe(ObserveChoice),
    /// Tells what a turn costs; `observe` starts it, of a build without counts
    #[command(hide = true)]
    Counted,
    /// Runs one kernel one way and prints nothing; `overhead --instructions` starts it under valgrind
    #[command(hide = true)]
    Kernel {
        /// Its name
        #[arg(value_parser = kernel)]
        kernel: &'static Kernel,
        /// How
        way: Way,
        /// How often
        repeats: u32,
    },
    /// Tells the bytes of a task; `scale` starts it, a process for each figure
    #[command(hide = true)]
    Memory {
        /// The executor's place in the table
        executor: usize,
        /// How many tasks
        tasks: usize,
        /// Whether they keep a waker
        #[arg(action = clap::ArgAction::Set)]
        waits: bool,
    },
    /// Every scenario, one after the other
    All,
    /// Compares two JSON files of one scenario: ratios, and which figures moved beyond the noise of their rounds
    #[command(
        after_help = "Exit codes: 0 nothing of colibri's became worse beyond noise; 3 something did; 2 unusable files."
    )]
    Compare(Comparison),
    /// Names the scenarios with a line each
    List,
}

/// What `latency` measures.
#[derive(Debug, Default, Args)]
pub(crate) struct LatencyChoice {
    /// The bulk work
    #[arg(long, value_enum, default_value_t)]
    pub(crate) load: LoadName,
}

/// What `compare` compares.
#[derive(Debug, Args)]
pub(crate) struct Comparison {
    /// The JSON file of the earlier run, or of what is compared with
    #[arg(value_name = "A.json")]
    pub(crate) before: PathBuf,
    /// The JSON file of the later run
    #[arg(value_name = "B.json")]
    pub(crate) after: PathBuf,
    /// Show the figures that did not move, too
    #[arg(long)]
    pub(crate) every: bool,
}

/// What `overhead` measures.
#[derive(Debug, Default, Args)]
pub(crate) struct OverheadChoice {
    /// One kernel only
    #[arg(long, value_name = "NAME", value_parser = kernel)]
    pub(crate) kernel: Option<&'static Kernel>,
    /// Count instructions instead of time: exact, but needs valgrind and a few minutes
    #[arg(long)]
    pub(crate) instructions: bool,
    /// Size of the machine code instead of time: needs nm
    #[arg(long, conflicts_with = "instructions")]
    pub(crate) size: bool,
}

/// How to measure, for every scenario.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Fewer rounds, and less input if need be: each scenario ends in under a minute, all together in some two or three
    #[arg(long, global = true)]
    pub(crate) quick: bool,
    /// Rounds per subject, interleaved [default: 15, quick: 5; overhead: 25, quick: 7]
    #[arg(long, global = true, value_name = "N", value_parser = rounds)]
    rounds: Option<u32>,
    /// Seed of the arrivals and of the words that are asked for (latency, slices), and of the order of the tasks (classes);
    /// overhead, ops, scale and observe draw nothing
    #[arg(long, global = true, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for the page, JSON and HDR percentile files
    #[arg(long, global = true, value_name = "DIR", default_value = "target/colibri-bench")]
    pub(crate) out: PathBuf,
    /// Folder with the files that latency and slices work on [default: the crates' sources that cargo has on this machine, else this
    /// repository]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) input: Option<PathBuf>,
    /// Whether it is one scenario of all.
    #[arg(skip)]
    pub(crate) is_of_all: bool,
    /// MiB to work on: less is read of a folder with more, and a folder with less is gone through several times [default:
    /// 64, for JSON 256; quick: as much of it as takes half a second]
    #[arg(long, global = true, value_name = "MIB", value_parser = mebibytes)]
    input_limit: Option<u64>,
    /// Take files of --input that are not UTF-8 too, with replacement characters; without it they are an error
    #[arg(long, global = true)]
    pub(crate) lossy: bool,
    /// Queries in a second
    #[arg(long, global = true, value_name = "PER_SECOND", default_value_t = 1000, value_parser = rate)]
    pub(crate) rate: u32,
}

impl Options {
    /// Rounds per subject, but for `overhead`.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { ROUNDS_QUICK } else { ROUNDS })
    }

    /// Rounds of `overhead`.
    pub(crate) fn overhead_rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { OVERHEAD_ROUNDS_QUICK } else { OVERHEAD_ROUNDS })
    }

    /// What becomes of texts that are not UTF-8. Nobody chose those of the default folder, nor can mend them.
    pub(crate) fn not_utf8(&self) -> NotUtf8 {
        if self.lossy || self.input.is_none() { NotUtf8::Replace } else { NotUtf8::Refuse }
    }

    /// Where the input lies.
    pub(crate) fn folder(&self) -> PathBuf {
        self.input.clone().unwrap_or_else(input::default_folder)
    }

    /// Most bytes of input, for a load that gets through `factor` times as much as an index build does in its time.
    pub(crate) fn input_limit_bytes(&self, factor: u64) -> u64 {
        self.input_limit.unwrap_or(INPUT_MIB * factor) << 20
    }

    /// Whether the input is to be cut to what this machine gets through in a quick run.
    pub(crate) fn fits_input(&self) -> bool {
        self.quick && self.input_limit.is_none()
    }

    /// Whether rounds are to end early where the machine is too slow for all of a quick run's.
    pub(crate) fn is_short_of_time(&self) -> bool {
        self.quick && self.rounds.is_none()
    }
}

fn rate(text: &str) -> Result<u32, String> {
    within(text, 1, RATE_MAX_PER_SECOND, "queries per second")
}

fn rounds(text: &str) -> Result<u32, String> {
    within(text, 1, ROUNDS_MAX, "rounds")
}

fn mebibytes(text: &str) -> Result<u64, String> {
    within(text, 1, 1 << 16, "MiB").map(u64::from)
}

fn kernel(name: &str) -> Result<&'static Kernel, String> {
    kernels::find(name).ok_or_else(|| {
        let names: Vec<_> = kernels::all().map(|kernel| kernel.name).collect();
        format!("the kernels are: {}", names.join(", "))
    })
}

fn within(text: &str, least: u32, most: u32, of: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("give a whole number from {least} to {most} ({of})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn quick_sets_defaults_that_options_override() {
        let cli = Cli::parse_from(["colibri-bench", "--quick"]);
        assert_eq!((cli.options.rounds(), cli.options.input_limit_bytes(1)), (5, 64 << 20));
        let cli =
            Cli::parse_from(["colibri-bench", "latency", "--quick", "--rounds", "9", "--input-limit", "1"]);
        assert_eq!((cli.options.rounds(), cli.options.input_limit_bytes(1)), (9, 1 << 20));
    }

    #[test]
    fn limits_are_told() {
        assert_eq!(rate("0").unwrap_err(), "give a whole number from 1 to 200000 (queries per second)");
        assert!(rate("-1").is_err() && rate("many").is_err() && rate("1").is_ok());
    }
}
