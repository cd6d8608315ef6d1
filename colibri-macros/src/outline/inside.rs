//! The code inside the loops of a nest.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Stmt, Token};

use super::{Nest, nest_label};
use crate::group::parenthesize_at;
use crate::looping::Place;
use crate::name;
use crate::number;
use crate::rest;

impl Nest<'_> {
    /// The body with its charge.
    pub(super) fn charged(&self, body: &Block) -> Block {
        let mut body = self.body(body);
        let fuel = name::fuel();
        let charge = Expr::Verbatim(quote_spanned!(self.span()=> #fuel -= 1));
        body.stmts.insert(0, Stmt::Expr(charge, Some(Token![;](self.span()))));
        body
    }

    pub(super) fn body(&self, body: &Block) -> Block {
        let mut body = body.clone();
        Inside(self).visit_block_mut(&mut body);
        body
    }

    pub(super) fn statements(&self, statements: Vec<Stmt>) -> TokenStream {
        let mut block = Block { brace_token: syn::token::Brace(self.span()), stmts: statements };
        Inside(self).visit_block_mut(&mut block);
        let statements = block.stmts;
        quote!(#(#statements)*)
    }

    pub(super) fn expression(&self, expression: &Expr) -> Expr {
        let mut expression = expression.clone();
        Inside(self).visit_expr_mut(&mut expression);
        expression
    }
}

/// Rewrites what is in a loop's body: loops of the nest, and what leaves the function.
struct Inside<'a>(&'a Nest<'a>);

impl VisitMut for Inside<'_> {
    fn visit_expr_mut(&mut self, node: &mut Expr) {
        let nest = self.0;
        let span = nest.span();
        let runtime = name::runtime(span);
        let label = nest_label();
        match node {
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
                if let Some(index) = nest.outline.structure.find(rest::number_of(node)) {
                    *node = Expr::Verbatim(nest.fresh(index, node));
                } else {
                    visit_mut::visit_expr_mut(self, node);
                    match node {
                        Expr::ForLoop(node) => number::take(&mut node.attrs),
                        Expr::While(node) => number::take(&mut node.attrs),
                        Expr::Loop(node) => number::take(&mut node.attrs),
                        _ => None,
                    };
                }
            }
            Expr::Return(inner) => {
                visit_mut::visit_expr_return_mut(self, inner);
                let (value, output) = (name::value(), &nest.output.annotation);
                let returned = match &inner.expr {
                    None => quote!(()),
                    Some(value) => value.to_token_stream(),
                };
                let span = Span::mixed_site().located_at(inner.return_token.span);
                *node = Expr::Verbatim(quote_spanned! {span=>
                    break #label #runtime::Exit::Return({ let #value: #output = #returned; #value })
                });
            }
            Expr::Try(inner) => {
                visit_mut::visit_expr_try_mut(self, inner);
                let span = Span::mixed_site().located_at(inner.question_token.span);
                let runtime = name::runtime(span);
                let (operand, value, output) = (&inner.expr, name::value(), &nest.output.annotation);
                let tokens = quote_spanned! {span=>
                    match #runtime::branch::<#output, _>(#operand) {
                        #runtime::ControlFlow::Continue(#value) => #value,
                        #runtime::ControlFlow::Break(#value) => break #label #runtime::Exit::Return(#value),
                    }
                };
                *node = parenthesize_at(Expr::Verbatim(tokens), span);
            }
            // What leaves a closure does not leave the nest.
            Expr::Closure(_) => {}
            _ => visit_mut::visit_expr_mut(self, node),
        }
    }

    fn visit_local_mut(&mut self, node: &mut syn::Local) {
        number::take(&mut node.attrs);
        visit_mut::visit_local_mut(self, node);
    }

    fn visit_type_mut(&mut self, _: &mut syn::Type) {}

    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_expr_const_mut(&mut self, _: &mut syn::ExprConst) {}
}

// Input:  the items' expression of an inner `for`
// Output: `IntoIterator::into_iter(items)`
pub(super) fn items(expression: &Expr, place: &Place<'_>) -> TokenStream {
    let runtime = name::runtime(place.span());
    let over = |expression: TokenStream| quote_spanned!(place.span()=> #runtime::IntoIterator::into_iter(#expression));
    if let Expr::Paren(_) = expression {
        // The compiler has advice for needless parentheses here, but not in a call.
        let (items, over) = (name::generated("items"), over(name::generated("items").into_token_stream()));
        return quote_spanned!(place.span()=> match #expression { #items => #over });
    }
    over(expression.into_token_stream())
}
