//! Loops of a few rounds of straight code, which are part of the iteration around them.

use syn::visit::{self, Visit};
use syn::{
    Expr, ExprAwait, ExprCall, ExprClosure, ExprForLoop, ExprLoop, ExprMethodCall, ExprWhile, ExprYield,
    Ident, Item, Macro, Pat, RangeLimits,
};

use crate::array::{Arrays, literal};

/// Rounds with calls that may take longer than arithmetic, but not as long as one likes.
const MOST_ROUNDS_WITH_CALLS: u64 = 16;

/// How often the code inside `for x in 0..3 { .. }` runs, if all of it is constant and straight.
pub(crate) fn constant_rounds(node: &ExprForLoop, arrays: &Arrays) -> Option<u64> {
    rounds_in(node, arrays, &[]).map(|(rounds, _)| rounds)
}

/// The same, in constant loops over `around`; and whether there are calls inside.
fn rounds_in(node: &ExprForLoop, arrays: &Arrays, around: &[&Ident]) -> Option<(u64, bool)> {
    let own = rounds_of(&node.expr, arrays, around)?;
    let mut around = around.to_vec();
    if let Pat::Ident(pattern) = &*node.pat {
        around.push(&pattern.ident);
    }
    let arrays = arrays.inside(&node.expr, &node.pat);
    let mut inside = Straight { rounds: 0, is_straight: true, calls: false, arrays, around };
    inside.visit_block(&node.body);
    let rounds = own.checked_mul(inside.rounds.max(1))?;
    let is_short = !inside.calls || rounds <= MOST_ROUNDS_WITH_CALLS;
    (inside.is_straight && is_short).then_some((rounds, inside.calls))
}

fn rounds_of(head: &Expr, arrays: &Arrays, around: &[&Ident]) -> Option<u64> {
    match head {
        Expr::Paren(node) => rounds_of(&node.expr, arrays, around),
        Expr::Range(range) => {
            let end = literal(range.end.as_deref()?)?;
            let end = if matches!(range.limits, RangeLimits::Closed(_)) { end + 1 } else { end };
            match literal(range.start.as_deref()?) {
                Some(start) => Some(end.saturating_sub(start)),
                // `for j in i + 1..5`: half of the rounds, on average over those of `i`.
                None => counts_up(range.start.as_deref()?, around).then_some(end.div_ceil(2)),
            }
        }
        head => arrays.rounds(head),
    }
}

/// Whether an expression is the variable of a constant loop around, or more: it is not negative.
fn counts_up(start: &Expr, around: &[&Ident]) -> bool {
    match start {
        Expr::Path(path) => path.path.get_ident().is_some_and(|ident| around.contains(&ident)),
        Expr::Binary(node) => {
            matches!(node.op, syn::BinOp::Add(_))
                && counts_up(&node.left, around)
                && literal(&node.right).is_some()
        }
        _ => false,
    }
}

/// Whether code is straight: nothing in it can take long.
struct Straight<'a> {
    /// Rounds of the constant loops inside.
    rounds: u64,
    is_straight: bool,
    /// Whether it calls what puts into a collection, or looks there.
    calls: bool,
    arrays: Arrays,
    /// The variables of constant loops around.
    around: Vec<&'a Ident>,
}

impl<'ast> Visit<'ast> for Straight<'_> {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        match rounds_in(node, &self.arrays, &self.around) {
            Some((rounds, calls)) => {
                self.rounds = self.rounds.saturating_add(rounds);
                self.calls |= calls;
            }
            None => self.is_straight = false,
        }
    }

    fn visit_expr_while(&mut self, _: &'ast ExprWhile) {
        self.is_straight = false;
    }

    fn visit_expr_loop(&mut self, _: &'ast ExprLoop) {
        self.is_straight = false;
    }

    // Nobody knows how long a call takes, but for a struct's or variant's constructor.
    fn visit_expr_call(&mut self, node: &'ast ExprCall) {
        let is_constructor = match &*node.func {
            Expr::Path(path) => path
                .path
                .segments
                .last()
                .is_some_and(|segment| segment.ident.to_string().starts_with(char::is_uppercase)),
            _ => false,
        };
        self.is_straight &= is_constructor;
        visit::visit_expr_call(self, node);
    }

    // Arithmetic of the primitive types.
    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        const SHORT: [&str; 22] = [
            "abs",
            "abs_diff",
            "clamp",
            "count_ones",
            "is_empty",
            "leading_zeros",
            "len",
            "max",
            "min",
            "mul_add",
            "rotate_left",
            "rotate_right",
            "saturating_add",
            "saturating_sub",
            "signum",
            "sqrt",
            "swap",
            "trailing_zeros",
            "wrapping_add",
            "wrapping_mul",
            "wrapping_neg",
            "wrapping_sub",
        ];
        // Of a collection's ends, or of one element.
        const CALLS: [&str; 8] =
            ["get", "get_mut", "pop", "pop_back", "pop_front", "push", "push_back", "push_front"];
        let is_call = CALLS.iter().any(|name| node.method == name);
        self.calls |= is_call;
        self.is_straight &= is_call || SHORT.iter().any(|name| node.method == name);
        visit::visit_expr_method_call(self, node);
    }

    fn visit_macro(&mut self, _: &'ast Macro) {
        self.is_straight = false;
    }

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {
        self.is_straight = false;
    }

    fn visit_expr_await(&mut self, _: &'ast ExprAwait) {
        self.is_straight = false;
    }

    fn visit_expr_yield(&mut self, _: &'ast ExprYield) {
        self.is_straight = false;
    }

    fn visit_item(&mut self, _: &'ast Item) {
        self.is_straight = false;
    }
}
