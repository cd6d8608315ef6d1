//! What a run tells.

use std::collections::BTreeMap;
use std::io::Write as _;

use crate::canary::Canary;
use crate::catalogue::Crate;
use crate::convert::Function;
use crate::testing::Results;

/// Lines of a compiler's message that are shown.
const MOST_LINES: usize = 30;

/// How a crate did.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) name: String,
    /// All functions with loops.
    pub(crate) functions: Vec<Function>,
    /// For each: whether it is one of those that the command asks for.
    pub(crate) is_chosen: Vec<bool>,
    /// Files that this tool cannot read.
    pub(crate) unread: Vec<String>,
    /// Functions that compile in no other place than theirs, with what the compiler says.
    pub(crate) unmovable: BTreeMap<u32, Vec<String>>,
    /// Functions that do not compile with the attribute.
    pub(crate) errors: BTreeMap<u32, Vec<String>>,
    pub(crate) plain: Results,
    pub(crate) converted: Results,
    /// Functions that some test called.
    pub(crate) ran: usize,
    /// Functions that gave way at least once.
    pub(crate) gave_way: usize,
}

impl Report {
    /// Why functions were left plain, and which.
    fn skipped(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut skipped: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (function, is_chosen) in self.functions.iter().zip(&self.is_chosen) {
            let reason = match &function.obstacle {
                Some(reason) => reason,
                None if self.unmovable.contains_key(&function.number) => "compiles only where it is",
                None if !is_chosen => "not asked for",
                None => continue,
            };
            skipped.entry(reason).or_default().push(&function.id);
        }
        skipped
    }

    /// Functions that compiled with the attribute.
    fn converted(&self) -> usize {
        let skipped: usize = self.skipped().values().map(Vec::len).sum();
        self.functions.len() - skipped - self.errors.len()
    }

    /// Tests that passed plain and end in another way now.
    fn differing(&self) -> Vec<String> {
        let mut differing = Vec::new();
        for (name, result) in self.plain.iter().filter(|(_, result)| *result == "ok") {
            match self.converted.get(name) {
                Some(now) if now == result => {}
                Some(now) => differing.push(format!("{name}: {now}")),
                None => differing.push(format!("{name}: not run")),
            }
        }
        differing
    }

    /// With a yield at every third check, some loop of every crate gives way.
    fn never_gave_way(&self) -> bool {
        self.ran > 0 && self.gave_way == 0
    }

    fn is_well(&self) -> bool {
        self.errors.is_empty() && self.differing().is_empty() && !self.never_gave_way()
    }
}

fn passed(results: &Results) -> usize {
    results.iter().filter(|(name, result)| *result == "ok" && !name.ends_with("(exit)")).count()
}

/// The sums.
#[derive(Debug, Default)]
pub(crate) struct Total {
    crates: usize,
    functions: usize,
    converted: usize,
    ran: usize,
    gave_way: usize,
    errors: usize,
    passed: usize,
    differing: usize,
    /// Crates whose functions ran and never gave way.
    endless: usize,
    failed: Vec<String>,
}

impl Total {
    pub(crate) fn add(&mut self, report: &Report) {
        self.crates += 1;
        self.functions += report.functions.len();
        self.converted += report.converted();
        self.ran += report.ran;
        self.gave_way += report.gave_way;
        self.errors += report.errors.len();
        self.passed += passed(&report.converted);
        self.differing += report.differing().len();
        self.endless += usize::from(report.never_gave_way());
        if !report.is_well() {
            self.failed.push(report.name.clone());
        }
    }

    /// A crate of which nothing could be told.
    pub(crate) fn fail(&mut self, name: &str) {
        self.crates += 1;
        self.failed.push(name.to_owned());
    }

    pub(crate) fn is_well(&self) -> bool {
        self.failed.is_empty()
    }

    /// Whether the crates' tests, or what their functions did, told of a wrong lowering.
    pub(crate) fn has_found(&self) -> bool {
        self.differing > 0 || self.endless > 0
    }
}

/// Prints a line; a reader that has gone away is no error.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints the list of crates.
pub(crate) fn list(crates: &[Crate]) {
    for entry in crates {
        say(&format!("{:<21} {:<8} {}", entry.name, entry.version, entry.what));
    }
}

/// Says which crate is next.
pub(crate) fn begin(entry: &Crate) {
    say(&format!("{} {}", entry.name, entry.version));
}

