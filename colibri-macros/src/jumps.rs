//! `break` and `continue` in a copy of code that no longer stands in the loops they mean.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprBreak, ExprClosure, ExprContinue, ExprForLoop, ExprLoop, ExprWhile, Lifetime, Stmt,
    Token,
};

/// Blocks that stand for a loop in the copy.
pub(crate) struct Target {
    /// The user's label of the loop.
    pub(crate) label: Option<Lifetime>,
    /// The block that ends with the loop's iteration.
    pub(crate) continues: Lifetime,
    /// The block that ends with the loop, and its value.
    pub(crate) breaks: Lifetime,
    pub(crate) value: Option<TokenStream>,
}

/// Turns jumps to loops into jumps out of blocks.
pub(crate) struct Jumps<'a> {
    targets: &'a [Target],
    /// Which of them is meant without a label; none where a loop of the copy is.
    innermost: Option<usize>,
    /// Loops of the copy around.
    depth: usize,
    /// The targets that somebody leaves.
    pub(crate) broken: BTreeSet<usize>,
}

impl<'a> Jumps<'a> {
    pub(crate) fn new(targets: &'a [Target], innermost: Option<usize>) -> Self {
        Jumps { targets, innermost, depth: 0, broken: BTreeSet::new() }
    }

    /// Rewrites a loop that stays a loop.
    pub(crate) fn loop_itself(&mut self, node: &mut Expr) {
        self.visit_expr_mut(node);
    }

    /// Rewrites what follows a loop in the iteration around it.
    pub(crate) fn statements(&mut self, statements: &mut [Stmt]) {
        statements.iter_mut().for_each(|statement| self.visit_stmt_mut(statement));
    }

    fn target(&self, label: &Option<Lifetime>) -> Option<usize> {
        match label {
            None if self.depth == 0 => self.innermost,
            None => None,
            Some(label) => self.targets.iter().rposition(|target| target.label.as_ref() == Some(label)),
        }
    }

    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }
}

impl VisitMut for Jumps<'_> {
    fn visit_expr_break_mut(&mut self, node: &mut ExprBreak) {
        visit_mut::visit_expr_break_mut(self, node);
        if let Some(index) = self.target(&node.label) {
            self.broken.insert(index);
            let target = &self.targets[index];
            node.label = Some(target.breaks.clone());
            if let Some(value) = &target.value {
                node.expr = Some(Box::new(Expr::Verbatim(value.clone())));
            }
        }
    }

    fn visit_expr_mut(&mut self, node: &mut Expr) {
        if let Expr::Continue(ExprContinue { continue_token, label, .. }) = node
            && let Some(index) = self.target(label)
        {
            // It leaves the loops inside that one.
            self.broken.extend(index + 1..self.targets.len());
            let target = &self.targets[index];
            *node = Expr::Break(ExprBreak {
                attrs: Vec::new(),
                break_token: Token![break](continue_token.span),
                label: Some(target.continues.clone()),
                expr: None,
            });
            return;
        }
        visit_mut::visit_expr_mut(self, node);
    }

    fn visit_expr_for_loop_mut(&mut self, node: &mut ExprForLoop) {
        self.visit_expr_mut(&mut node.expr);
        self.inside(|this| this.visit_block_mut(&mut node.body));
    }

    fn visit_expr_while_mut(&mut self, node: &mut ExprWhile) {
        self.inside(|this| visit_mut::visit_expr_while_mut(this, node));
    }

    fn visit_expr_loop_mut(&mut self, node: &mut ExprLoop) {
        self.inside(|this| visit_mut::visit_expr_loop_mut(this, node));
    }

    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
}

/// Whether a jump in a block names the label.
pub(crate) fn names(label: &Lifetime, body: &Block) -> bool {
    let mut search = Search { label: Some(label), depth: 1, found: false };
    search.visit_block(body);
    search.found
}

/// Whether a jump in an expression names the label.
pub(crate) fn names_in(label: &Lifetime, expression: &Expr) -> bool {
    let mut search = Search { label: Some(label), depth: 1, found: false };
    search.visit_expr(expression);
    search.found
}

/// Whether a `break` leaves the loop.
pub(crate) fn leaves(node: &ExprLoop) -> bool {
    let label = node.label.as_ref().map(|label| &label.name);
    let mut search = Search { label, depth: 0, found: false };
    search.visit_block(&node.body);
    search.found
}

struct Search<'a> {
    label: Option<&'a Lifetime>,
    /// At 0, jumps without a label count.
    depth: usize,
    found: bool,
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_expr_break(&mut self, node: &'ast ExprBreak) {
        self.found |= match &node.label {
            None => self.depth == 0,
            Some(label) => self.label == Some(label),
        };
        visit::visit_expr_break(self, node);
    }

    fn visit_expr_continue(&mut self, node: &'ast ExprContinue) {
        self.found |= node.label.is_some() && node.label.as_ref() == self.label;
    }

    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.depth += 1;
        visit::visit_expr_for_loop(self, node);
        self.depth -= 1;
    }

    fn visit_expr_while(&mut self, node: &'ast ExprWhile) {
        self.depth += 1;
        visit::visit_expr_while(self, node);
        self.depth -= 1;
    }

    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        self.depth += 1;
        visit::visit_expr_loop(self, node);
        self.depth -= 1;
    }

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
}
