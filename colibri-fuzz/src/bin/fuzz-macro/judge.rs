//! From cases to verdicts: write, compile, take out what does not compile, run.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::Case;
use crate::compile::{Compiled, Message, Twin, compile};
use crate::execute::{Outcome, execute};
use crate::project::{PROGRAMS, Project};

/// How the twins of a case compare.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// All the same, but for a warning that the cooperative twin may have lost.
    Agree { runs: u64, comparisons: u64, lost: Option<Failure> },
    /// The plain twin does not compile: the generator is wrong, not the attribute.
    Invalid(String),
    /// They differ.
    Differ(Failure),
}

/// A difference between the twins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// `compile`, `warning`, `lost-warning`, `result`, `log`, `panic`, `polls`, ...
    pub(crate) kind: String,
    /// What tells one fault of a kind from another: an error code, a lint.
    pub(crate) detail: String,
    /// What was seen.
    pub(crate) seen: String,
}

impl Failure {
    /// Whether it is of the same kind and detail.
    pub(crate) fn is_like(&self, other: &Failure) -> bool {
        self.kind == other.kind && self.detail == other.detail
    }

    /// Kind and detail.
    pub(crate) fn title(&self) -> String {
        if self.detail.is_empty() { self.kind.clone() } else { format!("{} {}", self.kind, self.detail) }
    }
}

/// What the cooperative twins are made of, and how they are run.
pub(crate) struct Setting<'a> {
    /// The cooperative twin of a case.
    pub(crate) cooperative: &'a dyn Fn(&Case) -> String,
    /// Inputs for each case.
    pub(crate) inputs: u64,
    /// A warning that only the plain twin has is a difference.
    pub(crate) lost_warnings_count: bool,
}

/// Times that the programs are compiled again without what did not compile.
const MOST_ROUNDS: usize = 12;

/// Judges these cases, in their order.
pub(crate) fn judge(
    project: &Project,
    cases: &[Case],
    setting: &Setting<'_>,
) -> Result<Vec<Verdict>, String> {
    let mut verdicts: BTreeMap<String, Verdict> = BTreeMap::new();
    let mut warnings: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    let mut programs = distribute(cases);
    let mut is_built = false;
    let mut stale = programs.keys().copied().collect::<BTreeSet<_>>();
    for _ in 0..MOST_ROUNDS {
        programs.retain(|_, cases| !cases.is_empty());
        stale.retain(|program| programs.contains_key(program));
        if stale.is_empty() {
            is_built = true;
            break;
        }
        for program in &stale {
            project.write(program, &programs[program], setting.cooperative)?;
        }
        let compiled = compile(project, &stale.iter().copied().collect::<Vec<_>>())?;
        let refused = refused(&compiled);
        for (name, messages) in compiled.messages {
            warnings.insert(name, messages);
        }
        if !compiled.is_built && refused.is_empty() {
            return Err(format!("the generated programs cannot be built:\n{}", compiled.others.join("\n")));
        }
        stale = programs
            .iter()
            .filter(|(_, cases)| cases.iter().any(|case| refused.contains_key(&case.name)))
            .map(|(program, _)| *program)
            .collect();
        for cases in programs.values_mut() {
            cases.retain(|case| !refused.contains_key(&case.name));
        }
        verdicts.extend(refused);
    }
    if !is_built {
        return Err(
            "the generated programs still do not compile after all that is wrong was taken out".to_owned()
        );
    }
    for (program, cases) in &programs {
        for (name, outcome) in execute(project, program, cases.len(), setting.inputs)? {
            verdicts.insert(name, verdict_of(outcome));
        }
    }
    let verdict = |case: &Case| {
        let verdict =
            verdicts.remove(&case.name).unwrap_or_else(|| Verdict::Invalid("it was not run".to_owned()));
        let Verdict::Agree { runs, comparisons, .. } = verdict else { return verdict };
        match warnings.get(&case.name).and_then(|messages| warning(messages)) {
            Some(failure) if failure.kind == "warning" || setting.lost_warnings_count => {
                Verdict::Differ(failure)
            }
            lost => Verdict::Agree { runs, comparisons, lost },
        }
    };
    Ok(cases.iter().map(verdict).collect())
}

