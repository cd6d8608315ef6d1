//! React's scheduler on Node: the package that web pages use, in a process of its own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use super::burst::{Burst, EMPTIES, Mix, TASK};
use super::peers::Peer;
use crate::failure::Failure;
use crate::measure::Disturbed;

/// What installs the package.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// The script, with the package beside it.
#[derive(Debug)]
pub(super) struct React {
    folder: PathBuf,
    /// Of the package and of Node.
    versions: String,
}

/// What the script prints; times in ms.
#[derive(Debug, Deserialize)]
struct Printed {
    total: f64,
    work: f64,
    waits: [Vec<f64>; 3],
    hold: f64,
    decision: f64,
}

impl React {
    /// It, if Node is there, and the package is or can be installed.
    ///
    /// # Errors
    ///
    /// What is missing, and how to get it.
    pub(super) fn find() -> Result<Self, String> {
        let left_out = |why: String| format!("React's scheduler is left out: {why}");
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/react"));
        let node = Command::new("node").arg("--version").stdin(Stdio::null()).output();
        let Some(node) = node.ok().filter(|output| output.status.success()) else {
            let why = "there is no `node` to be started. Install Node 20 or later.";
            return Err(left_out(why.to_owned()));
        };
        if package_version(&folder).is_none() {
            install(&folder, NPM).map_err(left_out)?;
        }
        let package = package_version(&folder).unwrap_or_default();
        let versions =
            format!("scheduler {package} on Node {}", String::from_utf8_lossy(&node.stdout).trim());
        let react = Self { folder, versions };
        // A script that does not run here would else end the scenario, after a round of all others.
        match react.run("012", Duration::ZERO, 3) {
            Ok(_) => Ok(react),
            Err(failure) => Err(left_out(failure.to_string())),
        }
    }

    /// What was measured, in a sentence.
    pub(super) fn say(&self) -> String {
        format!("React's scheduler: {}.", self.versions)
    }

    /// Runs the script: tasks of these classes that work for `task` each, then so many without work.
    fn run(&self, classes: &str, task: Duration, empties: usize) -> Result<Burst, Failure> {
        let refuse = |why: &str| {
            Failure::Run(format!("it does not run on this Node; install Node 20 or later ({})", why.trim()))
        };
        let output = Command::new("node")
            .arg(self.folder.join("classes.mjs"))
            .args([classes, &(task.as_secs_f64() * 1e3).to_string(), &empties.to_string()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| refuse(&error.to_string()))?;
        if !output.status.success() {
            return Err(refuse(&String::from_utf8_lossy(&output.stderr)));
        }
        let printed: Printed =
            serde_json::from_slice(&output.stdout).map_err(|error| refuse(&error.to_string()))?;
        printed.burst().ok_or_else(|| refuse("it printed times that are none"))
    }
}

impl Peer for React {
    fn name(&self) -> &'static str {
        "React's scheduler, Node"
    }

    fn slug(&self) -> &'static str {
        "react"
    }

    fn burst(&self, mix: &Mix) -> Result<Burst, Failure> {
        let classes: String = mix.classes.iter().map(|&class| (b'0' + class as u8) as char).collect();
        self.run(&classes, TASK, EMPTIES)
    }
}

impl Printed {
    /// It as everybody's is.
    fn burst(&self) -> Option<Burst> {
        let duration = |millis: f64| Duration::try_from_secs_f64(millis / 1e3).ok();
        Some(Burst {
            total: duration(self.total)?,
            work: duration(self.work)?,
            waits_nanos: self
                .waits
                .each_ref()
                .map(|waits| waits.iter().map(|millis| (millis * 1e6) as u64).collect()),
            hold: duration(self.hold)?,
            decision_nanos: self.decision * 1e6,
            disturbed: Disturbed::default(), // Node does not tell
        })
    }
}

/// The version of the package that is installed in `folder`; none if it is not.
fn package_version(folder: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Package {
        version: String,
    }
    let text = fs::read_to_string(folder.join("node_modules/scheduler/package.json")).ok()?;
    serde_json::from_str(&text).ok().map(|package: Package| package.version)
}

/// Installs the package in `folder`, in the version and with the hash of the lock file; nothing of it is run.
///
/// # Errors
///
/// Why that failed, and what to do.
fn install(folder: &Path, npm: &str) -> Result<(), String> {
    // A note that cannot be written is no reason not to go on.
    _ = writeln!(
        anstream::stderr(),
        "note: installing React's scheduler, once: `npm ci --ignore-scripts` in {}\n",
        folder.display()
    );
    let output = Command::new(npm)
        .args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--fetch-retries=0",
            "--fetch-timeout=20000",
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let why = match output {
        Err(error) => format!("`{npm}` cannot be started ({error})"),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            format!(
                "`npm ci` failed ({})",
                said.lines().find(|line| !line.is_empty()).unwrap_or("no word").trim()
            )
        }
        Ok(_) if package_version(folder).is_none() => "`npm ci` did not bring it".to_owned(),
        Ok(_) => return Ok(()),
    };
    Err(format!("it is not installed, and {why}. Run `npm ci --ignore-scripts` in colibri-bench/react."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_installed_is_told_and_what_is_there_has_a_version() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(package_version(folder.path()), None);
        let why = install(folder.path(), "no-such-npm").unwrap_err();
        assert!(why.contains("`no-such-npm` cannot be started") && why.contains("Run `npm ci"), "{why}");
        if cfg!(unix) {
            let why = install(folder.path(), "false").unwrap_err();
            assert!(why.contains("`npm ci` failed (no word)"), "{why}");
            let why = install(folder.path(), "true").unwrap_err();
            assert!(why.contains("`npm ci` did not bring it"), "{why}");
        }
        let package = folder.path().join("node_modules/scheduler");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("package.json"), r#"{"name": "scheduler", "version": "1.2.3"}"#).unwrap();
        assert_eq!(package_version(folder.path()).as_deref(), Some("1.2.3"));
    }

    #[test]
    fn what_the_script_prints_is_read() {
        let printed =
            r#"{"total": 510.5, "work": 500, "waits": [[1], [2.5, 3], []], "hold": 8, "decision": 0.0004}"#;
        let burst = serde_json::from_str::<Printed>(printed).unwrap().burst().unwrap();
        assert_eq!((burst.total.as_micros(), burst.hold.as_millis()), (510_500, 8));
        assert_eq!(burst.waits_nanos, [vec![1_000_000], vec![2_500_000, 3_000_000], vec![]]);
        assert!((burst.decision_nanos - 400.0).abs() < 1e-6);
        let broken = printed.replace("510.5", "-1");
        assert!(serde_json::from_str::<Printed>(&broken).unwrap().burst().is_none());
    }
}
