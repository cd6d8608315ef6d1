//! What the parts of the generator share: the random choices, the scopes, where a jump may go, and how much may still
//! be written.
//!
//! The parts return text. Each is written so that the plain twin compiles: what the borrow checker would refuse is kept
//! out by [`Scopes`].

use crate::form::Forms;
use crate::kind::Kind;
use crate::nest::Nest;
use crate::random::Random;
use crate::scope::{Id, Scopes, State};

/// Where a `break` or `continue` may go.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) label: Option<String>,
    /// What a `break` must give; `None` if nothing.
    pub(crate) value: Option<Kind>,
    /// Else a labelled block.
    pub(crate) is_loop: bool,
}

/// A function that others may call.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Kind>,
    /// What comes after the arguments: the depth.
    pub(crate) last: &'static str,
    pub(crate) returns: Kind,
}

/// The state of generation.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    pub(crate) random: Random,
    pub(crate) scopes: Scopes,
    pub(crate) forms: Forms,
    pub(crate) targets: Vec<Target>,
    /// Statements that may still be written.
    pub(crate) left: i32,
    /// What `return` must give.
    pub(crate) returns: Kind,
    /// Functions that may be called, with an await.
    pub(crate) helpers: Vec<Callee>,
    /// The function itself; its last argument is the depth.
    pub(crate) own: Option<Callee>,
    /// Inside something that keeps its loops: no iteration is a check.
    pub(crate) keeps_loops: bool,
    /// In the head of a `while`, whose check comes before the condition: loops in there may be charged with the next round.
    pub(crate) is_in_condition: bool,
    /// Blocks may be written inside expressions (not in a macro's arguments).
    pub(crate) has_blocks: bool,
    /// Inside a loop nest: how it is written.
    pub(crate) nest: Option<Nest>,
    /// Loops around the nest.
    pub(crate) around: usize,
    /// Statements with a hole for an `i32`, on variables whose types are not known yet.
    pub(crate) loose: Vec<String>,
    /// Only short expressions without temporaries or closures: what an optimising lowering understands best.
    pub(crate) is_tight: bool,
    /// Let chains are there.
    pub(crate) has_chains: bool,
    names: usize,
}

/// Names that are used again and again, so that they shadow each other: some of them are those of generated bindings.
const NAMES: [&str; 16] = [
    "a", "b", "x", "y", "sum", "fuel", "saved", "value", "next", "iterator", "core", "frame", "body",
    "r#loop", "context", "future",
];

impl Generator {
    pub(crate) fn new(random: Random, has_chains: bool) -> Generator {
        Generator {
            random,
            scopes: Scopes::default(),
            forms: Forms::default(),
            targets: Vec::new(),
            left: 0,
            returns: Kind::Unit,
            helpers: Vec::new(),
            own: None,
            keeps_loops: false,
            is_in_condition: false,
            has_blocks: true,
            nest: None,
            around: 0,
            is_tight: false,
            loose: Vec::new(),
            has_chains,
            names: 0,
        }
    }

    /// A name that nothing else has.
    pub(crate) fn unique(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// A name for a variable, which may hide another one.
    pub(crate) fn name(&mut self) -> String {
        if self.random.chance(60) { self.unique("v") } else { (*self.random.pick(&NAMES)).to_owned() }
    }

    pub(crate) fn is_in_closure(&self) -> bool {
        self.scopes.depth.1 > 0
    }

    pub(crate) fn is_in_loop(&self) -> bool {
        self.targets.iter().any(|target| target.is_loop)
    }

    /// One of those that can be read.
    pub(crate) fn readable(&mut self, kind: Kind) -> Option<Id> {
        let fitting = self.scopes.all(|variable| variable.kind == kind && variable.state <= State::Shared);
        self.one_of(&fitting)
    }

    /// One of those that can be read and have methods.
    pub(crate) fn receiver(&mut self, kind: Kind) -> Option<Id> {
        let fitting = self
            .scopes
            .all(|variable| variable.kind == kind && variable.state <= State::Shared && !variable.is_loose);
        self.one_of(&fitting)
    }

    /// One of those that can be changed.
    pub(crate) fn writable(&mut self, kind: Kind) -> Option<Id> {
        let fitting = self.scopes.all(|variable| {
            let is_reference = matches!(kind, Kind::IntsMut | Kind::SliceMut | Kind::IntMut);
            variable.kind == kind && variable.state == State::Free && (variable.is_mut || is_reference)
        });
        self.one_of(&fitting)
    }

    /// One of those that can be moved out of, here.
    pub(crate) fn movable(&mut self, kind: Kind) -> Option<Id> {
        let fitting = self.scopes.all(|variable| variable.kind == kind && self.scopes.is_movable(variable));
        self.one_of(&fitting)
    }

    /// One of those that can be changed, or a new one and the statement that declares it.
    pub(crate) fn provide(&mut self, kind: Kind) -> (String, Id) {
        if let Some(id) = self.writable(kind) {
            return (String::new(), id);
        }
        let (name, from) = (self.unique("v"), if kind == Kind::Items { Kind::Ints } else { kind });
        let value = self.without_blocks(|this| this.expression(from, 1));
        let id = self.scopes.declare(&name, kind, true);
        if kind == Kind::Items {
            return (format!("let mut {name} = {value}.into_iter();\n"), id);
        }
        (format!("let mut {name}: {} = {value};\n", kind.name()), id)
    }

    fn one_of(&mut self, ids: &[Id]) -> Option<Id> {
        if ids.is_empty() { None } else { Some(*self.random.pick(ids)) }
    }

    /// Writes something while `id` is borrowed.
    pub(crate) fn while_held<R>(&mut self, id: Id, state: State, write: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.scopes.raise(id, state);
        let result = write(self);
        self.scopes.restore(id, before);
        result
    }

    /// Writes something in a scope of its own.
    pub(crate) fn scoped<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.open();
        let result = write(self);
        self.scopes.close();
        result
    }

    /// Writes something with plain expressions only.
    pub(crate) fn without_blocks<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.has_blocks, false);
        let result = write(self);
        self.has_blocks = before;
        result
    }
}
