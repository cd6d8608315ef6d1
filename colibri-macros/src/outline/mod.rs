//! Nests in a function of their own: the code for them.
//!
//! The nest becomes a closure without an await, called out of line. It looks at the fuel as every loop does, and at the
//! budget in place when the fuel is gone. Only when the budget is over does it return, with all that is alive at the
//! loop where it was stopped; after the await it is called again, finishes what it was in the middle of, and goes on.

mod inside;
mod loops;
mod resume;

use std::cell::Cell;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Lifetime};

use crate::jumps;
use crate::looping::{self, Place};
use crate::movable::{Outline, Parameter, Passing};
use crate::name;
use crate::rest;
use crate::signature::Output;

/// Writes one nest.
pub(crate) struct Nest<'a> {
    pub(crate) outline: &'a Outline,
    pub(crate) place: &'a Place<'a>,
    pub(crate) output: &'a Output,
    /// The nest as the user wrote it, by loop.
    nodes: Vec<Expr>,
    /// The loop at whose head the code that is being written is entered.
    entered: Cell<usize>,
}

impl<'a> Nest<'a> {
    pub(crate) fn new(node: &Expr, outline: &'a Outline, place: &'a Place<'a>, output: &'a Output) -> Self {
        let nodes = outline
            .structure
            .loops
            .iter()
            .enumerate()
            .filter_map(|(index, inner)| match index {
                0 => Some(node.clone()),
                _ => rest::find(node, inner.number),
            })
            .collect();
        Nest { outline, place, output, nodes, entered: Cell::new(0) }
    }

    fn span(&self) -> Span {
        self.place.span()
    }

