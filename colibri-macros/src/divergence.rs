//! Whether control surely does not get past a statement, and perhaps does not, as far as syntax can tell.

use syn::{Expr, ExprPath, Stmt};

use crate::standard::Standard;

/// Whether a variable that is used at the statement, or before it in its block, may never be used again: the
/// statement may end the way of control. Where one cannot know, it may.
pub(crate) fn ends(statement: &Stmt) -> bool {
    match statement {
        Stmt::Expr(expression, _) => may_end(expression),
        Stmt::Local(local) => local.init.as_ref().is_some_and(|init| may_end(&init.expr)),
        Stmt::Macro(statement) => is_ending_macro(&statement.mac),
        Stmt::Item(_) => false,
    }
}

fn may_end(expression: &Expr) -> bool {
    match expression {
        Expr::Break(_) | Expr::Return(_) | Expr::Continue(_) => true,
        Expr::Macro(node) => is_ending_macro(&node.mac),
        Expr::Paren(node) => may_end(&node.expr),
        Expr::Block(node) => node.block.stmts.iter().any(ends),
        Expr::Unsafe(node) => node.block.stmts.iter().any(ends),
        Expr::If(node) => {
            let then = node.then_branch.stmts.iter().any(ends);
            then && node.else_branch.as_ref().is_some_and(|(_, otherwise)| may_end(otherwise))
        }
        Expr::Match(node) => !node.arms.is_empty() && node.arms.iter().all(|arm| may_end(&arm.body)),
        // It may be one of the few functions that do not return.
        Expr::Call(node) => matches!(&*node.func, Expr::Path(path) if !makes_value(path)),
        _ => false,
    }
}

/// A macro that ends the way, or of which nobody knows.
fn is_ending_macro(node: &syn::Macro) -> bool {
    matches!(Standard::of(node), None | Some(Standard::Ending))
}

/// A constructor, or a function of a type: `Some(x)`, `u64::from(x)`, `Vec::new()`.
fn makes_value(path: &ExprPath) -> bool {
    let starts_large = |segment: &syn::PathSegment| segment.ident.to_string().starts_with(char::is_uppercase);
    let segments = &path.path.segments;
    segments.last().is_some_and(starts_large) || segments.len() > 1
}
