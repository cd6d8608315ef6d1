//! Statements, and calls that may keep what they are given.

use proc_macro2::Ident;
use syn::punctuated::Punctuated;
use syn::{Block, Expr, Item, Local, Pat, Stmt, Token};

use super::{Extent, Survey, Use, strip};
use crate::binding::{self, Declared};
use crate::divergence;
use crate::kind::{self, Class};
use crate::length;
use crate::number;
use crate::sources;

impl Survey {
    pub(super) fn block(&mut self, block: &Block) {
        self.scoped(|this| {
            for statement in &block.stmts {
                if let Stmt::Item(item) = statement {
                    this.item(item);
                }
            }
            let last_end = match this.contents {
                Some(_) => block.stmts.iter().rposition(divergence::ends),
                None => None,
            };
            for (index, statement) in block.stmts.iter().enumerate() {
                if this.is_before_target(statement) || this.is_past(statement) {
                    if let Stmt::Local(local) = statement {
                        this.pattern(&local.pat, Class::Unknown, Declared::Elsewhere);
                    }
                    continue;
                }
                if this.is_after_contents {
                    break;
                }
                let (mentions, jumps) = (this.mentions, this.jumps);
                if this.notes_uses {
                    this.statements.push(std::ptr::from_ref(statement));
                }
                let ends = usize::from(last_end.is_some_and(|last| index <= last));
                this.ends += ends;
                match statement {
                    Stmt::Local(local) => this.local(local),
                    Stmt::Item(_) => {}
                    Stmt::Expr(expression, semicolon) => this.statement(expression, semicolon.is_some()),
                    Stmt::Macro(statement) => this.call_of_macro(&statement.mac),
                }
                this.ends -= ends;
                if this.notes_uses {
                    this.statements.pop();
                    let extent = Extent { mentions: mentions..this.mentions, jumps: jumps != this.jumps };
                    this.extents.insert(std::ptr::from_ref(statement), extent);
                }
            }
        });
    }

    /// Whether the walk is on its way to a loop that is not in this statement.
    pub(super) fn is_before_target(&self, statement: &Stmt) -> bool {
        let number = match (&self.contents, self.target) {
            (Some(contents), _) if self.depth_inside == 0 && !self.is_after_contents => contents.number,
            (None, Some(target)) if !self.was_reached => target,
            _ => return false,
        };
        let around = self.around.get(&number);
        !around.is_some_and(|around| around.contains(&std::ptr::from_ref(statement)))
    }

    /// Whether the statement, on the way from a loop's check, says nothing about what is open there.
    fn is_past(&self, statement: &Stmt) -> bool {
        if self.contents.is_some() || self.target.is_none() || !self.was_reached {
            return false;
        }
        self.extents.get(&std::ptr::from_ref(statement)).is_some_and(|extent| {
            let mut open = self.open.iter().map(|binding| &self.bindings.variables[*binding]);
            !extent.jumps && !open.any(|variable| variable.is_mentioned_in(&extent.mentions))
        })
    }

