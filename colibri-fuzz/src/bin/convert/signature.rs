//! How a wrapper calls its twin.

use std::ops::Range;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::{FnArg, GenericParam, Generics, Pat, PatIdent, ReceiverKind, Safety, Signature};

/// The place of a piece of syntax in its file.
pub(crate) fn place(tokens: &impl ToTokens) -> Range<usize> {
    tokens.span().byte_range()
}

/// A syntax's text, as far as it is no part of the file that has to stay as it is.
pub(crate) fn text(tokens: impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

/// The arguments as a wrapper needs them: each with a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// What is to be put in place of patterns.
    pub(crate) patterns: Vec<(Range<usize>, String)>,
    /// What the call hands on.
    pub(crate) names: Vec<String>,
}

// Input:  `(mut self, a: A, mut b: B, (c, _): (C, D))`
// Output: `(self, a: A, b: B, argument_3: (C, D))`, called with `self, a, b, argument_3`
pub(crate) fn arguments(signature: &Signature) -> Arguments {
    let mut arguments = Arguments::default();
    for (index, input) in signature.inputs.iter().enumerate() {
        let name = match input {
            FnArg::Receiver(receiver) => {
                if let (Some(mutability), ReceiverKind::Value | ReceiverKind::Typed(..)) =
                    (&receiver.mutability, &receiver.kind)
                {
                    arguments.patterns.push((place(mutability), String::new()));
                }
                "self".to_owned()
            }
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(PatIdent { by_ref: None, mutability, ident, subpat: None, .. }) => {
                    if mutability.is_some() {
                        arguments.patterns.push((place(&typed.pat), ident.to_string()));
                    }
                    ident.to_string()
                }
                pattern => {
                    let name = format!("argument_{index}");
                    arguments.patterns.push((place(pattern), name.clone()));
                    name
                }
            },
        };
        arguments.names.push(name);
    }
    arguments
}

/// `::<T, N>`: what the compiler might not find out by itself. Lifetimes it does.
pub(crate) fn turbofish(generics: &Generics) -> String {
    let name = |parameter: &GenericParam| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Const(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    };
    let names: Vec<String> = generics.params.iter().filter_map(name).collect();
    if names.is_empty() { String::new() } else { format!("::<{}>", names.join(", ")) }
}

/// `unsafe` or nothing.
pub(crate) fn unsafety(signature: &Signature) -> &'static str {
    if matches!(signature.safety, Safety::Unsafe(_)) { "unsafe " } else { "" }
}

/// The parameters of a type, a trait or an implementation, for another one of its kind.
#[derive(Debug)]
pub(crate) struct Parameters {
    /// `'a, T: Debug, const N: usize`
    pub(crate) declared: String,
    /// `<'a, T, N>`
    pub(crate) named: String,
    /// `where T: Clone`
    pub(crate) condition: String,
}

impl Parameters {
    pub(crate) fn of(generics: &Generics) -> Self {
        let mut generics = generics.clone();
        for parameter in &mut generics.params {
            match parameter {
                GenericParam::Type(parameter) => parameter.default = None,
                GenericParam::Const(parameter) => parameter.default = None,
                GenericParam::Lifetime(_) => {}
            }
        }
        Parameters {
            declared: text(&generics.params),
            named: text(generics.split_for_impl().1),
            condition: text(&generics.where_clause),
        }
    }
}

/// Whether each parameter is mentioned by `tokens`, as a type's own `impl` needs it.
pub(crate) fn are_all_mentioned(generics: &Generics, tokens: &TokenStream) -> bool {
    let mentioned = identifiers(tokens.clone());
    generics.params.iter().all(|parameter| {
        let name = match parameter {
            GenericParam::Type(parameter) => &parameter.ident,
            GenericParam::Const(parameter) => &parameter.ident,
            GenericParam::Lifetime(parameter) => &parameter.lifetime.ident,
        };
        mentioned.contains(&name.to_string())
    })
}

fn identifiers(tokens: TokenStream) -> Vec<String> {
    use proc_macro2::TokenTree;
    let of = |token| match token {
        TokenTree::Ident(ident) => vec![ident.to_string()],
        TokenTree::Group(group) => identifiers(group.stream()),
        _ => Vec::new(),
    };
    tokens.into_iter().flat_map(of).collect()
}

/// Whether a path leaves out a lifetime, as no bound may.
pub(crate) fn has_hidden_lifetime(path: &syn::Path) -> bool {
    let text = text(path);
    text.contains("'_") || text.replace("& '", "").contains('&')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(text: &str) -> Signature {
        syn::parse_str(text).expect("a signature")
    }

    #[test]
    fn patterns_get_names() {
        let text = "fn f(mut self, a: A, mut b: B, (c, _): (C, D))";
        let found = arguments(&signature(text));
        assert_eq!(found.names, ["self", "a", "b", "argument_3"]);
        let replaced: Vec<_> =
            found.patterns.iter().map(|(place, new)| (&text[place.clone()], new.as_str())).collect();
        assert_eq!(replaced, [("mut", ""), ("mut b", "b"), ("(c, _)", "argument_3")]);
        assert_eq!(arguments(&signature("fn f(&mut self)")).patterns, []);
    }

    #[test]
    fn types_and_constants_are_named_in_the_call() {
        assert_eq!(turbofish(&signature("fn f<'a, T: X, const N: usize>()").generics), "::<T, N>");
        assert_eq!(turbofish(&signature("fn f<'a>()").generics), "");
    }
}
