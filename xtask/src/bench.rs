//! `cargo xtask bench [SCENARIO] [OPTIONS]`: latency and throughput beside other executors.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cargo;

const PACKAGE: &str = "colibri-bench";
/// What is measured with the scenario `observe` as well.
const FEATURES: [&str; 2] = ["--features", "observers"];
/// The scenario that compares with a second build.
const OBSERVE: &str = "observe";
const HELP: [&str; 2] = ["-h", "--help"];

/// Builds and starts the bench.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    if !compares(arguments) {
        return cargo::run_release(PACKAGE, &FEATURES, arguments);
    }
    match uncounted() {
        Ok(program) => {
            let mut arguments = arguments.to_vec();
            arguments.splice(1..1, ["--uncounted".into(), program.into()]);
            cargo::run_release(PACKAGE, &FEATURES, &arguments)
        }
        Err(code) => code,
    }
}

fn compares(arguments: &[OsString]) -> bool {
    arguments.first().is_some_and(|name| name == OBSERVE)
        && !arguments.iter().any(|argument| HELP.iter().any(|help| argument == help))
}

/// Builds the bench without the counts behind `Stats`, in a folder of its own, and tells where it is.
fn uncounted() -> Result<PathBuf, ExitCode> {
    let folder = cargo::target_beside("uncounted");
    let mut command = cargo::cargo();
    command.current_dir(cargo::root()).args(["build", "--release", "--package", PACKAGE]).args(FEATURES);
    command.env("RUSTFLAGS", cargo::flags("--cfg colibri_uncounted")).env("CARGO_TARGET_DIR", &folder);
    match command.status() {
        Ok(status) if status.success() => {
            Ok(folder.join("release").join(PACKAGE).with_extension(std::env::consts::EXE_EXTENSION))
        }
        Ok(status) => Err(cargo::exit_code(status)),
        Err(error) => Err(cargo::no_start(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_observe_compares_with_a_second_build() {
        let compares =
            |arguments: &[&str]| compares(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(compares(&["observe", "--quick"]));
        assert!(!compares(&["observe", "--help"]) && !compares(&["ops"]) && !compares(&[]));
    }
}
