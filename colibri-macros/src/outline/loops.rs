//! The loops of a nest: short ones in arrears or unrolled, long ones in strips, the others with a check an iteration.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};
use syn::{Block, Expr, ExprForLoop, ExprWhile, Stmt};

use super::inside::items;
use super::{Nest, nest_label};
use crate::head;
use crate::jumps;
use crate::looping;
use crate::name;
use crate::shape;

/// Tokens of a loop's body, with its condition, up to which it is written down four times.
const MOST_UNROLLED_TOKENS: usize = 100;

impl Nest<'_> {
    /// Whether the nest makes its iterator itself, so that it is known where it begins: a loop of its own, if it is short
    /// enough to run as it stands.
    pub(super) fn starts_inside(&self) -> bool {
        match &self.nodes[0] {
            Expr::ForLoop(node) => {
                // A range or a slice is as well known in a strip, but for a length that it is known to have.
                let lengths = self.outline.parameters.iter().any(|parameter| parameter.length.is_some());
                let is_better = lengths || head::recurs(&node.body) || !self.is_cut(0, node);
                self.nodes.len() == 1
                    && self.place.plan.is_counted(Some(self.number(0)))
                    && head::only_looks(&node.expr)
                    && is_better
            }
            _ => false,
        }
    }

    /// Whether the loop's iterator surely can be cut in two: a range, or a slice.
    pub(super) fn is_cut(&self, index: usize, node: &ExprForLoop) -> bool {
        head::can_be_cut(&node.expr) || self.outline.structure.loops[index].is_over_slice
    }

    // Output: `Entry::Start => match IntoIterator::into_iter(items) { mut iterator => {
    //              let charge = upper(&iterator);
    //              if charge <= max(fuel, arrears) { fuel -= charge; for x in iterator { body } break 'nest Exit::Done }
    //              *place = Entry::At0((iterator,)); break 'nest Exit::Left;
    //          } }`
    pub(super) fn start(&self) -> Option<TokenStream> {
        let Expr::ForLoop(node) = &self.nodes[0] else { return None };
        if !self.starts_inside() {
            return None;
        }
        let span = self.span();
        let runtime = name::runtime(span);
        let ExprForLoop { label, for_token, pat, expr, in_token, body, .. } = node;
        let (items, body, iterator) =
            (items(expr, self.place), self.body(body), name::iterator_of(self.number(0)));
        let (fuel, leave, nest) = (name::fuel(), self.leave(0), nest_label());
        let (charge, arrears) = (name::generated("charge"), name::generated("arrears"));
        Some(quote_spanned! {span=>
            #runtime::Entry::Start => match #items {
                mut #iterator => {
                    let #charge = #runtime::upper(&#iterator);
                    if #charge <= #runtime::Ord::max(#fuel, #arrears) {
                        #fuel -= #charge;
                        #label #for_token #pat #in_token #iterator #body
                        break #nest #runtime::Exit::Done;
                    }
                    #leave
                }
            },
        })
    }

    /// Whether that loop may run in arrears: a short `for` whose items can be counted before.
    pub(super) fn may_be_in_arrears(&self, index: usize) -> bool {
        let number = Some(self.number(index));
        let Expr::ForLoop(node) = &self.nodes[index] else { return false };
        let plan = self.place.plan;
        index > 0
            && self.outline.structure.is_leaf(index)
            && (plan.is_counted(number) || plan.is_copied(number) && head::has_a_bound(&node.expr))
    }

    pub(super) fn has_arrears(&self) -> bool {
        self.starts_inside()
            || (0..self.nodes.len()).any(|index| match &self.nodes[index] {
                Expr::ForLoop(node) => {
                    let is_whole = head::recurs(&node.body) || !self.is_cut(index, node);
                    let is_counted = self.place.plan.is_counted(Some(self.number(index)));
                    self.may_be_in_arrears(index)
                        || self.outline.structure.is_leaf(index) && is_counted && is_whole
                }
                _ => false,
            })
    }

    /// A loop inside an iteration that began here.
    pub(super) fn fresh(&self, index: usize, node: &Expr) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
        let Expr::ForLoop(ExprForLoop { label, for_token, pat, expr, in_token, body, .. }) = node else {
            return self.at_head(index, true, node);
        };
        let iterator = name::iterator_of(self.number(index));
        let looping = if self.may_be_in_arrears(index) {
            let (fuel, charge, arrears, leave) =
                (name::fuel(), name::generated("charge"), name::generated("arrears"), self.leave(index));
            let is_counted = self.place.plan.is_counted(Some(self.number(index)));
            let body = self.body(body);
            if is_counted {
                quote_spanned! {span=>
                    let #charge = #runtime::upper(&#iterator);
                    if #charge > #arrears #leave
                    #fuel -= #charge;
                    #label #for_token #pat #in_token #iterator #body
                }
            } else {
                // Perhaps it leaves after a few: how many there are says nothing then.
                let checked = self.at_head(index, true, node);
                quote_spanned! {span=>
                    let #charge = #runtime::upper(&#iterator);
                    if #charge <= #arrears {
                        #fuel -= #charge;
                        #label #for_token #pat #in_token &mut #iterator #body
                        #fuel += #runtime::upper(&#iterator);
                    } else {
                        #[allow(unused_mut, unused_variables, unused_assignments, unused_labels, unreachable_code)]
                        { #checked }
                    }
                }
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
    pub(super) fn at_head(&self, index: usize, is_fresh: bool, node: &Expr) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
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
                        match #runtime::Iterator::next(&mut #iterator) {
                            #runtime::None => break,
                            #runtime::Some(#pat) => #body
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
                if self.unrolls(index) {
                    let unrolled = self.unrolled(index, &node.cond, &node.body);
                    return quote_spanned!(span=> #label loop { #unrolled });
                }
                let (condition, mut body) = (self.expression(&node.cond), self.charged(&node.body));
                if looping::is_true(&node.cond) {
                    // Left a `while`, since the compiler has advice for whoever writes this.
                    let while_token = node.while_token;
                    body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(check), None));
                    return quote_spanned!(span=> #label #while_token #condition #body);
                }
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
    pub(super) fn in_strips(&self, index: usize, node: &ExprForLoop) -> TokenStream {
        let span = self.span();
        let runtime = name::runtime(span);
        let ExprForLoop { label, for_token, pat, in_token, body, .. } = node;
        let (fuel, check, iterator) =
            (name::fuel(), self.check(index), name::iterator_of(self.number(index)));
        let (strip, is_last, charge, arrears) = (
            name::generated("strip"),
            name::generated("is_last"),
            name::generated("charge"),
            name::generated("arrears"),
        );
        let recurs = head::recurs(body);
        let body = self.body(body);
        let rest = quote_spanned!(span=> #label #for_token #pat #in_token &mut #strip #body);
        // What the last iteration stored is what this one loads: the compiler sees that where one has surely passed.
        let strips = match recurs && label.is_none() {
            true => quote_spanned! {span=>
                if let #runtime::Some(#pat) = #runtime::Iterator::next(&mut #strip) {
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
                if #charge <= #runtime::Ord::max(#fuel, #arrears) {
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
                    (&mut &mut #runtime::Probe(#runtime::Some(#iterator))).open(#fuel)
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
    pub(super) fn unrolled(&self, index: usize, condition: &Expr, body: &Block) -> TokenStream {
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
                // Where the first ends in any case.
                #[allow(unreachable_code)]
                {
                    #once
                    #once
                    #once
                }
            }
        }
    }
}

impl Nest<'_> {
    /// Whether a loop is unrolled here: a short `while` without loops inside, in what runs, not in what is entered after
    /// a stop inside an iteration.
    fn unrolls(&self, index: usize) -> bool {
        let is_short = |node: &ExprWhile| {
            let tokens = |tokens: TokenStream| shape::tokens_in(tokens);
            let count = tokens(node.cond.to_token_stream()) + tokens(node.body.to_token_stream());
            count <= MOST_UNROLLED_TOKENS && !looping::is_true(&node.cond)
        };
        self.entered.get() == 0
            && self.outline.structure.is_leaf(index)
            && matches!(&self.nodes[index], Expr::While(node) if is_short(node))
    }

    /// Whether that loop, or one inside it, is.
    pub(super) fn unrolls_in(&self, index: usize) -> bool {
        let structure = &self.outline.structure;
        (index..self.nodes.len()).any(|inner| structure.chain(inner).contains(&index) && self.unrolls(inner))
    }
}
