//! `cargo xtask fairness [OPTIONS]`: the scheduler's promises on generated workloads.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::cargo;

/// Builds and starts the fairness harness.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    cargo::run_release("colibri-fuzz", arguments)
}
