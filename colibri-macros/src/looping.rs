//! Loops: each looks at its fuel at the head of every iteration, and may stop there.
//!
//! The cold path ends with `continue`, so that a resumed future enters the loop at its head and nowhere else: the
//! compiler still sees a natural loop.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    AttrStyle, Attribute, Block, Expr, ExprBreak, ExprContinue, ExprForLoop, ExprLit, ExprLoop, ExprWhile,
    Lifetime, Lit, LitBool, Stmt, Token,
};

use crate::group::parenthesize_at;
use crate::name;
use crate::plan::Plan;

/// A check's surroundings.
pub(crate) struct Place<'a> {
    /// What reports call the function.
    pub(crate) function: &'a str,
    /// The keyword of the loop, for the line in reports and debuggers.
    pub(crate) keyword: Span,
    /// The plan, and the loop's number in it.
    pub(crate) plan: &'a Plan,
    pub(crate) number: Option<usize>,
    /// In the copy without an await: the block around both copies, which the loop leaves where it ends.
    pub(crate) copy: Option<Lifetime>,
}

impl Place<'_> {
    /// Ours to name things, the user's in messages and debuggers.
    pub(crate) fn span(&self) -> Span {
        Span::mixed_site().located_at(self.keyword)
    }

    /// The iterator of this loop.
    fn iterator(&self) -> Ident {
        match self.number {
            Some(number) if self.plan.steps(self.number) || self.plan.outline_of(self.number).is_some() => {
                name::iterator_of(number)
            }
            _ => name::iterator(),
        }
    }

    // Output: `Site::new("f", "src/lib.rs", 12)`
    pub(crate) fn described(&self) -> TokenStream {
        let runtime = name::runtime(self.span());
        let (function, file, line) = (self.function, file(self.keyword), line(self.keyword));
        quote_spanned!(self.span()=> #runtime::Site::new(#function, #file, #line))
    }

    // Output: `break`, or `break 'finished` in the copy without an await
    fn exit(&self) -> TokenStream {
        let label = &self.copy;
        quote_spanned!(self.span()=> break #label)
    }

    // Output: `refill(polls.lend(), fuel, const { &site }).await`
    fn refill(&self) -> TokenStream {
        let (runtime, polls, fuel) = (name::runtime(self.span()), name::polls(), name::fuel());
        let described = self.described();
        quote_spanned!(self.span()=> #runtime::refill(#polls.lend(), #fuel, const { &#described }).await)
    }

    // Output: `if fuel <= 0 { let saved = (a, b,); fuel = refill; (a, b,) = saved; continue; }`
    // In the copy without an await: `if fuel <= 0 { break; }`
    fn check(&self) -> TokenStream {
        let fuel = name::fuel();
        if self.copy.is_some() {
            return quote_spanned!(self.span()=> if #fuel <= 0 { break; });
        }
        let refill = self.refill();
        let (save, restore) = match self.plan.saved_at(self.number) {
            [] => (TokenStream::new(), TokenStream::new()),
            locals => {
                let saved = name::saved();
                (
                    quote_spanned!(self.span()=> let #saved = (#(#locals,)*);),
                    quote_spanned!(self.span()=> (#(#locals,)*) = #saved;),
                )
            }
        };
        quote_spanned! {self.span()=>
            if #fuel <= 0 {
                #save
                #fuel = #refill;
                #restore
                continue;
            }
        }
    }
}

/// The check of a call of the function to itself: it counts as an iteration, or a recursion without loops would
/// never stop.
pub(crate) fn check_at_call(place: &Place<'_>) -> TokenStream {
    let (fuel, refill) = (name::fuel(), place.refill());
    quote_spanned! {place.span()=>
        if #fuel <= 0 {
            #fuel = #refill;
        }
        #fuel -= 1;
    }
}

// Input:  a loop, and perhaps a copy of it that leaves the block `'finished` where the loop would end
// Output: the loop with checks; with a copy: `'finished: { copy loop }`
// The copy has no await, so nothing enters it but its start: the compiler keeps what it knows there. It ends when the
// fuel does, and the loop that can stop takes over.
pub(crate) fn rewritten(node: &Expr, copy: Option<&Expr>, place: &Place<'_>) -> TokenStream {
    let attributes = match node {
        Expr::ForLoop(node) => outer(&node.attrs),
        Expr::While(node) => outer(&node.attrs),
        Expr::Loop(node) => outer(&node.attrs),
        _ => TokenStream::new(),
    };
    let stopping = match copy {
        None => stopping(node, place),
        Some(copy) => {
            let finished = finished(place.number);
            let copied = stopping(copy, &Place { copy: Some(finished.clone()), ..*place });
            let stopping = stopping(node, place);
            quote_spanned!(place.span()=> #finished: { #copied #stopping })
        }
    };
    let Expr::ForLoop(node) = node else {
        return quote_spanned!(place.span()=> #attributes #stopping);
    };
    let stopping = match place.plan.is_counted(place.number) {
        true => counted(node, &stopping, place),
        false => stopping,
    };
    let over = over_items(node, &stopping, place);
    quote_spanned!(place.span()=> #attributes { #over; })
}

/// The block around a loop and its copy.
pub(crate) fn finished(number: Option<usize>) -> Lifetime {
    Lifetime {
        apostrophe: Span::mixed_site(),
        ident: name::generated(&format!("finished_{}", number.unwrap_or(0))),
    }
}

/// The loop itself, in the form that can stop, or as the copy that cannot.
fn stopping(node: &Expr, place: &Place<'_>) -> TokenStream {
    match node {
        Expr::ForLoop(node) => for_loop(node, place),
        Expr::While(node) => while_loop(node, place),
        Expr::Loop(node) => endless_loop(node, place),
        node => quote!(#node),
    }
}

// Input:  `for x in items { body }`, of which `stopping` is what goes through the items
// Output: `match IntoIterator::into_iter(items) { mut iterator => stopping }`
// The `match` keeps temporaries of `items` alive as long as the loop; the semicolon after it ends them with the loop,
// also where the loop is the last expression of a block.
pub(crate) fn over_items(node: &ExprForLoop, stopping: &TokenStream, place: &Place<'_>) -> TokenStream {
    let items = &node.expr;
    let runtime = name::runtime(place.span());
    let iterator = place.iterator();
    let over = |items: TokenStream| {
        quote_spanned! {place.span()=>
            match #runtime::IntoIterator::into_iter(#items) {
                mut #iterator => #stopping
            }
        }
    };
    if let Expr::Paren(_) = **items {
        // The compiler has advice for needless parentheses here, but not in a call.
        let over = over(quote!(#iterator));
        return quote_spanned!(place.span()=> match #items { #iterator => #over });
    }
    over(quote!(#items))
}

// Input:  `'a: for x in items { body }`
// Output: `'a: loop {
//              check
//              match Iterator::next(&mut iterator) { None => break, Some(x) => { fuel -= 1; body } }
//          }`
// or, with an iterator that is moved to advance it, so that no borrow of it keeps it in the future's memory:
//             `let next; (next, iterator) = step(iterator); match next { .. }`
fn for_loop(node: &ExprForLoop, place: &Place<'_>) -> TokenStream {
    let ExprForLoop { label, pat, body, .. } = node;
    let runtime = name::runtime(place.span());
    let (check, exit, mut body) = (place.check(), place.exit(), charged(body, place).into_token_stream());
    if let Some(ident) = place.plan.of_for(place.number) {
        // Assignable, for the checks of inner loops.
        body = quote_spanned!(place.span()=> { #[allow(unused_mut)] let mut #ident = #ident; #body });
    }
    let iterator = place.iterator();
    let (next, advance) = if place.plan.steps(place.number) {
        let next = name::generated("next");
        let advance = quote_spanned! {place.span()=>
            let #next;
            (#next, #iterator) = #runtime::step(#iterator);
        };
        (next.into_token_stream(), advance)
    } else {
        let next = quote_spanned!(place.span()=> #runtime::Iterator::next(&mut #iterator));
        (next, TokenStream::new())
    };
    quote_spanned! {place.span()=>
        #label loop {
            #check
            #advance
            match #next {
                #runtime::None => #exit,
                #runtime::Some(#pat) => #body
            }
        }
    }
}

// Input:  `for x in items { body }`, of which `stopping` is the form with checks
// Output: `{ let charge; (charge, iterator) = hint(iterator);
//            let fits; (fits, fuel) = charge(charge, fuel); if fits { for x in iterator { body } } else { stopping } }`
// A loop that surely runs to its end costs what it has items. If that fits in the fuel, nothing needs to be counted.
fn counted(node: &ExprForLoop, stopping: &TokenStream, place: &Place<'_>) -> TokenStream {
    let ExprForLoop { label, for_token, pat, in_token, body, .. } = node;
    let runtime = name::runtime(place.span());
    let (fuel, charge, iterator) = (name::fuel(), name::generated("charge"), place.iterator());
    let fits = name::generated("fits");
    quote_spanned! {place.span()=>
        {
            let #charge;
            (#charge, #iterator) = #runtime::hint(#iterator);
            let #fits;
            (#fits, #fuel) = #runtime::charge(#charge, #fuel);
            if #fits {
                #label #for_token #pat #in_token #iterator #body
            } else {
                #stopping
            }
        }
    }
}

// Input:  `'a: while condition { body }`
// Output: `'a: loop { check if condition { fuel -= 1; body } else { break } }`
// As the compiler's own translation; temporaries of a condition end before the body, those of a `let` after it.
fn while_loop(node: &ExprWhile, place: &Place<'_>) -> TokenStream {
    let ExprWhile { label, cond, body, .. } = node;
    let (check, exit, body) = (place.check(), place.exit(), charged(body, place));
    if is_true(cond) {
        // Left a `while`, since the compiler has advice for whoever writes this.
        let (while_token, mut body) = (node.while_token, body);
        body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(check), None));
        return quote_spanned!(place.span()=> #label #while_token #cond #body);
    }
    if awaits(cond.to_token_stream()) {
        // Who waits in the condition is not to find the fuel of an iteration that has begun.
        let (fuel, body) = (name::fuel(), &node.body);
        return quote_spanned! {place.span()=>
            #label loop {
                #check
                #fuel -= 1;
                if #cond #body else {
                    #fuel += 1;
                    #exit
                }
            }
        };
    }
    quote_spanned! {place.span()=>
        #label loop {
            #check
            if #cond #body else { #exit }
        }
    }
}

/// Whether there is an `await` in the tokens.
pub(crate) fn awaits(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "await",
        TokenTree::Group(group) => awaits(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

// Input:  `'a: loop { body }`
// Output: `'a: loop { check fuel -= 1; body }`
fn endless_loop(node: &ExprLoop, place: &Place<'_>) -> TokenStream {
    let ExprLoop { label, loop_token, body, .. } = node;
    let (check, mut body) = (place.check(), charged(body, place));
    body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(check), None));
    quote_spanned!(place.span()=> #label #loop_token #body)
}

// Input:  `'a: loop { if a { break } if b { continue 'a } if c { break 'a value } }`
// Output: the same with `break 'finished` and `break 'finished value`, as the copy needs it
pub(crate) fn leave_for(finished: &Lifetime, node: &mut Expr) {
    let label = match node {
        Expr::ForLoop(node) => &mut node.label,
        Expr::While(node) => &mut node.label,
        Expr::Loop(node) => &mut node.label,
        _ => return,
    };
    let own = label.as_ref().map(|label| label.name.clone());
    let mut exits = Exits { finished, own, depth: 0, continues: false };
    // The loop itself is the first that the visitor meets.
    match node {
        Expr::ForLoop(node) => exits.visit_block_mut(&mut node.body),
        Expr::While(node) => {
            exits.visit_expr_mut(&mut node.cond);
            exits.visit_block_mut(&mut node.body);
        }
        Expr::Loop(node) => exits.visit_block_mut(&mut node.body),
        _ => {}
    }
    if exits.continues {
        return;
    }
    // Nobody names the label any more, of which the compiler would warn.
    match node {
        Expr::ForLoop(node) => node.label = None,
        Expr::While(node) => node.label = None,
        Expr::Loop(node) => node.label = None,
        _ => {}
    }
}

struct Exits<'a> {
    finished: &'a Lifetime,
    own: Option<Lifetime>,
    /// How many loops deep below the one that is left.
    depth: usize,
    /// Whether a `continue` names the loop.
    continues: bool,
}

impl VisitMut for Exits<'_> {
    fn visit_expr_break_mut(&mut self, node: &mut ExprBreak) {
        let leaves = match &node.label {
            None => self.depth == 0,
            Some(label) => self.own.as_ref().is_some_and(|own| own.ident == label.ident),
        };
        visit_mut::visit_expr_break_mut(self, node);
        if leaves {
            node.label = Some(self.finished.clone());
            // A label before a block or a loop would look like its own.
            if let Some(value) = &mut node.expr
                && !matches!(**value, Expr::Lit(_) | Expr::Path(_) | Expr::Paren(_))
            {
                let inner = std::mem::replace(&mut **value, Expr::PLACEHOLDER);
                **value = parenthesize_at(inner, Span::mixed_site());
            }
        }
    }

    fn visit_expr_continue_mut(&mut self, node: &mut ExprContinue) {
        self.continues |=
            matches!((&node.label, &self.own), (Some(label), Some(own)) if own.ident == label.ident);
    }

    // Only constant loops are left inside a leaf.
    fn visit_expr_for_loop_mut(&mut self, node: &mut ExprForLoop) {
        self.depth += 1;
        visit_mut::visit_expr_for_loop_mut(self, node);
        self.depth -= 1;
    }
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
pub(crate) fn outer(attributes: &[Attribute]) -> TokenStream {
    let attributes = attributes.iter().cloned().map(|mut attribute| {
        attribute.style = AttrStyle::Outer;
        attribute
    });
    quote!(#(#attributes)*)
}

pub(crate) fn is_true(condition: &Expr) -> bool {
    matches!(condition, Expr::Lit(ExprLit { lit: Lit::Bool(LitBool { value: true, .. }), .. }))
}

/// The line of `span`, or 0 where nobody knows.
pub(crate) fn line(span: Span) -> u32 {
    if proc_macro::is_available() { u32::try_from(span.unwrap().line()).unwrap_or(0) } else { 0 }
}

/// The file of `span`, as an expression.
pub(crate) fn file(span: Span) -> TokenStream {
    if proc_macro::is_available() {
        let file = span.unwrap().file();
        return quote!(#file);
    }
    let runtime = name::runtime(Span::mixed_site());
    quote_spanned!(Span::mixed_site()=> #runtime::core::file!())
}