/// Which program compiles which case.
fn distribute(cases: &[Case]) -> BTreeMap<&'static str, Vec<&Case>> {
    let mut programs: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    let mut is_second = false;
    for case in cases {
        let at = if case.is_edition_2021 {
            2
        } else {
            is_second = !is_second;
            usize::from(is_second)
        };
        programs.entry(PROGRAMS[at].0).or_default().push(case);
    }
    programs
}

/// The cases that do not compile.
fn refused(compiled: &Compiled) -> BTreeMap<String, Verdict> {
    let mut refused = BTreeMap::new();
    for (name, messages) in &compiled.messages {
        let error = |twin| messages.iter().find(|message| message.is_error && message.twin == twin);
        let verdict = if let Some(message) = error(Twin::Plain) {
            Verdict::Invalid(message.rendered.clone())
        } else if let Some(message) = error(Twin::Cooperative) {
            let (detail, seen) = (message.code.clone(), message.rendered.clone());
            Verdict::Differ(Failure { kind: "compile".to_owned(), detail, seen })
        } else if let Some(message) = error(Twin::Wrapper) {
            Verdict::Invalid(message.rendered.clone())
        } else {
            continue;
        };
        refused.insert(name.clone(), verdict);
    }
    refused
}

/// A warning that only one of the twins has.
fn warning(messages: &[Message]) -> Option<Failure> {
    let of = |twin: Twin| messages.iter().filter(move |message| message.twin == twin);
    let only = |twin: Twin, other: Twin| {
        of(twin)
            .find(|message| !of(other).any(|known| known.code == message.code && known.line == message.line))
    };
    let failure = |kind: &str, message: &Message| Failure {
        kind: kind.to_owned(),
        detail: message.code.clone(),
        seen: message.rendered.clone(),
    };
    let lost = only(Twin::Plain, Twin::Cooperative);
    if let Some(message) = only(Twin::Cooperative, Twin::Plain) {
        // What is not used may be said of the variable or of the assignment: the code was not clean.
        let is_same_matter = message.code.starts_with("unused_")
            && of(Twin::Plain).any(|known| known.code.starts_with("unused_"));
        return Some(failure(if is_same_matter { "lost-warning" } else { "warning" }, message));
    }
    lost.map(|message| failure("lost-warning", message))
}

fn verdict_of(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Agree { runs, comparisons } => Verdict::Agree { runs, comparisons, lost: None },
        Outcome::Differ { kind, difference } => {
            let seen = serde_json::from_str(&difference).unwrap_or(difference);
            Verdict::Differ(Failure { kind, detail: String::new(), seen })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(twin: Twin, code: &str, line: u64) -> Message {
        Message { twin, is_error: false, code: code.to_owned(), line, rendered: String::new() }
    }

    #[test]
    fn warnings_are_compared_by_lint_and_line() {
        let both = [message(Twin::Plain, "unused_mut", 3), message(Twin::Cooperative, "unused_mut", 3)];
        assert_eq!(warning(&both), None);
        let moved = [message(Twin::Plain, "unused_mut", 3), message(Twin::Cooperative, "unused_mut", 4)];
        assert_eq!(warning(&moved).map(|failure| failure.kind), Some("lost-warning".to_owned()));
        let changed = [
            message(Twin::Plain, "unused_variables", 3),
            message(Twin::Cooperative, "unused_assignments", 4),
        ];
        assert_eq!(warning(&changed).map(|failure| failure.kind), Some("lost-warning".to_owned()));
        let added = [message(Twin::Cooperative, "unused_assignments", 4)];
        assert_eq!(warning(&added).map(|failure| failure.kind), Some("warning".to_owned()));
        let lost = [message(Twin::Plain, "unused_mut", 3)];
        assert_eq!(warning(&lost).map(|failure| failure.title()), Some("lost-warning unused_mut".to_owned()));
    }
}
