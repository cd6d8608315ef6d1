//! Compiling, and what rustc says about each case.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::Value;

use crate::project::{PROGRAMS, Project};

/// Which twin a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Twin {
    Plain,
    Cooperative,
    /// The file that calls both.
    Wrapper,
}

/// A message of rustc's about one file.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) twin: Twin,
    pub(crate) is_error: bool,
    /// Its code or lint, if it has one, else its first words.
    pub(crate) code: String,
    pub(crate) line: u64,
    /// As rustc prints it.
    pub(crate) rendered: String,
}

/// What the compiler said, by the name of the case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled {
    pub(crate) is_built: bool,
    pub(crate) messages: BTreeMap<String, Vec<Message>>,
    /// Errors that belong to no case.
    pub(crate) others: Vec<String>,
}

/// Compiles these programs, all at once; one more time what ends without a word about any case, as when somebody ends
/// rustc.
pub(crate) fn compile(project: &Project, programs: &[&str]) -> Result<Compiled, String> {
    let results = std::thread::scope(|scope| {
        let one = |program| move || compile_one(project, program).or_else(|_| compile_one(project, program));
        let threads = programs.iter().map(|&program| scope.spawn(one(program))).collect::<Vec<_>>();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let mut all = Compiled { is_built: true, ..Compiled::default() };
    for result in results {
        let one = result.map_err(|_| "a thread that waits for rustc panicked".to_owned())??;
        all.is_built &= one.is_built;
        all.messages.extend(one.messages);
        all.others.extend(one.others);
    }
    Ok(all)
}

fn compile_one(project: &Project, program: &str) -> Result<Compiled, String> {
    let mut command = project.compiler(program);
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("rustc does not start: {error}"))?;
    let mut compiled = Compiled { is_built: output.status.success(), ..Compiled::default() };
    let said = String::from_utf8_lossy(&output.stderr);
    for line in said.lines() {
        match serde_json::from_str::<Value>(line) {
            Ok(message) => note(&message, &mut compiled),
            Err(_) => compiled.others.push(line.to_owned()),
        }
    }
    if !compiled.is_built && compiled.messages.values().flatten().all(|message| !message.is_error) {
        return Err(format!("the generated programs cannot be built:\n{}", compiled.others.join("\n")));
    }
    Ok(compiled)
}

fn note(message: &Value, compiled: &mut Compiled) {
    let is_error = matches!(message["level"].as_str(), Some("error" | "error: internal compiler error"));
    let text = message["message"].as_str().unwrap_or_default();
    if text.starts_with("aborting due to") || (!is_error && message["level"] != "warning") {
        return;
    }
    let rendered = message["rendered"].as_str().unwrap_or(text).to_owned();
    let spans = message["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
    let primary = spans.iter().filter(|span| span["is_primary"] == true);
    let Some((name, twin, line)) = primary.chain(spans).find_map(place) else {
        // A warning without a place is a count of warnings.
        if is_error {
            compiled.others.push(rendered);
        }
        return;
    };
    let code = message["code"]["code"]
        .as_str()
        .map_or_else(|| text.split_whitespace().take(6).collect::<Vec<_>>().join(" "), str::to_owned);
    compiled.messages.entry(name).or_default().push(Message { twin, is_error, code, line, rendered });
}

/// The case, twin and line of a span, or of the macro call that it comes from.
fn place(span: &Value) -> Option<(String, Twin, u64)> {
    let file = span["file_name"].as_str()?.replace('\\', "/");
    let of_ours = PROGRAMS.iter().find_map(|(program, _)| file.strip_prefix(program)?.strip_prefix("/src/"));
    let Some(stem) = of_ours.and_then(|file| file.strip_suffix(".rs")) else {
        return place(span.get("expansion")?.get("span")?);
    };
    let line = span["line_start"].as_u64()?.saturating_sub(Project::HEAD_LINES);
    let (name, twin) = match (stem.strip_suffix("_plain"), stem.strip_suffix("_cooperative")) {
        (Some(name), _) => (name, Twin::Plain),
        (_, Some(name)) => (name, Twin::Cooperative),
        _ => (stem, Twin::Wrapper),
    };
    Some((name.to_owned(), twin, line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_finds_its_case() {
        let mut compiled = Compiled::default();
        let message = json!({
            "level": "error", "message": "borrow of moved value", "code": {"code": "E0382"}, "rendered": "error: ...",
            "spans": [{"is_primary": true, "file_name": "first/src/s1_n2_cooperative.rs", "line_start": 10}],
        });
        note(&message, &mut compiled);
        let found = &compiled.messages["s1_n2"][0];
        assert_eq!((found.twin, found.is_error, found.line), (Twin::Cooperative, true, 7));
        assert_eq!(found.code, "E0382");
    }

    #[test]
    fn a_span_inside_a_macro_of_the_standard_library_finds_its_call() {
        let span = json!({
            "file_name": "/rustc/library/core/src/macros/mod.rs", "line_start": 1,
            "expansion": {"span": {"file_name": "first/src/s1_n2_plain.rs", "line_start": 4}},
        });
        assert_eq!(place(&span), Some(("s1_n2".to_owned(), Twin::Plain, 1)));
    }
}
