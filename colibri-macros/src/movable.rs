//! How the variables of a nest move with it: as parameters of its function, or by the closure's own capture, or in
//! what a stop in its middle carries out and in again.
//!
//! Where syntax does not prove that a variable can, the nest stays where it is: that costs speed only.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::Ident;
use quote::ToTokens as _;
use syn::{Block, Expr, Signature};

use crate::binding::{Binding, Declared, Variable};
use crate::kind::{Class, Sequence};
use crate::mention::Mentions;
use crate::method::{LOOKING, SLICE, VECTOR};
use crate::name;
use crate::nest::Structure;
use crate::survey::{Check, Contents, Inside, Survey};

/// The most parameters of one nest, of which fuel and entry are two.
const MOST_PARAMETERS: usize = 12;

/// The most locals that a stop carries.
const LARGEST_PAYLOAD: usize = 16;

/// How a variable gets into the nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// A copy.
    Value,
    /// A copy, and the nest's value comes back.
    InOut,
    /// `&*v`, `&mut *v`.
    Slice { is_mut: bool },
    /// `&v`, `&mut v`.
    Reference { is_mut: bool },
    /// `&**v`, `&mut **v`.
    SliceBehind { is_mut: bool },
}

/// A parameter of the nest's function.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    pub(crate) passing: Passing,
    /// Of a vector: its length, as the function wrote it.
    pub(crate) length: Option<Expr>,
}

/// A nest that moves.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) structure: Structure,
    pub(crate) parameters: Vec<Parameter>,
    /// Of each loop: what a stop there carries, in the order in which it was made.
    pub(crate) payloads: Vec<Vec<Ident>>,
}

impl Outline {
    /// Plans the move of a nest, if its variables allow it.
    pub(crate) fn of(
        structure: Structure,
        root_node: &Expr,
        survey: &mut Survey,
        signature: &Signature,
        body: &Block,
    ) -> Option<Outline> {
        let root = structure.loops[0].number;
        let contents = survey.contents_of(root, signature, body);
        let checks: Vec<Rc<Check>> =
            structure.loops.iter().map(|node| survey.check_of(node.number, signature, body)).collect();
        let items: Vec<_> = structure.loops.iter().map(|node| survey.sources_of_items(node.number)).collect();
        let moves = Moves {
            variables: &survey.bindings.variables,
            contents: &contents,
            checks: &checks,
            mentions: Mentions::of(root_node, &structure),
            first_inside: &survey.first_inside,
            named_before: &survey.named_before,
        };
        moves.plan(structure, &items)
    }
}

struct Moves<'a> {
    variables: &'a [Variable],
    contents: &'a Contents,
    /// By loop of the nest.
    checks: &'a [Rc<Check>],
    mentions: Mentions,
    /// By the number of a `for`.
    first_inside: &'a BTreeMap<usize, Binding>,
    named_before: &'a BTreeMap<usize, usize>,
}

