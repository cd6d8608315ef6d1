//! `cargo xtask soak [OPTIONS]`: a million tasks under fire from four threads, for minutes or hours.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::cargo;

/// Builds and starts the soak.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    cargo::run_release("colibri-fuzz", &["--bin", "soak"], arguments)
}
