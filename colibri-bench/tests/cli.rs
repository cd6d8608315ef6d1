//! What the person at the terminal sees: each wrong use has a clear message and the exit code 2.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-bench"));
    command.args(arguments).output().expect("the bench starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the bench with `arguments`, which it has to refuse in words that contain all of `words`.
fn refused(arguments: &[&str], words: &[&str]) {
    let output = bench(arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?} should be wrong use: {message}");
    for word in words {
        assert!(message.contains(word), "{arguments:?}: no `{word}` in: {message}");
    }
    for noise in ["panicked", "RUST_BACKTRACE", "\x1b["] {
        assert!(!message.contains(noise), "{arguments:?}: `{noise}` in: {message}");
    }
    assert_eq!(text(&output.stdout), "", "{arguments:?}: nothing is measured");
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("there is room for files");
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).expect("there is room for files");
    }
    folder
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a temporary folder has a plain name")
}

#[test]
fn an_unknown_option_or_scenario_is_refused() {
    refused(&["--quik"], &["--quik", "--quick"]);
    refused(&["latencies"], &["latencies", "latency"]);
}

#[test]
fn a_figure_out_of_range_is_refused() {
    refused(&["--rate", "0"], &["'0'", "--rate", "from 1 to 200000", "queries per second"]);
    refused(&["--rate=-5"], &["--rate", "from 1 to 200000"]);
    refused(&["latency", "--rate", "fast"], &["'fast'", "from 1 to 200000"]);
    refused(&["--rounds", "0"], &["--rounds", "from 1 to 1000"]);
    refused(&["--input-limit", "0"], &["--input-limit", "MiB"]);
    refused(&["--seed", "x"], &["--seed"]);
}

#[test]
fn a_missing_folder_is_refused() {
    refused(&["latency", "--input", "no/such/folder"], &["no/such/folder", "cannot be read", "--input DIR"]);
}

#[test]
fn a_file_in_place_of_a_folder_is_refused() {
    let folder = folder(&[("file.txt", b"text")]);
    let file = folder.path().join("file.txt");
    refused(&["latency", "--input", name(&file)], &["file.txt", "is not a folder", "--input DIR"]);
}

#[test]
fn a_folder_without_text_is_refused() {
    let empty = folder(&[]);
    refused(&["--input", name(empty.path())], &["there is no text", name(empty.path()), "--input DIR"]);
    let binary = folder(&[("image", b"\0\0"), ("nothing", b"")]);
    refused(&["--input", name(binary.path())], &["there is no text", "1 binary"]);
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&[("a.txt", b"text")]);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o000)).expect("it is ours");
    // The superuser may read it all the same; then there is nothing to refuse.
    if fs::read_dir(folder.path()).is_err() {
        refused(&["--input", name(folder.path())], &["cannot be read", "--input DIR"]);
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).expect("it is ours");
}

