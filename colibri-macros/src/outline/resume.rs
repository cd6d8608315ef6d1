//! Where a nest is entered after it was stopped.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::{Nest, iteration_label, loop_label, nest_label};
use crate::jumps::{Jumps, Target};
use crate::name;
use crate::rest;

impl Nest<'_> {
    // Output: `'loop_1: { 'iteration_1: { loop rest } *place = Entry::At1(..); break 'nest Exit::Left; }`
    // What remains of the iteration that a stop at that loop interrupted; then the loop around it is entered at its head.
    // Only where somebody breaks out of that one, what follows it has to stand here as well.
    pub(super) fn resumed(&self, index: usize) -> TokenStream {
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
            let Some((_, body)) = rest::parts_of(&self.nodes[*outer]) else { break };
            let mut rest = rest::after(body, self.number(inner));
            let mut jumps = Jumps::new(&outside[..=depth], Some(depth));
            jumps.statements(&mut rest);
            broken.extend(jumps.broken);
            let (rest, iteration) = (self.statements(rest), iteration_label(*outer));
            let leave = self.leave(*outer);
            code = quote_spanned! {span=>
                #iteration: { #code #rest }
                #leave
            };
            if *outer == 0 || !broken.contains(&depth) {
                break;
            }
            let label = loop_label(*outer);
            code = quote_spanned!(span=> #label: { #code });
            inner = *outer;
        }
        code
    }

    /// Where jumps out of the loops inside go.
    pub(super) fn target(&self, index: usize) -> Target {
        let label = rest::parts_of(&self.nodes[index]).and_then(|(label, _)| label);
        let runtime = name::runtime(self.span());
        Target {
            label: label.map(|label| label.name.clone()),
            continues: iteration_label(index),
            breaks: if index == 0 { nest_label() } else { loop_label(index) },
            value: (index == 0).then(|| quote_spanned!(self.span()=> #runtime::Exit::Done)),
        }
    }
}
