//! Where the function waits or is left: the fuel goes through the thread's hands there.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::visit_mut::{self, VisitMut as _};
use syn::{Expr, ExprAwait, ExprTry, Token};

use super::{Context, Rewrite};
use crate::group::parenthesize_at;
use crate::looping;
use crate::name;

impl Rewrite<'_> {
    // Input:  `f(n - 1)`
    // Output: `(match Box::pin(f(n - 1)) { future => { put(fuel); let value = future.await; fuel = take(); value } })`,
    //         with a check before `put` where no loop around has one
    pub(super) fn rewrite_self_call(&mut self, node: &mut Expr) {
        let call = std::mem::replace(node, Expr::PLACEHOLDER);
        let span = Span::mixed_site().located_at(call.span());
        let runtime = name::runtime(span);
        let tokens = match self.context {
            Context::Body => {
                let boxed = quote_spanned!(span=> #runtime::alloc::boxed::Box::pin(#call));
                let check = (!self.in_loop && !self.leaves_loops).then(|| {
                    self.found.checks += 1;
                    looping::check_at_call(&self.place(call.span(), None))
                });
                self.found.awaits += 1;
                if self.has_fuel {
                    self.awaiting(boxed, check, span)
                } else {
                    quote_spanned!(span=> #boxed.await)
                }
            }
            Context::Async => quote_spanned!(span=> #runtime::alloc::boxed::Box::pin(#call).await),
            Context::Sync => quote_spanned!(span=> #runtime::run(#call)),
        };
        *node = parenthesize_at(Expr::Verbatim(tokens), span);
    }

    /// Awaits `future` with the fuel in the thread's hands, for whoever runs meanwhile.
    pub(super) fn awaiting(
        &self,
        future: TokenStream,
        check: Option<TokenStream>,
        span: Span,
    ) -> TokenStream {
        let runtime = name::runtime(span);
        let (fuel, awaited, value) = (name::fuel(), name::future(), name::value());
        quote_spanned! {span=>
            match #future {
                #awaited => {
                    #check
                    #runtime::put(#fuel);
                    let #value = #awaited.await;
                    #[allow(unreachable_code)]
                    {
                        #fuel = #runtime::take();
                    }
                    #value
                }
            }
        }
    }

    // Input:  `future.await`
    // Output: `(match IntoFuture::into_future(future) { future => { put(fuel); .. future.await .. take() .. } })`
    pub(super) fn rewrite_await(&mut self, node: &mut ExprAwait) -> Option<Expr> {
        self.found.awaits += 1;
        let is_self_call = self.recursion.is_self_call(&node.base);
        self.visit_awaited(&mut node.base);
        let span = Span::mixed_site().located_at(node.await_token.span);
        let runtime = name::runtime(span);
        if is_self_call {
            let call = &node.base;
            *node.base = Expr::Verbatim(quote_spanned!(span=> #runtime::alloc::boxed::Box::pin(#call)));
        }
        if self.context != Context::Body || !self.has_fuel {
            return None;
        }
        let base = &node.base;
        let check = (is_self_call && !self.in_loop && !self.leaves_loops).then(|| {
            self.found.checks += 1;
            looping::check_at_call(&self.place(span, None))
        });
        let future = quote_spanned!(span=> #runtime::IntoFuture::into_future(#base));
        Some(parenthesize_at(Expr::Verbatim(self.awaiting(future, check, span)), span))
    }

    /// Visits what is awaited. A call of the function to itself is a future here, as written: directly, or in the
    /// user's own `Box::pin(..)`.
    pub(super) fn visit_awaited(&mut self, base: &mut Expr) {
        let is_pin = match &*base {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == "pin"),
                _ => false,
            },
            _ => false,
        };
        match base {
            Expr::Call(call) if is_pin => {
                call.args.iter_mut().for_each(|argument| self.visit_awaited(argument))
            }
            Expr::Paren(paren) => self.visit_awaited(&mut paren.expr),
            base if self.recursion.is_self_call(base) => visit_mut::visit_expr_mut(self, base),
            base => self.visit_expr_mut(base),
        }
    }

    // Input:  `return value`
    // Output: `return { let value: T = value; put(fuel); value }`
    pub(super) fn rewrite_return(&self, node: &mut syn::ExprReturn) {
        let (fuel, value, output) = (name::fuel(), name::value(), &self.output.annotation);
        let span = Span::mixed_site().located_at(node.return_token.span);
        let runtime = name::runtime(span);
        let left = match &node.expr {
            None => quote_spanned!(span=> #runtime::put(#fuel)),
            Some(expression) => {
                let expression = if self.output.closure_bounds.is_some() {
                    let returned = name::returned();
                    quote_spanned!(span=> #returned(#expression))
                } else {
                    quote!(#expression)
                };
                quote_spanned! {span=>
                {
                    let #value: #output = #expression;
                    #[allow(unreachable_code)]
                    #runtime::put(#fuel);
                    #value
                }
                }
            }
        };
        node.expr = Some(Box::new(Expr::Verbatim(left)));
    }

    // Input:  `operand?`
    // Output: `leave(operand, fuel)?`, which puts the fuel back if the operand is about to leave
    pub(super) fn rewrite_try(&self, node: &mut ExprTry) {
        let fuel = name::fuel();
        let operand = &node.expr;
        // The operator as well, or messages about it would start at the attribute.
        let span = Span::mixed_site().located_at(node.question_token.span);
        node.question_token = Token![?](span);
        let runtime = name::runtime(span);
        *node.expr = Expr::Verbatim(quote_spanned!(span=> #runtime::leave(#operand, #fuel)));
    }
}
