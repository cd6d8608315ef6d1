//! The names that the expansion uses.
//!
//! Locals and labels of a mixed-site span are invisible to the user's code, and the user's to them. Only items are
//! not hygienic: a `const fuel` of the user's would turn the pattern `fuel` into a comparison. Hence the prefix.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Path;

/// The fuel of the running function: how many more iterations may pass.
pub(crate) fn fuel() -> Ident {
    generated("fuel")
}

/// What knows where the function's polls begin and end.
pub(crate) fn polls() -> Ident {
    generated("polls")
}

/// The iterator of the innermost `for`.
pub(crate) fn iterator() -> Ident {
    generated("iterator")
}

/// The iterator of the `for` with that number.
pub(crate) fn iterator_of(number: usize) -> Ident {
    generated(&format!("iterator_{number}"))
}

/// The future that is awaited.
pub(crate) fn future() -> Ident {
    generated("future")
}

/// What a check saves.
pub(crate) fn saved() -> Ident {
    generated("saved")
}

/// The function that tells a closure on its way out the types of its arguments.
pub(crate) fn returned() -> Ident {
    generated("returned")
}

/// A value on its way out.
pub(crate) fn value() -> Ident {
    generated("value")
}

/// The argument at `index`, where the user wrote a pattern.
pub(crate) fn argument(index: usize) -> Ident {
    generated(&format!("argument_{index}"))
}

/// A name of the expansion's own.
pub(crate) fn generated(noun: &str) -> Ident {
    Ident::new(&format!("__colibri_{noun}"), Span::mixed_site())
}

/// The module that the expansion calls, inside the body; messages about what is called there point at `span`.
pub(crate) fn runtime(span: Span) -> Ident {
    Ident::new("__colibri_runtime", Span::mixed_site().located_at(span))
}

/// Where the expansion finds colibri-core, `core` and `alloc`, whatever the user's crate calls them.
#[derive(Clone)]
pub(crate) struct Runtime {
    root: TokenStream,
}

impl Runtime {
    pub(crate) fn new(path: Option<&Path>) -> Runtime {
        let root = match path {
            Some(path) => quote!(#path),
            None => quote_spanned!(Span::mixed_site()=> ::colibri_core),
        };
        Runtime { root }
    }

    /// The module that the expansion calls, as the signature has to name it.
    pub(crate) fn outside(&self) -> TokenStream {
        let root = &self.root;
        quote_spanned!(Span::mixed_site()=> #root::__private)
    }

    // Output: `use ::colibri_core::__private as __colibri_runtime;`
    /// Gives the module a short name in the body: most of what the compiler has to read there are paths into it.
    pub(crate) fn import(&self) -> TokenStream {
        let (outside, inside) = (self.outside(), runtime(Span::mixed_site()));
        quote_spanned!(Span::mixed_site()=> #[allow(unused_imports)] use #outside as #inside;)
    }
}
