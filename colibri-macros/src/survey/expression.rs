//! Expressions: which of their values go where.

use std::collections::BTreeSet;

use syn::{Expr, ExprMatch, Pat};

use super::statement::{exchanged, exchanges};
use super::{Survey, Use, strip};
use crate::binding::{self, Declared};
use crate::kind::Class;
use crate::method;
use crate::sources;

impl Survey {
    pub(super) fn expression(&mut self, expression: &Expr, used: Use) {
        match expression {
            Expr::Path(path) => {
                if let Some(ident) = path.path.get_ident() {
                    self.variable(ident, used, false);
                }
            }
            Expr::Paren(node) => self.expression(&node.expr, used),
            Expr::Group(node) => self.expression(&node.expr, used),
            Expr::Index(node) => {
                self.place(&node.expr, used);
                self.operand(&node.index, Use::Calculated);
            }
            Expr::Field(node) => self.place(&node.base, used),
            Expr::Unary(node) => match node.op {
                syn::UnOp::Deref(_) => self.dereference(&node.expr, used),
                _ => self.operand(&node.expr, Use::Calculated),
            },
            Expr::Reference(node) => {
                let used = if node.mutability.is_some() { Use::BorrowedMut } else { Use::Borrowed };
                self.operand(&node.expr, used);
            }
            Expr::RawAddr(node) => self.operand(&node.expr, Use::BorrowedMut),
            Expr::Binary(node) => self.binary(node),
            Expr::Assign(node) => {
                self.expression(&node.right, Use::Passed);
                self.assigned(&node.left);
                if self.notes_uses
                    && let Expr::Path(path) = strip(&node.left)
                    && let Some(binding) = path.path.get_ident().and_then(|ident| self.bindings.find(ident))
                {
                    let found = sources::of(&node.right, &mut self.bindings);
                    self.bindings.variables[binding].sources.extend(found);
                }
            }
            Expr::Call(node) => {
                match &*node.func {
                    Expr::Path(path) => {
                        if let Some(ident) = path.path.get_ident() {
                            self.hide(&ident.to_string());
                            self.variable(ident, Use::Looked, false);
                        }
                    }
                    func => self.operand(func, Use::Borrowed),
                }
                if let Some((one, other)) = exchanged(node) {
                    self.exchange(one, other);
                    return;
                }
                if !exchanges(&node.func) {
                    self.give(&node.args);
                }
                node.args.iter().for_each(|argument| self.operand(argument, Use::Passed));
                if never_returns(&node.func) {
                    self.diverge();
                }
            }
            Expr::MethodCall(node) => {
                // Names that everywhere mean a number or a truth about the receiver.
                let is_forgotten =
                    node.args.is_empty() && (node.method == "len" || node.method == "is_empty");
                let is_of_part = !matches!(strip(&node.receiver), Expr::Path(_));
                if method::is_numeric(&node.method) {
                    self.operand(&node.receiver, if is_of_part { Use::Calculated } else { Use::Passed });
                } else {
                    self.receiver(node, Use::Receiver { is_forgotten });
                }
                node.args.iter().for_each(|argument| self.operand(argument, Use::Passed));
            }
            Expr::Cast(node) => self.expression(&node.expr, Use::Calculated),
            Expr::Range(node) => {
                for bound in [&node.start, &node.end].into_iter().flatten() {
                    self.operand(bound, Use::Calculated);
                }
            }
            Expr::Array(node) => node.elems.iter().for_each(|element| self.operand(element, Use::Passed)),
            Expr::Tuple(node) => node.elems.iter().for_each(|element| self.operand(element, Use::Passed)),
            Expr::Repeat(node) => self.operand(&node.expr, Use::Passed),
            Expr::Struct(node) => {
                node.fields.iter().for_each(|field| self.operand(&field.expr, Use::Passed));
                if let Some(rest) = &node.rest {
                    self.operand(rest, Use::Matched { binds: true });
                }
            }
            Expr::Let(node) => {
                self.expression(&node.expr, Use::Matched { binds: binds(&node.pat) });
                self.pattern(&node.pat, Class::Unknown, Declared::Elsewhere);
                self.derive(&node.pat, &node.expr);
            }
            Expr::If(node) => self.conditional(node),
            Expr::Match(node) => self.matching(node),
            Expr::Block(node) => match &node.label {
                None => self.block(&node.block),
                Some(label) => {
                    self.exits.push((Some(label.name.clone()), false, BTreeSet::new()));
                    self.block(&node.block);
                    self.leave();
                }
            },
            Expr::Unsafe(node) => self.block(&node.block),
            Expr::Const(_) | Expr::Lit(_) | Expr::Infer(_) => {}
            Expr::Await(node) => self.operand(&node.base, Use::Passed),
            Expr::Try(node) => self.operand(&node.expr, Use::Passed),
            Expr::Return(node) => {
                node.expr.iter().for_each(|value| self.expression(value, Use::Passed));
                self.diverge();
            }
            Expr::Break(node) => {
                node.expr.iter().for_each(|value| self.expression(value, Use::Passed));
                self.exit(node.label.as_ref());
            }
            Expr::Continue(_) => self.diverge(),
            Expr::Closure(node) => self.capture(|this| {
                for input in &node.inputs {
                    this.pattern(input, Class::Unknown, Declared::Elsewhere);
                }
                this.expression(&node.body, Use::Passed);
            }),
            Expr::Async(node) => self.capture(|this| this.block(&node.block)),
            Expr::Macro(node) => self.call_of_macro(&node.mac),
            Expr::ForLoop(node) => self.for_loop(node),
            Expr::While(node) => self.looping(&node.attrs, &node.label, Some(&node.cond), &node.body),
            Expr::Loop(node) => self.looping(&node.attrs, &node.label, None, &node.body),
            // Whatever this is: its variables stay where they are.
            other => self.tokens(&quote::ToTokens::to_token_stream(other)),
        }
    }

