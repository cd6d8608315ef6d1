//! What each check saves.
//!
//! A local that lives across an `.await` is a field of the future: in memory, and without the compiler knowing what
//! else may point there. One that is moved into a tuple before the await, and assigned from it after, is none: only
//! the tuple is, on the path that is taken every 20 µs. So each check saves what it surely can. What stays out is
//! correct as well, and slower.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprAsync, ExprClosure, Item, Signature};

use crate::binding::Declared;
use crate::movable::Outline;
use crate::name;
use crate::nest::Structure;
use crate::rest;
use crate::shape::Shapes;
use crate::survey::Survey;

/// More than this in one tuple costs more at each look at the clock than it brings.
const LARGEST_SAVE: usize = 24;

/// What to do at the loops and declarations of a function, by number.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// What the check of a loop saves.
    saves: BTreeMap<usize, Vec<Ident>>,
    /// Nests that move into a function of their own, by their outermost loop.
    outlines: BTreeMap<usize, Outline>,
    shapes: Shapes,
    /// Declarations whose variable has to become assignable.
    lets: BTreeMap<usize, Ident>,
    fors: BTreeMap<usize, Ident>,
    arguments: BTreeSet<Ident>,
}

impl Plan {
    /// Plans a function whose loops and declarations have numbers.
    pub(crate) fn of(signature: &Signature, body: &Block, can_return: bool) -> Plan {
        let mut survey = Survey::of(signature, body);
        let mut plan =
            Plan { shapes: Shapes::of(signature, body, &survey.over_references), ..Plan::default() };
        let mut nests = Nests { plan: &mut plan, survey: &mut survey, signature, body, can_return };
        nests.visit_block(body);
        let moved = plan.moved();
        for number in survey.loops.clone() {
            if plan.shapes.constant.contains(&number) || moved.contains(&number) {
                continue;
            }
            let check = survey.check_of(number, signature, body);
            let mut saved = Vec::new();
            for binding in check.alive.intersection(&check.visible).copied() {
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
            // A nest carries the iterators of its own loops.
            let is_outlined = plan.outlines.contains_key(&number);
            let stepping = check
                .iterators
                .iter()
                .filter(|inner| plan.shapes.steps.contains(inner) && !(is_outlined && **inner == number));
            saved.extend(stepping.map(|number| name::iterator_of(*number)));
            plan.saves.insert(number, saved);
        }
        plan
    }

    /// The nest under that loop, if it moves.
    pub(crate) fn outline_of(&self, number: Option<usize>) -> Option<&Outline> {
        self.outlines.get(&number?)
    }

    /// Loops that move with another.
    fn moved(&self) -> BTreeSet<usize> {
        let loops = self.outlines.values().flat_map(|outline| &outline.structure.loops[1..]);
        loops.map(|inner| inner.number).collect()
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

/// Finds nests that can move, the largest first.
struct Nests<'a> {
    plan: &'a mut Plan,
    survey: &'a mut Survey,
    signature: &'a Signature,
    body: &'a Block,
    /// Whether a nest may leave the function: what it returns has a type that can be written down.
    can_return: bool,
}

impl Nests<'_> {
    fn outline(&mut self, node: &Expr) -> Option<Outline> {
        let number = rest::number_of(node)?;
        if self.plan.shapes.constant.contains(&number) || !self.survey.loops.contains(&number) {
            return None;
        }
        let structure = Structure::of(node, &self.plan.shapes.constant, &self.signature.ident)?;
        if structure.returns && !self.can_return {
            return None;
        }
        Outline::of(structure, node, self.survey, self.signature, self.body)
    }
}

impl<'ast> Visit<'ast> for Nests<'_> {
    fn visit_expr(&mut self, node: &'ast Expr) {
        match self.outline(node) {
            Some(outline) => {
                if let Expr::ForLoop(node) = node {
                    self.visit_expr(&node.expr);
                }
                self.plan.outlines.insert(outline.structure.loops[0].number, outline);
            }
            None => visit::visit_expr(self, node),
        }
    }

    // Not the function's loops.
    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}

    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
}