    // Output: `{ let mut place = Entry::At0((iterator,)); loop { .. call(.., &mut place, |..| { .. }) .. } }`
    pub(crate) fn rewritten(&self) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
        let (fuel, place, site) = (name::fuel(), name::generated("place"), name::generated("site"));
        let (exit, value) = (name::generated("exit"), name::value());
        let parameters = &self.outline.parameters;
        let (call, helper) = (name::generated("nest"), helper(parameters.len() + 2, self.place));
        let arguments = parameters.iter().map(|parameter| self.argument(parameter));
        let results: Vec<&Ident> = self.results();
        let closure = self.closure();
        let start =
            if self.starts_inside() { quote_spanned!(span=> #runtime::Entry::Start) } else { self.enter(0) };
        let types = (0..6).map(|index| if index < self.nodes.len() { quote!(_) } else { quote!(()) });
        let ends = match &self.nodes[0] {
            // Nothing follows a `loop` that is never left.
            Expr::Loop(node) if !jumps::leaves(node) => {
                quote_spanned!(span=> #runtime::core::unreachable!())
            }
            _ => quote_spanned!(span=> break),
        };
        let (returned, returns) = if self.outline.structure.returns {
            let output = &self.output.annotation;
            let arm = quote_spanned! {span=>
                #runtime::Exit::Return(#value) => {
                    #runtime::put(#fuel);
                    return #value;
                }
            };
            (quote!(#output), arm)
        } else {
            (quote!(()), quote_spanned!(span=> #runtime::Exit::Return(()) => #ends,))
        };
        let (saved, polls) = (name::saved(), name::polls());
        let described = (0..self.nodes.len()).map(|index| self.described(index));
        let locals = self.place.plan.saved_at(self.place.number);
        let looping = quote_spanned! {span=>
            #helper
            let mut #place: #runtime::Entry<#(#types),*> = #start;
            loop {
                {
                    let #exit: #runtime::Exit<#returned>;
                    (#(#results,)* #fuel, #exit) = #call(#(#arguments,)* #fuel, &mut #place, #closure);
                    match #exit {
                        #runtime::Exit::Done => #ends,
                        #returns
                        #runtime::Exit::Left => {}
                    }
                }
                if #fuel <= 0 {
                    let #saved = (#(#locals,)*);
                    let #site = #place.site(const { &[#(#described),*] });
                    #fuel = #runtime::refill(#polls.lend(), #fuel, #site).await;
                    (#(#locals,)*) = #saved;
                }
            }
        };
        match &self.nodes[0] {
            Expr::ForLoop(node) if !self.starts_inside() => {
                let over = looping::over_items(node, &quote_spanned!(span=> { #looping }), self.place);
                quote_spanned!(span=> { #over; })
            }
            Expr::Loop(_) => quote_spanned!(span=> { #looping }),
            _ => quote_spanned!(span=> { #looping; }),
        }
    }

    /// What comes back of the parameters.
    fn results(&self) -> Vec<&Ident> {
        let in_out = self.outline.parameters.iter().filter(|parameter| parameter.passing == Passing::InOut);
        in_out.map(|parameter| &parameter.ident).collect()
    }

    fn argument(&self, Parameter { ident, passing, .. }: &Parameter) -> TokenStream {
        match passing {
            Passing::Value | Passing::InOut => quote!(#ident),
            Passing::Slice { is_mut: false } => quote_spanned!(self.span()=> &*#ident),
            Passing::Slice { is_mut: true } => quote_spanned!(self.span()=> &mut *#ident),
            Passing::Reference { is_mut: false } => quote_spanned!(self.span()=> &#ident),
            Passing::Reference { is_mut: true } => quote_spanned!(self.span()=> &mut #ident),
            Passing::SliceBehind { is_mut: false } => quote_spanned!(self.span()=> &**#ident),
            Passing::SliceBehind { is_mut: true } => quote_spanned!(self.span()=> &mut **#ident),
        }
    }

    // Output: `|a, mut b, v: &mut _, mut fuel, place| {
    //              let exit = 'nest: { match Entry::take(place) { .. } };
    //              (b, fuel, exit)
    //          }`
    fn closure(&self) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
        let (fuel, place, exit) = (name::fuel(), name::generated("place"), name::generated("exit"));
        let nest = nest_label();
        let parameters =
            self.outline.parameters.iter().map(|Parameter { ident, passing, .. }| match passing {
                Passing::InOut => quote_spanned!(span=> mut #ident),
                _ => quote!(#ident),
            });
        let results = self.results();
        let arrears = self.has_arrears().then(|| {
            let arrears = name::generated("arrears");
            quote_spanned!(span=> let #arrears = #runtime::arrears();)
        });
        let lengths = self.outline.parameters.iter().filter_map(|Parameter { ident, passing, length }| {
            let length = length.as_ref()?;
            match passing {
                Passing::Slice { is_mut: true } => {
                    Some(quote_spanned!(span=> let #ident = &mut #ident[..#length];))
                }
                Passing::Slice { is_mut: false } => {
                    Some(quote_spanned!(span=> let #ident = &#ident[..#length];))
                }
                _ => None,
            }
        });
        let arms = (0..self.nodes.len()).map(|index| self.arm(index));
        let start = self.start();
        quote_spanned! {span=>
            |#(#parameters,)* mut #fuel, #place| {
                #(#lengths)*
                #arrears
                let #exit = #nest: {
                    match #runtime::Entry::take(#place) {
                        #start
                        #(#arms)*
                        _ => break #nest #runtime::Exit::Done,
                    }
                };
                (#(#results,)* #fuel, #exit)
            }
        }
    }

    // Output: `Entry::At1((mut a, mut iterator_0, mut iterator_1,)) => { .. }`
    fn arm(&self, index: usize) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
        let (variant, payload) = (variant(index, span), &self.outline.payloads[index]);
        let nest = nest_label();
        self.entered.set(index);
        let code = if index == 0 {
            let fresh = self.at_head(0, true, &self.nodes[0]);
            match &self.nodes[0] {
                Expr::Loop(node) if !jumps::leaves(node) => fresh,
                _ => quote_spanned!(span=> #fresh; break #nest #runtime::Exit::Done),
            }
        } else {
            self.resumed(index)
        };
        // What the compiler has to say of the code, it says of its first copy.
        let allow = (index > 0).then(|| {
            quote_spanned! {span=>
                #[allow(unused_mut, unused_variables, unused_assignments, unused_labels, unreachable_code)]
            }
        });
        quote_spanned! {span=>
            #allow
            #runtime::Entry::#variant((#(mut #payload,)*)) => { #code }
        }
    }

    // Output: `Entry::At1((a, iterator_0, iterator_1,))`
    fn enter(&self, index: usize) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
        let (variant, payload) = (variant(index, span), &self.outline.payloads[index]);
        quote_spanned!(span=> #runtime::Entry::#variant((#(#payload,)*)))
    }

    // Output: `{ *place = Entry::At1((a, iterator_0, iterator_1,)); break 'nest Exit::Left; }`
    fn leave(&self, index: usize) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
        let (place, enter, nest) = (name::generated("place"), self.enter(index), nest_label());
        quote_spanned! {span=>
            {
                *#place = #enter;
                break #nest #runtime::Exit::Left;
            }
        }
    }

    // Output: `if fuel <= 0 { leave }`
    // Whoever called looks at the budget: a look in here, with all that it has to save from registers and to load again,
    // would be larger than many a loop. Only where the code that is entered at a stop is slower,
    // `if fuel <= 0 && spent(&mut fuel, site) { leave }`: what is unrolled goes on until the budget is over.
    fn check(&self, index: usize) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
        let (fuel, leave) = (name::fuel(), self.leave(index));
        if index == 0 || !self.unrolls_in(index) {
            return quote_spanned!(span=> if #fuel <= 0 #leave);
        }
        let described = self.described(index);
        quote_spanned!(span=> if #fuel <= 0 && #runtime::spent(&mut #fuel, const { &#described }) #leave)
    }

    /// That loop, in reports.
    fn described(&self, index: usize) -> TokenStream {
        let keyword = match &self.nodes[index] {
            Expr::ForLoop(node) => node.for_token.span,
            Expr::While(node) => node.while_token.span,
            Expr::Loop(node) => node.loop_token.span,
            _ => self.place.keyword,
        };
        Place { keyword, copy: None, ..*self.place }.described()
    }

    fn number(&self, index: usize) -> usize {
        self.outline.structure.loops[index].number
    }
}

// Output: `#[inline(never)] fn nest<P0, P1, R>(p0: P0, p1: P1, nest: impl FnOnce(P0, P1) -> R) -> R { nest(p0, p1) }`
// Each parameter is one of the function's: that is what gives references their `noalias`, and the closure's parameters
// their types. It is the user's function's own, so that profilers name it so.
fn helper(parameters: usize, place: &Place<'_>) -> TokenStream {
    let (span, runtime) = (place.span(), name::runtime(place.span()));
    let name = name::generated("nest");
    let types: Vec<Ident> = (0..parameters).map(|index| name::generated(&format!("P{index}"))).collect();
    let values: Vec<Ident> = (0..parameters).map(|index| name::generated(&format!("p{index}"))).collect();
    let (result, body) = (name::generated("R"), name::generated("body"));
    quote_spanned! {span=>
        #[inline(never)]
        #[allow(clippy::too_many_arguments, non_camel_case_types)]
        fn #name<#(#types,)* #result>(
            #(#values: #types,)*
            #body: impl #runtime::FnOnce(#(#types),*) -> #result,
        ) -> #result {
            #body(#(#values),*)
        }
    }
}

fn variant(index: usize, span: Span) -> Ident {
    Ident::new(&format!("At{index}"), span)
}

fn label(noun: &str) -> Lifetime {
    Lifetime { apostrophe: Span::mixed_site(), ident: name::generated(noun) }
}

fn nest_label() -> Lifetime {
    label("nest")
}

fn iteration_label(index: usize) -> Lifetime {
    label(&format!("iteration_{index}"))
}

fn loop_label(index: usize) -> Lifetime {
    label(&format!("loop_{index}"))
}
