//! What the head of a `for` says about its iterator, and its body about the elements it goes through.

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprContinue, Ident, RangeLimits};

use crate::binding::base_of;
use crate::method;

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
pub(crate) fn is_small(head: &Expr) -> bool {
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
pub(crate) fn knows_its_length(head: &Expr) -> bool {
    match head {
        Expr::Paren(node) => knows_its_length(&node.expr),
        Expr::MethodCall(call) => {
            !INEXACT.iter().any(|name| call.method == name)
                && (SOURCES.iter().any(|name| call.method == name) || knows_its_length(&call.receiver))
        }
        _ => true,
    }
}

/// Whether a small iterator knows how many items there are at most.
pub(crate) fn has_a_bound(head: &Expr) -> bool {
    const BOUNDLESS: [&str; 3] = ["lines", "split", "split_whitespace"];
    match head {
        Expr::Paren(node) => has_a_bound(&node.expr),
        Expr::MethodCall(call) => {
            !BOUNDLESS.iter().any(|name| call.method == name)
                && (SOURCES.iter().any(|name| call.method == name) || has_a_bound(&call.receiver))
        }
        _ => true,
    }
}

/// Whether an iterator's expression makes no temporary that the iterator would borrow.
pub(crate) fn is_plain(head: &Expr) -> bool {
    match head {
        Expr::Paren(node) => is_plain(&node.expr),
        Expr::Path(_) => true,
        Expr::Range(node) => node.start.iter().chain(&node.end).all(|end| keeps_nothing(end)),
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

/// Whether an expression surely makes no temporary that outlives it: what is called is given places and values, and what it
/// gives is used up.
fn keeps_nothing(value: &Expr) -> bool {
    match value {
        Expr::Paren(node) => keeps_nothing(&node.expr),
        Expr::Binary(node) => keeps_nothing(&node.left) && keeps_nothing(&node.right),
        Expr::Cast(node) => keeps_nothing(&node.expr),
        Expr::Call(node) => matches!(*node.func, Expr::Path(_)) && node.args.iter().all(keeps_nothing),
        Expr::MethodCall(node) => is_kept(&node.receiver) && node.args.iter().all(keeps_nothing),
        value => is_kept(value),
    }
}

/// Whether what is borrowed, or of which a part is taken, is a variable's, or a number.
fn is_kept(place: &Expr) -> bool {
    match place {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(node) => is_kept(&node.expr),
        Expr::Field(node) => is_kept(&node.base),
        Expr::Unary(node) => is_kept(&node.expr),
        Expr::Reference(node) => is_kept(&node.expr),
        Expr::Index(node) => is_kept(&node.expr) && keeps_nothing(&node.index),
        Expr::Binary(_) | Expr::Cast(_) => keeps_nothing(place),
        Expr::MethodCall(node) => {
            method::is_numeric(&node.method) && is_kept(&node.receiver) && node.args.iter().all(keeps_nothing)
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

/// Whether the items surely are numbers or references, or made of these: nothing has a destructor.
pub(crate) fn gives_no_owners(head: &Expr) -> bool {
    const GIVING: [&str; 14] = [
        "bytes",
        "char_indices",
        "chars",
        "chunks",
        "chunks_exact",
        "chunks_exact_mut",
        "chunks_mut",
        "iter",
        "iter_mut",
        "keys",
        "lines",
        "split_whitespace",
        "values",
        "windows",
    ];
    const PASSING: [&str; 2] = ["copied", "enumerate"];
    match head {
        Expr::Range(_) | Expr::Reference(_) => true,
        Expr::Paren(node) => gives_no_owners(&node.expr),
        Expr::MethodCall(node) => {
            let is = |names: &[&str]| names.iter().any(|name| node.method == name);
            is(&GIVING)
                || (is(&PASSING) || passes_items(&node.method)) && gives_no_owners(&node.receiver)
                || node.method == "zip"
                    && gives_no_owners(&node.receiver)
                    && node.args.iter().all(gives_no_owners)
        }
        _ => false,
    }
}

/// Whether an adaptor gives some of the items that it is given, as they are.
pub(crate) fn passes_items(method: &Ident) -> bool {
    ["rev", "skip", "step_by", "take"].iter().any(|name| method == name)
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
