//! Starting cargo.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

/// The cargo that started this program, else the one on the path.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The workspace's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Builds `package` for speed and runs it with `arguments`, in the caller's folder, so that paths mean what they say.
pub(crate) fn run_release(package: &str, arguments: &[OsString]) -> ExitCode {
    let mut command = cargo();
    command.arg("run").arg("--release").arg("--manifest-path").arg(root().join("Cargo.toml"));
    command.args(["--package", package, "--"]).args(arguments);
    match command.status() {
        Ok(status) => exit_code(status),
        Err(error) => {
            eprintln!("error: cargo does not start ({error}): is it on the path?");
            ExitCode::FAILURE
        }
    }
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
