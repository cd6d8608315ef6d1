//! `cargo xtask fairness [OPTIONS] [--no-loom]`: the scheduler's promises on generated workloads, then the loom models.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::{cargo, loom};

/// Leaves the models out.
const NO_LOOM: &str = "--no-loom";

/// With one of these, the harness does one thing, and the models are none of it.
const ALONE: [&str; 9] =
    ["--help", "-h", "--version", "-V", "--case", "--replay", "--compare", "--canaries", "--latency"];

/// Builds and starts the fairness harness; if it finds nothing, runs the loom models.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let own: Vec<OsString> = arguments.iter().filter(|&argument| argument != NO_LOOM).cloned().collect();
    let code = cargo::run_release("colibri-fuzz", &[], &own);
    if code != ExitCode::SUCCESS || !with_models(arguments) {
        return code;
    }
    loom::run(None)
}

fn with_models(arguments: &[OsString]) -> bool {
    !arguments.iter().any(|argument| {
        let text = argument.to_string_lossy();
        let option = text.split('=').next().unwrap_or_default();
        option == NO_LOOM || ALONE.contains(&option)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_run_unless_they_are_left_out() {
        let with =
            |arguments: &[&str]| with_models(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(with(&[]));
        assert!(with(&["--seed", "1"]));
        assert!(!with(&["--seed", "1", "--no-loom"]));
        assert!(!with(&["--help"]));
        assert!(!with(&["--replay=case.json"]));
        assert!(!with(&["--seed", "2", "--compare"]));
    }
}
