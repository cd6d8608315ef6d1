//! `cargo xtask test`: everything a contributor must see pass.

use std::process::ExitCode;

use crate::step::{self, Step};

/// The harness and the tests simulate a lot: without any optimisation they take minutes instead of seconds. One
/// profile for both, so that nothing is built twice but for what checks and what runs.
pub(crate) const OPTIMISED: [(&str, &str); 1] = [OPT_LEVEL];
const OPT_LEVEL: (&str, &str) = ("CARGO_PROFILE_DEV_OPT_LEVEL", "1");

/// In a mode each task gives way at every check, or who is next among equals is drawn. Tests of the order of turns say there what
/// does not depend on it.
const MODE: &str = "COLIBRI_TEST_MODE";
pub(crate) const IN_A_MODE: [&str; 27] = [
    "test",
    "--package",
    "colibri-core",
    "--test",
    "abort",
    "--test",
    "cases",
    "--test",
    "life",
    "--test",
    "limits",
    "--test",
    "observers",
    "--test",
    "overruns",
    "--test",
    "reentrancy",
    "--test",
    "rules",
    "--test",
    "scheduling",
    "--test",
    "stalls",
    "--test",
    "task_stats",
    "--test",
    "threads",
];

const NO_STD_LINTS: [&str; 8] =
    ["clippy", "--package", "colibri-core", "--lib", "--no-default-features", "--", "-D", "warnings"];

/// On the host, with a clock and interrupts that the test plays.
const NO_STD_TESTS: [&str; 10] = [
    "test",
    "--package",
    "colibri-core",
    "--no-default-features",
    "--features",
    "macros",
    "--test",
    "no_std",
    "--test",
    "no_std_clock",
];

/// Code that only optional features bring is checked and documented like all other.
const FEATURES: &str = "colibri-core/histogram,colibri-core/tracing";

/// The observers that optional features bring.
const OBSERVERS: [&str; 7] =
    ["test", "--package", "colibri-core", "--features", "histogram,tracing", "--test", "observers"];

/// The cheapest first; the tests come last, so that theirs is the end of the output.
pub(crate) const STEPS: [Step; 14] = [
    Step::new("format", &["fmt", "--all", "--check"]).needing("rustfmt"),
    Step::new(
        "lints",
        &["clippy", "--workspace", "--all-targets", "--features", FEATURES, "--", "-D", "warnings"],
    )
    .needing("clippy"),
    Step::new("no_std lints", &NO_STD_LINTS).needing("clippy"),
    Step::new("docs", &["doc", "--workspace", "--no-deps", "--features", FEATURES])
        .with(&[("RUSTDOCFLAGS", "-D warnings")]),
    // As users build them first: what few features bring must not be linked to.
    Step::new("default docs", &["doc", "--package", "colibri-core", "--no-deps"])
        .with(&[("RUSTDOCFLAGS", "-D warnings")]),
    Step::new("fairness", &["run", "--package", "colibri-fuzz", "--", "--no-keep"]).with(&OPTIMISED),
    Step::new(
        "macro",
        &["run", "--package", "colibri-fuzz", "--bin", "fuzz-macro", "--", "--functions", "60", "--no-keep"],
    )
    .with(&OPTIMISED),
    Step::new("loom", &["xtask", "loom"]),
    Step::new("no_std", &NO_STD_TESTS).with(&OPTIMISED),
    Step::new("observers", &OBSERVERS).with(&OPTIMISED),
    Step::new("always yield", &IN_A_MODE).with(&[OPT_LEVEL, (MODE, "always-yield")]),
    Step::new("shuffled", &IN_A_MODE).with(&[OPT_LEVEL, (MODE, "shuffle=1")]),
    Step::new("shuffled otherwise", &IN_A_MODE).with(&[OPT_LEVEL, (MODE, "shuffle=2")]),
    Step::new("tests", &["test", "--workspace"]).with(&OPTIMISED),
];

/// Runs them.
pub(crate) fn run() -> ExitCode {
    step::run(&STEPS)
}
