//! The commands of the workspace: `cargo xtask bench`, `fairness`, `loom`, `soak`, `sanitize`, `fuzz-macro`, `convert`,
//! `web`, `test`, `ci`.
//!
//! It starts the other programs with cargo and never links them, so that it is built in seconds.

mod bench;
mod cargo;
mod ci;
mod convert;
mod fairness;
mod fuzz_macro;
mod loom;
mod sanitize;
mod soak;
mod step;
mod test;
mod web;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The commands of the colibri workspace.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    after_help = "\
Exit codes: 0 all well; otherwise that of the program that failed (2: wrong use)."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures latency and throughput beside other executors (`cargo xtask bench --help` has the options)
    #[command(disable_help_flag = true)]
    Bench {
        /// Handed to colibri-bench as they are
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Checks the scheduler's promises on generated workloads, then runs the loom models, but for `--no-loom`
    /// (`cargo xtask fairness --help` has the other options)
    #[command(disable_help_flag = true)]
    Fairness {
        /// Handed to colibri-fuzz as they are, `--no-loom` left out
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Compares generated functions with and without `#[cooperative]` (`cargo xtask fuzz-macro --help` has the options)
    #[command(disable_help_flag = true)]
    FuzzMacro {
        /// Handed to fuzz-macro as they are
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Runs the tests of public crates with all their loops cooperative (`cargo xtask convert --help` has the options)
    #[command(disable_help_flag = true)]
    Convert {
        /// Handed to convert as they are
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Runs the loom models of everything that threads share, over all interleavings
    #[command(after_help = "Exit codes: 0 all hold, 1 one does not, 2 wrong use.")]
    Loom {
        /// Only the models whose names begin so: wake_against_poll, for example
        model: Option<String>,
    },
    /// Runs the scheduler under fire from four threads for minutes or hours: nothing may be lost, no memory grow
    /// (`cargo xtask soak --help` has the options)
    #[command(disable_help_flag = true)]
    Soak {
        /// Handed to soak as they are
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Runs the core's tests under AddressSanitizer
    #[command(after_help = sanitize::HELP)]
    Sanitize {
        /// Only the tests of this file of colibri-core/tests: threads, for example
        test: Option<String>,
    },
    /// Builds the package for browsers and says how large it is; tests it and serves its page, if asked to
    #[command(after_help = web::HELP)]
    Web {
        /// Then runs its tests, on Node and in Chromium
        #[arg(long)]
        test: bool,
        /// Then runs its tests in Chromium alone
        #[arg(long)]
        browser: bool,
        /// Then serves the page on loopback, until it is interrupted
        #[arg(long)]
        serve: bool,
    },
    /// Everything a contributor must see pass: format, lints, docs, a quick fairness run, loom models, all tests
    Test,
    /// What runs before a change is accepted: `test` and more
    Ci,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Bench { arguments } => bench::run(&arguments),
        Command::Fairness { arguments } => fairness::run(&arguments),
        Command::Loom { model } => loom::run(model.as_deref()),
        Command::Soak { arguments } => soak::run(&arguments),
        Command::Sanitize { test } => sanitize::run(test.as_deref()),
        Command::FuzzMacro { arguments } => fuzz_macro::run(&arguments),
        Command::Convert { arguments } => convert::run(&arguments),
        Command::Web { test, browser, serve } => web::run(web::Then { test, browser, serve }),
        Command::Test => test::run(),
        Command::Ci => ci::run(),
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
    fn options_go_through_untouched() {
        let cli = Cli::parse_from(["cargo xtask", "bench", "latency", "--quick", "--help", "--", "-x"]);
        let Command::Bench { arguments } = cli.command else { panic!("{cli:?}") };
        assert_eq!(arguments, ["latency", "--quick", "--help", "--", "-x"]);
        let cli = Cli::parse_from(["cargo xtask", "fairness", "--seed", "1"]);
        let Command::Fairness { arguments } = cli.command else { panic!("{cli:?}") };
        assert_eq!(arguments, ["--seed", "1"]);
        let cli = Cli::parse_from(["cargo xtask", "fuzz-macro", "--functions", "60"]);
        let Command::FuzzMacro { arguments } = cli.command else { panic!("{cli:?}") };
        assert_eq!(arguments, ["--functions", "60"]);
        let cli = Cli::parse_from(["cargo xtask", "soak", "--time", "5min"]);
        let Command::Soak { arguments } = cli.command else { panic!("{cli:?}") };
        assert_eq!(arguments, ["--time", "5min"]);
        let cli = Cli::parse_from(["cargo xtask", "convert", "heck", "--list"]);
        let Command::Convert { arguments } = cli.command else { panic!("{cli:?}") };
        assert_eq!(arguments, ["heck", "--list"]);
    }
}
