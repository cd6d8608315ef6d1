//! What a loop is made of, as far as it decides which form it may take.

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprAsync, ExprAwait, ExprBreak, ExprCall, ExprClosure, ExprContinue, ExprForLoop, ExprLoop,
    ExprMethodCall, ExprReturn, ExprTry, ExprWhile, ExprYield, Ident, Item, Lit, Macro, Pat, RangeLimits,
    Stmt,
};

use crate::binding::base_of;
use crate::number;

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
    /// How deep in loops that have a check.
    depth: usize,
}

impl Shapes {
    /// `over_references` are loops of whose iterators it is known that they are small and know their length.
    pub(crate) fn of(body: &Block, over_references: &BTreeSet<usize>) -> Shapes {
        let mut shapes = Shapes { over_references: over_references.clone(), ..Shapes::default() };
        shapes.visit_block(body);
        shapes
    }
}

impl<'ast> Visit<'ast> for Shapes {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        let (_, number) = number::split(&node.attrs);
        self.visit_expr(&node.expr);
        let Some(number) = number else { return };
        if self.depth > 0 && constant_rounds(node).is_some_and(|rounds| rounds <= MOST_CONSTANT_ROUNDS) {
            // With all that is inside.
            let mut inside = Constant(&mut self.constant);
            inside.visit_expr_for_loop(node);
            return;
        }
        let is_over_reference = self.over_references.contains(&number);
        if is_over_reference || is_small(&node.expr) {
            self.steps.insert(number);
            if (is_over_reference || knows_its_length(&node.expr)) && is_leaf(&node.body, false) {
                self.counted.insert(number);
            } else if is_leaf(&node.body, true) {
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
        if is_leaf(&node.body, true) && is_leaf(&condition, true) {
            self.copied.extend(number::split(&node.attrs).1);
        }
        self.depth += 1;
        visit::visit_expr_while(self, node);
        self.depth -= 1;
    }

    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        if is_leaf(&node.body, true) {
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

// Constant loops.

/// How often the code inside `for x in 0..3 { .. }` runs, if all of it is constant and straight.
fn constant_rounds(node: &ExprForLoop) -> Option<u64> {
    constant_rounds_in(node, &[])
}

/// The same, in constant loops over `around`.
fn constant_rounds_in(node: &ExprForLoop, around: &[&Ident]) -> Option<u64> {
    let own = rounds_of(&node.expr, around)?;
    let mut around = around.to_vec();
    if let Pat::Ident(pattern) = &*node.pat {
        around.push(&pattern.ident);
    }
    let mut inside = Straight { rounds: 0, is_straight: true, around };
    inside.visit_block(&node.body);
    inside.is_straight.then_some(own.checked_mul(inside.rounds.max(1))?)
}

fn rounds_of(head: &Expr, around: &[&Ident]) -> Option<u64> {
    match head {
        Expr::Paren(node) => rounds_of(&node.expr, around),
        Expr::Range(range) => {
            let end = literal(range.end.as_deref()?)?;
            let end = if matches!(range.limits, RangeLimits::Closed(_)) { end + 1 } else { end };
            match literal(range.start.as_deref()?) {
                Some(start) => Some(end.saturating_sub(start)),
                // `for j in i + 1..5`: half of the rounds, on average over those of `i`.
                None => counts_up(range.start.as_deref()?, around).then_some(end.div_ceil(2)),
            }
        }
        _ => None,
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

fn literal(expression: &Expr) -> Option<u64> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Whether code is straight: nothing in it can take long.
struct Straight<'a> {
    /// Rounds of the constant loops inside.
    rounds: u64,
    is_straight: bool,
    /// The variables of constant loops around.
    around: Vec<&'a Ident>,
}

impl<'ast> Visit<'ast> for Straight<'_> {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        match constant_rounds_in(node, &self.around) {
            Some(rounds) => self.rounds = self.rounds.saturating_add(rounds),
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
        self.is_straight &= SHORT.iter().any(|name| node.method == name);
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

// Leaves.

/// Whether a body can be written down twice and has no other loop with a check inside; `may_leave` says whether it may
/// end its loop before its time.
fn is_leaf(body: &Block, may_leave: bool) -> bool {
    if tokens_in(body.to_token_stream()) > MOST_COPIED_TOKENS {
        return false;
    }
    let mut leaf = Leaf { is_leaf: true, may_leave };
    leaf.visit_block(body);
    leaf.is_leaf
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

struct Leaf {
    is_leaf: bool,
    may_leave: bool,
}

impl<'ast> Visit<'ast> for Leaf {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.is_leaf &= constant_rounds(node).is_some_and(|rounds| rounds <= MOST_CONSTANT_ROUNDS);
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
        const KNOWN: [&str; 10] = [
            "assert",
            "assert_eq",
            "assert_ne",
            "debug_assert",
            "debug_assert_eq",
            "debug_assert_ne",
            "panic",
            "unreachable",
            "todo",
            "unimplemented",
        ];
        let is_known =
            node.path.segments.last().is_some_and(|last| KNOWN.iter().any(|name| last.ident == name));
        let text = node.tokens.to_string();
        // A closure or a jump in there would go unseen.
        self.is_leaf &= is_known && !["|", "break", "continue", "?"].iter().any(|sign| text.contains(sign));
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        self.is_leaf &= !matches!(node, Expr::Verbatim(_) | Expr::Yield(_) | Expr::TryBlock(_));
        visit::visit_expr(self, node);
    }
}

// Iterators.

/// Methods that borrow a collection: their receiver is not part of the iterator.
const SOURCES: [&str; 18] = [
    "iter",
    "iter_mut",
    "chars",
    "char_indices",
    "bytes",
    "chunks",
    "chunks_mut",
    "chunks_exact",
    "chunks_exact_mut",
    "windows",
    "lines",
    "split",
    "split_whitespace",
    "keys",
    "values",
    "values_mut",
    "drain",
    "rchunks",
];

/// Adaptors, which are as large as what they adapt.
const ADAPTORS: [&str; 12] = [
    "enumerate",
    "rev",
    "step_by",
    "skip",
    "take",
    "zip",
    "copied",
    "cloned",
    "map",
    "filter",
    "skip_while",
    "take_while",
];

/// Of both, those whose iterator may end before its upper bound.
const INEXACT: [&str; 8] =
    ["chars", "char_indices", "lines", "split", "split_whitespace", "filter", "skip_while", "take_while"];

/// Whether an iterator is small, by the look of it: advancing it by value moves it, and a large array's would be
/// copied in each iteration.
fn is_small(head: &Expr) -> bool {
    match head {
        Expr::Paren(node) => is_small(&node.expr),
        Expr::Range(_) | Expr::Reference(_) => true,
        Expr::MethodCall(call) => {
            let is_source = SOURCES.iter().any(|name| call.method == name);
            let is_adaptor = ADAPTORS.iter().any(|name| call.method == name);
            (is_source || is_adaptor && is_small(&call.receiver))
                && !call.args.iter().any(|argument| matches!(argument, Expr::Array(_) | Expr::Repeat(_)))
        }
        _ => false,
    }
}

/// Whether a small iterator knows how many items are left.
fn knows_its_length(head: &Expr) -> bool {
    match head {
        Expr::Paren(node) => knows_its_length(&node.expr),
        Expr::MethodCall(call) => {
            !INEXACT.iter().any(|name| call.method == name)
                && (SOURCES.iter().any(|name| call.method == name) || knows_its_length(&call.receiver))
        }
        _ => true,
    }
}

/// Whether an iterator's expression makes no temporary that the iterator would borrow.
pub(crate) fn is_plain(head: &Expr) -> bool {
    match head {
        Expr::Paren(node) => is_plain(&node.expr),
        Expr::Range(_) | Expr::Path(_) => true,
        Expr::Reference(node) => is_place(&node.expr),
        Expr::MethodCall(call) => {
            let is_source = SOURCES.iter().any(|name| call.method == name);
            let is_adaptor = ADAPTORS.iter().any(|name| call.method == name);
            let receives = is_source && is_place(&call.receiver) || is_adaptor && is_plain(&call.receiver);
            receives && call.args.iter().all(|argument| is_plain(argument) || is_place(argument))
        }
        _ => false,
    }
}

fn is_place(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Paren(node) => is_place(&node.expr),
        Expr::Field(node) => is_place(&node.base),
        // A range of numbers is used up.
        Expr::Index(node) => is_place(&node.expr),
        Expr::Unary(node) => is_place(&node.expr),
        Expr::Binary(_) | Expr::Cast(_) => true,
        _ => false,
    }
}

/// Whether an iterator's expression only looks at what it names, and makes the same iterator wherever it stands.
pub(crate) fn only_looks(head: &Expr) -> bool {
    const LOOKING: [&str; 7] =
        ["iter", "chars", "bytes", "char_indices", "chunks", "chunks_exact", "windows"];
    const PASSING: [&str; 8] = ["enumerate", "rev", "step_by", "skip", "take", "zip", "copied", "cloned"];
    match head {
        Expr::Paren(node) => only_looks(&node.expr),
        Expr::Range(range) => range.start.iter().chain(&range.end).all(|end| is_number(end)),
        Expr::Reference(node) => node.mutability.is_none() && is_place(&node.expr),
        Expr::MethodCall(call) => {
            let is_source = LOOKING.iter().any(|name| call.method == name) && is_place(&call.receiver);
            let is_adaptor = PASSING.iter().any(|name| call.method == name) && only_looks(&call.receiver);
            (is_source || is_adaptor)
                && call.args.iter().all(|argument| is_number(argument) || only_looks(argument))
        }
        _ => false,
    }
}

/// Arithmetic of what can be named.
fn is_number(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(node) => is_number(&node.expr),
        Expr::Field(node) => is_number(&node.base),
        Expr::Cast(node) => is_number(&node.expr),
        Expr::Binary(node) => is_number(&node.left) && is_number(&node.right),
        Expr::Index(node) => is_number(&node.expr) && is_number(&node.index),
        Expr::MethodCall(call) => {
            let is_known = ["len", "min", "max"].iter().any(|name| call.method == name);
            is_known && is_number(&call.receiver) && call.args.iter().all(is_number)
        }
        _ => false,
    }
}

/// Whether an iterator is surely one that can be cut in two: a range.
pub(crate) fn can_be_cut(head: &Expr) -> bool {
    match head {
        Expr::Paren(node) => can_be_cut(&node.expr),
        Expr::Range(range) => matches!(range.limits, RangeLimits::HalfOpen(_)),
        _ => false,
    }
}

/// Whether a body stores to an element of a sequence of which it also loads one: what it loads may be what it stored in
/// the iteration before. Not where it has a `continue`.
pub(crate) fn recurs(body: &Block) -> bool {
    #[derive(Default)]
    struct Elements<'a> {
        stored: Vec<&'a Ident>,
        loaded: Vec<&'a Ident>,
        continues: bool,
    }

    impl<'ast> Visit<'ast> for Elements<'ast> {
        fn visit_expr_assign(&mut self, node: &'ast syn::ExprAssign) {
            if let Expr::Index(index) = &*node.left {
                self.stored.extend(base_of(&index.expr));
                self.visit_expr(&index.index);
            } else {
                self.visit_expr(&node.left);
            }
            self.visit_expr(&node.right);
        }

        fn visit_expr_continue(&mut self, _: &'ast ExprContinue) {
            self.continues = true;
        }

        fn visit_expr_index(&mut self, node: &'ast syn::ExprIndex) {
            self.loaded.extend(base_of(&node.expr));
            visit::visit_expr_index(self, node);
        }
    }

    let mut elements = Elements::default();
    elements.visit_block(body);
    !elements.continues && elements.stored.iter().any(|ident| elements.loaded.contains(ident))
}
