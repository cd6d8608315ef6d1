//! The body: loops get checks, calls of the function to itself are awaited, and the fuel is handed over wherever
//! somebody else of this poll may need it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, Block, Expr, ExprAsync, ExprAwait, ExprClosure, ExprConst, ExprForLoop, ExprIf,
    ExprMatch, ExprRepeat, ExprTry, ExprTryBlock, ExprWhile, Item, Local, Macro, Stmt, Token, Type,
};

use crate::check;
use crate::function::is_cooperative;
use crate::group::parenthesize_at;
use crate::looping::{self, Place};
use crate::movable::Outline;
use crate::name;
use crate::number;
use crate::outline::Nest;
use crate::plan::Plan;
use crate::recursion::Recursion;
use crate::report::Report;
use crate::signature::Output;

/// Where the visitor is, which decides what can be done there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// In the function's own code: there is fuel, and everything can be awaited.
    Body,
    /// In an `async` block of the user's: it can await, but it is polled by others and has no fuel.
    Async,
    /// In a closure or a nested function: nothing can be awaited.
    Sync,
}

/// What the function is made of, as far as the expansion depends on it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    /// Checks that were placed: at loops, and at calls of the function to itself outside loops.
    pub(crate) checks: usize,
    /// Other points at which the function may wait.
    pub(crate) awaits: usize,
}

/// The visitor over the body. It walks all of the function's own code; where it stops is said at each method.
pub(crate) struct Rewrite<'a> {
    /// What reports call the function.
    name: &'a str,
    /// What `return` must give, in an annotation.
    output: &'a Output,
    recursion: Recursion,
    plan: &'a Plan,
    /// Whether the user's function is an `async fn`: then a call of itself is a future, as written.
    pub(crate) is_async: bool,
    pub(crate) strict: bool,
    /// Whether the function counts: else nothing is handed over.
    pub(crate) has_fuel: bool,
    context: Context,
    /// Inside a loop that gets a check, so that calls need none.
    in_loop: bool,
    /// Inside `#[cooperative(skip)]` or a macro call: loops stay as they are.
    leaves_loops: bool,
    /// Inside `try { .. }`, where `?` does not leave the function.
    in_try_block: bool,
    pub(crate) found: Found,
    report: &'a mut Report,
}

impl<'a> Rewrite<'a> {
    pub(crate) fn new(
        name: &'a str,
        output: &'a Output,
        recursion: Recursion,
        plan: &'a Plan,
        report: &'a mut Report,
    ) -> Self {
        Rewrite {
            name,
            output,
            recursion,
            plan,
            is_async: false,
            strict: false,
            has_fuel: true,
            context: Context::Body,
            in_loop: false,
            leaves_loops: false,
            in_try_block: false,
            found: Found::default(),
            report,
        }
    }

    /// Runs `visit` in another context, and in a scope of names of its own.
    fn within<R>(&mut self, context: Context, visit: impl FnOnce(&mut Self) -> R) -> R {
        let outer = (self.context, self.in_loop, self.leaves_loops, self.in_try_block);
        self.context = context;
        if context != Context::Body {
            (self.in_loop, self.leaves_loops) = (false, true);
        }
        let result = self.scoped(visit);
        (self.context, self.in_loop, self.leaves_loops, self.in_try_block) = outer;
        result
    }

    /// Runs `visit` in a scope: names bound inside end with it.
    fn scoped<R>(&mut self, visit: impl FnOnce(&mut Self) -> R) -> R {
        let hidden = self.recursion.hidden;
        let result = visit(self);
        self.recursion.hidden = hidden;
        result
    }

