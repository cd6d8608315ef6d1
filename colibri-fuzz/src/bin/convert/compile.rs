//! Building a crate's tests, and which function the compiler speaks of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::project::Project;

/// What came of a build.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// Programs with tests.
    pub(crate) programs: Vec<Program>,
    /// By the number of the function: what the compiler says against it.
    pub(crate) errors: BTreeMap<u32, Vec<String>>,
    /// Errors that belong to no function.
    pub(crate) others: Vec<String>,
}

impl Built {
    pub(crate) fn has_failed(&self) -> bool {
        !self.errors.is_empty() || !self.others.is_empty()
    }
}

/// A program with tests.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Builds the tests of the crate in `folder`.
pub(crate) fn build(project: &Project, folder: &Path) -> Result<Built, String> {
    let mut command = project.cargo(folder);
    command.args(["build", "--tests", "--message-format=json", "--keep-going"]);
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("cargo does not start: {error}"))?;
    let mut built = Built::default();
    let mut seen = BTreeSet::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        match value["reason"].as_str() {
            Some("compiler-message") => note(folder, &value["message"], &mut built, &mut seen),
            Some("compiler-artifact") => {
                if let (Some(path), Some(name)) =
                    (value["executable"].as_str(), value["target"]["name"].as_str())
                    && value["profile"]["test"] == true
                {
                    built.programs.push(Program { name: name.to_owned(), path: path.into() });
                }
            }
            _ => {}
        }
    }
    if !output.status.success() && !built.has_failed() {
        built.others.push(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    // In whatever order cargo finished them.
    built.programs.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    Ok(built)
}

/// The files below `folder` of which these programs were made.
pub(crate) fn sources(programs: &[Program], folder: &Path) -> BTreeSet<String> {
    let mut sources = BTreeSet::new();
    for program in programs {
        // `target: source source`, a blank inside a name being escaped.
        let listed = std::fs::read_to_string(program.path.with_extension("d")).unwrap_or_default();
        let escaped = listed.replace("\\ ", "\0");
        for word in escaped.split_whitespace().filter(|word| word.ends_with(".rs")) {
            let path = folder.join(word.replace('\0', " "));
            if let Ok(inside) = path.strip_prefix(folder) {
                sources.insert(inside.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    sources
}

fn note(folder: &Path, message: &Value, built: &mut Built, seen: &mut BTreeSet<String>) {
    let text = message["message"].as_str().unwrap_or_default();
    let is_error = matches!(message["level"].as_str(), Some("error" | "error: internal compiler error"));
    if !is_error || text.starts_with("aborting due to") {
        return;
    }
    let rendered = message["rendered"].as_str().unwrap_or(text).trim_end().to_owned();
    // The library and its tests are two programs of one text.
    if !seen.insert(rendered.clone()) {
        return;
    }
    let spans = message["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
    let primary = spans.iter().filter(|span| span["is_primary"] == true);
    match primary.chain(spans).find_map(|span| function(folder, span)) {
        Some(number) => built.errors.entry(number).or_default().push(rendered),
        None => built.others.push(rendered),
    }
}

/// The function that a span is part of, or the macro call that it comes from.
fn function(folder: &Path, span: &Value) -> Option<u32> {
    let inside = || {
        let text = std::fs::read_to_string(folder.join(span["file_name"].as_str()?)).ok()?;
        innermost(&text, usize::try_from(span["byte_start"].as_u64()?).ok()?)
    };
    inside().or_else(|| function(folder, span.get("expansion")?.get("span")?))
}

/// The innermost pair of [marks](crate::convert::marks) around `place`.
fn innermost(text: &str, place: usize) -> Option<u32> {
    let mut open = Vec::new();
    let before = text.get(..place)?;
    for (start, _) in before.match_indices("/*") {
        let Some(end) = before[start..].find("*/") else { break };
        let inside = &before[start + 2..start + end];
        if let Some(number) = inside.strip_prefix('<').and_then(|number| number.parse::<u32>().ok()) {
            open.push(number);
        } else if inside.strip_suffix('>').is_some_and(|number| number.parse().ok() == open.last().copied()) {
            open.pop();
        }
    }
    open.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_belongs_to_the_innermost_function_around_it() {
        let text = "a /*<1*/ b /*<2*/ c /*2>*/ d /* other */ e /*1>*/ f";
        let of = |letter| innermost(text, text.find(letter).expect("it is there"));
        assert_eq!([of("b"), of("c"), of("d"), of("e")], [Some(1), Some(2), Some(1), Some(1)]);
        assert_eq!([of("a"), of("f")], [None, None]);
    }
}
