//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use colibri_fuzz::span;

use crate::canary::{CANARIES, Canary};

/// Compares functions with and without `#[cooperative]`: generated ones, of every form of loop.
///
/// Each is compiled twice from one text, and run under unlimited, time and check budgets. Result, side effects, order
/// of drops, panics and the number of polls must agree, and so must the compiler's warnings. Failures kept in
/// colibri-fuzz/regressions/macro are replayed first; a new one is made small, told with the command that repeats it,
/// and kept there.
#[derive(Debug, Parser)]
#[command(
    name = "fuzz-macro",
    version,
    after_help = "\
Exit status: 0 all agree, 1 some differ, 2 wrong use, or the functions could not be compiled at all.
With --canary and --canaries: 0 found out, 1 missed."
)]
pub(crate) struct Arguments {
    /// The run's seed: the same seed makes the same functions
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many functions [default: 400, or without limit beside --time]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) functions: Option<u64>,
    /// The number of the first function
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) first: u64,
    /// For how long, such as 90s, 10min, 1h (a batch that was begun is finished)
    #[arg(long, value_name = "LENGTH", value_parser = span::from_text)]
    pub(crate) time: Option<Duration>,
    /// Functions that are compiled together
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=2000))]
    pub(crate) batch: u64,
    /// Inputs on which each function runs
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) inputs: u64,
    /// Keep new failures in this folder, and replay those that are there [default: colibri-fuzz/regressions/macro]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Do not keep new failures
    #[arg(long)]
    pub(crate) no_keep: bool,
    /// Do not replay kept failures
    #[arg(long)]
    pub(crate) no_replay: bool,
    /// Compile with all optimisations; otherwise every eighth batch is
    #[arg(long)]
    pub(crate) optimised: bool,
    /// How long a failure may take to be made small; of each kind only the first one is (0s: none)
    #[arg(long, value_name = "LENGTH", default_value = "60s", value_parser = span::from_text)]
    pub(crate) shrink: Duration,
    /// Count a warning that only the plain function gets as a difference, too
    #[arg(long)]
    pub(crate) lost_warnings: bool,
    /// Use a lowering that is wrong on purpose: it must be found (nothing is replayed, kept or made small)
    #[arg(long, value_name = "NAME", value_parser = canary, long_help = canaries())]
    pub(crate) canary: Option<Canary>,
    /// Print what the compiler says of functions that do not compile even plain: faults of the generator
    #[arg(long)]
    pub(crate) show_invalid: bool,
    /// Use every one of these wrong lowerings: each must be found within a few functions
    #[arg(long, conflicts_with_all = ["canary", "functions", "time", "print"])]
    pub(crate) canaries: bool,
    /// Only print this function
    #[arg(long, value_name = "K")]
    pub(crate) print: Option<u64>,
}

fn canary(name: &str) -> Result<Canary, String> {
    let names = CANARIES.map(|canary| canary.name).join(", ");
    Canary::named(name).ok_or_else(|| format!("there are {names}"))
}

fn canaries() -> String {
    let lines = CANARIES.map(|canary| format!("  {:<16} {}", canary.name, canary.what)).join("\n");
    format!(
        "Use a lowering that is wrong on purpose: it must be found (nothing is replayed, kept or made small):\n{lines}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }
}
