//! `cargo xtask bench [SCENARIO] [OPTIONS]`: latency and throughput beside other executors.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::cargo;

/// Builds and starts the bench.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    cargo::run_release("colibri-bench", None, arguments)
}
