//! `cargo xtask sanitize [TEST]`: the core's tests under AddressSanitizer, which also tells what leaks.
//!
//! The workspace has no unsafe code of its own: what can be found here is a cycle of references that is never dropped, and
//! what the standard library is asked wrongly. The sanitizer is an option that only nightly compilers accept, and others if they
//! are told to; its runtime comes with the compiler, and the standard library need not be built anew.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{cargo, test};

/// After the command's help.
pub(crate) const HELP: &str = "\
Needs a compiler for Linux or macOS that comes with the sanitizer's runtime, as rustup's do.

Exit codes: 0 all tests pass and nothing leaks, 1 otherwise, 2 this compiler has no sanitizer.";

/// Runs the tests of the scheduler, or those of one file.
pub(crate) fn run(test: Option<&str>) -> ExitCode {
    let target = match target() {
        Ok(target) => target,
        Err(why) => {
            eprintln!("error: AddressSanitizer cannot be used: {why}");
            return ExitCode::from(2);
        }
    };
    let mut command = cargo::cargo();
    command.current_dir(cargo::root());
    match test {
        Some(test) => command.args(["test", "--package", "colibri-core", "--test", test]),
        None => command.args(test::IN_A_MODE),
    };
    // Named, so that the flags are not for build scripts and macros, which run inside of the compiler.
    command.args(["--target", &target]);
    command.env("RUSTC_BOOTSTRAP", "1").envs(test::OPTIMISED);
    command.env("RUSTFLAGS", cargo::flags("-Zsanitizer=address"));
    command.env("CARGO_TARGET_DIR", cargo::target_beside("sanitize"));
    match command.status() {
        Ok(status) if status.success() => {
            println!("sanitize: all tests pass, and nothing leaks");
            ExitCode::SUCCESS
        }
        Ok(_) => ExitCode::FAILURE,
        Err(error) => cargo::no_start(&error),
    }
}

/// The host's target, if the compiler has the sanitizer's runtime for it.
fn target() -> Result<String, String> {
    let version = ask_rustc(&["-vV"])?;
    let target = host(&version).ok_or("`rustc -vV` names no host")?;
    let folder = PathBuf::from(ask_rustc(&["--print", "target-libdir"])?.trim());
    if has_runtime(&folder) {
        return Ok(target.to_owned());
    }
    Err(format!(
        "{} has no runtime of it (librustc-…_rt.asan): rustup's toolchains for x86_64 and aarch64 Linux and macOS have one",
        folder.display()
    ))
}

fn ask_rustc(arguments: &[&str]) -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(arguments).output();
    let output = output.map_err(|error| format!("rustc does not start ({error}): is it on the path?"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn host(version: &str) -> Option<&str> {
    version.lines().find_map(|line| line.strip_prefix("host: "))
}

fn has_runtime(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().contains("_rt.asan"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_found_in_what_rustc_says() {
        let said = "rustc 1.95.0\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(host(said), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host("nothing"), None);
    }

    #[test]
    fn a_folder_without_the_runtime_is_told() {
        assert!(!has_runtime(Path::new("/no/such/folder")));
        assert!(!has_runtime(cargo::root()));
    }
}