    /// The base of an index, a field or a dereference.
    pub(super) fn place(&mut self, base: &Expr, used: Use) {
        match base {
            Expr::Path(path) => {
                if let Some(ident) = path.path.get_ident() {
                    self.variable(ident, used, true);
                }
            }
            Expr::Paren(node) => self.place(&node.expr, used),
            Expr::Index(node) => {
                self.place(&node.expr, used);
                self.operand(&node.index, Use::Calculated);
            }
            Expr::Field(node) => self.place(&node.base, used),
            Expr::Unary(node) if matches!(node.op, syn::UnOp::Deref(_)) => self.dereference(&node.expr, used),
            base => self.operand(base, used),
        }
    }

    pub(super) fn dereference(&mut self, base: &Expr, used: Use) {
        if let Expr::Path(path) = strip(base)
            && let Some(binding) = path.path.get_ident().and_then(|ident| self.bindings.find(ident))
        {
            self.bindings.variables[binding].uses.dereferenced = true;
        }
        self.place(base, used);
    }

    pub(super) fn binary(&mut self, node: &syn::ExprBinary) {
        use syn::BinOp;
        match &node.op {
            BinOp::And(_) | BinOp::Or(_) => {
                // A `let` in a chain stays in scope, so no scope is opened here.
                self.expression(&node.left, Use::Looked);
                let without_right = self.open.clone();
                self.expression(&node.right, Use::Looked);
                self.open.extend(without_right);
            }
            operator if binding::is_comparison(operator) => {
                self.operand(&node.left, Use::Looked);
                self.operand(&node.right, Use::Looked);
            }
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::BitXor(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_) => {
                self.operand(&node.left, Use::Calculated);
                self.operand(&node.right, Use::Calculated);
            }
            _ => {
                self.operand(&node.right, Use::Calculated);
                self.operand(&node.left, Use::Updated);
            }
        }
    }

    pub(super) fn assigned(&mut self, left: &Expr) {
        match left {
            Expr::Tuple(node) => node.elems.iter().for_each(|element| self.assigned(element)),
            Expr::Array(node) => node.elems.iter().for_each(|element| self.assigned(element)),
            Expr::Call(node) => node.args.iter().for_each(|element| self.assigned(element)),
            Expr::Struct(node) => node.fields.iter().for_each(|field| self.assigned(&field.expr)),
            left => self.expression(left, Use::Assigned),
        }
    }

    pub(super) fn conditional(&mut self, node: &syn::ExprIf) {
        let scope = self.bindings.open();
        self.expression(&node.cond, Use::Looked);
        let otherwise = self.open.clone();
        self.block(&node.then_branch);
        self.bindings.close(scope);
        let then = std::mem::replace(&mut self.open, otherwise);
        if let Some((_, otherwise)) = &node.else_branch {
            self.expression(otherwise, Use::Passed);
        }
        self.open.extend(then);
    }

    pub(super) fn matching(&mut self, node: &ExprMatch) {
        let binds = node.arms.iter().any(|arm| binds(&arm.pat));
        self.expression(&node.expr, Use::Matched { binds });
        let before = self.open.clone();
        let mut after = BTreeSet::new();
        for arm in &node.arms {
            self.open = before.clone();
            self.scoped(|this| {
                this.pattern(&arm.pat, Class::Unknown, Declared::Elsewhere);
                this.derive(&arm.pat, &node.expr);
                if let Pat::Guard(guarded) = &arm.pat {
                    this.pattern(&guarded.pat, Class::Unknown, Declared::Elsewhere);
                    this.expression(&guarded.guard, Use::Looked);
                }
                this.expression(&arm.body, Use::Passed);
            });
            after.append(&mut self.open);
        }
        self.open = after;
    }

    pub(super) fn capture(&mut self, walk: impl FnOnce(&mut Self)) {
        self.closures += 1;
        let (open, exits) = (self.open.clone(), std::mem::take(&mut self.exits));
        self.scoped(walk);
        (self.open, self.exits) = (open, exits);
        self.closures -= 1;
    }
}

/// The functions of the standard library that do not return.
fn never_returns(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    path.path.segments.last().is_some_and(|segment| {
        ["exit", "abort", "panic_any", "resume_unwind", "unreachable_unchecked", "handle_alloc_error"]
            .iter()
            .any(|name| segment.ident == name)
    })
}

/// Whether a pattern binds anything, as far as can be seen.
fn binds(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(_) | Pat::Macro(_) | Pat::Verbatim(_) => true,
        Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) | Pat::Rest(_) | Pat::Wild(_) => false,
        Pat::Or(node) => node.cases.iter().any(binds),
        Pat::Tuple(node) => node.elems.iter().any(binds),
        _ => true,
    }
}
