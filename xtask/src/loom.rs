//! `cargo xtask loom [MODEL]`: the models of everything that threads share, over all interleavings.

use std::process::{Command, ExitCode, Output};
use std::time::Instant;

use crate::cargo;

/// What the name of each model begins with.
const MODEL: &str = "model_";

/// Builds the models with loom in the place of the system's atomics, runs those whose names begin with `name`, and tells
/// how many interleavings each has seen.
pub(crate) fn run(name: Option<&str>) -> ExitCode {
    let start = Instant::now();
    println!("loom: builds and runs the models ...");
    // Shown only if one fails: a seeded fault is found by a panic, which would look like a failure.
    let output = match command(name).output() {
        Ok(output) => output,
        Err(error) => return cargo::no_start(&error),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        show(&output);
        let name = name.map_or(String::new(), |name| format!(" {name}"));
        eprintln!("error: a model failed, or was not built. Repeat it with: cargo xtask loom{name}");
        return ExitCode::FAILURE;
    }
    let findings: Vec<&str> = said.lines().filter_map(finding).collect();
    if findings.is_empty() {
        let name = name.unwrap_or_default();
        eprintln!("error: no model's name begins with `{name}`: `cargo xtask loom` runs and names them all");
        return ExitCode::from(2);
    }
    findings.iter().for_each(|finding| println!("{finding}"));
    println!("loom: all hold, and each seeded fault was found: {:.1} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

/// In a folder of its own, since the flag makes cargo build everything anew.
fn command(name: Option<&str>) -> Command {
    let mut command = cargo::cargo();
    command.current_dir(cargo::root()).args(["test", "--release", "--package", "colibri-core", "--lib"]);
    command.args(["--", "--nocapture", &format!("{MODEL}{}", name.unwrap_or_default())]);
    command.env("RUSTFLAGS", cargo::flags("--cfg colibri_loom"));
    command.env("CARGO_TARGET_DIR", cargo::target_beside("loom"));
    // Link-time optimisation takes longer than it saves; and a model that overflows must say so.
    command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    command.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    command.env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true");
    // Either would end a model early, silently and green.
    command.env_remove("LOOM_MAX_PERMUTATIONS").env_remove("LOOM_MAX_DURATION");
    command
}

/// What a line of the test program says of a model. Where tests run one after the other, their names stand before it.
fn finding(line: &str) -> Option<&str> {
    let said = line.rsplit_once(" ... ").map_or(line, |(_, said)| said);
    (said.ends_with(" interleavings") || said.ends_with(": found")).then_some(said)
}

fn show(output: &Output) {
    eprint!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_told_from_the_rest() {
        assert_eq!(
            finding("a wake against a park: 32 interleavings"),
            Some("a wake against a park: 32 interleavings")
        );
        assert_eq!(finding("test model::model_a ... LeavesOutputs: found"), Some("LeavesOutputs: found"));
        assert_eq!(finding("test model::wakes::model_push_against_park ... ok"), None);
        assert_eq!(finding("thread 'a' panicked at b.rs:1:1:"), None);
    }
}
