//! Making a failing function small: parts of its text are deleted or replaced by what is inside them, as long as it
//! fails in the same way.

use std::ops::Range;
use std::time::Instant;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, File, Item, Stmt};

use crate::case::Case;
use crate::indent::indented;
use crate::judge::{Failure, Setting, Verdict, judge};
use crate::project::Project;

/// A change to a text: what is at `range` becomes `by`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    range: Range<usize>,
    by: String,
}

/// Candidates that are compiled together; fewer if those that still fail take long to do so.
const TOGETHER: usize = 48;
const TOGETHER_IF_SLOW: usize = 6;

/// The smallest case found until `deadline` that fails like `failure`, and how it fails.
pub(crate) fn shrink(
    project: &Project,
    case: &Case,
    failure: &Failure,
    setting: &Setting<'_>,
    deadline: Instant,
) -> (Case, Failure) {
    let mut best = (case.clone(), failure.clone());
    let many = if failure.kind == "crash" { TOGETHER_IF_SLOW } else { TOGETHER };
    let mut skipped = 0;
    let mut round = 0;
    while Instant::now() < deadline {
        let edits = edits(&best.0.text);
        let tried = edits.iter().skip(skipped).take(many).cloned().collect::<Vec<_>>();
        if tried.is_empty() {
            break;
        }
        round += 1;
        let texts =
            tried.iter().map(|edit| applied(&best.0.text, std::slice::from_ref(edit))).collect::<Vec<_>>();
        let failing = failing(project, &best.0, &texts, failure, setting, round);
        let good = failing.iter().map(|&(at, _)| tried[at].clone()).collect::<Vec<_>>();
        let Some((first, seen)) = failing.into_iter().next() else {
            skipped += tried.len();
            continue;
        };
        // All that helped at once, then half of it, then the one that takes most away.
        let apart = apart(good);
        let together =
            [apart.as_slice(), &apart[..apart.len().div_ceil(2)]].map(|edits| applied(&best.0.text, edits));
        round += 1;
        let both = if apart.len() > 1 {
            self::failing(project, &best.0, &together, failure, setting, round)
        } else {
            Vec::new()
        };
        best = match both.into_iter().next() {
            Some((at, seen)) => (best.0.with_text(best.0.name.clone(), together[at].clone()), seen),
            None => (best.0.with_text(best.0.name.clone(), texts[first].clone()), seen),
        };
        skipped = skipped.saturating_sub(many);
    }
    best.0.text = indented(&best.0.text);
    best
}

/// Which of these texts fail in the same way, and how each does.
fn failing(
    project: &Project,
    case: &Case,
    texts: &[String],
    failure: &Failure,
    setting: &Setting<'_>,
    round: usize,
) -> Vec<(usize, Failure)> {
    let cases = texts
        .iter()
        .enumerate()
        .map(|(at, text)| case.with_text(format!("try_{round}_{at}"), text.clone()))
        .filter(|case| case.wrapper().is_ok())
        .collect::<Vec<_>>();
    let Ok(verdicts) = judge(project, &cases, setting) else { return Vec::new() };
    let place = |case: &Case| case.name.rsplit('_').next().and_then(|at| at.parse().ok()).unwrap_or(0);
    let same = cases.iter().zip(verdicts).filter_map(|(case, verdict)| match verdict {
        Verdict::Differ(seen) if seen.is_like(failure) => Some((place(case), seen)),
        _ => None,
    });
    same.collect()
}

/// Edits that do not touch each other, the first ones preferred.
fn apart(edits: Vec<Edit>) -> Vec<Edit> {
    let mut apart: Vec<Edit> = Vec::new();
    for edit in edits {
        if apart
            .iter()
            .all(|other| edit.range.end <= other.range.start || other.range.end <= edit.range.start)
        {
            apart.push(edit);
        }
    }
    apart
}

fn applied(text: &str, edits: &[Edit]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.range, &edit.by);
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

/// All changes that make the text shorter, those that take most away first.
fn edits(text: &str) -> Vec<Edit> {
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let mut finder = Finder { text, edits: Vec::new() };
    finder.visit_file(&file);
    let mut edits = finder.edits;
    edits.retain(|edit| edit.by.len() < edit.range.len());
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.len() - edit.by.len()));
    edits.dedup();
    edits
}

struct Finder<'a> {
    text: &'a str,
    edits: Vec<Edit>,
}

