//! From which variables a value may borrow.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprBinary, ExprCast, ExprIndex, ExprMethodCall, ExprPath, ExprRange, Macro, Pat, PatIdent, Token,
};

use crate::binding::{self, Binding, Bindings};
use crate::method;
use crate::standard::Standard;

/// The variables that an expression names where its value may borrow from them.
pub(crate) fn of(expression: &Expr, bindings: &mut Bindings) -> BTreeSet<Binding> {
    let mut sources = Sources { bindings, found: BTreeSet::new() };
    sources.visit_expr(expression);
    sources.found
}

/// The names that a pattern binds, and perhaps some that it does not.
pub(crate) fn bound_by(pattern: &Pat) -> Vec<&Ident> {
    struct Names<'a>(Vec<&'a Ident>);

    impl<'a> Visit<'a> for Names<'a> {
        fn visit_pat_ident(&mut self, node: &'a PatIdent) {
            self.0.push(&node.ident);
            visit::visit_pat_ident(self, node);
        }
    }

    let mut names = Names(Vec::new());
    names.visit_pat(pattern);
    names.0
}

/// Whether a pattern has a `ref`.
pub(crate) fn binds_by_reference(pattern: &Pat) -> bool {
    struct Found(bool);

    impl<'a> Visit<'a> for Found {
        fn visit_pat_ident(&mut self, node: &'a PatIdent) {
            self.0 |= node.by_ref.is_some();
            visit::visit_pat_ident(self, node);
        }
    }

    let mut found = Found(false);
    found.visit_pat(pattern);
    found.0
}

struct Sources<'a> {
    bindings: &'a mut Bindings,
    found: BTreeSet<Binding>,
}

impl Sources<'_> {
    fn name(&mut self, ident: &Ident) {
        self.found.extend(self.bindings.find(ident));
    }

    /// `vec![a, b]` or `vec![a; count]`.
    fn elements(&mut self, node: &Macro) {
        let list = Punctuated::<Expr, Token![,]>::parse_terminated;
        let repeated = |input: ParseStream<'_>| {
            let element: Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            input.parse::<Expr>().map(|_| element)
        };
        // The names of parsed tokens are at new places.
        let was_temporary = std::mem::replace(&mut self.bindings.is_temporary, true);
        if let Ok(element) = node.parse_body_with(repeated) {
            self.visit_temporary(&element);
        } else if let Ok(elements) = node.parse_body_with(list) {
            elements.iter().for_each(|element| self.visit_temporary(element));
        } else {
            self.tokens(&node.tokens);
        }
        self.bindings.is_temporary = was_temporary;
    }

    fn visit_temporary(&mut self, element: &Expr) {
        let mut inner = Sources { bindings: self.bindings, found: BTreeSet::new() };
        inner.visit_expr(element);
        let found = inner.found;
        self.found.extend(found);
    }

    fn tokens(&mut self, tokens: &TokenStream) {
        for token in tokens.clone() {
            match token {
                TokenTree::Ident(ident) => {
                    self.found.extend(self.bindings.spelled(&ident.to_string()));
                }
                TokenTree::Group(group) => self.tokens(&group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Sources<'_> {
    fn visit_expr_path(&mut self, node: &'ast ExprPath) {
        if let Some(ident) = node.path.get_ident() {
            self.name(ident);
        }
    }

    // The place may be borrowed; the number, or the range, is used up.
    fn visit_expr_index(&mut self, node: &'ast ExprIndex) {
        self.visit_expr(&node.expr);
    }

    // Numbers.
    fn visit_expr_range(&mut self, _: &'ast ExprRange) {}

    fn visit_expr_cast(&mut self, _: &'ast ExprCast) {}

    fn visit_expr_binary(&mut self, node: &'ast ExprBinary) {
        if !binding::is_comparison(&node.op) {
            visit::visit_expr_binary(self, node);
        }
    }

    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        let is_length = node.args.is_empty() && (node.method == "len" || node.method == "is_empty");
        if !is_length && !method::is_numeric(&node.method) {
            visit::visit_expr_method_call(self, node);
        }
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        match Standard::of(node) {
            // They give text, or nothing.
            Some(Standard::Formatting) => {}
            Some(Standard::Vector) => self.elements(node),
            _ => self.tokens(&node.tokens),
        }
    }
}
