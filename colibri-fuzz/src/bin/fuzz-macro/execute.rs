//! Running the compiled programs, and reading what they tell of each case.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::project::Project;

/// A case takes milliseconds; after this long it hangs.
const LONGEST_CASE: Duration = Duration::from_secs(10);

/// What came out for one case.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The twins agree, in so many runs and comparisons.
    Agree { runs: u64, comparisons: u64 },
    /// They differ: how, and where.
    Differ { kind: String, difference: String },
}

/// Runs the cases of one program, `many` of them, each on `inputs` inputs. One that ends or hangs the program is told
/// as a difference, and the others still run.
pub(crate) fn execute(
    project: &Project,
    program: &str,
    many: usize,
    inputs: u64,
) -> Result<Vec<(String, Outcome)>, String> {
    let mut outcomes = Vec::new();
    let mut first = 0;
    while first < many {
        let Some((at, name, why)) = execute_from(project, program, first, inputs, &mut outcomes)? else {
            break;
        };
        outcomes.push((name, Outcome::Differ { kind: "crash".to_owned(), difference: why }));
        first = at + 1;
    }
    Ok(outcomes)
}

/// Runs from case `first` on. If the program did not come to its end: in which case, and why.
fn execute_from(
    project: &Project,
    program: &str,
    first: usize,
    inputs: u64,
    outcomes: &mut Vec<(String, Outcome)>,
) -> Result<Option<(usize, String, String)>, String> {
    let mut command = project.program(program);
    command.args([first.to_string(), inputs.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{command:?} does not start: {error}"))?;
    let Some(stdout) = child.stdout.take() else { return Err("the program has no output".to_owned()) };
    let (sender, lines) = channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut running: Option<(usize, String)> = None;
    let why = loop {
        match lines.recv_timeout(LONGEST_CASE) {
            Ok(line) => read_line(&line, &mut running, outcomes),
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => {
                break Some(format!("it does not come back within {LONGEST_CASE:?}"));
            }
        }
    };
    if why.is_some() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| format!("{command:?}: {error}"))?;
    let _ = reader.join();
    Ok(running.map(|(at, name)| (at, name, why.unwrap_or_else(|| format!("the program ended: {status}")))))
}

fn read_line(line: &str, running: &mut Option<(usize, String)>, outcomes: &mut Vec<(String, Outcome)>) {
    let mut words = line.splitn(4, ' ');
    let mut next = || words.next().unwrap_or_default();
    match next() {
        "begin" => *running = Some((next().parse().unwrap_or(0), next().to_owned())),
        "agree" => {
            let name = next().to_owned();
            let (runs, comparisons) = (next().parse().unwrap_or(0), next().parse().unwrap_or(0));
            outcomes.push((name, Outcome::Agree { runs, comparisons }));
            *running = None;
        }
        "differ" => {
            let (name, kind, difference) = (next().to_owned(), next().to_owned(), next().to_owned());
            outcomes.push((name, Outcome::Differ { kind, difference }));
            *running = None;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_ends_the_program_is_left_running() {
        let (mut running, mut outcomes) = (None, Vec::new());
        for line in ["begin 0 a", "agree a 44 130", "begin 1 b", "differ b log \"x y z\"", "begin 2 c"] {
            read_line(line, &mut running, &mut outcomes);
        }
        assert_eq!(running, Some((2, "c".to_owned())));
        assert!(matches!(&outcomes[0], (_, Outcome::Agree { runs: 44, comparisons: 130 })));
        assert!(matches!(&outcomes[1], (_, Outcome::Differ { difference, .. }) if difference == "\"x y z\""));
    }
}
