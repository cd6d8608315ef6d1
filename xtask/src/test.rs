//! `cargo xtask test`: everything a contributor must see pass.

use std::process::ExitCode;

use crate::step::{self, Step};

/// The harness and the tests simulate a lot: without any optimisation they take minutes instead of seconds. One
/// profile for both, so that nothing is built twice but for what checks and what runs.
const OPTIMISED: (&str, &str) = ("CARGO_PROFILE_DEV_OPT_LEVEL", "1");

const NO_STD_LINTS: [&str; 8] =
    ["clippy", "--package", "colibri-core", "--lib", "--no-default-features", "--", "-D", "warnings"];

/// On the host, with a clock and interrupts that the test plays.
const NO_STD_TESTS: [&str; 8] = [
    "test",
    "--package",
    "colibri-core",
    "--no-default-features",
    "--features",
    "macros",
    "--test",
    "no_std",
];

/// The cheapest first; the tests come last, so that theirs is the end of the output.
pub(crate) const STEPS: [Step; 8] = [
    Step::new("format", &["fmt", "--all", "--check"]).needing("rustfmt"),
    Step::new("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]).needing("clippy"),
    Step::new("no_std lints", &NO_STD_LINTS).needing("clippy"),
    Step::new("docs", &["doc", "--workspace", "--no-deps"]).with(("RUSTDOCFLAGS", "-D warnings")),
    Step::new("fairness", &["run", "--package", "colibri-fuzz", "--", "--no-keep"]).with(OPTIMISED),
    Step::new("loom", &["xtask", "loom"]),
    Step::new("no_std", &NO_STD_TESTS).with(OPTIMISED),
    Step::new("tests", &["test", "--workspace"]).with(OPTIMISED),
];

/// Runs them.
pub(crate) fn run() -> ExitCode {
    step::run(&STEPS)
}
