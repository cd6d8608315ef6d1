//! Loops: each looks at its fuel at the head of every iteration, and may stop there.
//!
//! The cold path ends with `continue`, so that a resumed future enters the loop at its head and nowhere else: the
//! compiler still sees a natural loop.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{AttrStyle, Attribute, Block, Expr, ExprForLoop, ExprLit, ExprLoop, ExprWhile, Lit, LitBool, Stmt, Token};

use crate::name::{self, Runtime};

/// A check's surroundings.
pub(crate) struct Place<'a> {
    pub(crate) runtime: &'a Runtime,
    /// What reports call the function.
    pub(crate) function: &'a str,
    /// The keyword of the loop, for the line in reports and debuggers.
    pub(crate) keyword: Span,
}

impl Place<'_> {
    /// Ours to name things, the user's in messages and debuggers.
    fn span(&self) -> Span {
        Span::mixed_site().located_at(self.keyword)
    }

    // Output: `const { &Site::new("f", "src/lib.rs", 12) }`
    fn site(&self) -> TokenStream {
        let runtime = self.runtime.path();
        let (function, file, line) = (self.function, file(self.runtime, self.keyword), line(self.keyword));
        quote_spanned!(self.span()=> const { &#runtime::Site::new(#function, #file, #line) })
    }

    // Output: `if fuel <= 0 { fuel = refill(site).await; continue; }`
    fn check(&self) -> TokenStream {
        let runtime = self.runtime.path();
        let (fuel, site) = (name::fuel(), self.site());
        quote_spanned! {self.span()=>
            if #fuel <= 0 {
                #fuel = #runtime::refill(#site).await;
                continue;
            }
        }
    }
}

/// The check of a call of the function to itself: it counts as an iteration, or a recursion without loops would
/// never stop.
pub(crate) fn check_at_call(place: &Place<'_>) -> TokenStream {
    let runtime = place.runtime.path();
    let (fuel, site) = (name::fuel(), place.site());
    quote_spanned! {place.span()=>
        if #fuel <= 0 {
            #fuel = #runtime::refill(#site).await;
        }
        #fuel -= 1;
    }
}

// Input:  `'a: for x in items { body }`
// Output: `{ match IntoIterator::into_iter(items) { mut iterator => 'a: loop {
//              check
//              match Iterator::next(&mut iterator) { None => break, Some(x) => { fuel -= 1; body } }
//          } }; }`
// The `match` keeps temporaries of `items` alive as long as the loop, and its semicolon ends them with the loop, also
// where the loop is the last expression of a block.
pub(crate) fn for_loop(node: &ExprForLoop, place: &Place<'_>) -> TokenStream {
    let ExprForLoop { attrs, label, pat, expr, body, .. } = node;
    let runtime = place.runtime.path();
    let (attributes, check, body) = (outer(attrs), place.check(), charged(body, place));
    let iterator = name::iterator();
    let core = quote!(#runtime::core);
    let looping = |items: TokenStream| {
        quote_spanned! {place.span()=>
            match #core::iter::IntoIterator::into_iter(#items) {
                mut #iterator => #label loop {
                    #check
                    match #core::iter::Iterator::next(&mut #iterator) {
                        #core::option::Option::None => break,
                        #core::option::Option::Some(#pat) => #body
                    }
                }
            }
        }
    };
    let looping = if let Expr::Paren(_) = **expr {
        // The compiler has advice for needless parentheses here, but not in a call.
        let looping = looping(quote!(#iterator));
        quote_spanned!(place.span()=> match #expr { #iterator => #looping })
    } else {
        looping(quote!(#expr))
    };
    quote_spanned!(place.span()=> #attributes { #looping; })
}

// Input:  `'a: while condition { body }`
// Output: `'a: loop { check if condition { fuel -= 1; body } else { break } }`
// As the compiler's own translation; temporaries of a condition end before the body, those of a `let` after it.
pub(crate) fn while_loop(node: &ExprWhile, place: &Place<'_>) -> TokenStream {
    let ExprWhile { attrs, label, cond, body, .. } = node;
    let (attributes, check, body) = (outer(attrs), place.check(), charged(body, place));
    if is_true(cond) {
        // Left a `while`, since the compiler has advice for whoever writes this.
        let (while_token, mut body) = (node.while_token, body);
        body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(check), None));
        return quote_spanned!(place.span()=> #attributes #label #while_token #cond #body);
    }
    quote_spanned! {place.span()=>
        #attributes #label loop {
            #check
            if #cond #body else { break }
        }
    }
}

// Input:  `'a: loop { body }`
// Output: `'a: loop { check fuel -= 1; body }`
pub(crate) fn endless_loop(node: &ExprLoop, place: &Place<'_>) -> TokenStream {
    let ExprLoop { attrs, label, loop_token, body } = node;
    let (attributes, check, mut body) = (outer(attrs), place.check(), charged(body, place));
    body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(check), None));
    quote_spanned!(place.span()=> #attributes #label #loop_token #body)
}

/// The body with its charge. The braces stay the user's: their edition decides when temporaries of the last
/// expression are dropped.
fn charged(body: &Block, place: &Place<'_>) -> Block {
    let fuel = name::fuel();
    let mut body = body.clone();
    let semicolon = Some(Token![;](place.span()));
    body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(quote_spanned!(place.span()=> #fuel -= 1)), semicolon));
    body
}

/// The attributes as they may stand before the loop's replacement.
fn outer(attributes: &[Attribute]) -> TokenStream {
    let attributes = attributes.iter().cloned().map(|mut attribute| {
        attribute.style = AttrStyle::Outer;
        attribute
    });
    quote!(#(#attributes)*)
}

fn is_true(condition: &Expr) -> bool {
    matches!(condition, Expr::Lit(ExprLit { lit: Lit::Bool(LitBool { value: true, .. }), .. }))
}

/// The line of `span`, or 0 where nobody knows.
pub(crate) fn line(span: Span) -> u32 {
    if proc_macro::is_available() { u32::try_from(span.unwrap().line()).unwrap_or(0) } else { 0 }
}

/// The file of `span`, as an expression.
pub(crate) fn file(runtime: &Runtime, span: Span) -> TokenStream {
    if proc_macro::is_available() {
        let file = span.unwrap().file();
        return quote!(#file);
    }
    let runtime = runtime.path();
    quote_spanned!(Span::mixed_site()=> #runtime::core::file!())
}