impl Moves<'_> {
    fn plan(&self, mut structure: Structure, items: &[BTreeSet<Binding>]) -> Option<Outline> {
        let changed = self.changed();
        for (node, sources) in structure.loops.iter_mut().zip(items) {
            node.is_over_slice = node.is_over_variable
                && sources.len() == 1
                && sources.iter().all(|source| {
                    let variable = &self.variables[*source];
                    variable.class == Class::Shared && variable.sequence != Sequence::Unknown
                });
        }
        let mut parameters: Vec<Parameter> = Vec::new();
        // The variables of a length that is written down again come along.
        let mut of_lengths: BTreeSet<Binding> = BTreeSet::new();
        for (binding, inside) in &self.contents.inside {
            if !self.contents.outer.contains(binding) {
                continue;
            }
            let parameter = self.parameter(*binding, inside)?;
            // Captured, a vector's address and length would be loaded anew after each store to another. Perhaps the loops
            // inside can have it as a parameter.
            let is_indexed = inside.uses.projected && self.is_resizable(*binding);
            if parameter.is_none() && is_indexed && structure.loops.len() > 1 {
                return None;
            }
            if parameter.as_ref().is_some_and(|parameter| parameter.length.is_some()) {
                of_lengths.extend(&self.variables[*binding].length_of);
            }
            parameters.extend(parameter);
        }
        for binding in of_lengths {
            let ident = &self.variables[binding].ident;
            if !parameters.iter().any(|parameter| parameter.ident == *ident) {
                parameters.push(Parameter { ident: ident.clone(), passing: Passing::Value, length: None });
            }
        }
        if parameters.len() > MOST_PARAMETERS {
            return None;
        }
        // Whoever borrows from what the nest changes, and is used inside or after it, would have to do so across it.
        let used: BTreeSet<Binding> =
            self.contents.inside.keys().chain(&self.checks[0].alive).copied().collect();
        for binding in used {
            if self.contents.outer.contains(&binding) && self.borrows(binding, &changed) {
                return None;
            }
        }
        if items.iter().any(|sources| self.any_borrows(sources, &changed, None)) {
            return None;
        }
        let mut payloads = Vec::new();
        let mut carried: Vec<BTreeSet<Binding>> = Vec::new();
        for index in 0..structure.loops.len() {
            let mut bindings = BTreeSet::new();
            if let Some(parent) = structure.loops[index].parent {
                // Who is entered here may be stopped at the loops around.
                bindings = self.payload(index, &structure, &changed, &carried[parent])?;
            }
            // In the order in which they were made: a panic drops the last one first.
            let mut payload: Vec<((Binding, bool), Ident)> = Vec::new();
            for binding in &bindings {
                payload.push(((*binding, true), self.variables[*binding].ident.clone()));
            }
            for outer in structure.chain(index) {
                let number = structure.loops[outer].number;
                if structure.loops[outer].is_for {
                    let first_inside = self.first_inside.get(&number).copied().unwrap_or(Binding::MAX);
                    payload.push(((first_inside, false), name::iterator_of(number)));
                }
            }
            payload.sort_by_key(|(made, _)| *made);
            payloads.push(payload.into_iter().map(|(_, ident)| ident).collect());
            carried.push(bindings);
        }
        Some(Outline { structure, parameters, payloads })
    }

    /// What is outside of the nest and changed inside, or of which nobody but a borrower may know.
    fn changed(&self) -> BTreeSet<Binding> {
        let inside = self.contents.inside.iter();
        inside
            .filter(|(binding, inside)| {
                let (variable, uses) = (&self.variables[**binding], &inside.uses);
                let is_changed = match variable.class {
                    // Copies go in and out.
                    Class::Scalar => variable.uses.borrowed || variable.uses.captured,
                    _ => uses.assigned || uses.changed && !self.only_looks(**binding, inside),
                };
                self.contents.outer.contains(binding) && is_changed
            })
            .map(|(binding, _)| *binding)
            .collect()
    }

    /// Whether every method that is called is known to change nothing.
    fn only_looks(&self, binding: Binding, inside: &Inside) -> bool {
        let known = self.variables[binding].sequence != Sequence::Unknown
            || self.variables[binding].class == Class::Shared;
        known
            && !inside.uses.written
            && inside.methods.iter().all(|method| LOOKING.contains(&method.as_str()))
    }

    /// Whether a variable is a vector, whose length and address lie in memory.
    fn is_resizable(&self, binding: Binding) -> bool {
        self.variables[binding].sequence == Sequence::Vector
    }

    /// Whether a variable may borrow from another of `from`.
    fn borrows(&self, binding: Binding, from: &BTreeSet<Binding>) -> bool {
        let variable = &self.variables[binding];
        !is_number(variable) && self.any_borrows(&variable.sources, from, Some(binding))
    }

    /// Whether anything that comes from `sources`, `own` apart, comes from one of `from`.
    fn any_borrows(
        &self,
        sources: &BTreeSet<Binding>,
        from: &BTreeSet<Binding>,
        own: Option<Binding>,
    ) -> bool {
        let mut seen: BTreeSet<Binding> = own.into_iter().collect();
        let mut open: Vec<Binding> = sources.iter().copied().collect();
        while let Some(binding) = open.pop() {
            if !seen.insert(binding) {
                continue;
            }
            if from.contains(&binding) {
                return true;
            }
            if is_number(&self.variables[binding]) {
                continue;
            }
            open.extend(&self.variables[binding].sources);
        }
        false
    }

    /// How a variable from outside gets into the nest: `Some(None)` if the closure captures it, `None` if it cannot get
    /// in at all.
    fn parameter(&self, binding: Binding, inside: &Inside) -> Option<Option<Parameter>> {
        let variable = &self.variables[binding];
        let uses = &inside.uses;
        let parameter = |passing| {
            let (ident, length) = (variable.ident.clone(), self.length(binding));
            Some(Some(Parameter { ident, passing, length }))
        };
        if variable.uses.hidden || variable.declared == Declared::Late && uses.replaced {
            return None;
        }
        // Nobody reads what is assigned here: the compiler would not see that any more.
        if uses.replaced && !inside.is_read && !self.checks[0].alive.contains(&binding)
            || variable.is_assigned_only()
        {
            return None;
        }
        let is_shadowed = !self.checks[0].visible.contains(&binding);
        let stays = uses.borrowed || uses.captured || uses.exchanged || is_shadowed;
        match variable.class {
            Class::Scalar | Class::Shared if !stays => {
                parameter(if uses.assigned || uses.changed && variable.class == Class::Scalar {
                    Passing::InOut
                } else {
                    Passing::Value
                })
            }
            Class::Scalar | Class::Shared => Some(None),
            Class::Copied => {
                let is_copied = !(stays || uses.lent || uses.changed || uses.matched);
                if is_copied { parameter(Passing::Value) } else { Some(None) }
            }
            Class::Exclusive => {
                if inside.may_move || uses.replaced {
                    return None;
                }
                match self.view(variable, inside) {
                    Some(passing) if !stays => parameter(passing),
                    _ => Some(None),
                }
            }
            Class::Unknown => {
                let by_value = uses.passed || uses.operand || uses.matched || uses.receiver || uses.lent;
                if inside.may_move || uses.replaced && by_value {
                    return None;
                }
                // By value in each iteration, and never replaced: it is `Copy`.
                let is_other = uses.receiver || uses.lent || uses.matched || uses.projected;
                if uses.operand && !uses.replaced && !stays && !is_other {
                    return parameter(if uses.assigned { Passing::InOut } else { Passing::Value });
                }
                match self.view(variable, inside) {
                    Some(passing) if !stays => parameter(passing),
                    _ => Some(None),
                }
            }
        }
    }

    /// How a sequence is passed, if it is only used as what it is passed as.
    fn view(&self, variable: &Variable, inside: &Inside) -> Option<Passing> {
        let uses = &inside.uses;
        if uses.passed || uses.calculated || uses.matched || uses.assigned {
            return None;
        }
        let knows = |names: &[&str]| inside.methods.iter().all(|method| names.contains(&method.as_str()));
        let only_looks = !uses.written && knows(&LOOKING);
        let is_mut = uses.changed && !only_looks;
        let is_slice = knows(&LOOKING) || knows(&SLICE);
        let is_reference = variable.class == Class::Exclusive;
        if is_mut && !is_reference && !variable.is_mut {
            return None;
        }
        let passing = match (variable.sequence, is_reference) {
            (Sequence::Vector, false) if is_slice => Some(Passing::Slice { is_mut }),
            (Sequence::Vector, false) if knows(&VECTOR) => Some(Passing::Reference { is_mut }),
            (Sequence::Array, false) if is_slice => Some(Passing::Reference { is_mut }),
            (Sequence::Vector, true) if is_slice => Some(Passing::SliceBehind { is_mut }),
            (Sequence::Vector, true) if knows(&VECTOR) => Some(Passing::Slice { is_mut }),
            (Sequence::Slice | Sequence::Array, true) if is_slice => Some(Passing::Slice { is_mut }),
            _ => None,
        };
        // `*v` must mean the same there.
        let is_same = match passing {
            Some(Passing::Slice { .. }) => !is_reference || variable.sequence != Sequence::Vector,
            _ => false,
        };
        passing.filter(|_| is_same || !variable.uses.dereferenced)
    }

    /// The length of a vector that has had it from the beginning. That the compiler knows from where the vector was made,
    /// and would not know in the nest.
    fn length(&self, binding: Binding) -> Option<Expr> {
        let variable = &self.variables[binding];
        let text = |of: &Variable| of.length.as_ref().map(|length| length.to_token_stream().to_string());
        let keeps_it = |of: &Variable| {
            let uses = &of.uses;
            let knows = of
                .methods
                .iter()
                .all(|method| LOOKING.contains(&method.as_str()) || SLICE.contains(&method.as_str()));
            knows && !(uses.borrowed || uses.captured || uses.hidden || uses.assigned || uses.matched)
        };
        let others = variable.exchanged.iter().map(|other| &self.variables[*other]);
        let is_kept = keeps_it(variable)
            && others.into_iter().all(|other| keeps_it(other) && text(other) == text(variable))
            && variable
                .exchanged
                .iter()
                .all(|other| self.variables[*other].exchanged.iter().all(|third| *third == binding));
        let is_known = variable.length_of.iter().all(|of| {
            let uses = &self.variables[*of].uses;
            self.checks[0].visible.contains(of) && !(uses.assigned || uses.changed_as_whole())
        });
        if is_kept && is_known { variable.length.clone() } else { None }
    }

    /// What a stop at an inner loop carries, if it can; `around` is what one at the loop around it carries.
    fn payload(
        &self,
        index: usize,
        structure: &Structure,
        changed: &BTreeSet<Binding>,
        around: &BTreeSet<Binding>,
    ) -> Option<BTreeSet<Binding>> {
        let check = &self.checks[index];
        if check.in_operand {
            return None;
        }
        let mut payload = BTreeSet::new();
        for binding in check.visible.union(&check.shadowed) {
            if self.contents.outer.contains(binding) {
                continue;
            }
            let variable = &self.variables[*binding];
            let is_alive = check.alive.contains(binding);
            let mut is_carried = self.is_carried(variable, is_alive)?;
            if !is_carried && (around.contains(binding) || self.is_mentioned(*binding, index, structure)) {
                // On no way that control can take, or to be assigned first: the name must be there. If nobody has read what
                // it has now, the compiler says so; whoever carries it reads it.
                let before = self.named_before.get(&structure.loops[index].number).copied().unwrap_or(0);
                let is_copied = matches!(variable.class, Class::Scalar | Class::Shared);
                let is_read = variable.is_mentioned_in(&(0..before));
                if !(is_copied && is_read) || self.is_carried(variable, true) != Some(true) {
                    return None;
                }
                is_carried = true;
            }
            if !is_carried {
                continue;
            }
            if check.shadowed.contains(binding) || variable.declared == Declared::Late && !is_alive {
                return None;
            }
            if !is_number(variable)
                && (self.any_borrows(&variable.sources, changed, None) || self.borrows_inside(variable))
            {
                return None;
            }
            payload.insert(*binding);
        }
        // What is outside of the nest has its name back after the loop; where it is entered here, it would not.
        let hides = |binding: &Binding| {
            let name = &self.variables[*binding].ident;
            let mut hidden = check.shadowed.intersection(&self.contents.outer);
            hidden.any(|outer| self.variables[*outer].ident == *name)
                && self.is_mentioned(*binding, index, structure)
        };
        (payload.len() <= LARGEST_PAYLOAD && !payload.iter().any(hides)).then_some(payload)
    }

    /// Whether the code for an entry at that loop names the variable, outside of what declares it anew.
    fn is_mentioned(&self, binding: Binding, index: usize, structure: &Structure) -> bool {
        let variable = &self.variables[binding];
        // What that code consists of comes after the loop's head. There the name may be another variable's.
        let first = self.named_before.get(&structure.loops[index].number).copied().unwrap_or(0);
        if !variable.uses.hidden && !variable.is_mentioned_in(&(first..usize::MAX)) {
            return false;
        }
        let name = variable.ident.to_string();
        structure.chain(index).iter().rev().any(|outer| {
            let sees_it = self.checks[*outer].visible.contains(&binding);
            (*outer != 0 && sees_it && self.mentions.inside[*outer].contains(&name))
                || self.mentions.after[*outer].contains(&name)
        })
    }

    /// Whether a local of the nest must be carried out where it is stopped; `None` if it cannot.
    fn is_carried(&self, variable: &Variable, is_alive: bool) -> Option<bool> {
        let uses = &variable.uses;
        if is_alive && variable.is_assigned_only() {
            return None;
        }
        let is_held = uses.borrowed || uses.captured || uses.hidden;
        match variable.class {
            Class::Scalar | Class::Shared if !is_alive => Some(false),
            Class::Scalar | Class::Shared => (!is_held).then_some(true),
            Class::Copied if !is_alive => Some(false),
            Class::Copied => (!is_held && !uses.lent).then_some(true),
            Class::Exclusive if !is_alive => Some(false),
            Class::Exclusive => (!(is_held || uses.lent || uses.passed || uses.matched)).then_some(true),
            Class::Unknown if is_alive => (!(is_held || uses.lent || uses.matched)).then_some(true),
            // A number, or moved.
            Class::Unknown if uses.calculated || variable.owns_nothing => Some(false),
            // It may have a destructor, and is carried so that it does not run too early; if it cannot have been moved, and
            // if the compiler has nothing to say of it: whoever carries it uses it.
            Class::Unknown => {
                let may_be_moved = uses.passed || uses.matched || uses.receiver;
                let is_unused = variable.mentions.is_empty() && !variable.ident.to_string().starts_with('_');
                (!(is_held || uses.lent || may_be_moved || is_unused)).then_some(true)
            }
        }
    }

    /// Whether a local may borrow from another local of the nest, which would move at the same time.
    fn borrows_inside(&self, variable: &Variable) -> bool {
        variable.sources.iter().any(|source| {
            let of = &self.variables[*source];
            let is_local = !self.contents.outer.contains(source);
            let is_held = of.uses.borrowed || of.uses.captured || of.uses.lent || of.uses.matched;
            is_local && !matches!(of.class, Class::Shared) && is_held
        })
    }
}

/// Whether a variable holds a number, or what is calculated with as if it were one: it borrows nothing.
fn is_number(variable: &Variable) -> bool {
    variable.class == Class::Scalar || variable.uses.calculated
}
