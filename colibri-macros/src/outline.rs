//! Nests in a function of their own: the code for them.
//!
//! The nest becomes a closure without an await, called out of line. It looks at the fuel as every loop does, and at the
//! budget in place when the fuel is gone. Only when the budget is over does it return, with all that is alive at the
//! loop where it was stopped; after the await it is called again, finishes what it was in the middle of, and goes on.

use std::cell::Cell;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprForLoop, ExprWhile, Lifetime, Stmt, Token};

use crate::group::parenthesize_at;
use crate::jumps::{self, Jumps, Target};
use crate::looping::{self, Place};
use crate::movable::{Outline, Parameter, Passing};
use crate::name;
use crate::number;
use crate::rest;
use crate::shape;
use crate::signature::Output;

/// Tokens of a loop's body, with its condition, up to which it is written down four times.
const MOST_UNROLLED_TOKENS: usize = 60;

/// Writes one nest.
pub(crate) struct Nest<'a> {
    pub(crate) outline: &'a Outline,
    pub(crate) place: &'a Place<'a>,
    pub(crate) output: &'a Output,
    /// The nest as the user wrote it, by loop.
    nodes: Vec<Expr>,
    /// Whether short loops are unrolled here: in what runs, not in what is entered after a stop.
    unrolls: Cell<bool>,
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
        Nest { outline, place, output, nodes, unrolls: Cell::new(true) }
    }

    fn span(&self) -> Span {
        self.place.span()
    }

    // Output: `{ let mut entry = Entry::At0((iterator,)); loop { .. call(.., |..| { .. }) .. } }`
    pub(crate) fn rewritten(&self) -> TokenStream {
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let (fuel, entry, exit, left, value) = (
            name::fuel(),
            name::generated("entry"),
            name::generated("exit"),
            name::generated("left"),
            name::value(),
        );
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
        let site = self.place.site();
        let saved = name::saved();
        let locals = self.place.plan.saved_at(self.place.number);
        let looping = quote_spanned! {span=>
            #helper
            let mut #entry: #runtime::Entry<#(#types),*> = #start;
            loop {
                {
                    let #exit: #runtime::Exit<#returned, _>;
                    (#(#results,)* #fuel, #exit) = #call(#(#arguments,)* #fuel, #entry, #closure);
                    match #exit {
                        #runtime::Exit::Done => #ends,
                        #returns
                        #runtime::Exit::Left(#left) => #entry = #left,
                    }
                }
                if #fuel <= 0 {
                    let #saved = (#(#locals,)* #entry,);
                    #fuel = #runtime::refill(#fuel, #site).await;
                    (#(#locals,)* #entry,) = #saved;
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

    /// Whether the nest makes its iterator itself, so that it is known where it begins: a loop of its own, if it is short
    /// enough to run as it stands.
    fn starts_inside(&self) -> bool {
        match &self.nodes[0] {
            Expr::ForLoop(node) => {
                // A range or a slice is as well known in a strip, but for a length that it is known to have.
                let lengths = self.outline.parameters.iter().any(|parameter| parameter.length.is_some());
                let is_better = lengths || shape::recurs(&node.body) || !self.is_cut(0, node);
                self.nodes.len() == 1
                    && self.place.plan.is_counted(Some(self.number(0)))
                    && shape::only_looks(&node.expr)
                    && is_better
            }
            _ => false,
        }
    }

    /// Whether the loop's iterator surely can be cut in two: a range, or a slice.
    fn is_cut(&self, index: usize, node: &ExprForLoop) -> bool {
        shape::can_be_cut(&node.expr) || self.outline.structure.loops[index].is_over_slice
    }

    // Output: `Entry::Start => match IntoIterator::into_iter(items) { mut iterator => {
    //              let charge = upper(&iterator);
    //              if charge <= max(fuel, arrears) { fuel -= charge; for x in iterator { body } break 'nest Exit::Done }
    //              entry = Entry::At0((iterator,));
    //          } }`
    fn start(&self) -> Option<TokenStream> {
        let Expr::ForLoop(node) = &self.nodes[0] else { return None };
        if !self.starts_inside() {
            return None;
        }
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let ExprForLoop { label, for_token, pat, expr, in_token, body, .. } = node;
        let (items, body, iterator) =
            (items(expr, self.place), self.body(body), name::iterator_of(self.number(0)));
        let (fuel, entry, enter, nest) =
            (name::fuel(), name::generated("entry"), self.enter(0), nest_label());
        let (charge, arrears) = (name::generated("charge"), name::generated("arrears"));
        Some(quote_spanned! {span=>
            #runtime::Entry::Start => match #items {
                mut #iterator => {
                    let #charge = #runtime::upper(&#iterator);
                    if #charge <= #runtime::core::cmp::Ord::max(#fuel, #arrears) {
                        #fuel -= #charge;
                        #label #for_token #pat #in_token #iterator #body
                        break #nest #runtime::Exit::Done;
                    }
                    #entry = #enter;
                }
            },
        })
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

    // Output: `|a, mut b, v: &mut _, mut fuel, mut entry| { let exit = 'nest: { .. }; (b, fuel, exit) }`
    fn closure(&self) -> TokenStream {
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let (fuel, entry, exit) = (name::fuel(), name::generated("entry"), name::generated("exit"));
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
        let repeats = self.nodes.len() > 1 || start.is_some();
        let dispatch = quote_spanned! {span=>
            match #entry {
                #start
                #(#arms)*
                _ => break #nest #runtime::Exit::Done,
            }
        };
        let dispatch = if repeats {
            let label = (self.nodes.len() > 2).then(|| {
                let label = label("dispatch");
                quote_spanned!(span=> #label:)
            });
            quote_spanned!(span=> #label loop { #dispatch })
        } else {
            dispatch
        };
        quote_spanned! {span=>
            |#(#parameters,)* mut #fuel, mut #entry| {
                #(#lengths)*
                #arrears
                let #exit = #nest: { #dispatch };
                (#(#results,)* #fuel, #exit)
            }
        }
    }

    // Output: `Entry::At1((mut a, mut iterator_0, mut iterator_1,)) => { .. }`
    fn arm(&self, index: usize) -> TokenStream {
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let (variant, payload) = (variant(index, span), &self.outline.payloads[index]);
        let nest = nest_label();
        self.unrolls.set(index == 0);
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
        let runtime = self.place.runtime.at(span);
        let (variant, payload) = (variant(index, span), &self.outline.payloads[index]);
        quote_spanned!(span=> #runtime::Entry::#variant((#(#payload,)*)))
    }

    // Output: `{ entry = Entry::At1((a, iterator_0, iterator_1,)); break 'nest Exit::Left(entry); }`
    fn leave(&self, index: usize) -> TokenStream {
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let (entry, enter, nest) = (name::generated("entry"), self.enter(index), nest_label());
        quote_spanned! {span=>
            {
                #entry = #enter;
                break #nest #runtime::Exit::Left(#entry);
            }
        }
    }

    // Output: `if fuel <= 0 && spent(&mut fuel, site) { leave }`
    fn check(&self, index: usize) -> TokenStream {
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let (fuel, site, leave) = (name::fuel(), self.site(index), self.leave(index));
        quote_spanned!(span=> if #fuel <= 0 && #runtime::spent(&mut #fuel, #site) #leave)
    }

    fn site(&self, index: usize) -> TokenStream {
        let keyword = match &self.nodes[index] {
            Expr::ForLoop(node) => node.for_token.span,
            Expr::While(node) => node.while_token.span,
            Expr::Loop(node) => node.loop_token.span,
            _ => self.place.keyword,
        };
        Place { keyword, copy: None, ..*self.place }.site()
    }

    fn number(&self, index: usize) -> usize {
        self.outline.structure.loops[index].number
    }

    /// Whether that loop may run in arrears: a short `for` whose items can be counted before.
    fn may_be_in_arrears(&self, index: usize) -> bool {
        let number = Some(self.number(index));
        let plan = self.place.plan;
        index > 0
            && matches!(self.nodes[index], Expr::ForLoop(_))
            && self.outline.structure.is_leaf(index)
            && (plan.is_counted(number) || plan.is_copied(number))
    }

    fn has_arrears(&self) -> bool {
        self.starts_inside()
            || (0..self.nodes.len()).any(|index| match &self.nodes[index] {
                Expr::ForLoop(node) => {
                    let is_whole = shape::recurs(&node.body) || !self.is_cut(index, node);
                    let is_counted = self.place.plan.is_counted(Some(self.number(index)));
                    self.may_be_in_arrears(index)
                        || self.outline.structure.is_leaf(index) && is_counted && is_whole
                }
                _ => false,
            })
    }

    /// A loop inside an iteration that began here.
    fn fresh(&self, index: usize, node: &Expr) -> TokenStream {
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let Expr::ForLoop(ExprForLoop { label, for_token, pat, expr, in_token, body, .. }) = node else {
            return self.at_head(index, true, node);
        };
        let iterator = name::iterator_of(self.number(index));
        let looping = if self.may_be_in_arrears(index) {
            let (fuel, charge, arrears, leave) =
                (name::fuel(), name::generated("charge"), name::generated("arrears"), self.leave(index));
            let body = self.body(body);
            let (items, give_back) = match self.place.plan.is_counted(Some(self.number(index))) {
                true => (quote!(#iterator), TokenStream::new()),
                false => (
                    quote_spanned!(span=> &mut #iterator),
                    quote_spanned!(span=> #fuel += #runtime::upper(&#iterator);),
                ),
            };
            quote_spanned! {span=>
                let #charge = #runtime::upper(&#iterator);
                if #charge > #arrears #leave
                #fuel -= #charge;
                #label #for_token #pat #in_token #items #body
                #give_back
            }
        } else {
            self.at_head(index, true, node)
        };
        let items = items(&self.expression(expr), self.place);
        quote_spanned! {span=>
            match #items {
                mut #iterator => { #looping }
            }
        }
    }

    /// A loop from its head on, with its iterator at hand.
    fn at_head(&self, index: usize, is_fresh: bool, node: &Expr) -> TokenStream {
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let check = self.check(index);
        let is_leaf = self.outline.structure.is_leaf(index);
        match node {
            Expr::ForLoop(node) => {
                let ExprForLoop { label, pat, body, .. } = node;
                let label = label.as_ref().filter(|label| is_fresh || jumps::names(&label.name, body));
                let iterator = name::iterator_of(self.number(index));
                if is_leaf && self.place.plan.is_counted(Some(self.number(index))) {
                    return self.in_strips(index, node);
                }
                let body = self.charged(body);
                quote_spanned! {span=>
                    #label loop {
                        #check
                        match #runtime::core::iter::Iterator::next(&mut #iterator) {
                            #runtime::core::option::Option::None => break,
                            #runtime::core::option::Option::Some(#pat) => #body
                        }
                    }
                }
            }
            Expr::While(node) => {
                let label = node.label.as_ref().filter(|label| {
                    is_fresh
                        || jumps::names(&label.name, &node.body)
                        || jumps::names_in(&label.name, &node.cond)
                });
                if is_leaf && self.unrolls.get() && is_short(node) {
                    let unrolled = self.unrolled(index, &node.cond, &node.body);
                    return quote_spanned!(span=> #label loop { #unrolled });
                }
                let (condition, body) = (self.expression(&node.cond), self.charged(&node.body));
                quote_spanned! {span=>
                    #label loop {
                        #check
                        if #condition #body else { break; }
                    }
                }
            }
            Expr::Loop(node) => {
                let label =
                    node.label.as_ref().filter(|label| is_fresh || jumps::names(&label.name, &node.body));
                let body = self.charged(&node.body);
                quote_spanned! {span=>
                    #label loop {
                        #check
                        #body
                    }
                }
            }
            node => node.to_token_stream(),
        }
    }

    // Output: `loop { check
    //              let charge = upper(&iterator);
    //              if charge <= max(fuel, arrears) { fuel -= charge; for x in iterator { body } break }
    //              let mut strip = (&mut &mut Probe(Some(iterator))).open(fuel);
    //              for x in &mut strip { body }
    //              let is_last; (fuel, iterator, is_last) = strip.close(); if is_last { break }
    //          }`
    // A loop that surely runs to its end, as one plain loop or as many: what the compiler makes of the plain function's
    // loop, it makes of each of them. Which `open` is meant is found by the number of `&mut`: one cuts ranges and slices
    // in two of their own kind, the other counts.
    fn in_strips(&self, index: usize, node: &ExprForLoop) -> TokenStream {
        let span = self.span();
        let runtime = self.place.runtime.at(span);
        let ExprForLoop { label, for_token, pat, in_token, body, .. } = node;
        let (fuel, check, iterator) =
            (name::fuel(), self.check(index), name::iterator_of(self.number(index)));
        let (strip, is_last, charge, arrears) = (
            name::generated("strip"),
            name::generated("is_last"),
            name::generated("charge"),
            name::generated("arrears"),
        );
        let recurs = shape::recurs(body);
        let body = self.body(body);
        let rest = quote_spanned!(span=> #label #for_token #pat #in_token &mut #strip #body);
        // What the last iteration stored is what this one loads: the compiler sees that where one has surely passed.
        let strips = match recurs && label.is_none() {
            true => quote_spanned! {span=>
                if let #runtime::core::option::Option::Some(#pat) = #runtime::core::iter::Iterator::next(&mut #strip) {
                    #body
                    #rest
                }
            },
            false => rest,
        };
        let runs_whole = !(index == 0 && self.starts_inside()) && (recurs || !self.is_cut(index, node));
        let whole = runs_whole.then(|| {
            quote_spanned! {span=>
                let #charge = #runtime::upper(&#iterator);
                if #charge <= #runtime::core::cmp::Ord::max(#fuel, #arrears) {
                    #fuel -= #charge;
                    #label #for_token #pat #in_token #iterator #body
                    break;
                }
            }
        });
        quote_spanned! {span=>
            loop {
                #check
                #whole
                let mut #strip = {
                    use #runtime::{OpenAny as _, OpenFast as _};
                    (&mut &mut #runtime::Probe(#runtime::core::option::Option::Some(#iterator))).open(#fuel)
                };
                #strips
                let #is_last;
                (#fuel, #iterator, #is_last) = #strip.close();
                if #is_last {
                    break;
                }
            }
        }
    }

    // Output: `if fuel < 4 { check; if condition { fuel -= 1; body continue } else { break } }
    //          fuel -= 4; if condition { body } else { break } ..`, four times
    // One check in four iterations. Whoever leaves early has been charged for a few too many.
    fn unrolled(&self, index: usize, condition: &Expr, body: &Block) -> TokenStream {
        let span = self.span();
        let (fuel, check) = (name::fuel(), self.check(index));
        let (condition, plain, charged) = (self.expression(condition), self.body(body), self.charged(body));
        let once = quote_spanned!(span=> if #condition #plain else { break; });
        quote_spanned! {span=>
            if #fuel < 4 {
                #check
                if #condition #charged else { break; }
            } else {
                #fuel -= 4;
                #once
                #once
                #once
                #once
            }
        }
    }

    // Output: `'loop_1: { 'iteration_1: { loop rest } entry = Entry::At1(..); continue 'dispatch; }`
    // What remains of the iteration that a stop at that loop interrupted; then the loop around it is entered at its head.
    // Only where somebody breaks out of that one, what follows it has to stand here as well.
    fn resumed(&self, index: usize) -> TokenStream {
        let span = self.span();
        let chain = self.outline.structure.chain(index);
        let outside: Vec<Target> = chain[..chain.len() - 1].iter().map(|outer| self.target(*outer)).collect();
        let mut node = self.nodes[index].clone();
        let mut jumps = Jumps::new(&outside, None);
        jumps.loop_itself(&mut node);
        let mut broken = jumps.broken;
        let mut code = self.at_head(index, false, &node);
        let mut inner = index;
        for (depth, outer) in chain[..chain.len() - 1].iter().enumerate().rev() {
            let body = match &self.nodes[*outer] {
                Expr::ForLoop(node) => &node.body,
                Expr::While(node) => &node.body,
                Expr::Loop(node) => &node.body,
                _ => return TokenStream::new(),
            };
            let mut rest = rest::after(body, self.number(inner));
            let mut jumps = Jumps::new(&outside[..=depth], Some(depth));
            jumps.statements(&mut rest);
            broken.extend(jumps.broken);
            let (rest, iteration) = (self.statements(rest), iteration_label(*outer));
            let (entry, enter, dispatch) = (name::generated("entry"), self.enter(*outer), label("dispatch"));
            code = quote_spanned! {span=>
                #iteration: { #code #rest }
                #entry = #enter;
            };
            if *outer == 0 {
                break;
            }
            code = quote_spanned!(span=> #code continue #dispatch;);
            if !broken.contains(&depth) {
                break;
            }
            let label = loop_label(*outer);
            code = quote_spanned!(span=> #label: { #code });
            inner = *outer;
        }
        code
    }

    /// Where jumps out of the loops inside go.
    fn target(&self, index: usize) -> Target {
        let label = match &self.nodes[index] {
            Expr::ForLoop(node) => &node.label,
            Expr::While(node) => &node.label,
            Expr::Loop(node) => &node.label,
            _ => &None,
        };
        let runtime = self.place.runtime.at(self.span());
        Target {
            label: label.as_ref().map(|label| label.name.clone()),
            continues: iteration_label(index),
            breaks: if index == 0 { nest_label() } else { loop_label(index) },
            value: (index == 0).then(|| quote_spanned!(self.span()=> #runtime::Exit::Done)),
        }
    }

    /// The body with its charge.
    fn charged(&self, body: &Block) -> Block {
        let mut body = self.body(body);
        let fuel = name::fuel();
        let charge = Expr::Verbatim(quote_spanned!(self.span()=> #fuel -= 1));
        body.stmts.insert(0, Stmt::Expr(charge, Some(Token![;](self.span()))));
        body
    }

    fn body(&self, body: &Block) -> Block {
        let mut body = body.clone();
        Inside(self).visit_block_mut(&mut body);
        body
    }

    fn statements(&self, statements: Vec<Stmt>) -> TokenStream {
        let mut block = Block { brace_token: syn::token::Brace(self.span()), stmts: statements };
        Inside(self).visit_block_mut(&mut block);
        let statements = block.stmts;
        quote!(#(#statements)*)
    }

    fn expression(&self, expression: &Expr) -> Expr {
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
        let runtime = nest.place.runtime.at(span);
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
                let runtime = nest.place.runtime.at(span);
                let (operand, value, output) = (&inner.expr, name::value(), &nest.output.annotation);
                let tokens = quote_spanned! {span=>
                    match #runtime::branch::<#output, _>(#operand) {
                        #runtime::core::ops::ControlFlow::Continue(#value) => #value,
                        #runtime::core::ops::ControlFlow::Break(#value) => break #label #runtime::Exit::Return(#value),
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
fn items(expression: &Expr, place: &Place<'_>) -> TokenStream {
    let runtime = place.runtime.at(place.span());
    let over = |expression: TokenStream| quote_spanned!(place.span()=> #runtime::core::iter::IntoIterator::into_iter(#expression));
    if let Expr::Paren(_) = expression {
        // The compiler has advice for needless parentheses here, but not in a call.
        let (items, over) = (name::generated("items"), over(name::generated("items").into_token_stream()));
        return quote_spanned!(place.span()=> match #expression { #items => #over });
    }
    over(expression.into_token_stream())
}

fn is_short(node: &ExprWhile) -> bool {
    let tokens = |tokens: TokenStream| shape::tokens_in(tokens);
    tokens(node.cond.to_token_stream()) + tokens(node.body.to_token_stream()) <= MOST_UNROLLED_TOKENS
}

// Output: `#[inline(never)] fn nest<P0, P1, R>(p0: P0, p1: P1, nest: impl FnOnce(P0, P1) -> R) -> R { nest(p0, p1) }`
// Each parameter is one of the function's: that is what gives references their `noalias`, and the closure's parameters
// their types. It is the user's function's own, so that profilers name it so.
fn helper(parameters: usize, place: &Place<'_>) -> TokenStream {
    let (span, runtime) = (place.span(), place.runtime.at(place.span()));
    let name = name::generated("nest");
    let types: Vec<Ident> = (0..parameters).map(|index| name::generated(&format!("P{index}"))).collect();
    let values: Vec<Ident> = (0..parameters).map(|index| name::generated(&format!("p{index}"))).collect();
    let (result, body) = (name::generated("R"), name::generated("body"));
    quote_spanned! {span=>
        #[inline(never)]
        #[allow(clippy::too_many_arguments, non_camel_case_types)]
        fn #name<#(#types,)* #result>(
            #(#values: #types,)*
            #body: impl #runtime::core::ops::FnOnce(#(#types),*) -> #result,
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