impl Finder<'_> {
    fn replace(&mut self, range: Range<usize>, by: impl Into<String>) {
        self.edits.push(Edit { range, by: by.into() });
    }

    fn inside(&self, block: &Block) -> String {
        let range = block.span().byte_range();
        self.text[range.start + 1..range.end - 1].to_owned()
    }

    fn text_of(&self, node: &impl syn::spanned::Spanned) -> String {
        self.text[node.span().byte_range()].to_owned()
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_file(&mut self, node: &'ast File) {
        for item in &node.items {
            let is_entry = matches!(item, Item::Fn(item) if item.sig.ident == "entry");
            if !is_entry {
                self.replace(item.span().byte_range(), "");
            }
        }
        visit::visit_file(self, node);
    }

    fn visit_impl_item(&mut self, node: &'ast syn::ImplItem) {
        self.replace(node.span().byte_range(), "");
        visit::visit_impl_item(self, node);
    }

    fn visit_signature(&mut self, node: &'ast syn::Signature) {
        // An argument less; the calls need it unless there are none.
        let inputs = node.inputs.iter().collect::<Vec<_>>();
        for (at, input) in inputs.iter().enumerate() {
            let range = input.span().byte_range();
            let end = inputs.get(at + 1).map_or(range.end, |next| next.span().byte_range().start);
            self.replace(range.start..end, "");
        }
        if let syn::ReturnType::Type(..) = node.output {
            self.replace(node.output.span().byte_range(), "");
        }
        visit::visit_signature(self, node);
    }

    fn visit_block(&mut self, node: &'ast Block) {
        let deletable = node.stmts.iter().filter(|statement| !is_count(statement)).collect::<Vec<_>>();
        for statement in &deletable {
            self.replace(statement.span().byte_range(), "");
        }
        // Runs of statements, by halves.
        let mut length = deletable.len() / 2;
        while length >= 2 {
            for run in deletable.chunks(length) {
                let (first, last) = (run[0].span().byte_range(), run[run.len() - 1].span().byte_range());
                let holds_count = node.stmts.iter().any(|statement| {
                    let at = statement.span().byte_range().start;
                    is_count(statement) && (first.start..last.end).contains(&at)
                });
                if !holds_count {
                    self.replace(first.start..last.end, "");
                }
            }
            length /= 2;
        }
        visit::visit_block(self, node);
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        let range = node.span().byte_range();
        match node {
            Expr::If(inner) => {
                let inside = self.inside(&inner.then_branch);
                self.replace(range.clone(), inside);
                if let Some((other, branch)) = &inner.else_branch {
                    self.replace(other.span().byte_range().start..range.end, "");
                    let inside = self.text_of(branch);
                    self.replace(range.clone(), inside);
                }
            }
            Expr::Block(inner) => {
                let inside = self.inside(&inner.block);
                self.replace(range.clone(), inside);
            }
            Expr::Match(inner) => {
                for arm in &inner.arms {
                    let body = self.text_of(&arm.body);
                    self.replace(range.clone(), body);
                    self.replace(arm.span().byte_range(), "");
                }
            }
            Expr::ForLoop(syn::ExprForLoop { label: Some(label), .. })
            | Expr::While(syn::ExprWhile { label: Some(label), .. })
            | Expr::Loop(syn::ExprLoop { label: Some(label), .. }) => {
                self.replace(label.span().byte_range(), "");
            }
            Expr::Lit(_) | Expr::Path(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Let(_) => {}
            Expr::Binary(inner) => {
                for side in [&inner.left, &inner.right] {
                    let side = self.text_of(side);
                    self.replace(range.clone(), side);
                }
            }
            Expr::Paren(inner) => {
                let inside = self.text_of(&inner.expr);
                self.replace(range.clone(), inside);
            }
            Expr::MethodCall(inner) => {
                let receiver = self.text_of(&inner.receiver);
                self.replace(range.clone(), receiver);
            }
            Expr::Call(inner) => {
                for argument in &inner.args {
                    let argument = self.text_of(argument);
                    self.replace(range.clone(), argument);
                }
            }
            _ => {}
        }
        if !matches!(node, Expr::Lit(_) | Expr::ForLoop(_) | Expr::While(_) | Expr::Let(_)) && range.len() > 5
        {
            for value in ["1", "true", "None"] {
                self.replace(range.clone(), value);
            }
        }
        visit::visit_expr(self, node);
    }
}

/// The statements that count iterations stay, or the count would not mean anything.
fn is_count(statement: &Stmt) -> bool {
    const COUNTS: [&str; 7] = [
        "tick",
        "soft_tick",
        "constant_tick",
        "condition_tick",
        "waits_in_condition",
        "call_tick",
        "uncounted",
    ];
    let Stmt::Expr(Expr::Call(call), _) = statement else { return false };
    matches!(&*call.func, Expr::Path(path) if COUNTS.iter().any(|name| path.path.is_ident(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_keep_the_counting_statements() {
        let text = "fn entry() {\nfor x in 0..3 {\nsoft_tick();\nnote(x);\n}\n}\n";
        let edits = edits(text);
        assert!(edits.iter().all(|edit| text[edit.range.clone()].trim() != "soft_tick();"));
        let smallest = applied(text, &edits[..1]);
        assert_eq!(smallest, "fn entry() {\n}\n");
    }

    #[test]
    fn edits_that_touch_are_not_applied_together() {
        let edit = |range| Edit { range, by: String::new() };
        assert_eq!(apart(vec![edit(0..5), edit(3..7), edit(7..9)]), [edit(0..5), edit(7..9)]);
    }
}
