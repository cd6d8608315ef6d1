//! The machine that the figures come from.

use std::fmt;
use std::fs;
use std::thread;

use serde::{Deserialize, Serialize};

/// What a reader needs to know to compare figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    cpu: String,
    cores: usize,
    system: String,
    architecture: String,
    /// `release` or `debug`.
    profile: String,
    /// Version of the bench and of colibri.
    version: String,
}

impl Machine {
    /// This machine. What the system does not tell is `unknown`.
    pub(crate) fn this() -> Self {
        Self {
            cpu: cpu().unwrap_or_else(|| "unknown CPU".to_owned()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            system: system(),
            architecture: std::env::consts::ARCH.to_owned(),
            profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cores, system, architecture, profile, version } = self;
        write!(f, "{cpu}, {cores} cores, {system}, {architecture}; {profile} build of colibri {version}")
    }
}

fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let (_, name) = text.lines().find(|line| line.starts_with("model name"))?.split_once(':')?;
    Some(name.trim().to_owned())
}

fn system() -> String {
    match fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => format!("Linux {}", release.trim()),
        Err(_) => std::env::consts::OS.to_owned(),
    }
}
