//! Loops: where their checks are, and what is open where they are left.

use std::collections::BTreeSet;

use syn::{Block, Expr, ExprForLoop, Label, Lifetime, Pat};

use super::{Survey, Use, strip};
use crate::binding::Declared;
use crate::head;
use crate::kind::Class;
use crate::number;
use crate::sources;

impl Survey {
    pub(super) fn for_loop(&mut self, node: &ExprForLoop) {
        let class = self.class_of_items(&node.expr);
        self.expression(&node.expr, Use::Passed);
        let (attributes, number) = number::split(&node.attrs);
        if let Expr::Path(path) = strip(&node.expr)
            && let Some(binding) = path.path.get_ident().and_then(|ident| self.bindings.find(ident))
            && matches!(self.bindings.variables[binding].class, Class::Shared | Class::Exclusive)
        {
            self.over_references.extend(number);
        }
        if let Some(number) = number
            && self.notes_uses
            && !matches!(strip(&node.expr), Expr::Range(_))
        {
            let found = sources::of(&node.expr, &mut self.bindings);
            self.items.insert(number, found);
        }
        if let Some(number) = number
            && self.notes_uses
        {
            self.first_inside.insert(number, self.bindings.variables.len());
        }
        let inside = self.enter(number);
        self.iterators.extend(number);
        self.exits.push((node.label.as_ref().map(|label| label.name.clone()), true, BTreeSet::new()));
        for round in 0..2 {
            let was_reached = self.was_reached;
            self.arrive(number);
            let header = self.open.clone();
            self.exits.last_mut().expect("pushed above").2.extend(header);
            self.scoped(|this| {
                let declared = match number {
                    Some(number) if attributes == 0 => Declared::For(number),
                    _ => Declared::Elsewhere,
                };
                this.pattern(&node.pat, class, declared);
                if head::gives_no_owners(&node.expr) || matches!(*node.pat, Pat::Reference(_)) {
                    this.own_nothing(&node.pat);
                }
                if !matches!(strip(&node.expr), Expr::Range(_)) {
                    this.derive(&node.pat, &node.expr);
                }
                this.block(&node.body);
            });
            if round == 0 && was_reached == self.was_reached {
                break;
            }
        }
        self.leave();
        self.depart(inside);
        if number.is_some() {
            self.iterators.pop();
        }
    }

    pub(super) fn depart(&mut self, inside: usize) {
        self.depth_inside -= inside;
        self.is_after_contents |= inside > 0 && self.depth_inside == 0;
    }

    /// Enters a loop: 1 if it, or one around it, is the one whose contents are looked at.
    pub(super) fn enter(&mut self, number: Option<usize>) -> usize {
        let Some(contents) = &mut self.contents else { return 0 };
        let is_target = number == Some(contents.number);
        if is_target {
            contents.outer = self.bindings.visible();
            self.ends_outside = self.ends;
        }
        let inside = usize::from(is_target || self.depth_inside > 0);
        self.depth_inside += inside;
        inside
    }

    /// What is known of the items that a `for` goes through.
    pub(super) fn class_of_items(&mut self, head: &Expr) -> Class {
        match strip(head) {
            // Only numbers and `char` can be counted through.
            Expr::Range(_) => Class::Scalar,
            Expr::MethodCall(call) if head::passes_items(&call.method) => match strip(&call.receiver) {
                Expr::Range(_) => Class::Scalar,
                receiver @ Expr::MethodCall(_) => self.class_of_items(receiver),
                _ => Class::Unknown,
            },
            // References to the elements.
            Expr::Path(path) => match path.path.get_ident().and_then(|ident| self.bindings.find(ident)) {
                Some(binding) => {
                    let variable = &self.bindings.variables[binding];
                    let is_slice = variable.class == Class::Shared && variable.element != Class::Unknown;
                    if is_slice { Class::Shared } else { Class::Unknown }
                }
                None => Class::Unknown,
            },
            _ => Class::Unknown,
        }
    }

    pub(super) fn looping(
        &mut self,
        attributes: &[syn::Attribute],
        label: &Option<Label>,
        condition: Option<&Expr>,
        body: &Block,
    ) {
        let (_, number) = number::split(attributes);
        let inside = self.enter(number);
        self.exits.push((label.as_ref().map(|label| label.name.clone()), true, BTreeSet::new()));
        for round in 0..2 {
            let was_reached = self.was_reached;
            self.arrive(number);
            self.scoped(|this| {
                if let Some(condition) = condition {
                    this.expression(condition, Use::Looked);
                    let left = this.open.clone();
                    this.exits.last_mut().expect("pushed above").2.extend(left);
                }
                this.block(body);
            });
            if round == 0 && was_reached == self.was_reached {
                break;
            }
        }
        self.leave();
        self.depart(inside);
    }

    /// At the check of a loop. If it is the one that is looked at, all paths start here.
    pub(super) fn arrive(&mut self, number: Option<usize>) {
        let Some(number) = number else { return };
        if self.closures > 0 {
            return;
        }
        self.loops.insert(number);
        if self.notes_uses {
            self.around.entry(number).or_insert_with(|| self.statements.clone());
            self.named_before.entry(number).or_insert(self.mentions);
        }
        if self.target == Some(number) && !self.was_reached {
            self.was_reached = true;
            self.check.visible = self.bindings.visible();
            self.open = self.bindings.in_scope();
            self.check.shadowed = self.open.difference(&self.check.visible).copied().collect();
            self.check.in_operand = self.operands > 0;
            self.check.iterators = self.iterators.clone();
        }
    }

    pub(super) fn exit(&mut self, label: Option<&Lifetime>) {
        self.jumps += 1;
        let open = std::mem::take(&mut self.open);
        let target = self.exits.iter_mut().rev().find(|(name, is_loop, _)| match label {
            Some(label) => name.as_ref().is_some_and(|name| name.ident == label.ident),
            None => *is_loop,
        });
        if let Some((.., exit)) = target {
            exit.extend(open);
        }
    }

    /// After a loop or a labelled block.
    pub(super) fn leave(&mut self) {
        if let Some((_, is_loop, exit)) = self.exits.pop() {
            if is_loop {
                self.open = exit;
            } else {
                self.open.extend(exit);
            }
        }
    }
}
