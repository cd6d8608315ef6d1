//! The item under the attribute.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, TokenStreamExt as _};
use syn::parse::{Parse, ParseStream};
use syn::{AttrStyle, Attribute, Block, Signature, Token, Visibility};

/// A function, wherever it stands: free, in an `impl`, or in a trait, there perhaps without a body.
pub(crate) struct Function {
    /// Its attributes and docs, without `#[cooperative]` itself.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    /// `default`, of the unstable specialisation: printed back, no more.
    pub(crate) modifiers: TokenStream,
    pub(crate) signature: Signature,
    /// None in a trait's required method.
    pub(crate) body: Option<Block>,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let defaultness: Option<Token![default]> = input.parse()?;
        let signature = input.parse()?;
        let mut function = Function {
            attributes,
            visibility,
            modifiers: defaultness.to_token_stream(),
            signature,
            body: None,
        };
        if input.parse::<Option<Token![;]>>()?.is_none() {
            let content;
            let brace_token = syn::braced!(content in input);
            // `#![allow(..)]` at the head of a body applies to all of it, as an outer attribute does.
            for mut attribute in content.call(Attribute::parse_inner)? {
                attribute.style = AttrStyle::Outer;
                function.attributes.push(attribute);
            }
            function.body = Some(Block { brace_token, stmts: content.call(Block::parse_within)? });
        }
        Ok(function)
    }
}

/// What kind of item the tokens hold, in words for a message; `None` if it looks like a function.
pub(crate) fn kind_of_other_item(item: &TokenStream) -> Option<(TokenTree, &'static str)> {
    let mut tokens = item.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            // An attribute: `#` and its brackets.
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next();
            }
            TokenTree::Ident(word) => {
                let kind = match word.to_string().as_str() {
                    "pub" => {
                        if matches!(tokens.peek(), Some(TokenTree::Group(_))) {
                            tokens.next();
                        }
                        continue;
                    }
                    "fn" => return None,
                    "async" | "unsafe" | "default" | "extern" | "safe" => continue,
                    "const" => match tokens.peek() {
                        Some(TokenTree::Ident(next))
                            if ["fn", "unsafe", "async", "extern"].contains(&next.to_string().as_str()) =>
                        {
                            return None;
                        }
                        _ => "a constant",
                    },
                    "static" => "a static",
                    "struct" => "a struct",
                    "enum" => "an enum",
                    "union" => "a union",
                    "trait" => "a trait",
                    "impl" => "an `impl` block",
                    "mod" => "a module",
                    "type" => "a type alias",
                    "use" => "a `use` declaration",
                    "macro_rules" | "macro" => "a macro",
                    "let" => "a `let` statement",
                    "for" | "while" | "loop" => "a loop outside a cooperative function",
                    _ => "this item",
                };
                return Some((token, kind));
            }
            TokenTree::Group(_) | TokenTree::Literal(_) | TokenTree::Punct(_) => {
                // The ABI's literal, a visibility that came from a macro, or something that is no item at all.
            }
        }
    }
    None
}

/// The item without `#[cooperative(skip)]`, as it is emitted where it could not be rewritten: alone, that attribute
/// would be a second error.
pub(crate) fn without_skips(item: TokenStream) -> TokenStream {
    let mut plain = TokenStream::new();
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => match tokens.peek() {
                Some(TokenTree::Group(group)) if is_skip(&group.stream()) => {
                    tokens.next();
                }
                _ => plain.append(punct),
            },
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), without_skips(group.stream()));
                inner.set_span(group.span());
                plain.append(inner);
            }
            token => plain.append(token),
        }
    }
    plain
}

/// Whether the tokens inside `#[..]` are `cooperative(skip)`, under any path.
fn is_skip(tokens: &TokenStream) -> bool {
    let mut last_word = None;
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(word) => last_word = Some(word),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            TokenTree::Group(group) => {
                return last_word.is_some_and(|word| word == "cooperative")
                    && group.stream().to_string() == "skip";
            }
            _ => return false,
        }
    }
    false
}

/// Whether this is `#[cooperative(..)]`, under any path.
pub(crate) fn is_cooperative(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "cooperative")
}
