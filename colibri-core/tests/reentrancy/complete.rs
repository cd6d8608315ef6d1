//! Whether the matrix has every call.

use std::path::Path;

/// Files whose public functions are no calls on a scheduler or on what belongs to one.
const OTHER_FILES: [(&str, &str); 6] = [
    ("outline.rs", "what the attribute writes into functions"),
    ("strip.rs", "what the attribute writes into functions"),
    ("rt.rs", "what the attribute writes into functions"),
    ("policy.rs", "lists for schedulers of one's own"),
    ("spans.rs", "behind a feature, an observer like any other"),
    ("histograms.rs", "behind a feature, an observer like any other"),
];

/// Functions that reach no scheduler, and why.
const OTHER_FUNCTIONS: [(&str, &[&str]); 4] = [
    (
        "a builder's, before there is a scheduler",
        &[
            "with_clock",
            "slice",
            "quantum",
            "upgrade_after",
            "max_tasks",
            "task_stats",
            "shuffle",
            "clock",
            "slice_policy",
            "observer",
            "summary",
            "stall_detector",
            "most_reports_a_minute",
            "on_report",
            "on_stall",
        ],
    ),
    ("numbers", &["from_nanos", "as_nanos", "duration_since"]),
    ("reads a value", &["is_cancelled", "panic_message"]),
    (
        "one loop, of which one is called for all",
        &[
            "fold",
            "try_for_each",
            "for_each",
            "reduce",
            "product",
            "count",
            "last",
            "min",
            "max",
            "collect",
            "partition",
            "any",
            "all",
            "find",
            "find_map",
            "position",
        ],
    ),
];

/// Names of public functions that are neither called in `calls` nor said to be no calls.
pub(crate) fn uncalled(calls: &str) -> Vec<String> {
    let mut uncalled = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut |file, name| {
        let is_other = OTHER_FILES.iter().any(|(other, _)| *other == file)
            || OTHER_FUNCTIONS.iter().any(|(_, names)| names.contains(&name));
        if !is_other && !calls_it(calls, name) {
            uncalled.push(format!("{name} of {file}"));
        }
    });
    uncalled
}

fn visit(folder: &Path, each: &mut dyn FnMut(&str, &str)) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the sources can be listed").path();
        if path.is_dir() {
            // The models are private, and public to no more than themselves.
            if path.file_name().is_some_and(|name| name != "model") {
                visit(&path, each);
            }
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the sources are text");
        let file = path.file_name().and_then(|name| name.to_str()).expect("a source has a name");
        for line in text.lines() {
            let line = line.trim_start();
            let Some(rest) = line.strip_prefix("pub ") else { continue };
            let rest = rest.trim_start_matches("const ").trim_start_matches("async ");
            if let Some(rest) = rest.strip_prefix("fn ") {
                each(file, rest.split(['(', '<']).next().unwrap_or(rest));
            }
        }
    }
}

fn calls_it(calls: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    calls.match_indices(name).any(|(at, _)| {
        let before = calls[..at].chars().next_back();
        let after = calls[at + name.len()..].chars().next();
        // Not its name in a string.
        let is_called = matches!(after, Some('(' | ')' | ':'));
        is_called
            && before.is_some_and(|c| matches!(c, '.' | ':' | ' ' | '(' | '&' | '!'))
            && !after.is_some_and(is_part)
    })
}
