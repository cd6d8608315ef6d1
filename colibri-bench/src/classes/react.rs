//! React's scheduler on Node: the package that web pages use, in a process of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use super::burst::{Burst, EMPTIES, Mix, TASK};
use super::peers::Peer;
use crate::failure::Failure;
use crate::measure::Disturbed;

/// The script, with the package beside it.
#[derive(Debug)]
pub(super) struct React {
    folder: PathBuf,
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
    /// It, if Node and the package are there.
    ///
    /// # Errors
    ///
    /// What is missing, and how to get it.
    pub(super) fn find() -> Result<Self, String> {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/react"));
        let node = Command::new("node").arg("--version").stdin(Stdio::null()).output();
        if !node.is_ok_and(|output| output.status.success()) {
            return Err("React's scheduler is left out: there is no `node` to be started. Install Node 20 or later, and \
                        run `npm ci` in colibri-bench/react."
                .to_owned());
        }
        if !folder.join("node_modules/scheduler/package.json").is_file() {
            return Err(
                "React's scheduler is left out: it is not installed. Run `npm ci` in colibri-bench/react."
                    .to_owned(),
            );
        }
        let react = Self { folder };
        // A script that does not run here would else end the scenario, after a round of all others.
        match react.run("012", Duration::ZERO, 3) {
            Ok(_) => Ok(react),
            Err(failure) => Err(format!("React's scheduler is left out: {failure}")),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
