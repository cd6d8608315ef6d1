//! Running a crate's tests.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::compile::Program;
use crate::project::Project;

/// How each test ended, by program and name.
pub(crate) type Results = BTreeMap<String, String>;

/// Runs the tests of these programs, all of which may take as long as `patience`. Wrappers note in the file `notes`
/// what they do.
pub(crate) fn run(
    project: &Project,
    folder: &Path,
    programs: &[Program],
    notes: &Path,
    patience: Duration,
) -> Result<Results, String> {
    let start = Instant::now();
    let mut results = Results::new();
    for program in programs {
        let mut command = Command::new(&program.path);
        command.env("CARGO_MANIFEST_DIR", folder).env("CONVERT_NOTES", notes);
        run_one(
            project,
            folder,
            command,
            &program.name,
            patience.saturating_sub(start.elapsed()),
            &mut results,
        )?;
    }
    Ok(results)
}

/// Runs the tests of the documentation.
pub(crate) fn run_docs(project: &Project, folder: &Path, patience: Duration) -> Result<Results, String> {
    let mut command = project.cargo(folder);
    command.args(["test", "--doc", "--no-fail-fast"]);
    let mut results = Results::new();
    run_one(project, folder, command, "doc", patience, &mut results)?;
    // Places move when functions become two: what stays is the order.
    let numbered = results.into_iter().enumerate().map(|(index, (name, result))| {
        let item = name.rsplit_once(" (line ").map_or(name.as_str(), |(item, _)| item);
        (format!("{item} ({index})"), result)
    });
    Ok(numbered.collect())
}

fn run_one(
    project: &Project,
    folder: &Path,
    mut command: Command,
    name: &str,
    patience: Duration,
    results: &mut Results,
) -> Result<(), String> {
    let said = project.file("said");
    let output = File::create(&said).map_err(|error| format!("{}: {error}", said.display()))?;
    // A file, since a pipe that nobody reads while we wait would be full at some time.
    let also = output.try_clone().map_err(|error| error.to_string())?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(output).stderr(also);
    // Futures of unoptimised code are large: what recurses deeply must not fail for that.
    command.env("RUST_MIN_STACK", "67108864");
    let status = wait(command, patience).map_err(|error| format!("{name}: {error}"))?;
    let text = std::fs::read(&said).map_err(|error| error.to_string())?;
    parse(name, &String::from_utf8_lossy(&text), results);
    results.insert(format!("{name}: (exit)"), status);
    Ok(())
}

/// The exit of a program that may take as long as `patience`.
fn wait(mut command: Command, patience: Duration) -> io::Result<String> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { "ok".to_owned() } else { status.to_string() });
        }
        if start.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            return Ok(format!("no end in {patience:?}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn parse(program: &str, text: &str, results: &mut Results) {
    for line in text.lines() {
        let Some((name, result)) = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        else {
            continue;
        };
        let result = result.split([' ', ',']).next().unwrap_or_default();
        results.insert(format!("{program}: {name}"), result.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_by_name() {
        let mut results = Results::new();
        parse(
            "lib",
            "\nrunning 2 tests\ntest a::b ... ok\ntest c - should panic ... FAILED\ntest d ... ignored, why\n\ntest result: FAILED. 1 passed\n",
            &mut results,
        );
        let found: Vec<_> = results.iter().map(|(name, result)| (name.as_str(), result.as_str())).collect();
        assert_eq!(found, [("lib: a::b", "ok"), ("lib: c - should panic", "FAILED"), ("lib: d", "ignored")]);
    }
}
