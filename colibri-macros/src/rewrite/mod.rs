//! The body: loops get checks, calls of the function to itself are awaited, and the fuel is handed over wherever
//! somebody else of this poll may need it.

mod loops;
mod macros;
mod waits;

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, Block, Expr, ExprAsync, ExprClosure, ExprConst, ExprIf, ExprMatch, ExprRepeat,
    ExprTryBlock, Item, Local, Macro, Stmt, Type,
};

use crate::check;
use crate::function::is_cooperative;
use crate::group::parenthesize_at;
use crate::looping::Place;
use crate::number;
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
    /// Whether there is code of which nobody knows whether it waits.
    pub(crate) hides_awaits: bool,
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
    /// Inside `#[cooperative(skip)]`: loops stay as they are, and there are no checks at calls.
    leaves_loops: bool,
    /// Inside a macro call: loops stay as they are.
    in_macro: bool,
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
            in_macro: false,
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
            Expr::Verbatim(_) => self.found.hides_awaits = true,
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
        if self.strict && !self.leaves_loops && !self.in_macro {
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
