//! Expansions, committed under `snapshots/`: a change of what the attribute makes shows in review.
//!
//! `COLIBRI_SNAPSHOTS=overwrite cargo test -p colibri-macros` writes them anew.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proc_macro2::TokenStream;

/// The expansion as rustfmt prints it, with the paths into the runtime cut short.
fn expanded(source: &str) -> Option<String> {
    let item: TokenStream = source.parse().expect("a snapshot is Rust");
    let tokens = crate::expand::cooperative(TokenStream::new(), item).to_string();
    let tokens = tokens
        .replace(":: colibri_core :: __private :: ", "")
        .replace("__colibri_runtime :: ", "")
        .replace("__colibri_", "");
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "max_width=110"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    rustfmt.stdin.take()?.write_all(tokens.as_bytes()).ok()?;
    let output = rustfmt.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).expect("rustfmt writes UTF-8"))
}

#[test]
fn snapshots_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    let mut changed = Vec::new();
    for name in ["sum", "insertion_sort", "scan", "quicksort", "fetch"] {
        let source = std::fs::read_to_string(folder.join(format!("{name}.rs"))).unwrap();
        let Some(expanded) = expanded(&source) else {
            eprintln!("no rustfmt here: snapshots were not compared");
            return;
        };
        let path = folder.join(format!("{name}.expanded.rs"));
        if std::fs::read_to_string(&path).is_ok_and(|committed| committed == expanded) {
            continue;
        }
        if std::env::var_os("COLIBRI_SNAPSHOTS").is_some_and(|value| value == "overwrite") {
            std::fs::write(&path, expanded).unwrap();
        } else {
            changed.push(name);
        }
    }
    assert!(
        changed.is_empty(),
        "changed: {changed:?}; `COLIBRI_SNAPSHOTS=overwrite cargo test -p colibri-macros` accepts"
    );
}
