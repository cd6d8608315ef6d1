//! The soak in short: a moment of what `cargo xtask soak` does for minutes.

use std::process::Command;

#[test]
fn a_short_soak_loses_nothing_and_gives_all_memory_back() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soak"));
    let output = command.args(["--time", "2s", "--tasks", "5000"]).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("rounds of 5000 tasks") && output.stderr.is_empty(), "{said}");
}

#[test]
fn wrong_use_ends_with_2() {
    for arguments in [["--tasks", "0"], ["--time", "soon"], ["--threads", "9"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_soak"));
        let output = command.args(arguments).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
