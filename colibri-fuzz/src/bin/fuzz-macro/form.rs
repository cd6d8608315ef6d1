//! The forms that generated functions are made of, counted, so that one sees that each is there.

use std::collections::BTreeMap;

/// How often each form was generated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forms(BTreeMap<&'static str, u64>);

/// All of them, in the order of the table. The generator's notes are checked against it.
pub(crate) const FORMS: [&str; 108] = [
    "for range",
    "for range inclusive",
    "for range rev",
    "for range step_by",
    "for constant",
    "for slice",
    "for slice mut",
    "for enumerate",
    "for chunks",
    "for windows",
    "for array",
    "for vec into_iter",
    "for vec drain",
    "for louds",
    "for chars",
    "for map",
    "for adapters",
    "for zip",
    "for by_ref",
    "for temporary",
    "for grid",
    "for nested pattern",
    "for split_at_mut",
    "while",
    "while counter",
    "while block condition",
    "while temporary",
    "while let pop",
    "while let next",
    "while let take",
    "while let slice",
    "while let list",
    "while let list mut",
    "while let chain",
    "while let temporary",
    "while moved condition",
    "while empty",
    "loop",
    "loop value",
    "loop labelled value",
    "loop in argument",
    "loop in operand",
    "loop at tail",
    "loop skipped",
    "depth 2",
    "depth 3",
    "depth 4",
    "nest",
    "nest loop",
    "nest placed loop",
    "nest guard",
    "nest big",
    "nest move out",
    "nest kernel",
    "nest tight",
    "label",
    "break",
    "break value",
    "break label",
    "break block",
    "continue",
    "continue label",
    "return",
    "return in loop",
    "try option",
    "try result",
    "panic",
    "panic index",
    "panic unwrap",
    "panic overflow",
    "shadow",
    "borrow",
    "borrow mut",
    "borrow across loop",
    "best reference",
    "move in loop",
    "move across iterations",
    "move conditional",
    "late init",
    "late init in loop",
    "drop guard",
    "drop explicit",
    "drop partial",
    "drop conditional",
    "scrutinee temporary",
    "tail temporary",
    "match guard",
    "let else",
    "if let",
    "array of arrays",
    "float",
    "string",
    "map",
    "list",
    "recursion",
    "recursion in loop",
    "recursion in closure",
    "helper call",
    "helper generic",
    "method",
    "method self",
    "closure capture",
    "closure loop",
    "argument pattern",
    "impl iterator in",
    "impl iterator out",
    "async fn",
    "boxed",
];

impl Forms {
    /// Counts one.
    pub(crate) fn note(&mut self, form: &'static str) {
        debug_assert!(FORMS.contains(&form), "{form} is missing in the table");
        *self.0.entry(form).or_default() += 1;
    }

    /// Adds those of another function.
    pub(crate) fn add(&mut self, other: &Forms) {
        for (form, count) in &other.0 {
            *self.0.entry(form).or_default() += count;
        }
    }

    /// Those that never occurred.
    #[cfg(test)]
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        FORMS.into_iter().filter(|form| !self.0.contains_key(form)).collect()
    }

    /// A table in four columns.
    pub(crate) fn table(&self) -> String {
        let cell = |form: &&str| format!("{form:<24}{:>6}", self.0.get(*form).copied().unwrap_or(0));
        let rows = FORMS.len().div_ceil(4);
        let row = |at: usize| {
            let cells = FORMS.iter().skip(at).step_by(rows).map(cell).collect::<Vec<_>>();
            cells.join("   ")
        };
        (0..rows).map(row).collect::<Vec<_>>().join("\n")
    }
}
