//! Steps that run one after the other and stop at the first that fails.

use std::fmt::Write as _;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use crate::cargo;

/// One call of cargo.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Its name in the summary.
    pub(crate) name: &'static str,
    /// What follows `cargo`.
    pub(crate) arguments: &'static [&'static str],
    /// Environment variables to set for it.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// The rustup component it needs.
    pub(crate) component: Option<&'static str>,
}

impl Step {
    /// A step that needs nothing but cargo.
    pub(crate) const fn new(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { name, arguments, environment: &[], component: None }
    }

    /// With environment variables.
    pub(crate) const fn with(self, environment: &'static [(&'static str, &'static str)]) -> Self {
        Self { environment, ..self }
    }

    /// With a rustup component that has to be there.
    pub(crate) const fn needing(self, component: &'static str) -> Self {
        Self { component: Some(component), ..self }
    }

    /// The command that repeats this step alone.
    fn command(&self) -> String {
        let variables: String =
            self.environment.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
        format!("{variables}cargo {}", cargo::typed(self.arguments))
    }

    fn run(&self) -> std::io::Result<ExitStatus> {
        cargo::cargo()
            .args(self.arguments)
            .envs(self.environment.iter().copied())
            .current_dir(cargo::root())
            .status()
    }
}

/// Runs `steps` in order, says how each went, and ends with the first failure.
pub(crate) fn run(steps: &[Step]) -> ExitCode {
    let missing = missing_components(steps);
    if !missing.is_empty() && !add_components(&missing, steps) {
        eprintln!(
            "error: this toolchain has no {}: add what is missing with `rustup component add {}`",
            missing.join(" and no "),
            missing.join(" ")
        );
        return ExitCode::from(2);
    }

    let mut took = Vec::new();
    let mut failure = None;
    for (number, step) in (1..).zip(steps) {
        println!("[{number}/{}] {}: {}", steps.len(), step.name, step.command());
        let start = Instant::now();
        let status = step.run();
        took.push(start.elapsed());
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => failure = Some(cargo::exit_code(status)),
            Err(error) => failure = Some(cargo::no_start(&error)),
        }
        let result = if failure.is_some() { "FAILED" } else { "passed" };
        println!(
            "[{number}/{}] {}: {result} after {}\n",
            steps.len(),
            step.name,
            seconds(took[took.len() - 1])
        );
        if failure.is_some() {
            break;
        }
    }
    print!("{}", summary(steps, &took, failure.is_some()));
    failure.unwrap_or(ExitCode::SUCCESS)
}

/// The components that `steps` need and this toolchain does not have.
fn missing_components(steps: &[Step]) -> Vec<&'static str> {
    let needed = steps.iter().filter_map(|step| Some((step.arguments[0], step.component?)));
    needed.filter(|(subcommand, _)| !cargo::has(subcommand)).map(|(_, component)| component).collect()
}

/// Adds what `missing` names to the toolchain, if rustup looks after it; false if `steps` still lack something.
fn add_components(missing: &[&str], steps: &[Step]) -> bool {
    println!("Adding to the toolchain: {}", missing.join(", "));
    let added = Command::new("rustup").args(["component", "add"]).args(missing).status();
    added.is_ok_and(|status| status.success()) && missing_components(steps).is_empty()
}

/// How the steps went: the first of them `took` their time, and the last of these may have `failed`.
fn summary(steps: &[Step], took: &[Duration], failed: bool) -> String {
    let mut text = String::new();
    let ran = took.len();
    for (place, step) in steps.iter().enumerate() {
        let result = match took.get(place) {
            Some(_) if failed && place + 1 == ran => "FAILED",
            Some(_) => "passed",
            None => "not run",
        };
        let time = took.get(place).map_or(String::new(), |&time| seconds(time));
        let _ = writeln!(text, "{:<12} {result:<7} {time:>8}", step.name);
    }
    let total = seconds(took.iter().sum());
    let _ = match (failed, steps.get(ran.wrapping_sub(1))) {
        (true, Some(step)) => {
            writeln!(text, "{} failed; the whole took {total}. Repeat it with: {}", step.name, step.command())
        }
        _ => writeln!(text, "All {ran} steps passed in {total}."),
    };
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [Step; 3] = [
        Step::new("one", &["check"]),
        Step::new("two", &["doc", "--no-deps"]).with(&[("RUSTDOCFLAGS", "-D warnings")]),
        Step::new("three", &["test"]),
    ];
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_summary_names_every_step() {
        assert_eq!(
            summary(&STEPS, &[SECOND, SECOND, SECOND], false),
            "one          passed     1.0 s\n\
             two          passed     1.0 s\n\
             three        passed     1.0 s\n\
             All 3 steps passed in 3.0 s.\n"
        );
    }

    #[test]
    fn a_failure_comes_with_the_command_that_repeats_it() {
        assert_eq!(
            summary(&STEPS, &[SECOND, SECOND], true),
            "one          passed     1.0 s\n\
             two          FAILED     1.0 s\n\
             three        not run         \n\
             two failed; the whole took 2.0 s. Repeat it with: RUSTDOCFLAGS='-D warnings' cargo doc --no-deps\n"
        );
    }

    #[test]
    fn a_component_that_is_missing_is_found_before_anything_runs() {
        let steps = [Step::new("none", &["no-such-subcommand"]).needing("no-such-component"), STEPS[0]];
        assert_eq!(missing_components(&steps), ["no-such-component"]);
    }
}
