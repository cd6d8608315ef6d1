//! `cargo xtask test`: everything a contributor must see pass.

use std::process::ExitCode;

use crate::step::{self, Step};

/// The cheapest first. All share one profile, so that nothing is built twice but for what checks and what runs; the
/// tests come last, so that theirs is the end of the output.
pub(crate) const STEPS: [Step; 5] = [
    Step::new("format", &["fmt", "--all", "--check"]).needing("rustfmt"),
    Step::new("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]).needing("clippy"),
    Step::new("docs", &["doc", "--workspace", "--no-deps"]).with("RUSTDOCFLAGS", "-D warnings"),
    Step::new("fairness", &["run", "--package", "colibri-fuzz", "--", "--cases", "5000"]),
    Step::new("tests", &["test", "--workspace"]),
];

/// Runs them.
pub(crate) fn run() -> ExitCode {
    step::run(&STEPS)
}
