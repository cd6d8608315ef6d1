//! What a run found, counted.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::case::Case;
use crate::form::Forms;
use crate::judge::{Failure, Verdict};

/// The tally of a run.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) functions: u64,
    pub(crate) runs: u64,
    pub(crate) comparisons: u64,
    pub(crate) forms: Forms,
    /// Functions whose plain twin does not compile.
    pub(crate) invalid: Vec<(Case, String)>,
    /// By kind and detail: how many, and the shortest of them.
    pub(crate) failures: BTreeMap<String, (u64, Case, Failure)>,
    /// Warnings that only the plain twin has, by lint.
    pub(crate) lost_warnings: BTreeMap<String, (u64, Case, Failure)>,
}

impl Summary {
    /// Adds a verdict; the title of a difference that is the first of its kind.
    pub(crate) fn add(&mut self, case: &Case, verdict: Verdict) -> Option<String> {
        let kinds = self.failures.len();
        self.count(case, verdict);
        let is_new = self.failures.len() > kinds;
        let of_case = self.failures.iter().find(|(_, (_, known, _))| is_new && known.name == case.name);
        of_case.map(|(title, _)| title.clone())
    }

    fn count(&mut self, case: &Case, verdict: Verdict) {
        self.functions += 1;
        let (list, failure) = match verdict {
            Verdict::Invalid(why) => {
                self.invalid.push((case.clone(), why));
                return;
            }
            Verdict::Agree { runs, comparisons, lost } => {
                self.runs += runs;
                self.comparisons += comparisons;
                (&mut self.lost_warnings, lost)
            }
            Verdict::Differ(failure) => (&mut self.failures, Some(failure)),
        };
        self.forms.add(&case.forms);
        let Some(failure) = failure else { return };
        let entry = list.entry(failure.title()).or_insert_with(|| (0, case.clone(), failure.clone()));
        entry.0 += 1;
        if case.text.len() < entry.1.text.len() {
            (entry.1, entry.2) = (case.clone(), failure);
        }
    }

    /// How many functions differ.
    pub(crate) fn differing(&self) -> u64 {
        self.failures.values().map(|(many, ..)| many).sum()
    }

    /// The table at the end.
    pub(crate) fn text(&self, took: Duration) -> String {
        let mut text = format!("how often each form was generated:\n\n{}\n\n", self.forms.table());
        let mut list = |head: &str, failures: &BTreeMap<String, (u64, Case, Failure)>| {
            for (title, (many, case, _)) in failures {
                text.push_str(&format!("{head} {title}: {many} functions, such as {}\n", case.name));
            }
        };
        list("differs:", &self.failures);
        list("note:", &self.lost_warnings);
        if !self.invalid.is_empty() {
            let names = self
                .invalid
                .iter()
                .take(8)
                .map(|(case, _)| case.name.as_str())
                .collect::<Vec<_>>()
                .join(", ");
            text.push_str(&format!(
                "note: {} functions do not compile even plain: {names}\n",
                self.invalid.len()
            ));
        }
        text.push_str(&format!(
            "{} functions, {} runs, {} comparisons in {:.1} s: {}\n",
            self.functions,
            self.runs,
            self.comparisons,
            took.as_secs_f64(),
            match self.differing() {
                0 => "all agree".to_owned(),
                many => format!("{many} differ"),
            }
        ));
        text
    }
}
