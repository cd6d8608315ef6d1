//! Lengths of vectors, as the function wrote them.

use std::collections::BTreeSet;

use syn::parse::ParseStream;
use syn::{BinOp, Expr, Lit, Token};

use crate::binding::{Binding, Bindings};
use crate::kind::{Class, Sequence};

/// The length in `vec![value; length]`, if it gives the same again wherever its variables are the same, and these.
pub(crate) fn of(init: &Expr, bindings: &mut Bindings) -> Option<(Expr, BTreeSet<Binding>)> {
    let Expr::Macro(call) = init else { return None };
    if !call.mac.path.is_ident("vec") {
        return None;
    }
    let repeated = |input: ParseStream<'_>| {
        input.parse::<Expr>()?;
        input.parse::<Token![;]>()?;
        input.parse::<Expr>()
    };
    let length = call.mac.parse_body_with(repeated).ok()?;
    // The names of parsed tokens are at new places.
    let was_temporary = std::mem::replace(&mut bindings.is_temporary, true);
    let mut found = BTreeSet::new();
    let is_pure = is_pure(&length, bindings, &mut found);
    bindings.is_temporary = was_temporary;
    is_pure.then_some((length, found))
}

fn is_pure(expression: &Expr, bindings: &mut Bindings, found: &mut BTreeSet<Binding>) -> bool {
    match expression {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_)),
        Expr::Paren(node) => is_pure(&node.expr, bindings, found),
        Expr::Cast(node) => is_pure(&node.expr, bindings, found),
        Expr::Binary(node) => {
            matches!(node.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_))
                && is_pure(&node.left, bindings, found)
                && is_pure(&node.right, bindings, found)
        }
        Expr::Path(path) => match path.path.get_ident().and_then(|ident| bindings.find(ident)) {
            Some(binding) => {
                found.insert(binding);
                bindings.variables[binding].class == Class::Scalar
            }
            None => false,
        },
        // Of a slice, which keeps its length.
        Expr::MethodCall(call) if call.method == "len" && call.args.is_empty() => match &*call.receiver {
            Expr::Path(path) => match path.path.get_ident().and_then(|ident| bindings.find(ident)) {
                Some(binding) => {
                    found.insert(binding);
                    let variable = &bindings.variables[binding];
                    variable.class == Class::Shared && variable.sequence != Sequence::Unknown
                }
                None => false,
            },
            _ => false,
        },
        _ => false,
    }
}
