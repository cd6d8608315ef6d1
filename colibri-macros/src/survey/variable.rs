//! What the walk notes of a variable, and what patterns declare.

use proc_macro2::Ident;
use syn::{Expr, Pat};

use super::{Survey, Use};
use crate::binding::{Declared, Uses};
use crate::kind::{self, Class};
use crate::sources;

impl Survey {
    pub(super) fn variable(&mut self, ident: &Ident, used: Use, is_projected: bool) {
        let Some(binding) = self.bindings.find(ident) else { return };
        let (captured, method) = (self.closures > 0, self.method.take());
        if self.notes_uses {
            let variable = &mut self.bindings.variables[binding];
            variable.mentions.push(self.mentions);
            self.mentions += 1;
            note(&mut variable.uses, used, is_projected, captured);
            if !is_projected {
                variable.methods.extend(method.clone());
            }
        }
        if self.depth_inside > 0
            && let Some(contents) = &mut self.contents
        {
            let inside = contents.inside.entry(binding).or_default();
            note(&mut inside.uses, used, is_projected, captured);
            let by_value = matches!(
                used,
                Use::Passed | Use::Calculated | Use::Matched { .. } | Use::Receiver { .. } | Use::Told
            );
            inside.may_move |= by_value && self.ends > self.ends_outside;
            inside.is_read |= used != Use::Assigned || is_projected;
            if !is_projected {
                inside.methods.extend(method);
            }
        }
        if used == Use::Assigned && !is_projected {
            self.open.remove(&binding);
        } else if self.open.contains(&binding) {
            self.check.alive.insert(binding);
            // Nothing more is to be learned of it.
            self.open.remove(&binding);
        }
    }

    pub(super) fn hide(&mut self, name: &str) {
        if self.depth_inside > 0 {
            for binding in self.bindings.spelled(name) {
                if let Some(contents) = &mut self.contents {
                    contents.inside.entry(binding).or_default().uses.hidden = true;
                }
            }
        }
        if self.notes_uses {
            for binding in self.bindings.spelled(name) {
                self.bindings.variables[binding].uses.hidden = true;
            }
        }
    }

    /// Declares what a pattern of a written type binds.
    pub(super) fn typed(&mut self, pattern: &Pat, ty: &syn::Type, declared: Declared) {
        self.pattern(pattern, kind::class_of_type(ty), declared);
        if let Pat::Ident(node) = pattern
            && let Some(binding) = self.bindings.find(&node.ident)
        {
            self.bindings.variables[binding].element = kind::class_of_elements(ty);
            self.bindings.variables[binding].sequence = kind::sequence_of_type(ty);
        }
    }

    /// Notes that whatever the pattern binds may borrow from what the expression names.
    pub(super) fn derive(&mut self, pattern: &Pat, expression: &Expr) {
        if !self.notes_uses {
            return;
        }
        let found = sources::of(expression, &mut self.bindings);
        if found.is_empty() {
            return;
        }
        if sources::binds_by_reference(pattern) {
            for binding in &found {
                self.bindings.variables[*binding].uses.borrowed = true;
            }
        }
        for ident in sources::bound_by(pattern) {
            if let Some(binding) = self.bindings.find(ident) {
                self.bindings.variables[binding].sources.extend(&found);
            }
        }
    }

    /// Notes that whatever the pattern binds has no destructor.
    pub(super) fn own_nothing(&mut self, pattern: &Pat) {
        for ident in sources::bound_by(pattern) {
            if let Some(binding) = self.bindings.find(ident) {
                self.bindings.variables[binding].owns_nothing = true;
            }
        }
    }

    /// Declares what a pattern binds.
    pub(super) fn pattern(&mut self, pattern: &Pat, class: Class, declared: Declared) {
        match pattern {
            Pat::Ident(node) if node.by_ref.is_none() && node.subpat.is_none() => {
                // A name with a capital is a constant or a variant.
                let starts_large = node.ident.to_string().starts_with(char::is_uppercase);
                if starts_large && node.mutability.is_none() {
                    return;
                }
                let declared = if node.attrs.is_empty() { declared } else { Declared::Elsewhere };
                let binding = self.bindings.declare(&node.ident, node.mutability.is_some(), class, declared);
                self.open.remove(&binding);
            }
            Pat::Ident(node) => {
                let binding = self.bindings.declare(&node.ident, false, Class::Unknown, Declared::Elsewhere);
                self.open.remove(&binding);
                if let Some((_, inner)) = &node.subpat {
                    self.pattern(inner, Class::Unknown, Declared::Elsewhere);
                }
            }
            Pat::Type(node) => self.typed(&node.pat, &node.ty, declared),
            Pat::Paren(node) => self.pattern(&node.pat, class, Declared::Elsewhere),
            // Only what is `Copy` can be moved out of a reference. But a part behind a `&mut` may be a `&mut` itself, of which
            // parts are bound by one again.
            Pat::Reference(node) => {
                let is_copied = node.mutability.is_none() || matches!(*node.pat, Pat::Ident(_));
                let class = if is_copied { Class::Copied } else { Class::Unknown };
                self.pattern(&node.pat, class, Declared::Elsewhere);
            }
            Pat::Tuple(node) => self.parts(&node.elems, class),
            Pat::TupleStruct(node) => self.parts(&node.elems, class),
            Pat::Slice(node) => self.parts(&node.elems, class),
            Pat::Or(node) => self.parts(&node.cases, class),
            Pat::Struct(node) => self.parts(node.fields.iter().map(|field| &*field.pat), class),
            Pat::Macro(node) => self.tokens(&node.mac.tokens),
            _ => {}
        }
    }

    /// The parts of what is of that class.
    fn parts<'p>(&mut self, parts: impl IntoIterator<Item = &'p Pat>, class: Class) {
        // What is taken out of what is `Copy`, is.
        let class = if class == Class::Copied { class } else { Class::Unknown };
        for part in parts {
            self.pattern(part, class, Declared::Elsewhere);
        }
    }
}

fn note(uses: &mut Uses, used: Use, is_projected: bool, captured: bool) {
    uses.captured |= captured;
    uses.projected |= is_projected;
    uses.read |= is_projected || !matches!(used, Use::Assigned | Use::Updated);
    match used {
        Use::Passed => uses.passed |= !is_projected,
        Use::Calculated => {
            uses.calculated |= !is_projected;
            uses.operand |= !is_projected;
        }
        Use::Looked => {}
        Use::Borrowed | Use::BorrowedMut => {
            if is_projected {
                uses.lent = true;
            } else {
                uses.borrowed = true;
            }
            uses.changed |= used == Use::BorrowedMut;
            uses.written |= used == Use::BorrowedMut;
        }
        Use::Exchanged => {
            uses.exchanged = true;
            uses.changed = true;
            uses.written = true;
        }
        Use::Receiver { is_forgotten } => {
            uses.receiver |= !is_projected;
            uses.lent |= !is_forgotten;
            uses.changed = true;
            uses.written |= is_projected;
        }
        Use::Told => {
            uses.receiver |= !is_projected;
            uses.changed = true;
            uses.written |= is_projected;
        }
        Use::Matched { binds } => {
            uses.matched |= binds && !is_projected;
            uses.lent |= binds && is_projected;
            uses.changed |= binds;
            uses.written |= binds;
        }
        Use::Assigned | Use::Updated => {
            uses.assigned |= !is_projected;
            uses.replaced |= used == Use::Assigned && !is_projected;
            uses.changed = true;
            uses.written = true;
            uses.calculated |= used == Use::Updated && !is_projected;
        }
    }
}
