//! Lowerings that are wrong on purpose, to show that the fuzzer finds such faults: a runtime that does the wrong thing,
//! or a cooperative twin that was changed by one of the classic mistakes before the attribute saw it.

use std::ops::Range;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprForLoop, ExprWhile, Stmt};

use crate::case::Case;

/// A wrong lowering.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Canary {
    pub(crate) name: &'static str,
    /// What is wrong.
    pub(crate) what: &'static str,
    how: How,
}

/// What to put in the place of which part of a text.
type Edits = Vec<(Range<usize>, String)>;

#[derive(Clone, Copy, Debug)]
enum How {
    /// By a runtime, a module of `template/faulty.rs`.
    Runtime(&'static str),
    /// By a change to the text.
    Text(fn(&str, &syn::File) -> Edits),
}

/// All of them.
pub(crate) const CANARIES: [Canary; 14] = [
    Canary {
        name: "lost-item",
        what: "advancing an iterator by value drops an item now and then",
        how: How::Runtime("lost_item"),
    },
    Canary {
        name: "endless-fuel",
        what: "the fuel wraps: results are right, and nothing ever stops",
        how: How::Runtime("endless_fuel"),
    },
    Canary { name: "lost-fuel", what: "the fuel is never given back", how: How::Runtime("lost_fuel") },
    Canary {
        name: "doubled-fuel",
        what: "each entry finds an iteration of fuel for nothing",
        how: How::Runtime("doubled_fuel"),
    },
    Canary { name: "double-refill", what: "a check gives way twice", how: How::Runtime("double_refill") },
    Canary {
        name: "textbook-for",
        what: "`for` by a `let` of its iterator: temporaries end too early or live too long",
        how: How::Text(textbook_for),
    },
    Canary {
        name: "long-condition",
        what: "temporaries of a `while` condition live as long as the body",
        how: How::Text(long_condition),
    },
    Canary {
        name: "unchecked-round",
        what: "an unrolled `while` body runs again without its condition",
        how: How::Text(unchecked_round),
    },
    Canary {
        name: "wrong-label",
        what: "`continue 'outer` continues the inner loop",
        how: How::Text(wrong_label),
    },
    Canary {
        name: "inner-return",
        what: "`return` from a loop leaves that loop only",
        how: How::Text(inner_return),
    },
    Canary {
        name: "next-copy",
        what: "`break` out of an unrolled body goes on with the next copy",
        how: How::Text(next_copy),
    },
    Canary {
        name: "lost-scalar",
        what: "an outlined loop gets a number by value and does not give it back",
        how: How::Text(lost_scalar),
    },
    Canary {
        name: "early-drop",
        what: "a local that is not read again is dropped at once",
        how: How::Text(early_drop),
    },
    Canary {
        name: "unawaited-call",
        what: "a call of a cooperative function is not awaited",
        how: How::Text(unawaited_call),
    },
];

impl Canary {
    /// The canary of that name.
    pub(crate) fn named(name: &str) -> Option<Canary> {
        CANARIES.into_iter().find(|canary| canary.name == name)
    }

    /// Whether it makes a difference to this case at all.
    pub(crate) fn changes(&self, case: &Case) -> bool {
        self.cooperative(case) != case.cooperative(None)
    }

    /// The cooperative twin, wrong.
    pub(crate) fn cooperative(&self, case: &Case) -> String {
        match self.how {
            How::Runtime(module) => case.cooperative(Some(&format!("crate::faulty::{module}"))),
            How::Text(change) => {
                let Ok(file) = syn::parse_file(&case.text) else { return case.cooperative(None) };
                let mut edits = change(&case.text, &file);
                edits.sort_by_key(|(range, _)| std::cmp::Reverse((range.start, range.end)));
                let mut text = case.text.clone();
                let mut untouched = text.len();
                for (range, by) in edits {
                    // What lies around another change stays as it is.
                    if range.end <= untouched {
                        untouched = range.start;
                        text.replace_range(range, &by);
                    }
                }
                case.with_text(case.name.clone(), text).cooperative(None)
            }
        }
    }
}

/// The parts of a text that a change is about.
struct Parts<'a> {
    text: &'a str,
    edits: Edits,
    visit: fn(&mut Parts<'a>, &Expr),
}

impl<'a> Parts<'a> {
    fn of(text: &'a str, file: &syn::File, visit: fn(&mut Parts<'a>, &Expr)) -> Edits {
        let mut parts = Parts { text, edits: Vec::new(), visit };
        parts.visit_file(file);
        parts.edits
    }

    fn of_expression(text: &'a str, node: &Expr, visit: fn(&mut Parts<'a>, &Expr)) -> Edits {
        let mut parts = Parts { text, edits: Vec::new(), visit };
        parts.visit_expr(node);
        parts.edits
    }

    fn edit(&mut self, range: Range<usize>, by: String) {
        self.edits.push((range, by));
    }

    fn slice(&self, node: &impl syn::spanned::Spanned) -> &'a str {
        &self.text[node.span().byte_range()]
    }
}

