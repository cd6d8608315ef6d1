//! What the attribute cannot do: one message each, at the place that is meant, saying what is allowed.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprForLoop, ExprLoop, ExprWhile, Item, ItemFn, Macro, Signature};

use crate::function::is_cooperative;
use crate::report::Report;

/// Reports what keeps a function from returning a future; true if nothing does.
pub(crate) fn signature(signature: &Signature, report: &mut Report) -> bool {
    let mut fits = true;
    let mut wrong = |span: Span, message: &str| {
        report.at(span, message);
        fits = false;
    };
    if let Some(constness) = &signature.constness {
        wrong(
            constness.span,
            "a `const fn` cannot be cooperative, since constants are computed without stopping; `#[cooperative]` goes on a `fn` or an `async fn`",
        );
    }
    if let Some(abi) = &signature.abi
        && abi.name.as_ref().is_none_or(|name| name.value() != "Rust")
    {
        wrong(
            abi.span(),
            "an `extern` function cannot be cooperative, since its callers expect no future; `#[cooperative]` goes on a `fn` or an `async fn` of the Rust ABI",
        );
    }
    if let Some(variadic) = &signature.variadic {
        wrong(
            variadic.span(),
            "a variadic function cannot be cooperative; `#[cooperative]` goes on functions with a fixed number of arguments",
        );
    }
    fits
}

/// For `strict`: reports the loops of a closure or an `async` block.
pub(crate) fn no_loops_in(node: &impl ReadOnly, what: &str, report: &mut Report) {
    let mut loops = Loops { what, report };
    node.show(&mut loops);
}

/// For `strict`: reports the loops of a nested item, unless it is cooperative itself.
pub(crate) fn no_loops_in_item(item: &Item, report: &mut Report) {
    let mut loops = Loops { what: "a nested item", report };
    loops.visit_item(item);
}

/// For `strict`: reports the loops among the tokens of a macro call.
pub(crate) fn no_loops_in_macro(node: &Macro, report: &mut Report) {
    loops_in_tokens(node.tokens.clone(), report);
}

/// What can be walked without being changed.
pub(crate) trait ReadOnly {
    fn show(&self, loops: &mut Loops<'_>);
}

impl ReadOnly for Expr {
    fn show(&self, loops: &mut Loops<'_>) {
        loops.visit_expr(self);
    }
}

impl<T: ReadOnly> ReadOnly for Box<T> {
    fn show(&self, loops: &mut Loops<'_>) {
        (**self).show(loops);
    }
}

impl ReadOnly for Block {
    fn show(&self, loops: &mut Loops<'_>) {
        loops.visit_block(self);
    }
}

/// Reports every loop that it sees, except those marked with `#[cooperative(skip)]`.
pub(crate) struct Loops<'a> {
    what: &'a str,
    report: &'a mut Report,
}

impl Loops<'_> {
    fn found(&mut self, attributes: &[syn::Attribute], keyword: Span) {
        if !attributes.iter().any(is_cooperative) {
            self.report.at(keyword, strict_message(self.what));
        }
    }
}

impl<'ast> Visit<'ast> for Loops<'_> {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.found(&node.attrs, node.for_token.span);
        visit::visit_expr_for_loop(self, node);
    }

    fn visit_expr_while(&mut self, node: &'ast ExprWhile) {
        self.found(&node.attrs, node.while_token.span);
        visit::visit_expr_while(self, node);
    }

    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        self.found(&node.attrs, node.loop_token.span);
        visit::visit_expr_loop(self, node);
    }

    // A nested function with the attribute sees to its own loops.
    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        if !node.attrs.iter().any(is_cooperative) {
            visit::visit_item_fn(self, node);
        }
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        no_loops_in_macro(node, self.report);
    }
}

fn strict_message(what: &str) -> String {
    format!(
        "`strict`: this loop cannot stop, since it is in {what}; move it into the function's own code, or leave `strict` out"
    )
}

/// Tokens are only tokens: `loop {`, `while .. {` and `for .. in .. {` are taken for loops.
fn loops_in_tokens(tokens: TokenStream, report: &mut Report) {
    let mut pending: Option<(Span, bool)> = None;
    for token in tokens {
        match token {
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "loop" | "while" => pending = Some((word.span(), true)),
                "for" => pending = Some((word.span(), false)),
                "in" => pending = pending.map(|(span, _)| (span, true)),
                _ => {}
            },
            TokenTree::Punct(punct) if punct.as_char() == ';' => pending = None,
            TokenTree::Group(group) => {
                if group.delimiter() == Delimiter::Brace
                    && let Some((span, true)) = pending.take()
                {
                    report.at(span, strict_message("a macro call"));
                }
                loops_in_tokens(group.stream(), report);
            }
            _ => {}
        }
    }
}
