//! The program as its users meet it: exit status, messages, pipes.

use std::path::PathBuf;
use std::process::{Command, Output};

fn fairness(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-fuzz"));
    command.args(arguments).output().expect("the program starts")
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

fn file(name: &str, content: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("colibri-fuzz-cli-{}-{name}", std::process::id()));
    std::fs::write(&path, content).expect("the temporary folder can be written");
    path
}

#[test]
fn a_fair_run_ends_with_0_and_a_summary() {
    let output = fairness(&["--cases", "50", "--seed", "3", "--no-keep"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(status(&output), 0, "{text}");
    assert!(text.contains("seed 3: 50 cases") && text.contains("fair: all promises kept"), "{text}");
    assert!(text.contains("beside the latency targets") && text.contains("target 16.0 ms"), "{text}");
    assert!(
        output.stderr.is_empty(),
        "no progress bar in a pipe: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!text.contains('\u{1b}'), "no escape codes in a pipe");
}

#[test]
fn one_case_can_be_repeated_alone() {
    let (one, other) = (fairness(&["--seed", "3", "--case", "7"]), fairness(&["--seed", "3", "--case", "7"]));
    assert_eq!(status(&one), 0);
    assert_eq!(one.stdout, other.stdout);
}

#[test]
fn a_workload_from_a_file_is_replayed() {
    let path = file("good.json", r#"{"tasks": [{"class": "idle", "arrives": "0s", "steps": ["yield"]}]}"#);
    let output = fairness(&["--replay", path.to_str().unwrap()]);
    assert_eq!(status(&output), 0);
    assert!(String::from_utf8_lossy(&output.stdout).contains("fair"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_was_not_found_ends_with_1() {
    // One case is too few for most of the broken schedulers.
    let output = fairness(&["--canaries", "--cases", "1"]);
    assert_eq!(status(&output), 1, "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn wrong_use_ends_with_2_and_a_message() {
    let path = file("bad.json", r#"{"tasks": [{"class": "urgent", "steps": []}]}"#);
    let bad = path.to_str().unwrap();
    let wrong: [&[&str]; 11] = [
        &["--caes", "5"],
        &["--cases", "0"],
        &["--cases", "many"],
        &["--time", "soon"],
        &["--seed", "-1"],
        &["--replay", "no/such/file.json"],
        &["--replay", bad],
        &["--case", "1", "--cases", "5"],
        &["--compare", "--canaries"],
        &["--latency", "--cases", "5"],
        &["--cases", "1", "--report", bad],
    ];
    for arguments in wrong {
        let output = fairness(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(status(&output), 2, "{arguments:?}: {text}");
        assert!(text.contains("error") && !text.contains("panicked"), "{arguments:?}: {text}");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn help_tells_the_exit_status() {
    let output = fairness(&["--help"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(status(&output), 0);
    for part in [
        "--cases",
        "--seed",
        "--case ",
        "--time",
        "--replay",
        "--report",
        "--compare",
        "--canaries",
        "--latency",
        "0 fair, 1 unfair, 2 wrong use",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn a_report_is_written_with_its_data() {
    let folder = std::env::temp_dir().join(format!("colibri-fuzz-cli-report-{}", std::process::id()));
    let output = fairness(&["--cases", "20", "--no-keep", "--report", folder.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 0, "{text}");
    assert!(text.contains("fairness.html"), "{text}");
    let page = std::fs::read_to_string(folder.join("fairness.html")).unwrap();
    assert!(page.contains("Is the scheduler fair?") && page.contains("\"seed\":1"));
    assert!(folder.join("fairness.json").exists());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn other_schedulers_are_compared() {
    let output = fairness(&["--compare", "--cases", "30"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 0, "{text}");
    for part in ["colibri", "tokio", "async-executor", "plain FIFO", "no classes", "kept"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

/// Where the report goes does not change the verdict; a report that is lost is told.
#[cfg(target_os = "linux")]
#[test]
fn a_full_or_closed_stdout_has_a_status_of_its_own() {
    use std::process::Stdio;
    let run = |stdout: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-fuzz"));
        command.args(["--cases", "20", "--no-keep"]).stdout(stdout).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    };
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = run(full.into()).wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(status(&output), 2, "{text}");
    assert!(text.contains("could not be written"), "{text}");
    let mut closed = run(Stdio::piped());
    drop(closed.stdout.take());
    let output = closed.wait_with_output().unwrap();
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
}