/// Says why nothing can be told of a crate.
pub(crate) fn failure(message: &str) {
    say(&format!("  FAILED: {message}"));
}

/// Says how a crate did.
pub(crate) fn tell(report: &Report, is_verbose: bool) {
    say(&format!(
        "  {} functions with loops, {} converted ({} ran, {} gave way), {} do not compile",
        report.functions.len(),
        report.converted(),
        report.ran,
        report.gave_way,
        report.errors.len()
    ));
    for (reason, functions) in report.skipped() {
        say(&format!("  left plain: {reason}: {}", functions.len()));
        for function in functions.iter().filter(|_| is_verbose) {
            say(&format!("    {function}"));
        }
    }
    for file in &report.unread {
        say(&format!("  left plain: {file}"));
    }
    if is_verbose {
        messages(report, &report.unmovable, "does not compile without the attribute");
    }
    messages(report, &report.errors, "DOES NOT COMPILE");
    say(&format!("  tests passed: {} plain, {} converted", passed(&report.plain), passed(&report.converted)));
    for test in report.differing() {
        say(&format!("  DIFFERS: {test}"));
    }
    if report.never_gave_way() {
        say("  DIFFERS: its functions ran and never gave way");
    }
}

fn messages(report: &Report, errors: &BTreeMap<u32, Vec<String>>, what: &str) {
    for (number, said) in errors {
        let function = report.functions.iter().find(|function| function.number == *number);
        say(&format!("  {what}: {}", function.map_or("?", |function| &function.id)));
        for line in said.iter().flat_map(|message| message.lines()).take(MOST_LINES) {
            // A converted function may be one line with its twin's attribute.
            say(&format!("    {}", line.chars().take(160).collect::<String>()));
        }
    }
}

/// Says how all of them did.
pub(crate) fn tell_total(total: &Total) {
    say(&format!(
        "{} crates: {} functions with loops, {} converted ({} ran, {} gave way), {} do not compile; {} tests passed, {} differ",
        total.crates,
        total.functions,
        total.converted,
        total.ran,
        total.gave_way,
        total.errors,
        total.passed,
        total.differing
    ));
    if total.is_well() {
        say("All the same.");
    } else {
        say(&format!("Not the same: {}", total.failed.join(", ")));
    }
}

/// Says whether the crates found the canary out.
pub(crate) fn tell_canary(canary: Canary, total: &Total) {
    let found = if total.has_found() { "found out" } else { "missed" };
    say(&format!("the canary {} ({}) was {found}", canary.name, canary.what));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let function = |number, obstacle: Option<&str>| Function {
            number,
            id: format!("lib.rs:{number} f"),
            obstacle: obstacle.map(str::to_owned),
        };
        let results = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|&(name, result)| (name.to_owned(), result.to_owned())).collect()
        };
        Report {
            name: "some".to_owned(),
            functions: vec![
                function(0, None),
                function(1, Some("const fn")),
                function(2, None),
                function(3, None),
            ],
            is_chosen: vec![true, true, true, true],
            unread: Vec::new(),
            unmovable: BTreeMap::from([(2, Vec::new())]),
            errors: BTreeMap::new(),
            plain: results(&[("lib: a", "ok"), ("lib: b", "FAILED"), ("lib: c", "ok")]),
            converted: results(&[("lib: a", "ok"), ("lib: b", "FAILED"), ("lib: c", "ok")]),
            ran: 1,
            gave_way: 1,
        }
    }

    #[test]
    fn only_what_passed_plain_can_differ() {
        let mut report = report();
        assert!(report.is_well());
        assert_eq!(report.converted(), 2);
        report.converted.remove("lib: c");
        assert_eq!(report.differing(), ["lib: c: not run"]);
    }

    #[test]
    fn a_crate_that_never_gives_way_is_a_failure() {
        let mut report = report();
        report.gave_way = 0;
        assert!(!report.is_well());
        let mut total = Total::default();
        total.add(&report);
        assert!(total.has_found());
    }

    #[test]
    fn a_function_that_does_not_compile_is_a_failure() {
        let mut report = report();
        report.errors.insert(3, vec!["error".to_owned()]);
        assert_eq!(report.converted(), 1);
        let mut total = Total::default();
        total.add(&report);
        assert!(!total.is_well());
    }
}
