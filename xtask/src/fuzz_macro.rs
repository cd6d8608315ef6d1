//! `cargo xtask fuzz-macro [OPTIONS]`: generated functions with and without the attribute.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::cargo;

/// Builds and starts the differential fuzzer.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut command = cargo::cargo();
    command.arg("run").arg("--release").arg("--manifest-path").arg(cargo::root().join("Cargo.toml"));
    command.args(["--package", "colibri-fuzz", "--bin", "fuzz-macro", "--"]).args(arguments);
    match command.status() {
        Ok(status) => cargo::exit_code(status),
        Err(error) => {
            eprintln!("error: cargo does not start ({error}): is it on the path?");
            ExitCode::FAILURE
        }
    }
}