    /// An item hides variables of its name.
    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::Const(item) => self.hide(&item.ident.to_string()),
            Item::Static(item) => self.hide(&item.ident.to_string()),
            Item::Fn(item) => self.hide(&item.sig.ident.to_string()),
            Item::Use(item) => self.tokens(&quote::ToTokens::to_token_stream(item)),
            _ => {}
        }
    }

    pub(super) fn local(&mut self, local: &Local) {
        let Some(init) = &local.init else {
            self.pattern(&local.pat, Class::Unknown, Declared::Late);
            return;
        };
        let class = self.bindings.class_of(&init.expr);
        let is_simple = matches!(&local.pat, Pat::Ident(_) | Pat::Type(_));
        let used =
            if is_simple { Use::Passed } else { Use::Matched { binds: !matches!(local.pat, Pat::Wild(_)) } };
        self.expression(&init.expr, used);
        if let Some((_, diverge)) = &init.diverge {
            let after = self.open.clone();
            self.expression(diverge, Use::Passed);
            self.open = after;
        }
        let (attributes, number) = number::split(&local.attrs);
        let declared = match number {
            Some(number) if is_simple && attributes == 0 && init.diverge.is_none() => Declared::Let(number),
            _ => Declared::Elsewhere,
        };
        match (&local.pat, strip(&init.expr)) {
            (Pat::Tuple(pattern), Expr::Tuple(values)) if pattern.elems.len() == values.elems.len() => {
                let classes: Vec<Class> =
                    values.elems.iter().map(|value| self.bindings.class_of(value)).collect();
                for (pattern, class) in pattern.elems.iter().zip(classes) {
                    self.pattern(pattern, class, Declared::Elsewhere);
                }
            }
            _ => self.pattern(&local.pat, class, declared),
        }
        self.derive(&local.pat, &init.expr);
        if let Pat::Ident(node) = &local.pat
            && self.notes_uses
            && let Some(binding) = self.bindings.find(&node.ident)
        {
            let length = length::of(&init.expr, &mut self.bindings);
            let variable = &mut self.bindings.variables[binding];
            variable.sequence = kind::sequence_of(&init.expr);
            if let Some((length, of)) = length {
                (variable.length, variable.length_of) = (Some(length), of);
            }
        }
    }

    pub(super) fn statement(&mut self, expression: &Expr, has_semicolon: bool) {
        match expression {
            // The result is dropped at once: no reference into the receiver lives on.
            Expr::MethodCall(call) if has_semicolon => {
                self.receiver(call, Use::Told);
                for argument in &call.args {
                    self.operand(argument, Use::Passed);
                }
            }
            _ => self.expression(expression, Use::Passed),
        }
    }

    // `mem::swap(&mut one, &mut other)`
    pub(super) fn exchange(&mut self, one: &Ident, other: &Ident) {
        for (ident, with) in [(one, other), (other, one)] {
            self.variable(ident, Use::Exchanged, false);
            if let (true, Some(binding), Some(with)) =
                (self.notes_uses, self.bindings.find(ident), self.bindings.find(with))
            {
                self.bindings.variables[binding].exchanged.insert(with);
                let sources = self.bindings.variables[with].sources.clone();
                self.bindings.variables[binding].sources.extend(sources);
            }
        }
    }

    /// What a function gets by `&mut` may keep whatever else it gets.
    pub(super) fn give(&mut self, arguments: &Punctuated<Expr, Token![,]>) {
        if !self.notes_uses {
            return;
        }
        for argument in arguments {
            let Expr::Reference(reference) = argument else { continue };
            let Some(ident) = binding::base_of(&reference.expr) else { continue };
            let Some(binding) = self.bindings.find(ident) else { continue };
            if reference.mutability.is_some() {
                for other in arguments {
                    let mut found = sources::of(other, &mut self.bindings);
                    found.remove(&binding);
                    self.bindings.variables[binding].sources.extend(found);
                }
            }
        }
    }

    pub(super) fn receiver(&mut self, call: &syn::ExprMethodCall, used: Use) {
        if self.notes_uses
            && let Some(binding) =
                binding::base_of(&call.receiver).and_then(|ident| self.bindings.find(ident))
        {
            // It may keep what it is given.
            for argument in &call.args {
                let found = sources::of(argument, &mut self.bindings);
                self.bindings.variables[binding].sources.extend(found);
            }
        }
        let is_variable = matches!(strip(&call.receiver), Expr::Path(_));
        self.method = is_variable.then(|| call.method.to_string());
        self.operand(&call.receiver, used);
        self.method = None;
    }
}

/// The variables of a `mem::swap(&mut one, &mut other)`.
pub(super) fn exchanged(node: &syn::ExprCall) -> Option<(&Ident, &Ident)> {
    let Expr::Path(path) = &*node.func else { return None };
    if !exchanges(&node.func) || path.path.segments.last()?.ident != "swap" {
        return None;
    }
    let variable = |index: usize| match node.args.get(index)? {
        Expr::Reference(reference) if reference.mutability.is_some() => match &*reference.expr {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
        _ => None,
    };
    Some((variable(0)?, variable(1)?))
}

/// `mem::swap` and its like: whoever gets a reference there does not keep it.
pub(super) fn exchanges(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let mut segments = path.path.segments.iter().rev();
    segments.next().is_some_and(|last| ["swap", "replace", "take"].iter().any(|name| last.ident == name))
        && segments.next().is_some_and(|module| module.ident == "mem")
}
