//! `cargo xtask fuzz-macro [OPTIONS]`: generated functions with and without the attribute.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::{cargo, test};

/// Builds and starts the differential fuzzer.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut command = cargo::cargo();
    // As `cargo xtask test` builds it: what it starts with is there, and rustc is what takes its time.
    let [(variable, value)] = test::OPTIMISED;
    command.env(variable, value);
    command.arg("run").arg("--manifest-path").arg(cargo::root().join("Cargo.toml"));
    command.args(["--package", "colibri-fuzz", "--bin", "fuzz-macro", "--"]).args(arguments);
    match command.status() {
        Ok(status) => cargo::exit_code(status),
        Err(error) => cargo::no_start(&error),
    }
}
