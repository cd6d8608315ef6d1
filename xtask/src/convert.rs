//! `cargo xtask convert [CRATE...] [OPTIONS]`: public crates' own tests with every loop of theirs cooperative.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::cargo;

/// Builds and starts the converter. Nothing of it needs to be fast but what it starts.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut command = cargo::cargo();
    command.arg("run").arg("--manifest-path").arg(cargo::root().join("Cargo.toml"));
    command.args(["--package", "colibri-fuzz", "--bin", "convert", "--"]).args(arguments);
    match command.status() {
        Ok(status) => cargo::exit_code(status),
        Err(error) => cargo::no_start(&error),
    }
}
