//! Which words stand in which part of a nest.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::Expr;

use crate::nest::Structure;
use crate::rest;

/// The words in the parts of a nest, by loop.
#[derive(Default)]
pub(crate) struct Mentions {
    pub(crate) inside: Vec<BTreeSet<String>>,
    /// What follows the loop in the iteration around it.
    pub(crate) after: Vec<BTreeSet<String>>,
}

impl Mentions {
    pub(crate) fn of(root: &Expr, structure: &Structure) -> Mentions {
        let mut mentions = Mentions::default();
        for inner in &structure.loops {
            let mut inside = BTreeSet::new();
            let node = rest::find(root, inner.number);
            words(node.to_token_stream(), &mut inside);
            mentions.inside.push(inside);
            let around = inner.parent.and_then(|parent| rest::find(root, structure.loops[parent].number));
            let after =
                around.as_ref().and_then(rest::parts_of).map(|(_, body)| rest::after(body, inner.number));
            let mut found = BTreeSet::new();
            for statement in after.into_iter().flatten() {
                words(statement.to_token_stream(), &mut found);
            }
            mentions.after.push(found);
        }
        mentions
    }
}

/// The identifiers among tokens, and what could be some in literals.
fn words(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                found.insert(ident.to_string());
            }
            TokenTree::Group(group) => words(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let names = text.split(|character: char| !(character.is_alphanumeric() || character == '_'));
                found.extend(names.map(str::to_owned));
            }
            TokenTree::Punct(_) => {}
        }
    }
}
