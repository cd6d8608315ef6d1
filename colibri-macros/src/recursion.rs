//! Calls of the function to itself.
//!
//! Once it returns a future, each of them has to be awaited, and boxed since the future would contain itself. Which
//! call is one is decided by name and scope: `f(..)` of a free function unless something in scope hides it,
//! `Self::f(..)`, `<Self as Trait>::f(..)` and `self.f(..)`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprCall, ExprMethodCall, ExprPath, Ident, Item, Pat, PatIdent, Signature, Stmt, Type,
    UseTree,
};

/// How a function calls itself.
pub(crate) struct Recursion {
    name: Ident,
    /// Whether the plain name means the function: an associated function is only called through `Self` or `self`.
    is_free: bool,
    /// Whether something in the current scope hides the plain name. Maintained by the visitor that walks the body.
    pub(crate) hidden: bool,
}

impl Recursion {
    pub(crate) fn of(signature: &Signature, body: &Block) -> Recursion {
        let name = signature.ident.clone();
        // A free function has no receiver and cannot name `Self`.
        let is_free = signature.receiver().is_none()
            && !names_self(signature.to_token_stream())
            && !names_self(body.to_token_stream());
        let hidden = signature.inputs.iter().any(|input| match input {
            syn::FnArg::Typed(typed) => binds(&typed.pat, &name),
            syn::FnArg::Receiver(_) => false,
        });
        Recursion { name, is_free, hidden }
    }

    /// Whether the expression is a call of the function to itself.
    pub(crate) fn is_self_call(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Call(ExprCall { func, .. }) => match strip_parentheses(func) {
                Expr::Path(path) => self.names_function(path),
                _ => false,
            },
            Expr::MethodCall(ExprMethodCall { receiver, method, .. }) => {
                *method == self.name && !self.is_free && is_self(receiver)
            }
            _ => false,
        }
    }

    fn names_function(&self, path: &ExprPath) -> bool {
        let segments = &path.path.segments;
        let Some(last) = segments.last() else { return false };
        if last.ident != self.name {
            return false;
        }
        match &path.qself {
            // `<Self>::f`, `<Self as Trait>::f`
            Some(qself) => matches!(&*qself.ty, Type::Path(ty) if ty.path.is_ident("Self")),
            None if segments.len() == 1 => self.is_free && !self.hidden && path.path.leading_colon.is_none(),
            None => segments.len() == 2 && segments[0].ident == "Self",
        }
    }

    /// Notes that `pattern` is in scope from here on.
    pub(crate) fn bind(&mut self, pattern: &Pat) {
        self.hidden |= binds(pattern, &self.name);
    }

    /// Notes the items of a block, which are in scope in all of it.
    pub(crate) fn enter_block(&mut self, block: &Block) {
        self.hidden |= block.stmts.iter().any(|statement| match statement {
            Stmt::Item(Item::Use(item)) => imports(&item.tree, &self.name),
            Stmt::Item(Item::Fn(item)) => item.sig.ident == self.name,
            Stmt::Item(Item::Const(item)) => item.ident == self.name,
            Stmt::Item(Item::Static(item)) => item.ident == self.name,
            Stmt::Item(Item::Struct(item)) => item.ident == self.name,
            _ => false,
        });
    }
}

fn strip_parentheses(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(paren) => strip_parentheses(&paren.expr),
        expression => expression,
    }
}

/// Whether the expression is `self`, or a reborrow of it.
fn is_self(expression: &Expr) -> bool {
    match expression {
        Expr::Path(path) => path.path.is_ident("self"),
        Expr::Paren(paren) => is_self(&paren.expr),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && is_self(&unary.expr),
        Expr::Reference(reference) => is_self(&reference.expr),
        _ => false,
    }
}

/// Whether `Self` occurs in the tokens, outside nested `impl`s and traits, where it means another type.
fn names_self(tokens: TokenStream) -> bool {
    let mut in_item = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "impl" || word == "trait" => in_item = true,
            TokenTree::Ident(word) if word == "Self" => return true,
            TokenTree::Group(group) => {
                let is_body = group.delimiter() == proc_macro2::Delimiter::Brace;
                if in_item && is_body {
                    in_item = false;
                } else if names_self(group.stream()) {
                    return true;
                }
            }
            TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => in_item = false,
            _ => {}
        }
    }
    false
}

/// Whether the pattern binds `name`.
fn binds(pattern: &Pat, name: &Ident) -> bool {
    struct Binds<'a>(&'a Ident, bool);
    impl<'ast> Visit<'ast> for Binds<'_> {
        fn visit_pat_ident(&mut self, node: &'ast PatIdent) {
            self.1 |= node.ident == *self.0;
            visit::visit_pat_ident(self, node);
        }
        // A constant's block inside a pattern binds nothing outside itself.
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut visitor = Binds(name, false);
    visitor.visit_pat(pattern);
    visitor.1
}

fn imports(tree: &UseTree, name: &Ident) -> bool {
    match tree {
        UseTree::Path(path) => imports(&path.tree, name),
        UseTree::Name(import) => import.ident == *name,
        UseTree::Rename(import) => import.rename == *name,
        UseTree::Glob(_) => false,
        UseTree::Group(group) => group.items.iter().any(|item| imports(item, name)),
    }
}
