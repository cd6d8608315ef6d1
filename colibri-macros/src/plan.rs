//! What each check saves.
//!
//! A local that lives across an `.await` is a field of the future: in memory, and without the compiler knowing what
//! else may point there. One that is moved into a tuple before the await, and assigned from it after, is none: only
//! the tuple is, on the path that is taken every 20 µs. So each check saves what it surely can. What stays out is
//! correct as well, and slower.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use syn::{Block, Signature};

use crate::binding::Declared;
use crate::name;
use crate::shape::Shapes;
use crate::survey::Survey;

/// More than this in one tuple costs more at each look at the clock than it brings.
const LARGEST_SAVE: usize = 24;

/// What to do at the loops and declarations of a function, by number.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// What the check of a loop saves.
    saves: BTreeMap<usize, Vec<Ident>>,
    shapes: Shapes,
    /// Declarations whose variable has to become assignable.
    lets: BTreeMap<usize, Ident>,
    fors: BTreeMap<usize, Ident>,
    arguments: BTreeSet<Ident>,
}

impl Plan {
    /// Plans a function whose loops and declarations have numbers.
    pub(crate) fn of(signature: &Signature, body: &Block) -> Plan {
        let mut survey = Survey::of(signature, body);
        let mut plan = Plan { shapes: Shapes::of(body, &survey.over_references), ..Plan::default() };
        for number in survey.loops.clone() {
            if plan.shapes.constant.contains(&number) {
                continue;
            }
            let check = survey.check_of(number, signature, body);
            let mut saved = Vec::new();
            for binding in check.alive {
                let variable = &survey.bindings.variables[binding];
                if !variable.can_be_saved(check.in_operand) || saved.len() == LARGEST_SAVE {
                    continue;
                }
                saved.push(variable.ident.clone());
                if variable.is_mut {
                    continue;
                }
                match variable.declared {
                    Declared::Let(number) => {
                        plan.lets.insert(number, variable.ident.clone());
                    }
                    Declared::For(number) => {
                        plan.fors.insert(number, variable.ident.clone());
                    }
                    Declared::Argument => {
                        plan.arguments.insert(variable.ident.clone());
                    }
                    Declared::Elsewhere | Declared::Late => {}
                }
            }
            let stepping = check.iterators.iter().filter(|number| plan.shapes.steps.contains(number));
            saved.extend(stepping.map(|number| name::iterator_of(*number)));
            plan.saves.insert(number, saved);
        }
        plan
    }

    /// What the check of that loop saves.
    pub(crate) fn saved_at(&self, number: Option<usize>) -> &[Ident] {
        number.and_then(|number| self.saves.get(&number)).map_or(&[], Vec::as_slice)
    }

    /// Whether that `for` advances its iterator by value.
    pub(crate) fn steps(&self, number: Option<usize>) -> bool {
        number.is_some_and(|number| self.shapes.steps.contains(&number))
    }

    /// Whether that `for` may run as it stands, charged in advance, if it fits in the fuel.
    pub(crate) fn is_counted(&self, number: Option<usize>) -> bool {
        number.is_some_and(|number| self.shapes.counted.contains(&number))
    }

    /// Whether that loop gets a copy without an await.
    pub(crate) fn is_copied(&self, number: Option<usize>) -> bool {
        number.is_some_and(|number| self.shapes.copied.contains(&number))
    }

    /// Whether that loop is part of its parent's iteration.
    pub(crate) fn is_constant(&self, number: Option<usize>) -> bool {
        number.is_some_and(|number| self.shapes.constant.contains(&number))
    }

    /// The variable of that `let` that has to become assignable.
    pub(crate) fn of_let(&self, number: Option<usize>) -> Option<&Ident> {
        self.lets.get(&number?)
    }

    /// The variable of that `for` that has to become assignable.
    pub(crate) fn of_for(&self, number: Option<usize>) -> Option<&Ident> {
        self.fors.get(&number?)
    }

    /// Whether that argument has to become assignable.
    pub(crate) fn is_saved_argument(&self, ident: &Ident) -> bool {
        self.arguments.contains(ident)
    }
}
