//! `cargo xtask ci`: what runs before a change is accepted.

use std::process::ExitCode;

use crate::step::{self, Step};
use crate::test;

/// What comes after [`test::STEPS`]: nothing may leak, or be lost under fire; the fuzzer of the attribute must find what it is
/// there for, and the bench must run on real input, if only for a moment.
const MORE: [Step; 4] = [
    Step::new("sanitize", &["xtask", "sanitize"]),
    Step::new(
        "soak",
        &["run", "--release", "--package", "colibri-fuzz", "--bin", "soak", "--", "--time", "1min"],
    ),
    Step::new("canaries", &["run", "--package", "colibri-fuzz", "--bin", "fuzz-macro", "--", "--canaries"])
        .with(&test::OPTIMISED),
    Step::new("bench", &["run", "--release", "--package", "colibri-bench", "--", "--quick"]),
];

/// Runs them all.
pub(crate) fn run() -> ExitCode {
    let steps: Vec<Step> = test::STEPS.into_iter().chain(MORE).collect();
    step::run(&steps)
}
