//! Loops of the function's own code, and the variables that their checks assign.

use proc_macro2::{Ident, Span};
use quote::quote_spanned;
use syn::visit_mut::VisitMut as _;
use syn::{Attribute, Block, Expr, ExprForLoop, ExprWhile, Stmt, parse_quote_spanned};

use super::Rewrite;
use crate::function::is_cooperative;
use crate::looping;
use crate::movable::Outline;
use crate::number;
use crate::outline::Nest;

impl Rewrite<'_> {
    /// Takes `#[cooperative(skip)]` off a loop; true if it was there.
    pub(super) fn take_skip(&mut self, attributes: &mut Vec<Attribute>) -> bool {
        let mut skip = false;
        let report = &mut *self.report;
        attributes.retain(|attribute| {
            if !is_cooperative(attribute) {
                return true;
            }
            match attribute.parse_args::<Ident>() {
                Ok(option) if option == "skip" => skip = true,
                _ => report.over(
                    attribute,
                    "a loop has one option: `#[cooperative(skip)]`, which leaves it as it is",
                ),
            }
            false
        });
        skip
    }

    // Input:  `let x = e;`
    // Output: `let x = e; let mut x = x;`, if a check saves `x`
    pub(super) fn add_assignable_variables(&self, block: &mut Block) {
        let is_planned = |statement: &Stmt| match statement {
            Stmt::Local(local) => self.plan.of_let(number::split(&local.attrs).1).cloned(),
            _ => None,
        };
        if block.stmts.iter().all(|statement| is_planned(statement).is_none()) {
            return;
        }
        for statement in std::mem::take(&mut block.stmts) {
            let ident = is_planned(&statement);
            block.stmts.push(statement);
            if let Some(ident) = ident {
                block.stmts.push(parse_quote_spanned! {Span::mixed_site()=>
                    #[allow(unused_mut)]
                    let mut #ident = #ident;
                });
            }
        }
    }

    /// Rewrites a loop whose children have not been visited.
    pub(super) fn rewrite_loop(&mut self, node: &mut Expr) {
        let attributes = match node {
            Expr::ForLoop(node) => &mut node.attrs,
            Expr::While(node) => &mut node.attrs,
            Expr::Loop(node) => &mut node.attrs,
            _ => return,
        };
        let mut taken = std::mem::take(attributes);
        let number = number::take(&mut taken);
        let skip = self.take_skip(&mut taken);
        match node {
            Expr::ForLoop(node) => node.attrs = taken,
            Expr::While(node) => node.attrs = taken,
            Expr::Loop(node) => node.attrs = taken,
            _ => {}
        }
        if self.leaves_loops || self.in_macro || skip || self.plan.is_constant(number) {
            let outer = std::mem::replace(&mut self.leaves_loops, true);
            self.visit_loop_parts(node);
            self.leaves_loops = outer;
            return;
        }
        self.found.checks += 1;
        if let Some(outline) = self.plan.outline_of(number) {
            self.rewrite_nest(node, number, outline);
            return;
        }
        let outer = std::mem::replace(&mut self.in_loop, true);
        let copy = self.copy_of(node, number);
        self.visit_loop_parts(node);
        self.in_loop = outer;
        let keyword = match node {
            Expr::ForLoop(node) => node.for_token.span,
            Expr::While(node) => node.while_token.span,
            Expr::Loop(node) => node.loop_token.span,
            _ => return,
        };
        *node = Expr::Verbatim(looping::rewritten(node, copy.as_ref(), &self.place(keyword, number)));
    }

    /// Moves a nest into a function of its own.
    pub(super) fn rewrite_nest(&mut self, node: &mut Expr, number: Option<usize>, outline: &Outline) {
        let (keyword, attributes) = match node {
            Expr::ForLoop(node) => {
                self.visit_expr_mut(&mut node.expr);
                (node.for_token.span, std::mem::take(&mut node.attrs))
            }
            Expr::While(node) => (node.while_token.span, std::mem::take(&mut node.attrs)),
            Expr::Loop(node) => (node.loop_token.span, std::mem::take(&mut node.attrs)),
            _ => return,
        };
        let place = self.place(keyword, number);
        let nest = Nest::new(node, outline, &place, self.output).rewritten();
        let attributes = looping::outer(&attributes);
        *node = Expr::Verbatim(quote_spanned!(Span::mixed_site()=> #attributes #nest));
    }

    /// The copy of a loop that has no await, if it may have one. What its body has to say is said by the loop itself.
    pub(super) fn copy_of(&mut self, node: &Expr, number: Option<usize>) -> Option<Expr> {
        if !self.plan.is_copied(number) {
            return None;
        }
        let mut copy = node.clone();
        looping::leave_for(&looping::finished(number), &mut copy);
        let (found, report) = (self.found, std::mem::take(self.report));
        self.visit_loop_parts(&mut copy);
        *self.report = report;
        let awaits = self.found.awaits > found.awaits;
        self.found = found;
        (!awaits).then_some(copy)
    }

    pub(super) fn visit_loop_parts(&mut self, node: &mut Expr) {
        match node {
            Expr::ForLoop(ExprForLoop { pat, expr, body, .. }) => {
                // The iterator's expression runs once, before the loop.
                let in_loop = std::mem::replace(&mut self.in_loop, false);
                self.visit_expr_mut(expr);
                self.in_loop = in_loop;
                self.scoped(|this| {
                    this.visit_pat_mut(pat);
                    this.recursion.bind(pat);
                    this.visit_block_mut(body);
                });
            }
            Expr::While(ExprWhile { cond, body, .. }) => self.scoped(|this| {
                this.visit_expr_mut(cond);
                this.visit_block_mut(body);
            }),
            Expr::Loop(node) => self.visit_block_mut(&mut node.body),
            _ => {}
        }
    }
}
