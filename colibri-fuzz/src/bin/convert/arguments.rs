//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use colibri_fuzz::span;

use crate::canary::{self, Canary};

/// Makes every function with a loop of public crates cooperative, and runs the crates' own tests.
///
/// Each function becomes a wrapper of the same signature, which drives a cooperative twin to its end with a yield at
/// every third check. The tests must pass as they do plain, and whatever compiles plain must compile converted. Cargo
/// brings the crates' sources and what their tests need from the package registry.
#[derive(Debug, Parser)]
#[command(
    name = "convert",
    version,
    after_help = "\
Exit status: 0 all the same, 1 a function does not compile, a test differs or nothing gives way, 2 wrong use.
With --canary: 0 found out, 1 missed."
)]
pub(crate) struct Arguments {
    /// The crates, as NAME for one of the list or NAME@VERSION for any other [default: the whole list]
    #[arg(value_name = "CRATE")]
    pub(crate) crates: Vec<String>,
    /// Only list the crates
    #[arg(long)]
    pub(crate) list: bool,
    /// Keep the converted sources in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Run the documentation's tests as well
    #[arg(long)]
    pub(crate) docs: bool,
    /// Convert only functions whose `file:line name` contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Tell each function that stays plain, and why
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Use a lowering that is wrong on purpose: it must be found out
    #[arg(long, value_name = "NAME", value_parser = canary::named, long_help = canary::help())]
    pub(crate) canary: Option<Canary>,
    /// How long the tests of one crate may take
    #[arg(long, value_name = "LENGTH", default_value = "10min", value_parser = span::from_text)]
    pub(crate) patience: Duration,
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
