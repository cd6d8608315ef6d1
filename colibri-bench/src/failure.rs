//! Why the bench stopped, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

/// A reason to stop, in words for the person at the terminal: what is wrong and what to do.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or the input cannot be used. Exit code 2, as for an unknown option.
    Input(String),
    /// Something went wrong while measuring or saving. Exit code 1.
    Run(String),
}

impl Failure {
    /// What the process answers its caller.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Input(_) => ExitCode::from(2),
            Failure::Run(_) => ExitCode::from(1),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(text) | Failure::Run(text) => f.write_str(text),
        }
    }
}