impl<'ast> Visit<'ast> for Parts<'_> {
    fn visit_expr(&mut self, node: &'ast Expr) {
        (self.visit)(self, node);
        visit::visit_expr(self, node);
    }
}

// Input:  `for x in items { body }`
// Output: `{ let mut steps = IntoIterator::into_iter(items); while let Some(x) = steps.next() { body } }`
fn textbook_for(text: &str, file: &syn::File) -> Edits {
    Parts::of(text, file, |parts, node| {
        let Expr::ForLoop(ExprForLoop { attrs, label, pat, expr, body, .. }) = node else { return };
        // With a label in front, the block around would change what it means.
        if label.is_some() || !attrs.is_empty() {
            return;
        }
        let inner = &parts.text[node.span().byte_range()];
        if inner.matches("for ").count() > 1 {
            return;
        }
        let (pattern, items, body) = (parts.slice(pat), parts.slice(expr), parts.slice(body));
        let by = format!(
            "{{ let mut steps = IntoIterator::into_iter({items}); while let Some({pattern}) = steps.next() {body} }}"
        );
        parts.edit(node.span().byte_range(), by);
    })
}

// Input:  `while condition { body }`
// Output: `while let true = (condition) { body }`
fn long_condition(text: &str, file: &syn::File) -> Edits {
    Parts::of(text, file, |parts, node| {
        let Expr::While(ExprWhile { cond, .. }) = node else { return };
        // Without a temporary in it, it makes no difference.
        if !contains_let(cond) && parts.slice(cond).contains("Loud(") {
            let condition = cond.span().byte_range();
            let by = format!("let true = ({})", &parts.text[condition.clone()]);
            parts.edit(condition, by);
        }
    })
}

fn contains_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => contains_let(&binary.left) || contains_let(&binary.right),
        _ => false,
    }
}

// Input:  `while condition { body }`
// Output: `while condition { { body } body }`
fn unchecked_round(text: &str, file: &syn::File) -> Edits {
    Parts::of(text, file, |parts, node| {
        let Expr::While(ExprWhile { cond, body, .. }) = node else { return };
        if !contains_let(cond) {
            let inner = body.span().byte_range();
            let again = parts.text[inner.start..inner.end].to_owned();
            parts.edit(inner.start + 1..inner.start + 1, again);
        }
    })
}

fn wrong_label(text: &str, file: &syn::File) -> Edits {
    Parts::of(text, file, |parts, node| {
        let Expr::Continue(inner) = node else { return };
        if inner.label.is_some() {
            parts.edit(node.span().byte_range(), "continue".to_owned());
        }
    })
}

// Input:  `loop { return value; }`
// Output: `loop { break; }`
fn inner_return(text: &str, file: &syn::File) -> Edits {
    struct Loops<'a>(&'a str, Edits);
    impl<'ast> Visit<'ast> for Loops<'_> {
        fn visit_expr(&mut self, node: &'ast Expr) {
            let (Expr::ForLoop(_) | Expr::While(_)) = node else { return visit::visit_expr(self, node) };
            let inner = node.span().byte_range();
            let mut parts = Parts::of_expression(self.0, node, |parts, node| {
                if let Expr::Return(_) = node {
                    parts.edit(node.span().byte_range(), "break".to_owned());
                }
            });
            debug_assert!(parts.iter().all(|(range, _)| inner.contains(&range.start)));
            self.1.append(&mut parts);
        }
    }
    let mut loops = Loops(text, Vec::new());
    loops.visit_file(file);
    loops.1
}

fn next_copy(text: &str, file: &syn::File) -> Edits {
    Parts::of(text, file, |parts, node| {
        let Expr::While(node) = node else { return };
        let mut edits =
            Parts::of_expression(parts.text, &Expr::Block(block_of(&node.body)), |parts, node| {
                if let Expr::Break(syn::ExprBreak { label: None, expr: None, .. }) = node {
                    parts.edit(node.span().byte_range(), "continue".to_owned());
                }
            });
        parts.edits.append(&mut edits);
    })
}

fn block_of(block: &Block) -> syn::ExprBlock {
    syn::ExprBlock { attrs: Vec::new(), label: None, block: block.clone() }
}

