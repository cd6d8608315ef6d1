//! Macro calls in the function's own code.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::visit_mut::VisitMut as _;
use syn::{Expr, Macro, Token};

use super::Rewrite;
use crate::looping;
use crate::name;
use crate::standard::Standard;

impl Rewrite<'_> {
    /// The macros of the standard library whose arguments are expressions: their calls of the function to itself, and
    /// what leaves the function, are rewritten. The tokens stay untouched if nothing in them was. Loops stay as they
    /// are, and so does every other macro: nobody knows what it makes of its tokens.
    pub(super) fn visit_known_macro(&mut self, node: &mut Macro) {
        let arguments = node.parse_body::<Arguments>();
        let (Some(known), Ok(mut arguments)) = (Standard::of(node), arguments) else {
            self.found.hides_awaits = true;
            return;
        };
        self.found.hides_awaits |= !arguments.rest.is_empty() && looping::awaits(node.tokens.clone());
        let before = quote!(#arguments).to_string();
        let outer = std::mem::replace(&mut self.in_macro, true);
        for argument in &mut arguments.list {
            self.visit_expr_mut(&mut argument.value);
        }
        self.in_macro = outer;
        let after = quote!(#arguments);
        if after.to_string() == before {
            return;
        }
        let text = std::mem::replace(&mut node.tokens, after);
        if known == Standard::Assertion && arguments.list.len() == 1 && arguments.rest.is_empty() {
            // The panic's message quotes the condition as the user wrote it.
            let runtime = name::runtime(Span::mixed_site());
            let condition = &arguments.list[0].value;
            node.tokens = quote_spanned! {Span::mixed_site()=>
                #condition, "{}", #runtime::core::concat!("assertion failed: ", #runtime::core::stringify!(#text))
            };
        }
    }
}

/// The arguments of a macro of the standard library, as far as they are expressions.
struct Arguments {
    list: Vec<Argument>,
    /// What follows the first argument of `matches!`, and whatever else is no expression.
    rest: TokenStream,
}

struct Argument {
    /// `name =`, of a format argument.
    name: TokenStream,
    value: Expr,
    /// `,`, or the `;` of `vec![value; count]`.
    separator: TokenStream,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut list = Vec::new();
        while !input.is_empty() {
            let fork = input.fork();
            let Ok(argument) = fork.call(Argument::parse) else { break };
            syn::parse::discouraged::Speculative::advance_to(input, &fork);
            list.push(argument);
        }
        Ok(Arguments { list, rest: input.parse()? })
    }
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut name = TokenStream::new();
        if input.peek(syn::Ident)
            && input.peek2(Token![=])
            && !input.peek2(Token![==])
            && !input.peek2(Token![=>])
        {
            let ident: Ident = input.parse()?;
            let equals: Token![=] = input.parse()?;
            name = quote!(#ident #equals);
        }
        let value = input.parse()?;
        let separator = if input.peek(Token![,]) {
            let comma: Token![,] = input.parse()?;
            quote!(#comma)
        } else if input.peek(Token![;]) {
            let semicolon: Token![;] = input.parse()?;
            quote!(#semicolon)
        } else if input.is_empty() {
            TokenStream::new()
        } else {
            return Err(input.error("no expression"));
        };
        Ok(Argument { name, value, separator })
    }
}

impl quote::ToTokens for Arguments {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for Argument { name, value, separator } in &self.list {
            tokens.extend(quote!(#name #value #separator));
        }
        tokens.extend(self.rest.clone());
    }
}
