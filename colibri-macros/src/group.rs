//! What `macro_rules` leaves behind: groups without visible delimiters around each fragment (`$e` = `3 + 4`).
//!
//! The compiler ignores such groups in the output of a procedural macro: `i * $e` would silently become `i * 3 + 4`.
//! So expressions get parentheses, and types where they need them.

use proc_macro2::{Delimiter, Group, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, TokenStreamExt as _};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, ExprCast, ExprParen, Macro, Meta, Stmt, Type, TypeParen, token};

/// Removes the groups that syn does not parse: a lifetime fragment that serves as a label, and a statement fragment
/// with a `let`.
pub(crate) fn flatten(tokens: TokenStream) -> TokenStream {
    let mut flat = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let TokenTree::Group(group) = token else {
            flat.append(token);
            continue;
        };
        let inner = flatten(group.stream());
        if group.delimiter() == Delimiter::None && is_lifetime(&inner) {
            flat.extend(inner);
            continue;
        }
        if group.delimiter() == Delimiter::None && starts_with_let(&inner) {
            flat.extend(inner);
            // The fragment needs no semicolon where it stands; its tokens do.
            if !matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ';') {
                flat.append(Punct::new(';', Spacing::Alone));
            }
            continue;
        }
        flat.append(regroup(&group, group.delimiter(), inner));
    }
    flat
}

fn is_lifetime(tokens: &TokenStream) -> bool {
    syn::parse2::<syn::Lifetime>(tokens.clone()).is_ok()
}

fn starts_with_let(tokens: &TokenStream) -> bool {
    matches!(tokens.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == "let")
}

fn regroup(group: &Group, delimiter: Delimiter, inner: TokenStream) -> Group {
    let mut regrouped = Group::new(delimiter, inner);
    regrouped.set_span(group.span());
    regrouped
}

/// Makes the groups that syn did parse visible, in every corner of the function: it stops nowhere, since closures and
/// nested items are printed back as well.
pub(crate) struct VisibleGroups;

impl VisitMut for VisibleGroups {
    // Input:  `i * ⟦3 + 4⟧`, where ⟦ ⟧ has no delimiters
    // Output: `i * (3 + 4)`
    fn visit_expr_mut(&mut self, node: &mut Expr) {
        visit_mut::visit_expr_mut(self, node);
        if let Expr::Group(group) = node {
            let inner = std::mem::replace(&mut *group.expr, Expr::PLACEHOLDER);
            *node = if is_atom(&inner) { inner } else { parenthesize(inner) };
        }
    }

    // A block-like statement needs no semicolon; with parentheses it would.
    fn visit_stmt_mut(&mut self, node: &mut Stmt) {
        if let Stmt::Expr(expression, _) = node {
            while let Expr::Group(group) = expression
                && is_block_like(&group.expr)
            {
                *expression = std::mem::replace(&mut *group.expr, Expr::PLACEHOLDER);
            }
        }
        visit_mut::visit_stmt_mut(self, node);
    }

    // Input:  `x as ⟦u8⟧ < y`
    // Output: `x as (u8) < y`, since `u8 < y` would open generic arguments
    fn visit_expr_cast_mut(&mut self, node: &mut ExprCast) {
        let was_group = matches!(*node.ty, Type::Group(_));
        visit_mut::visit_expr_cast_mut(self, node);
        if was_group && !matches!(*node.ty, Type::Paren(_)) {
            let inner = std::mem::replace(&mut *node.ty, Type::Verbatim(TokenStream::new()));
            *node.ty = parenthesize_type(inner);
        }
    }

    // Input:  `&⟦dyn A + B⟧`
    // Output: `&(dyn A + B)`
    fn visit_type_mut(&mut self, node: &mut Type) {
        visit_mut::visit_type_mut(self, node);
        if let Type::Group(group) = node {
            let inner = std::mem::replace(&mut *group.elem, Type::Verbatim(TokenStream::new()));
            *node = match inner {
                Type::TraitObject(_) | Type::ImplTrait(_) | Type::FnPtr(_) => parenthesize_type(inner),
                inner => inner,
            };
        }
    }

    fn visit_macro_mut(&mut self, node: &mut Macro) {
        node.tokens = visible_in_macro(std::mem::take(&mut node.tokens));
    }

    // `#[doc = $text]` allows no parentheses.
    fn visit_attribute_mut(&mut self, node: &mut Attribute) {
        if let Meta::NameValue(pair) = &mut node.meta {
            while let Expr::Group(group) = &mut pair.value {
                pair.value = std::mem::replace(&mut *group.expr, Expr::PLACEHOLDER);
            }
        }
    }
}

// Input:  the tokens of a macro call, `⟦3 + 4⟧ * 2 == 14`
// Output: `(3 + 4) * 2 == 14`
// Only what is surely more than an atom gets parentheses: the macro may look at its tokens.
fn visible_in_macro(tokens: TokenStream) -> TokenStream {
    let mut visible = TokenStream::new();
    for token in tokens {
        let TokenTree::Group(group) = token else {
            visible.append(token);
            continue;
        };
        let inner = visible_in_macro(group.stream());
        let delimiter = match group.delimiter() {
            Delimiter::None if needs_parentheses(&inner) => Delimiter::Parenthesis,
            delimiter => delimiter,
        };
        visible.append(regroup(&group, delimiter, inner));
    }
    visible
}

fn needs_parentheses(tokens: &TokenStream) -> bool {
    match syn::parse2::<Expr>(tokens.clone()) {
        Ok(Expr::Unary(unary)) => !matches!(*unary.expr, Expr::Lit(_)),
        Ok(
            Expr::Binary(_)
            | Expr::Assign(_)
            | Expr::Cast(_)
            | Expr::Closure(_)
            | Expr::Range(_)
            | Expr::Reference(_)
            | Expr::RawAddr(_)
            | Expr::Struct(_)
            | Expr::Return(_)
            | Expr::Break(_),
        ) => true,
        _ => false,
    }
}

fn is_atom(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) | Expr::Paren(_) => true,
        Expr::Lit(literal) => !literal.lit.to_token_stream().to_string().starts_with('-'),
        _ => false,
    }
}

/// Whether the expression ends a statement without a semicolon.
pub(crate) fn is_block_like(expression: &Expr) -> bool {
    match expression {
        Expr::Group(group) => is_block_like(&group.expr),
        Expr::Block(_)
        | Expr::Const(_)
        | Expr::ForLoop(_)
        | Expr::If(_)
        | Expr::Loop(_)
        | Expr::Match(_)
        | Expr::TryBlock(_)
        | Expr::Unsafe(_)
        | Expr::While(_) => true,
        _ => false,
    }
}

/// Parentheses of ours: no lint asks the user to remove them.
fn parenthesize(expression: Expr) -> Expr {
    parenthesize_at(expression, Span::mixed_site())
}

/// The same, for messages that point at `span`, which is a mixed-site one.
pub(crate) fn parenthesize_at(expression: Expr, span: Span) -> Expr {
    let paren_token = token::Paren(span);
    Expr::Paren(ExprParen { attrs: Vec::new(), paren_token, expr: Box::new(expression) })
}

fn parenthesize_type(ty: Type) -> Type {
    let paren_token = token::Paren(Span::mixed_site());
    Type::Paren(TypeParen { attrs: Vec::new(), paren_token, elem: Box::new(ty) })
}