// Input:  `let mut sum: u64 = 0; for x in items { sum ^= x; }`
// Output: `let mut sum: u64 = 0; { let mut sum = sum; for x in items { sum ^= x; } }`
fn lost_scalar(text: &str, file: &syn::File) -> Edits {
    struct Blocks<'a>(&'a str, Edits);
    impl<'ast> Visit<'ast> for Blocks<'_> {
        fn visit_block(&mut self, node: &'ast Block) {
            let mut numbers = Vec::new();
            for statement in &node.stmts {
                let range = statement.span().byte_range();
                let text = &self.0[range.clone()];
                let is_loop = matches!(statement, Stmt::Expr(Expr::ForLoop(_) | Expr::While(_), None));
                if let Stmt::Local(_) = statement
                    && let Some((name, rest)) =
                        text.strip_prefix("let mut ").and_then(|text| text.split_once(": "))
                    && ["i32", "u64", "usize"].iter().any(|ty| rest.starts_with(&format!("{ty} =")))
                {
                    numbers.push(name.to_owned());
                } else if is_loop
                    && let Some(name) = numbers.iter().find(|name| {
                        [" =", " ^=", " +="].iter().any(|sign| text.contains(&format!(" {name}{sign} ")))
                    })
                {
                    self.1.push((range, format!("{{ let mut {name} = {name}; {text} }}")));
                }
            }
            visit::visit_block(self, node);
        }
    }
    let mut blocks = Blocks(text, Vec::new());
    blocks.visit_file(file);
    blocks.1
}

// Input:  `let guard = Loud(1);`, which is not mentioned again
// Output: `let _ = Loud(1);`
fn early_drop(text: &str, file: &syn::File) -> Edits {
    struct Blocks<'a>(&'a str, Edits);
    impl<'ast> Visit<'ast> for Blocks<'_> {
        fn visit_block(&mut self, node: &'ast Block) {
            for statement in &node.stmts {
                let Stmt::Local(local) = statement else { continue };
                let syn::Pat::Type(typed) = &local.pat else { continue };
                let (name, ty) = (typed.pat.span().byte_range(), typed.ty.span().byte_range());
                let name_text = self.0[name.clone()].trim_start_matches("mut ").to_owned();
                let words = self
                    .0
                    .split(|character: char| !(character.is_alphanumeric() || "_#".contains(character)));
                let is_unused = words.filter(|word| *word == name_text).count() == 1;
                if is_unused && self.0[ty].contains("Loud") {
                    self.1.push((name, "_".to_owned()));
                }
            }
            visit::visit_block(self, node);
        }
    }
    let mut blocks = Blocks(text, Vec::new());
    blocks.visit_file(file);
    blocks.1
}

fn unawaited_call(text: &str, file: &syn::File) -> Edits {
    struct Statements<'a>(&'a str, Edits);
    impl<'ast> Visit<'ast> for Statements<'_> {
        fn visit_block(&mut self, node: &'ast Block) {
            for statement in &node.stmts {
                let range = statement.span().byte_range();
                let text = &self.0[range.clone()];
                if text.starts_with("note(")
                    && text.ends_with(".await);")
                    && text.matches("await").count() == 1
                {
                    self.1.push((range, format!("drop({};", text["note(".len()..].replace(".await);", ")"))));
                }
            }
            visit::visit_block(self, node);
        }
    }
    let mut statements = Statements(text, Vec::new());
    statements.visit_file(file);
    statements.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(name: &str, text: &str) -> String {
        let case = Case::generated(1, 0).with_text("s1_n1".to_owned(), text.to_owned());
        Canary::named(name).expect("there is one of that name").cooperative(&case)
    }

    #[test]
    fn texts_are_changed_as_meant() {
        let text = "fn f() { for x in y() { a(x); } while c { n -= 1; } }";
        assert!(changed("textbook-for", text).contains("while let Some(x) = steps.next() { a(x); } }"));
        let temporary = "fn f() { while Loud(1).is(c) { n -= 1; } while c { n -= 1; } }";
        assert!(
            changed("long-condition", temporary).contains("while let true = (Loud(1).is(c)) { n -= 1; }")
        );
        assert!(changed("long-condition", temporary).contains("while c { n -= 1; }"));
        assert!(changed("unchecked-round", text).contains("while c {{ n -= 1; } n -= 1; }"));
        let text =
            "fn f() { let mut n: u64 = 0; for x in y { if z { return 1; } n ^= 1; } while c { break; } }";
        assert!(changed("inner-return", text).contains("{ break; }"));
        assert!(changed("next-copy", text).contains("while c { continue; }"));
        assert!(changed("lost-scalar", text).contains("{ let mut n = n; for x in y { if z"));
        let text = "fn f() { let g: Loud = Loud(1); }";
        assert!(changed("early-drop", text).contains("let _: Loud"));
        assert!(changed("wrong-label", "fn f() { continue 'a; }").contains("{ continue; }"));
        assert!(changed("unawaited-call", "fn f() { note(h(3).await); }").contains("{ drop(h(3)); }"));
        assert!(
            changed("lost-item", "#[cooperative]\nfn f() {}").contains("crate = crate::faulty::lost_item")
        );
    }
}
