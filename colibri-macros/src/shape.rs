//! What a loop is made of, as far as it decides which form it may take.

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprAsync, ExprAwait, ExprBreak, ExprClosure, ExprContinue, ExprForLoop, ExprLoop,
    ExprReturn, ExprTry, ExprWhile, Item, Macro, Signature, Stmt,
};

use crate::array::Arrays;
use crate::constant::constant_rounds;
use crate::head::{is_small, knows_its_length};
use crate::number;
use crate::standard::Standard;

/// Rounds of constant loops, one inside the other, that count as straight-line code.
const MOST_CONSTANT_ROUNDS: u64 = 128;

/// Tokens of a loop's body beyond which a second copy of it is too large.
const MOST_COPIED_TOKENS: usize = 150;

/// Finds the loops of a function that take another form than the plain check.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    /// A few rounds of straight-line code inside another loop: part of that loop's iteration, without a check.
    pub(crate) constant: BTreeSet<usize>,
    /// Innermost `for` loops that always run to their end, over an iterator that knows its length.
    pub(crate) counted: BTreeSet<usize>,
    /// Innermost loops that may be written down twice.
    pub(crate) copied: BTreeSet<usize>,
    /// `for` loops whose iterator is small, by the look of it: it may be moved to advance it.
    pub(crate) steps: BTreeSet<usize>,
    over_references: BTreeSet<usize>,
    arrays: Arrays,
    /// How deep in loops that have a check.
    depth: usize,
}

impl Shapes {
    /// `over_references` are loops of whose iterators it is known that they are small and know their length.
    pub(crate) fn of(signature: &Signature, body: &Block, over_references: &BTreeSet<usize>) -> Shapes {
        let mut shapes = Shapes {
            over_references: over_references.clone(),
            arrays: Arrays::of(signature, body),
            ..Shapes::default()
        };
        shapes.visit_block(body);
        shapes
    }
}

impl<'ast> Visit<'ast> for Shapes {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        let (_, number) = number::split(&node.attrs);
        self.visit_expr(&node.expr);
        let Some(number) = number else { return };
        if self.depth > 0 && is_constant(node, &self.arrays) {
            // With all that is inside.
            let mut inside = Constant(&mut self.constant);
            inside.visit_expr_for_loop(node);
            return;
        }
        let is_over_reference = self.over_references.contains(&number);
        if is_over_reference || is_small(&node.expr) {
            self.steps.insert(number);
            if (is_over_reference || knows_its_length(&node.expr)) && self.is_leaf(&node.body, false) {
                self.counted.insert(number);
            } else if self.is_leaf(&node.body, true) {
                self.copied.insert(number);
            }
        }
        self.depth += 1;
        self.visit_block(&node.body);
        self.depth -= 1;
    }

    fn visit_expr_while(&mut self, node: &'ast ExprWhile) {
        let condition =
            Block { brace_token: node.body.brace_token, stmts: vec![Stmt::Expr((*node.cond).clone(), None)] };
        if self.is_leaf(&node.body, true) && self.is_leaf(&condition, true) {
            self.copied.extend(number::split(&node.attrs).1);
        }
        self.depth += 1;
        visit::visit_expr_while(self, node);
        self.depth -= 1;
    }

    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        if self.is_leaf(&node.body, true) {
            self.copied.extend(number::split(&node.attrs).1);
        }
        self.depth += 1;
        visit::visit_expr_loop(self, node);
        self.depth -= 1;
    }

    // Not the function's loops.
    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}

    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
}

struct Constant<'a>(&'a mut BTreeSet<usize>);

impl<'ast> Visit<'ast> for Constant<'_> {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.0.extend(number::split(&node.attrs).1);
        visit::visit_expr_for_loop(self, node);
    }
}

impl Shapes {
    /// Whether a body can be written down twice and has no other loop with a check inside; `may_leave` says whether it may
    /// end its loop before its time.
    fn is_leaf(&self, body: &Block, may_leave: bool) -> bool {
        if tokens_in(body.to_token_stream()) > MOST_COPIED_TOKENS {
            return false;
        }
        let mut leaf = Leaf { is_leaf: true, may_leave, arrays: &self.arrays };
        leaf.visit_block(body);
        leaf.is_leaf
    }
}

fn is_constant(node: &ExprForLoop, arrays: &Arrays) -> bool {
    constant_rounds(node, arrays).is_some_and(|rounds| rounds <= MOST_CONSTANT_ROUNDS)
}

pub(crate) fn tokens_in(tokens: proc_macro2::TokenStream) -> usize {
    tokens
        .into_iter()
        .map(|token| match token {
            proc_macro2::TokenTree::Group(group) => 2 + tokens_in(group.stream()),
            _ => 1,
        })
        .sum()
}

struct Leaf<'a> {
    is_leaf: bool,
    may_leave: bool,
    arrays: &'a Arrays,
}

impl<'ast> Visit<'ast> for Leaf<'_> {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.is_leaf &= is_constant(node, self.arrays);
    }

    fn visit_expr_while(&mut self, _: &'ast ExprWhile) {
        self.is_leaf = false;
    }

    fn visit_expr_loop(&mut self, _: &'ast ExprLoop) {
        self.is_leaf = false;
    }

    fn visit_expr_break(&mut self, node: &'ast ExprBreak) {
        self.is_leaf &= self.may_leave;
        visit::visit_expr_break(self, node);
    }

    fn visit_expr_continue(&mut self, node: &'ast ExprContinue) {
        self.is_leaf &= self.may_leave || node.label.is_none();
    }

    fn visit_expr_return(&mut self, node: &'ast ExprReturn) {
        self.is_leaf &= self.may_leave;
        visit::visit_expr_return(self, node);
    }

    fn visit_expr_try(&mut self, node: &'ast ExprTry) {
        self.is_leaf &= self.may_leave;
        visit::visit_expr_try(self, node);
    }

    fn visit_expr_await(&mut self, _: &'ast ExprAwait) {
        self.is_leaf = false;
    }

    // Two closures have two types, and an item of a function exists once.
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {
        self.is_leaf = false;
    }

    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {
        self.is_leaf = false;
    }

    fn visit_item(&mut self, _: &'ast Item) {
        self.is_leaf = false;
    }

    // Nobody knows what is in the others.
    fn visit_macro(&mut self, node: &'ast Macro) {
        let is_known = matches!(Standard::of(node), Some(Standard::Assertion | Standard::Ending));
        let text = node.tokens.to_string();
        // A closure or a jump in there would go unseen.
        self.is_leaf &= is_known && !["|", "break", "continue", "?"].iter().any(|sign| text.contains(sign));
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        self.is_leaf &= !matches!(node, Expr::Verbatim(_) | Expr::Yield(_) | Expr::TryBlock(_));
        visit::visit_expr(self, node);
    }
}
