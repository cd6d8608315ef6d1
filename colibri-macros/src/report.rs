//! The errors of one item: all of them are collected, so that the user sees them at once.

use proc_macro2::{Span, TokenStream};
use syn::Error;

/// Collects messages. Each has one form: what is wrong, then what is allowed.
#[derive(Default)]
pub(crate) struct Report {
    errors: Option<Error>,
}

impl Report {
    /// Adds a message at `span`.
    pub(crate) fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.add(Error::new(span, message));
    }

    /// Adds a message over all tokens of `node`.
    pub(crate) fn over(&mut self, node: impl quote::ToTokens, message: impl std::fmt::Display) {
        self.add(Error::new_spanned(node, message));
    }

    /// Adds an error that somebody else made.
    pub(crate) fn add(&mut self, error: Error) {
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }

    /// One `compile_error!` per message, or nothing.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.errors.map(Error::into_compile_error).unwrap_or_default()
    }
}