    fn place(&self, keyword: Span, number: Option<usize>) -> Place<'_> {
        Place { function: self.name, keyword, plan: self.plan, number, copy: None }
    }

    /// Takes `#[cooperative(skip)]` off a loop; true if it was there.
    fn take_skip(&mut self, attributes: &mut Vec<Attribute>) -> bool {
        let mut skip = false;
        let report = &mut *self.report;
        attributes.retain(|attribute| {
            if !is_cooperative(attribute) {
                return true;
            }
            match attribute.parse_args::<Ident>() {
                Ok(option) if option == "skip" => skip = true,
                _ => report.over(
                    attribute,
                    "a loop has one option: `#[cooperative(skip)]`, which leaves it as it is",
                ),
            }
            false
        });
        skip
    }

    // Input:  `let x = e;`
    // Output: `let x = e; let mut x = x;`, if a check saves `x`
    fn add_assignable_variables(&self, block: &mut Block) {
        let is_planned = |statement: &Stmt| match statement {
            Stmt::Local(local) => self.plan.of_let(number::split(&local.attrs).1).cloned(),
            _ => None,
        };
        if block.stmts.iter().all(|statement| is_planned(statement).is_none()) {
            return;
        }
        for statement in std::mem::take(&mut block.stmts) {
            let ident = is_planned(&statement);
            block.stmts.push(statement);
            if let Some(ident) = ident {
                let assignable = quote_spanned! {Span::mixed_site()=>
                    #[allow(unused_mut)]
                    let mut #ident = #ident
                };
                let semicolon = Some(Token![;](Span::mixed_site()));
                block.stmts.push(Stmt::Expr(Expr::Verbatim(assignable), semicolon));
            }
        }
    }

    /// Rewrites a loop whose children have not been visited.
    fn rewrite_loop(&mut self, node: &mut Expr) {
        let attributes = match node {
            Expr::ForLoop(node) => &mut node.attrs,
            Expr::While(node) => &mut node.attrs,
            Expr::Loop(node) => &mut node.attrs,
            _ => return,
        };
        let mut taken = std::mem::take(attributes);
        let number = number::take(&mut taken);
        let skip = self.take_skip(&mut taken);
        match node {
            Expr::ForLoop(node) => node.attrs = taken,
            Expr::While(node) => node.attrs = taken,
            Expr::Loop(node) => node.attrs = taken,
            _ => {}
        }
        if self.leaves_loops || skip || self.plan.is_constant(number) {
            let outer = std::mem::replace(&mut self.leaves_loops, true);
            self.visit_loop_parts(node);
            self.leaves_loops = outer;
            return;
        }
        self.found.checks += 1;
        if let Some(outline) = self.plan.outline_of(number) {
            self.rewrite_nest(node, number, outline);
            return;
        }
        let outer = std::mem::replace(&mut self.in_loop, true);
        let copy = self.copy_of(node, number);
        self.visit_loop_parts(node);
        self.in_loop = outer;
        let keyword = match node {
            Expr::ForLoop(node) => node.for_token.span,
            Expr::While(node) => node.while_token.span,
            Expr::Loop(node) => node.loop_token.span,
            _ => return,
        };
        *node = Expr::Verbatim(looping::rewritten(node, copy.as_ref(), &self.place(keyword, number)));
    }

    /// Moves a nest into a function of its own.
    fn rewrite_nest(&mut self, node: &mut Expr, number: Option<usize>, outline: &Outline) {
        let (keyword, attributes) = match node {
            Expr::ForLoop(node) => {
                self.visit_expr_mut(&mut node.expr);
                (node.for_token.span, std::mem::take(&mut node.attrs))
            }
            Expr::While(node) => (node.while_token.span, std::mem::take(&mut node.attrs)),
            Expr::Loop(node) => (node.loop_token.span, std::mem::take(&mut node.attrs)),
            _ => return,
        };
        let place = self.place(keyword, number);
        let nest = Nest::new(node, outline, &place, self.output).rewritten();
        let attributes = looping::outer(&attributes);
        *node = Expr::Verbatim(quote_spanned!(Span::mixed_site()=> #attributes #nest));
    }

    /// The copy of a loop that has no await, if it may have one. What its body has to say is said by the loop itself.
    fn copy_of(&mut self, node: &Expr, number: Option<usize>) -> Option<Expr> {
        if !self.plan.is_copied(number) {
            return None;
        }
        let mut copy = node.clone();
        looping::leave_for(&looping::finished(number), &mut copy);
        let (found, report) = (self.found, std::mem::take(self.report));
        self.visit_loop_parts(&mut copy);
        *self.report = report;
        let awaits = self.found.awaits > found.awaits;
        self.found = found;
        (!awaits).then_some(copy)
    }

    fn visit_loop_parts(&mut self, node: &mut Expr) {
        match node {
            Expr::ForLoop(ExprForLoop { pat, expr, body, .. }) => {
                // The iterator's expression runs once, before the loop.
                let in_loop = std::mem::replace(&mut self.in_loop, false);
                self.visit_expr_mut(expr);
                self.in_loop = in_loop;
                self.scoped(|this| {
                    this.visit_pat_mut(pat);
                    this.recursion.bind(pat);
                    this.visit_block_mut(body);
                });
            }
            Expr::While(ExprWhile { cond, body, .. }) => self.scoped(|this| {
                this.visit_expr_mut(cond);
                this.visit_block_mut(body);
            }),
            Expr::Loop(node) => self.visit_block_mut(&mut node.body),
            _ => {}
        }
    }

    // Input:  `f(n - 1)`
    // Output: `(match Box::pin(f(n - 1)) { future => { put(fuel); let value = future.await; fuel = take(); value } })`,
    //         with a check before `put` where no loop around has one
    fn rewrite_self_call(&mut self, node: &mut Expr) {
        let call = std::mem::replace(node, Expr::PLACEHOLDER);
        let span = Span::mixed_site().located_at(call.span());
        let runtime = name::runtime(span);
        let tokens = match self.context {
            Context::Body => {
                let boxed = quote_spanned!(span=> #runtime::alloc::boxed::Box::pin(#call));
                let check = (!self.in_loop && !self.leaves_loops).then(|| {
                    self.found.checks += 1;
                    looping::check_at_call(&self.place(call.span(), None))
                });
                self.found.awaits += 1;
                self.awaiting(boxed, check, span)
            }
            Context::Async => quote_spanned!(span=> #runtime::alloc::boxed::Box::pin(#call).await),
            Context::Sync => quote_spanned!(span=> #runtime::run(#call)),
        };
        *node = parenthesize_at(Expr::Verbatim(tokens), span);
    }

    /// Awaits `future` with the fuel in the thread's hands, for whoever runs meanwhile.
    fn awaiting(&self, future: TokenStream, check: Option<TokenStream>, span: Span) -> TokenStream {
        let runtime = name::runtime(span);
        let (fuel, awaited, value) = (name::fuel(), name::future(), name::value());
        quote_spanned! {span=>
            match #future {
                #awaited => {
                    #check
                    #runtime::put(#fuel);
                    let #value = #awaited.await;
                    #[allow(unreachable_code)]
                    {
                        #fuel = #runtime::take();
                    }
                    #value
                }
            }
        }
    }

    // Input:  `future.await`
    // Output: `(match IntoFuture::into_future(future) { future => { put(fuel); .. future.await .. take() .. } })`
    fn rewrite_await(&mut self, node: &mut ExprAwait) -> Option<Expr> {
        self.found.awaits += 1;
        let is_self_call = self.recursion.is_self_call(&node.base);
        self.visit_awaited(&mut node.base);
        let span = Span::mixed_site().located_at(node.await_token.span);
        let runtime = name::runtime(span);
        if is_self_call {
            let call = &node.base;
            *node.base = Expr::Verbatim(quote_spanned!(span=> #runtime::alloc::boxed::Box::pin(#call)));
        }
        if self.context != Context::Body || !self.has_fuel {
            return None;
        }
        let base = &node.base;
        let check = (is_self_call && !self.in_loop && !self.leaves_loops).then(|| {
            self.found.checks += 1;
            looping::check_at_call(&self.place(span, None))
        });
        let future = quote_spanned!(span=> #runtime::IntoFuture::into_future(#base));
        Some(parenthesize_at(Expr::Verbatim(self.awaiting(future, check, span)), span))
    }

    /// Visits what is awaited. A call of the function to itself is a future here, as written: directly, or in the
    /// user's own `Box::pin(..)`.
    fn visit_awaited(&mut self, base: &mut Expr) {
        let is_pin = match &*base {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == "pin"),
                _ => false,
            },
            _ => false,
        };
        match base {
            Expr::Call(call) if is_pin => {
                call.args.iter_mut().for_each(|argument| self.visit_awaited(argument))
            }
            Expr::Paren(paren) => self.visit_awaited(&mut paren.expr),
            base if self.recursion.is_self_call(base) => visit_mut::visit_expr_mut(self, base),
            base => self.visit_expr_mut(base),
        }
    }

    // Input:  `return value`
    // Output: `return { let value: T = value; put(fuel); value }`
    fn rewrite_return(&self, node: &mut syn::ExprReturn) {
        let (fuel, value, output) = (name::fuel(), name::value(), &self.output.annotation);
        let span = Span::mixed_site().located_at(node.return_token.span);
        let runtime = name::runtime(span);
        let left = match &node.expr {
            None => quote_spanned!(span=> #runtime::put(#fuel)),
            Some(expression) => {
                let expression = if self.output.closure_bounds.is_some() {
                    let returned = name::returned();
                    quote_spanned!(span=> #returned(#expression))
                } else {
                    quote!(#expression)
                };
                quote_spanned! {span=>
                {
                    let #value: #output = #expression;
                    #[allow(unreachable_code)]
                    #runtime::put(#fuel);
                    #value
                }
                }
            }
        };
        node.expr = Some(Box::new(Expr::Verbatim(left)));
    }

    // Input:  `operand?`
    // Output: `leave(operand, fuel)?`, which puts the fuel back if the operand is about to leave
    fn rewrite_try(&self, node: &mut ExprTry) {
        let fuel = name::fuel();
        let operand = &node.expr;
        // The operator as well, or messages about it would start at the attribute.
        let span = Span::mixed_site().located_at(node.question_token.span);
        node.question_token = Token![?](span);
        let runtime = name::runtime(span);
        *node.expr = Expr::Verbatim(quote_spanned!(span=> #runtime::leave(#operand, #fuel)));
    }

    /// The macros of the standard library whose arguments are expressions: their calls of the function to itself, and
    /// what leaves the function, are rewritten. The tokens stay untouched if nothing in them was. Loops stay as they
    /// are, and so does every other macro: nobody knows what it makes of its tokens.
    fn visit_known_macro(&mut self, node: &mut Macro) {
        let known = name::of_macro(node);
        let is_assertion = matches!(known.as_str(), "assert" | "debug_assert");
        match known.as_str() {
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne"
            | "dbg" | "eprint" | "eprintln" | "format" | "format_args" | "matches" | "panic" | "print"
            | "println" | "todo" | "unimplemented" | "unreachable" | "vec" | "write" | "writeln" => {}
            _ => return,
        }
        let Ok(mut arguments) = node.parse_body::<Arguments>() else { return };
        let before = quote!(#arguments).to_string();
        let outer = std::mem::replace(&mut self.leaves_loops, true);
        for argument in &mut arguments.list {
            self.visit_expr_mut(&mut argument.value);
        }
        self.leaves_loops = outer;
        let after = quote!(#arguments);
        if after.to_string() == before {
            return;
        }
        let text = std::mem::replace(&mut node.tokens, after);
        if is_assertion && arguments.list.len() == 1 && arguments.rest.is_empty() {
            // The panic's message quotes the condition as the user wrote it.
            let runtime = name::runtime(Span::mixed_site());
            let condition = &arguments.list[0].value;
            node.tokens = quote_spanned! {Span::mixed_site()=>
                #condition, "{}", #runtime::core::concat!("assertion failed: ", #runtime::core::stringify!(#text))
            };
        }
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, node: &mut Expr) {
        match node {
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => self.rewrite_loop(node),
            Expr::Await(inner) => {
                if let Some(awaited) = self.rewrite_await(inner) {
                    *node = awaited;
                }
            }
            Expr::Call(_) | Expr::MethodCall(_) => {
                visit_mut::visit_expr_mut(self, node);
                if !self.is_async && self.recursion.is_self_call(node) {
                    self.rewrite_self_call(node);
                }
            }
            Expr::Break(inner) => {
                visit_mut::visit_expr_break_mut(self, inner);
                if let Some(value) = &mut inner.expr
                    && matches!(**value, Expr::Verbatim(_))
                {
                    // What a loop became may begin with a label, which would look like the label of the `break`.
                    let written = std::mem::replace(&mut **value, Expr::PLACEHOLDER);
                    **value = parenthesize_at(written, Span::mixed_site());
                }
            }
            Expr::Return(inner) => {
                visit_mut::visit_expr_return_mut(self, inner);
                if self.context == Context::Body && self.has_fuel {
                    self.rewrite_return(inner);
                }
            }
            Expr::Try(inner) => {
                visit_mut::visit_expr_try_mut(self, inner);
                if self.context == Context::Body && self.has_fuel && !self.in_try_block {
                    self.rewrite_try(inner);
                }
            }
            _ => visit_mut::visit_expr_mut(self, node),
        }
    }

    // Loops in a closure are the closure's: whoever calls it gets no future.
    fn visit_expr_closure_mut(&mut self, node: &mut ExprClosure) {
        if self.strict {
            check::no_loops_in(&node.body, "a closure", self.report);
        }
        let context = if node.asyncness.is_some() { Context::Async } else { Context::Sync };
        self.within(context, |this| {
            for input in &mut node.inputs {
                this.visit_pat_mut(input);
                this.recursion.bind(input);
            }
            this.visit_expr_mut(&mut node.body);
        });
    }

    // Whoever polls an `async` block of the user's may not be this function.
    fn visit_expr_async_mut(&mut self, node: &mut ExprAsync) {
        if self.strict {
            check::no_loops_in(&node.block, "an `async` block", self.report);
        }
        self.within(Context::Async, |this| this.visit_block_mut(&mut node.block));
    }

    fn visit_expr_try_block_mut(&mut self, node: &mut ExprTryBlock) {
        let outer = std::mem::replace(&mut self.in_try_block, true);
        self.visit_block_mut(&mut node.block);
        self.in_try_block = outer;
    }

    // Nested items are functions of their own. Only their calls of this one are seen to.
    fn visit_item_mut(&mut self, node: &mut Item) {
        if self.strict {
            check::no_loops_in_item(node, self.report);
        }
        let Item::Fn(item) = node else { return };
        if item.attrs.iter().any(is_cooperative) {
            return;
        }
        self.within(if item.sig.asyncness.is_some() { Context::Async } else { Context::Sync }, |this| {
            for input in &item.sig.inputs {
                if let syn::FnArg::Typed(typed) = input {
                    this.recursion.bind(&typed.pat);
                }
            }
            this.visit_block_mut(&mut item.block);
        });
    }

    // Constants are computed before the function runs: nothing to await in `const { .. }`, in array lengths, ...
    fn visit_expr_const_mut(&mut self, _: &mut ExprConst) {}

    fn visit_expr_repeat_mut(&mut self, node: &mut ExprRepeat) {
        self.visit_attributes_mut(&mut node.attrs);
        self.visit_expr_mut(&mut node.expr);
    }

    // ... nor in types and generic arguments.
    fn visit_type_mut(&mut self, _: &mut Type) {}

    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_macro_mut(&mut self, node: &mut Macro) {
        if self.strict && !self.leaves_loops {
            check::no_loops_in_macro(node, self.report);
        }
        self.visit_known_macro(node);
    }

    // Wherever a loop is, `rewrite_loop` has taken its attribute off before.
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        let report = &mut *self.report;
        attributes.retain(|attribute| {
            let misplaced = is_cooperative(attribute);
            if misplaced {
                report.over(attribute, "inside a cooperative function, `#[cooperative(skip)]` stands on a loop (`for`, `while`, `loop`)");
            }
            !misplaced
        });
    }

    fn visit_block_mut(&mut self, node: &mut Block) {
        self.scoped(|this| {
            this.recursion.enter_block(node);
            this.add_assignable_variables(node);
            visit_mut::visit_block_mut(this, node);
        });
    }

    fn visit_local_mut(&mut self, node: &mut Local) {
        number::take(&mut node.attrs);
        self.visit_attributes_mut(&mut node.attrs);
        if let Some(init) = &mut node.init {
            self.visit_expr_mut(&mut init.expr);
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
        self.visit_pat_mut(&mut node.pat);
        self.recursion.bind(&node.pat);
    }

    fn visit_expr_let_mut(&mut self, node: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut node.expr);
        self.visit_pat_mut(&mut node.pat);
        self.recursion.bind(&node.pat);
    }

    fn visit_expr_if_mut(&mut self, node: &mut ExprIf) {
        self.visit_attributes_mut(&mut node.attrs);
        self.scoped(|this| {
            this.visit_expr_mut(&mut node.cond);
            this.visit_block_mut(&mut node.then_branch);
        });
        if let Some((_, otherwise)) = &mut node.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_match_mut(&mut self, node: &mut ExprMatch) {
        self.visit_attributes_mut(&mut node.attrs);
        self.visit_expr_mut(&mut node.expr);
        for arm in &mut node.arms {
            self.visit_arm_mut(arm);
        }
    }

    fn visit_arm_mut(&mut self, node: &mut Arm) {
        self.scoped(|this| {
            this.recursion.bind(&node.pat);
            visit_mut::visit_arm_mut(this, node);
        });
    }

    fn visit_stmt_mut(&mut self, node: &mut Stmt) {
        visit_mut::visit_stmt_mut(self, node);
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
