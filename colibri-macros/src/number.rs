//! Numbers for the loops and `let` statements of a function, by which the plan names them.
//!
//! They are attributes in the syntax tree, so that they move with what they mark; the rewriting takes them off.

use proc_macro2::{Literal, Span};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{
    AttrStyle, Attribute, Expr, ExprAsync, ExprClosure, ExprConst, ExprForLoop, ExprLoop, ExprRepeat,
    ExprWhile, Ident, Item, Local, MacroDelimiter, Meta, MetaList, Token, Type, token,
};

const NAME: &str = "__colibri_number";

/// Numbers every loop and every `let` of the function's own code. It stops at closures, nested items, `async` and
/// `const` blocks, types and macro calls: what is in there is not the function's.
#[derive(Default)]
pub(crate) struct Numbers {
    next: usize,
}

impl Numbers {
    fn mark(&mut self, attributes: &mut Vec<Attribute>) {
        let number = Literal::usize_unsuffixed(self.next);
        self.next += 1;
        attributes.push(Attribute {
            pound_token: Token![#](Span::mixed_site()),
            style: AttrStyle::Outer,
            bracket_token: token::Bracket(Span::mixed_site()),
            meta: Meta::List(MetaList {
                path: Ident::new(NAME, Span::mixed_site()).into(),
                delimiter: MacroDelimiter::Paren(token::Paren(Span::mixed_site())),
                tokens: quote!(#number),
            }),
        });
    }
}

impl VisitMut for Numbers {
    fn visit_expr_for_loop_mut(&mut self, node: &mut ExprForLoop) {
        self.mark(&mut node.attrs);
        visit_mut::visit_expr_for_loop_mut(self, node);
    }

    fn visit_expr_while_mut(&mut self, node: &mut ExprWhile) {
        self.mark(&mut node.attrs);
        visit_mut::visit_expr_while_mut(self, node);
    }

    fn visit_expr_loop_mut(&mut self, node: &mut ExprLoop) {
        self.mark(&mut node.attrs);
        visit_mut::visit_expr_loop_mut(self, node);
    }

    fn visit_local_mut(&mut self, node: &mut Local) {
        self.mark(&mut node.attrs);
        visit_mut::visit_local_mut(self, node);
    }

    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}

    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}

    fn visit_expr_const_mut(&mut self, _: &mut ExprConst) {}

    fn visit_item_mut(&mut self, _: &mut Item) {}

    fn visit_type_mut(&mut self, _: &mut Type) {}

    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_expr_repeat_mut(&mut self, node: &mut ExprRepeat) {
        self.visit_expr_mut(&mut node.expr);
    }

    fn visit_expr_mut(&mut self, node: &mut Expr) {
        visit_mut::visit_expr_mut(self, node);
    }
}

fn number_of(attribute: &Attribute) -> Option<usize> {
    if !attribute.path().is_ident(NAME) {
        return None;
    }
    attribute.parse_args::<syn::LitInt>().ok()?.base10_parse().ok()
}

/// How many attributes of the user's there are, and the number.
pub(crate) fn split(attributes: &[Attribute]) -> (usize, Option<usize>) {
    let number = attributes.iter().find_map(number_of);
    (attributes.len() - usize::from(number.is_some()), number)
}

/// Takes the number off.
pub(crate) fn take(attributes: &mut Vec<Attribute>) -> Option<usize> {
    let number = attributes.iter().find_map(number_of);
    attributes.retain(|attribute| number_of(attribute).is_none());
    number
}
