//! Parts of a nest, by the numbers of its loops.

use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Label, Stmt};

use crate::number;

/// The number of a loop.
pub(crate) fn number_of(node: &Expr) -> Option<usize> {
    attributes_of(node).and_then(|attributes| number::split(attributes).1)
}

/// A loop's attributes.
pub(crate) fn attributes_of(node: &Expr) -> Option<&[Attribute]> {
    match node {
        Expr::ForLoop(node) => Some(&node.attrs),
        Expr::While(node) => Some(&node.attrs),
        Expr::Loop(node) => Some(&node.attrs),
        _ => None,
    }
}

/// A loop's label and body.
pub(crate) fn parts_of(node: &Expr) -> Option<(Option<&Label>, &Block)> {
    match node {
        Expr::ForLoop(node) => Some((node.label.as_ref(), &node.body)),
        Expr::While(node) => Some((node.label.as_ref(), &node.body)),
        Expr::Loop(node) => Some((node.label.as_ref(), &node.body)),
        _ => None,
    }
}

/// The loop with that number.
pub(crate) fn find(node: &Expr, number: usize) -> Option<Expr> {
    struct Search {
        number: usize,
        found: Option<Expr>,
    }

    impl<'ast> Visit<'ast> for Search {
        fn visit_expr(&mut self, node: &'ast Expr) {
            if number_of(node) == Some(self.number) {
                self.found = Some(node.clone());
            } else {
                visit::visit_expr(self, node);
            }
        }
    }

    let mut search = Search { number, found: None };
    search.visit_expr(node);
    search.found
}

// Input:  `{ a; if b { c; loop {} d; } e; }`, and the number of the loop
// Output: `{ d; } e;`
/// What follows a loop in the block around it, up to the block's end.
pub(crate) fn after(block: &Block, number: usize) -> Vec<Stmt> {
    for (index, statement) in block.stmts.iter().enumerate() {
        let Stmt::Expr(expression, _) = statement else { continue };
        let Some(inner) = after_in(expression, number) else { continue };
        return inner.into_iter().chain(block.stmts[index + 1..].iter().cloned()).collect();
    }
    Vec::new()
}

/// The same in a statement; none if the loop is not in there.
fn after_in(expression: &Expr, number: usize) -> Option<Vec<Stmt>> {
    if number_of(expression) == Some(number) {
        return Some(Vec::new());
    }
    match expression {
        Expr::If(node) => {
            if contains(&node.then_branch, number) {
                return Some(rest_of(&node.then_branch, number));
            }
            after_in(&node.else_branch.as_ref()?.1, number)
        }
        Expr::Match(node) => node.arms.iter().find_map(|arm| after_in(&arm.body, number)),
        Expr::Block(node) if contains(&node.block, number) => Some(rest_of(&node.block, number)),
        Expr::Unsafe(node) if contains(&node.block, number) => {
            let mut node = node.clone();
            node.block.stmts = after(&node.block, number);
            Some(vec![Stmt::Expr(Expr::Unsafe(node), None)])
        }
        _ => None,
    }
}

/// In the braces that the user wrote: their edition decides when temporaries of the last expression are dropped.
fn rest_of(block: &Block, number: usize) -> Vec<Stmt> {
    let rest = Block { brace_token: block.brace_token, stmts: after(block, number) };
    if rest.stmts.is_empty() {
        return Vec::new();
    }
    vec![Stmt::Expr(Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block: rest }), None)]
}

fn contains(block: &Block, number: usize) -> bool {
    block.stmts.iter().any(|statement| match statement {
        Stmt::Expr(expression, _) => find(expression, number).is_some(),
        _ => false,
    })
}
