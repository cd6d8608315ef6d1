//! Macro calls: those of the standard library by their arguments, the others as tokens.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Expr, Lit, Macro, Token};

use super::{Survey, Use};
use crate::standard::Standard;

impl Survey {
    pub(super) fn call_of_macro(&mut self, node: &Macro) {
        match Standard::of(node) {
            Some(Standard::Assertion | Standard::Formatting) => self.known_macro(node, Use::Looked),
            Some(Standard::Ending) => {
                self.known_macro(node, Use::Looked);
                self.diverge();
            }
            Some(Standard::Vector) => self.known_macro(node, Use::Passed),
            Some(Standard::Borrowing | Standard::Passing) | None => {
                self.tokens(&node.tokens);
                // It may never get further.
                self.diverge();
            }
        }
    }

    /// A macro of the standard library: its arguments are expressions, and a format string may name variables.
    pub(super) fn known_macro(&mut self, node: &Macro, used: Use) {
        match node.parse_body_with(arguments) {
            Ok(arguments) => {
                let was_temporary = std::mem::replace(&mut self.bindings.is_temporary, true);
                // A macro may evaluate its arguments only sometimes, and only the first of them for certain.
                for (index, argument) in arguments.iter().enumerate() {
                    let before = self.open.clone();
                    match argument {
                        Expr::Lit(literal) => {
                            if let Lit::Str(text) = &literal.lit {
                                self.format_string(&text.value());
                            }
                        }
                        Expr::Assign(named) => self.operand(&named.right, used),
                        argument => self.operand(argument, used),
                    }
                    if index > 0 {
                        self.open = before;
                    }
                }
                self.bindings.is_temporary = was_temporary;
            }
            Err(_) => self.tokens(&node.tokens),
        }
    }

    /// `"{x} {y:?}"` looks at `x` and `y`.
    pub(super) fn format_string(&mut self, text: &str) {
        for name in names_in(text) {
            for binding in self.bindings.spelled(&name) {
                if self.notes_uses {
                    let variable = &mut self.bindings.variables[binding];
                    variable.uses.captured |= self.closures > 0;
                    variable.mentions.push(self.mentions);
                    self.mentions += 1;
                }
            }
        }
    }

    /// Tokens of which nobody knows what becomes of them.
    pub(super) fn tokens(&mut self, tokens: &TokenStream) {
        for token in tokens.clone() {
            match token {
                TokenTree::Ident(ident) => self.hide(&ident.to_string()),
                TokenTree::Group(group) => self.tokens(&group.stream()),
                TokenTree::Literal(literal) => {
                    for name in names_in(&literal.to_string()) {
                        self.hide(&name);
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

/// The arguments of a macro: `a, b`, or the `value; count` of `vec!`.
fn arguments(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let mut arguments = Vec::new();
    while !input.is_empty() {
        arguments.push(input.parse()?);
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
        } else if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(arguments)
}

/// Names in braces.
fn names_in(text: &str) -> Vec<String> {
    text.split('{')
        .skip(1)
        .map(|rest| {
            rest.chars()
                .take_while(|character| character.is_alphanumeric() || *character == '_')
                .collect::<String>()
        })
        .filter(|name| name.starts_with(|first: char| first.is_alphabetic() || first == '_'))
        .collect()
}
