//! The attribute as a whole.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::visit_mut::VisitMut as _;
use syn::{Block, Expr, Stmt, Token};

use crate::boxed;
use crate::check;
use crate::function::{self, Function};
use crate::group::{self, VisibleGroups};
use crate::looping;
use crate::name::{self, Runtime};
use crate::number::Numbers;
use crate::options::Options;
use crate::plan::Plan;
use crate::recursion::Recursion;
use crate::report::Report;
use crate::rewrite::{Found, Rewrite};
use crate::signature::{self, Output};

/// The attribute over pure tokens: the rewritten item, with an error for each misuse. An item that cannot be
/// rewritten is emitted as it is, so that the rest of the file still makes sense to the compiler.
pub(crate) fn cooperative(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let options = Options::parse(options, &mut report);
    let item = group::flatten(item);
    let expanded =
        expand(&options, item.clone(), &mut report).unwrap_or_else(|| function::without_skips(item));
    let errors = report.into_tokens();
    quote!(#expanded #errors)
}

/// The rewritten function; `None` if it is none, or cannot be one that returns a future.
fn expand(options: &Options, item: TokenStream, report: &mut Report) -> Option<TokenStream> {
    if let Some((token, kind)) = function::kind_of_other_item(&item) {
        report.at(
            token.span(),
            format!("`#[cooperative]` goes on a function (`fn`, `async fn`, a method), not on {kind}"),
        );
        return None;
    }
    let mut function: Function = match syn::parse2(item) {
        Ok(function) => function,
        Err(error) => {
            report.add(error);
            return None;
        }
    };
    if !check::signature(&function.signature, report) {
        return None;
    }
    make_groups_visible(&mut function);

    let runtime = Runtime::new(options.runtime.as_ref());
    let output = Output::of(&function.signature);
    let body = function.body.take().map(|body| {
        let brace = body.brace_token;
        let (rewritten, plan) = rewrite(body, &function, options, &output, report);
        let moves = signature::move_arguments(&mut function.signature, &plan);
        let content = future(&rewritten, &moves, &function, options, &output, &runtime);
        // The user's own, see `signature::set_output`.
        let mut body = TokenStream::new();
        brace.surround(&mut body, |tokens| tokens.extend(content));
        body
    });
    if options.boxed && !output.is_never {
        boxed::returning_boxed(&mut function.signature, body.is_some(), &output, &runtime);
    } else {
        signature::returning_future(&mut function.signature, &output, &runtime);
    }

    let Function { attributes, visibility, modifiers, signature, .. } = &function;
    let body = body.unwrap_or_else(|| quote!(;));
    Some(quote!(#(#attributes)* #visibility #modifiers #signature #body))
}

/// A body, and what is in it.
struct Rewritten {
    body: Block,
    found: Found,
}

impl Rewritten {
    /// Whether the body counts its iterations: else it has no fuel.
    fn has_fuel(&self) -> bool {
        self.found.checks > 0
    }

    /// Whether it may wait for others than its own checks.
    fn waits_elsewhere(&self) -> bool {
        self.found.awaits > 0 || self.has_fuel() && self.found.hides_awaits
    }
}

/// Rewrites the body: with fuel, and once more without if nothing in it needs any.
fn rewrite(
    body: Block,
    function: &Function,
    options: &Options,
    output: &Output,
    report: &mut Report,
) -> (Rewritten, Plan) {
    let label = label(function, options);
    let is_async = function.signature.asyncness.is_some();
    let mut body = body;
    Numbers::default().visit_block_mut(&mut body);
    let can_return = !output.is_never && !output.is_opaque && output.closure_bounds.is_none();
    let plan = Plan::of(&function.signature, &body, can_return);
    let attempt = |fuel: bool, plan: &Plan, report: &mut Report| {
        let mut body = body.clone();
        let recursion = Recursion::of(&function.signature, &body);
        let mut rewrite = Rewrite::new(&label, output, recursion, plan, report);
        (rewrite.is_async, rewrite.strict, rewrite.has_fuel) = (is_async, options.strict, fuel);
        rewrite.visit_block_mut(&mut body);
        let found = rewrite.found;
        Rewritten { body, found }
    };
    let rewritten = attempt(true, &plan, report);
    if rewritten.has_fuel() {
        return (rewritten, plan);
    }
    let plan = Plan::default();
    (attempt(false, &plan, &mut Report::default()), plan)
}

/// What reports call the function.
fn label(function: &Function, options: &Options) -> String {
    match &options.name {
        Some(name) => name.value(),
        None => function.signature.ident.unraw().to_string(),
    }
}

// Output: `use .. as __colibri_runtime; async move { .. }`, in the body of the function that returns a future; see
// the crate's documentation.
fn future(
    rewritten: &Rewritten,
    moves: &TokenStream,
    function: &Function,
    options: &Options,
    output: &Output,
    runtime: &Runtime,
) -> TokenStream {
    let (module, described) = (name::runtime(Span::mixed_site()), described(function, options));
    let future = if rewritten.waits_elsewhere() {
        let framed = framed(
            &inner(rewritten, &quote_spanned!(Span::mixed_site()=> #module::Around), moves, output),
            &described,
        );
        quote_spanned!(Span::mixed_site()=> async move { #framed })
    } else {
        inner(rewritten, &quote_spanned!(Span::mixed_site()=> #module::Own::begun(#described)), moves, output)
    };
    let import = runtime.import();
    if output.is_never {
        // It stays an `async fn`, see `returning_future`.
        quote_spanned!(Span::mixed_site()=> #import #future.await)
    } else if options.boxed {
        quote_spanned!(Span::mixed_site()=> #import #module::alloc::boxed::Box::pin(#future))
    } else {
        quote_spanned!(Span::mixed_site()=> #import #future)
    }
}

// Output: `async move { let mut polls = polls; let a = a; let mut fuel = take();
//              let value: T = { expected return; body }; put(fuel); value }`
fn inner(rewritten: &Rewritten, polls: &TokenStream, moves: &TokenStream, output: &Output) -> TokenStream {
    let mut body = rewritten.body.clone();
    // Also keeps the body from being a block around a single expression, of which the compiler would warn.
    let semicolon = Some(Token![;](Span::mixed_site()));
    body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(expected_return(output)), semicolon));
    if !rewritten.has_fuel() && output.closure_bounds.is_none() {
        return quote_spanned!(Span::mixed_site()=> async move { #moves #body });
    }
    let runtime = name::runtime(Span::mixed_site());
    let (fuel, value, annotation) = (name::fuel(), name::value(), &output.annotation);
    let (helper, body) = match &output.closure_bounds {
        None => (TokenStream::new(), quote!(#body)),
        Some(bounds) => {
            let returned = name::returned();
            let helper =
                quote_spanned!(Span::mixed_site()=> fn #returned<R: #bounds>(value: R) -> R { value });
            (helper, quote_spanned!(Span::mixed_site()=> #returned(#body)))
        }
    };
    let begun = rewritten.has_fuel().then(|| {
        let variable = name::polls();
        quote_spanned!(Span::mixed_site()=> #[allow(unused_mut, unused_variables)] let mut #variable = #polls;)
    });
    quote_spanned! {Span::mixed_site()=>
        async move {
            #begun
            #helper
            #moves
            let mut #fuel = #runtime::take();
            let #value: #annotation = #body;
            #[allow(unreachable_code)]
            #runtime::put(#fuel);
            #value
        }
    }
}

// Output: `if let Some(value) = None::<T> { return value; }`, a statement
// A `return` that is never taken tells the compiler the type before the first real one, so that each of them is
// checked against it, and coerced to it, as in the plain function.
fn expected_return(output: &Output) -> TokenStream {
    if output.is_never || output.is_opaque {
        return quote_spanned!(Span::mixed_site()=> let () = ());
    }
    let runtime = name::runtime(Span::mixed_site());
    let (value, annotation) = (name::value(), &output.annotation);
    quote_spanned! {Span::mixed_site()=>
        if let #runtime::Some(#value) = #runtime::None::<#annotation> {
            return #value;
        }
    }
}

// Output: a block's content that polls the inner future, inside a scope of the runtime's for each poll. For functions that
// wait for others: at those awaits nobody else would notice where a poll ends.
fn framed(inner: &TokenStream, described: &TokenStream) -> TokenStream {
    let runtime = name::runtime(Span::mixed_site());
    let (frame, body, context, scope) = (
        name::generated("frame"),
        name::generated("body"),
        name::generated("context"),
        name::generated("scope"),
    );
    quote_spanned! {Span::mixed_site()=>
        let mut #frame = #runtime::Frame::new(#described);
        let #body = #inner;
        let mut #body = #runtime::core::pin::pin!(#body);
        #runtime::core::future::poll_fn(move |#context| {
            let #scope = #runtime::enter(&mut #frame);
            #runtime::Future::poll(#runtime::core::pin::Pin::as_mut(&mut #body), #context)
        }).await
    }
}

// Output: `const { &Function::new("f", "src/lib.rs", 12).checks(128).slice_nanos(4_000_000) }`
fn described(function: &Function, options: &Options) -> TokenStream {
    let at = function.signature.fn_token.span;
    let (file, line) = (looping::file(at), looping::line(at));
    let runtime = name::runtime(Span::mixed_site());
    let label = label(function, options);
    let checks = options.budget.map(|checks| quote!(.checks(#checks)));
    let slice = options.slice.map(|slice| {
        let nanos = u64::try_from(slice.as_nanos()).unwrap_or(u64::MAX);
        quote!(.slice_nanos(#nanos))
    });
    quote_spanned! {Span::mixed_site()=>
        const { &#runtime::Function::new(#label, #file, #line)#checks #slice }
    }
}

/// Turns the groups of `macro_rules` in all of the function into parentheses.
fn make_groups_visible(function: &mut Function) {
    for attribute in &mut function.attributes {
        VisibleGroups.visit_attribute_mut(attribute);
    }
    VisibleGroups.visit_signature_mut(&mut function.signature);
    if let Some(body) = &mut function.body {
        VisibleGroups.visit_block_mut(body);
    }
}
