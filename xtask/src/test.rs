//! `cargo xtask test`: everything a contributor must see pass.

use std::process::ExitCode;

use crate::step::{self, Step};

/// The harness and the tests simulate a lot: without any optimisation they take minutes instead of seconds. One
/// profile for both, so that nothing is built twice but for what checks and what runs.
pub(crate) const OPTIMISED: (&str, &str) = ("CARGO_PROFILE_DEV_OPT_LEVEL", "1");

/// The cheapest first; the tests come last, so that theirs is the end of the output.
pub(crate) const STEPS: [Step; 6] = [
    Step::new("format", &["fmt", "--all", "--check"]).needing("rustfmt"),
    Step::new("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]).needing("clippy"),
    Step::new("docs", &["doc", "--workspace", "--no-deps"]).with(("RUSTDOCFLAGS", "-D warnings")),
    Step::new("fairness", &["run", "--package", "colibri-fuzz", "--", "--no-keep"]).with(OPTIMISED),
    Step::new(
        "macro",
        &["run", "--package", "colibri-fuzz", "--bin", "fuzz-macro", "--", "--functions", "60", "--no-keep"],
    )
    .with(OPTIMISED),
    Step::new("tests", &["test", "--workspace"]).with(OPTIMISED),
];

/// Runs them.
pub(crate) fn run() -> ExitCode {
    step::run(&STEPS)
}
