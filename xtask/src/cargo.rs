//! Starting cargo.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// The cargo that started this program, else the one on the path.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The workspace's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Builds `package` for speed, as `choice` says (a program of it, or features), and runs it with `arguments`, in the caller's
/// folder, so that paths mean what they say.
pub(crate) fn run_release(package: &str, choice: &[&str], arguments: &[OsString]) -> ExitCode {
    let mut command = cargo();
    command.arg("run").arg("--release").arg("--manifest-path").arg(root().join("Cargo.toml"));
    command.args(["--package", package]).args(choice);
    command.arg("--").args(arguments);
    match command.status() {
        Ok(status) => exit_code(status),
        Err(error) => no_start(&error),
    }
}

/// Says why cargo does not start.
pub(crate) fn no_start(error: &std::io::Error) -> ExitCode {
    eprintln!("error: cargo does not start ({error}): is it on the path?");
    ExitCode::FAILURE
}

/// The caller's own flags for the compiler, and `more`.
pub(crate) fn flags(more: &str) -> String {
    with_flags(std::env::var("RUSTFLAGS").ok(), more)
}

fn with_flags(own: Option<String>, more: &str) -> String {
    format!("{} {more}", own.unwrap_or_default()).trim_start().to_owned()
}

/// A folder for what is built with other flags, so that nothing else is built anew: in the caller's own target folder.
pub(crate) fn target_beside(name: &str) -> PathBuf {
    target_in(std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from), name)
}

fn target_in(own: Option<PathBuf>, name: &str) -> PathBuf {
    own.unwrap_or_else(|| root().join("target")).join(name)
}

/// The exit code of a program that ended with `status`; 1 if a signal ended it.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    ExitCode::from(code)
}

/// Whether the toolchain has the rustup component that `cargo <subcommand>` comes with.
pub(crate) fn has(subcommand: &str) -> bool {
    cargo().args([subcommand, "--version"]).output().is_ok_and(|output| output.status.success())
}

/// `arguments` as one would type them.
pub(crate) fn typed<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> String {
    let quote = |argument: S| {
        let text = argument.as_ref().to_string_lossy().into_owned();
        if text.is_empty() || text.contains(char::is_whitespace) { format!("'{text}'") } else { text }
    };
    arguments.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_flags_and_folder_are_kept() {
        assert_eq!(with_flags(None, "--cfg a"), "--cfg a");
        assert_eq!(
            with_flags(Some("-C target-cpu=native".into()), "--cfg a"),
            "-C target-cpu=native --cfg a"
        );
        assert_eq!(target_in(Some("/a".into()), "loom"), PathBuf::from("/a/loom"));
        assert!(target_in(None, "loom").ends_with("target/loom"));
    }
}