#[test]
fn a_place_for_results_that_cannot_be_written_is_told_before_anything_is_measured() {
    let folder = folder(&[("a.txt", b"some words here"), ("file", b"in the way")]);
    let out = folder.path().join("file").join("results");
    let output = bench(&["--rounds", "1", "--input", name(folder.path()), "--out", name(&out)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--out DIR"), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn a_file_in_another_encoding_is_refused_unless_asked_for() {
    let folder = folder(&[("a.txt", b"plain"), ("latin1.txt", b"caf\xe9 noir")]);
    refused(&["--input", name(folder.path())], &["latin1.txt is not in UTF-8", "from byte 3", "--lossy"]);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error_and_a_reader_that_has_gone_is_none() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-bench"));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = command.arg("list").stdout(full).output().expect("the bench starts");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("standard output cannot be written") && !message.contains("panicked"),
        "{message}"
    );

    // What was measured is kept all the same.
    let folder = folder(&[("a.txt", b"some words here")]);
    let out = folder.path().join("results");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let mut measuring = Command::new(env!("CARGO_BIN_EXE_colibri-bench"));
    measuring.args(["slices", "--rounds", "1", "--input-limit", "1"]);
    measuring.args(["--input", name(folder.path()), "--out", name(&out)]);
    let output = measuring.stdout(full).output().expect("the bench starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("standard output cannot be written"));
    assert!(out.join("slices.json").is_file() && out.join("bench.html").is_file());

    let (reader, writer) = std::io::pipe().expect("there are pipes");
    drop(reader);
    let output = command.stdout(writer).output().expect("the bench starts");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn list_names_the_scenarios() {
    let output = bench(&["list"]);
    assert!(output.status.success());
    let listed = text(&output.stdout);
    assert!(listed.starts_with("latency              point queries beside"));
    let names: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        names,
        ["latency", "latency", "latency", "classes", "slices", "overhead", "ops", "scale", "observe", "all"]
    );
}

#[test]
fn an_unknown_kernel_is_refused_and_the_known_ones_are_named() {
    refused(&["overhead", "--kernel", "mandelbort"], &["'mandelbort'", "mandelbrot", "levenshtein"]);
    refused(&["overhead", "--instructions", "--size"], &["--instructions", "--size"]);
    refused(&["ops", "--kernel", "gcd"], &["--kernel"]);
    refused(&["overhead", "--rounds", "0"], &["from 1 to 1000"]);
}

#[test]
fn hidden_commands_are_not_offered() {
    let help = text(&bench(&["--help"]).stdout);
    assert!(help.contains("overhead") && help.contains("scale"), "{help}");
    assert!(!help.contains("valgrind") && !help.contains("Tells the bytes"), "{help}");
}

#[test]
fn one_kernel_is_measured_and_saved() {
    let folder = folder(&[]);
    let out = folder.path().join("results");
    let output = bench(&["overhead", "--quick", "--rounds", "1", "--kernel", "bfs", "--out", name(&out)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    for word in [
        "bfs: breadth first, a VecDeque.",
        "Repeat: cargo xtask bench overhead --kernel bfs --rounds 1",
        "| bfs ",
        "| geometric mean, below 1 as 1 |",
        "consume_budget: min",
        "| all with short iterations |",
        // One round is too few for any to be left out.
        "as fewer than 3 were undisturbed, are the medians of: cooperative in 1 of 1,",
    ] {
        assert!(printed.contains(word), "no `{word}` in: {printed}");
    }
    let json = fs::read_to_string(out.join("overhead.json")).expect("it is saved");
    for metric in
        ["time, plain", "ratio of time, cooperative", "ratio of best times, yield_now/64", "overshoot"]
    {
        assert!(json.contains(&format!("\"metric\": \"{metric}\"")), "no `{metric}` in: {json}");
    }
    assert!(out.join("overhead-overshoot.hgrm").is_file());
}

#[test]
fn what_a_measurement_needs_is_named_where_it_is_missing() {
    let folder = folder(&[]);
    for (option, program) in [("--instructions", "valgrind is missing"), ("--size", "nm is missing")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-bench"));
        command.args(["overhead", option, "--out", name(folder.path())]).env("PATH", folder.path());
        let output = command.output().expect("the bench starts");
        assert!(output.status.success());
        assert!(text(&output.stdout).contains(program), "{}", text(&output.stdout));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_task_has_more_bytes_than_its_future() {
    // In a process of its own, as `scale` measures it.
    let output = bench(&["memory", "0", "20000", "true"]);
    let bytes: f64 = text(&output.stdout).trim().parse().expect("it is a figure");
    assert!((48.0..2_000.0).contains(&bytes), "{bytes}");
}

#[test]
fn files_that_cannot_be_compared_are_refused() {
    let report = |scenario: &str, rows: &str| {
        format!(
            r#"{{"scenario": "{scenario}", "command": "", "rows": [{rows}], "machine": {{"cpu": "", "cores": 1,
            "system": "", "architecture": "", "profile": "", "version": ""}}}}"#
        )
    };
    let row = r#"{"subject": "a", "metric": "b", "unit": "ns", "count": 1, "mean": 1, "p50": 1, "p90": 1, "p99": 1, "p999": 1, "max": 1}"#;
    let files = [
        ("ops.json", report("ops", row)),
        ("scale.json", report("scale", row)),
        ("none.json", report("ops", "")),
    ];
    let folder = folder(&[("broken.json", b"{\"scenario\": 1}"), ("text.json", b"\xff")]);
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("there is room for files");
    }
    let at = |file: &str| name(&folder.path().join(file)).to_owned();
    refused(&["compare", &at("ops.json")], &["B.json"]);
    refused(
        &["compare", &at("missing.json"), &at("ops.json")],
        &["missing.json cannot be read", "latency.json"],
    );
    refused(
        &["compare", &at("ops.json"), &at("broken.json")],
        &["broken.json is no report of this bench", "latency.json"],
    );
    refused(&["compare", &at("ops.json"), &at("text.json")], &["text.json cannot be read"]);
    refused(
        &["compare", &at("ops.json"), &at("scale.json")],
        &["ops.json is of the scenario ops", "of scale", "of one scenario"],
    );
    refused(&["compare", &at("ops.json"), &at("none.json")], &["no figure in common"]);
    assert!(bench(&["compare", &at("ops.json"), &at("ops.json")]).status.success());
}

#[test]
fn an_unknown_load_is_refused_and_the_known_ones_are_named() {
    refused(&["latency", "--load", "zip"], &["'zip'", "index", "gzip", "json"]);
    refused(&["slices", "--load", "gzip"], &["--load"]);
}

#[test]
fn help_documents_exit_codes() {
    let output = bench(&["--help"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("Exit codes: 0"));
}

#[test]
fn a_small_run_prints_a_table_and_saves_all_files() {
    let words: String = (0..20_000).map(|number| format!("word{} ", number % 5000)).collect();
    let folder = folder(&[("a.txt", words.as_bytes()), ("latin1.txt", b"caf\xe9 noir")]);
    let out = folder.path().join("target/results");
    let arguments = ["latency", "--lossy", "--rounds", "2", "--rate", "20000", "--input-limit", "1"];
    let output = bench(&[&arguments[..], &["--input", name(folder.path()), "--out", name(&out)]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));

    let printed = text(&output.stdout);
    for word in [
        "| without yields ",
        "| tokio, yield_now every 64 ",
        "| colibri ",
        "p99.9",
        "no coordinated omission",
        "not in UTF-8",
    ] {
        assert!(printed.contains(word), "no `{word}` in: {printed}");
    }
    assert!(!printed.contains('\x1b'), "no colours in a pipe: {printed}");
    if cfg!(debug_assertions) {
        assert!(text(&output.stderr).contains("warning: This is a debug build."));
        assert!(
            printed.contains("\n\nWarning: This is a debug build."),
            "a file with the text has them: {printed}"
        );
    }
    for file in [
        "latency.json",
        "latency-without-yields.hgrm",
        "latency-tokio-64.hgrm",
        "latency-tokio-budget.hgrm",
        "latency-async-executor.hgrm",
        "latency-local-pool.hgrm",
        "latency-thread.hgrm",
        "latency-thread-low.hgrm",
        "latency-colibri.hgrm",
        "bench.html",
    ] {
        assert!(out.join(file).is_file(), "{file} is missing");
    }

    // A run beside itself: nothing has moved.
    let json = out.join("latency.json");
    let compared = bench(&["compare", name(&json), name(&json)]);
    assert!(compared.status.success(), "{}", text(&compared.stderr));
    let printed = text(&compared.stdout);
    assert!(printed.contains("Nothing could be judged: to tell"), "{printed}");
    assert!(
        printed.contains("| too few rounds |") && !printed.contains("Warning"),
        "ratios all the same: {printed}"
    );
    worse_rounds_are_told(&json, folder.path());
}

#[test]
fn slices_finds_a_knee_and_draws_the_curve() {
    let words: String = (0..20_000).map(|number| format!("word{} ", number % 5000)).collect();
    let folder = folder(&[("a.txt", words.as_bytes())]);
    let out = folder.path().join("target/results");
    let arguments = ["slices", "--rounds", "1", "--input-limit", "1", "--input", name(folder.path())];
    let output = bench(&[&arguments[..], &["--out", name(&out)]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    for word in [
        "| 500 µs |",
        "| 50 ms  |",
        "The knee is at slices of",
        "disturbed slices",
        "The sender's lateness",
        "from the law",
    ] {
        assert!(printed.contains(word), "no `{word}` in: {printed}");
    }
    let page = fs::read_to_string(out.join("bench.html")).expect("it is saved");
    assert!(page.contains("Responsiveness against throughput") && page.contains(": the knee</text>"));
    assert!(out.join("slices.json").is_file() && out.join("slices-500-us.hgrm").is_file());
}

/// Compares `json` with a copy in which colibri's rounds are ten times as slow, and made enough.
fn worse_rounds_are_told(json: &Path, folder: &Path) {
    let read = fs::read_to_string(json).expect("it is there");
    let changed = |name: &str, subject: &str, metric: &str, factor: f64| {
        let mut report: serde_json::Value = serde_json::from_str(&read).expect("it is JSON");
        for row in report["rows"].as_array_mut().expect("it has rows") {
            if row["subject"] == subject && row["metric"] == metric {
                row["rounds"] = [10.0, 10.1, 10.2, 9.9, 9.8].map(|rate| rate * factor).to_vec().into();
            }
        }
        let path = folder.join(name);
        fs::write(&path, report.to_string()).expect("there is room");
        path
    };
    let throughput = "bulk throughput of each round";
    let (before, after) = (
        changed("before.json", "colibri", throughput, 1.0),
        changed("after.json", "colibri", throughput, 0.1),
    );
    let worse = bench(&["compare", name(&before), name(&after)]);
    assert_eq!(worse.status.code(), Some(3), "{}", text(&worse.stderr));
    let printed = text(&worse.stdout);
    assert!(printed.contains("| worse |") && printed.contains("1 worse, 0 better"), "{printed}");
    let better = bench(&["compare", name(&after), name(&before)]);
    assert_eq!(better.status.code(), Some(0));
    assert!(text(&better.stdout).contains("| better |"));

    // What a peer or the machine does is no fault of colibri's.
    for (subject, metric, factor) in
        [("without yields", throughput, 0.1), ("colibri", "share of each round kept off the CPU", 10.0)]
    {
        let one = changed("one.json", subject, metric, 1.0);
        let other = changed("other.json", subject, metric, factor);
        let compared = bench(&["compare", name(&one), name(&other)]);
        let printed = text(&compared.stdout);
        assert!(printed.contains("1 worse, 0 better; of those that are worse, 0 say"), "{printed}");
        assert_eq!(compared.status.code(), Some(0));
    }

    let other_work = folder.join("rate.json");
    fs::write(&other_work, read.replace("--rate 20000", "--rate 10")).expect("there is room");
    let compared = bench(&["compare", name(json), name(&other_work)]);
    assert!(text(&compared.stdout).contains("Warning: the commands ask for different work"));
}
