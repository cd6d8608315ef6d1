//! `cargo xtask ci`: what runs before a change is accepted.

use std::process::ExitCode;

use crate::step::{self, Step};
use crate::test;

/// What comes after [`test::STEPS`]: nothing may leak, or be lost under fire; the fuzzer of the attribute must find what it is
/// there for, the crates must be complete as packages, and the bench must run on real input, if only for a moment.
const MORE: [Step; 5] = [
    Step::new("sanitize", &["xtask", "sanitize"]),
    Step::new(
        "soak",
        &["run", "--release", "--package", "colibri-fuzz", "--bin", "soak", "--", "--time", "1min"],
    ),
    Step::new("canaries", &["run", "--package", "colibri-fuzz", "--bin", "fuzz-macro", "--", "--canaries"])
        .with(&test::OPTIMISED),
    Step::new("package", &PACKAGE),
    Step::new("bench", &["run", "--release", "--package", "colibri-bench", "--", "--quick"]),
];

/// Each crate that is published, built from nothing but what its package holds.
const PACKAGE: [&str; 14] = [
    "package",
    "--allow-dirty",
    "--package",
    "colibri-macros",
    "--package",
    "colibri-core",
    "--package",
    "colibri-tokio",
    "--package",
    "colibri-smol",
    "--package",
    "colibri-fuzz",
    "--package",
    "colibri-web",
];

/// Runs them all.
pub(crate) fn run() -> ExitCode {
    let steps: Vec<Step> = test::STEPS.into_iter().chain(MORE).collect();
    step::run(&steps)
}
