//! The variables in scope, and what may be done with each: enough of the borrow checker to write programs that pass it.

use crate::kind::Kind;

/// A variable, by its place in the list of all that were ever declared.
pub(crate) type Id = usize;

/// What may be done with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// Anything.
    Free,
    /// It is borrowed: read only.
    Shared,
    /// It is borrowed mutably, moved, or not initialised: nothing.
    Taken,
}

/// A variable, or a place such as `self.total` that is used like one.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_mut: bool,
    pub(crate) state: State,
    /// Its type is left to inference until something uses it, so that it has no methods.
    pub(crate) is_loose: bool,
    /// The loops and closures around its declaration: it may be moved out of only where there are no more of them.
    pub(crate) depth: (usize, usize),
    /// The number of scopes around it.
    level: usize,
}

#[derive(Clone, Debug, Default)]
struct Scope {
    variables: Vec<Id>,
    /// What ends with the scope: borrows, by the state before them.
    locks: Vec<(Id, State)>,
}

/// A closure that is being written: which variables of the outside it uses.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    level: usize,
    pub(crate) read: Vec<Id>,
    pub(crate) written: Vec<Id>,
}

/// All scopes of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scopes {
    variables: Vec<Variable>,
    scopes: Vec<Scope>,
    captures: Vec<Capture>,
    /// Loops and closures around the present place.
    pub(crate) depth: (usize, usize),
}

impl Scopes {
    pub(crate) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(crate) fn close(&mut self) {
        let scope = self.scopes.pop().expect("a scope is open");
        for (id, state) in scope.locks.into_iter().rev() {
            self.restore(id, state);
        }
        for id in scope.variables {
            self.variables[id].state = State::Taken;
        }
    }

    /// Declares a variable in the innermost scope.
    pub(crate) fn declare(&mut self, name: &str, kind: Kind, is_mut: bool) -> Id {
        let id = self.variables.len();
        let (depth, level) = (self.depth, self.scopes.len());
        let name = name.to_owned();
        self.variables.push(Variable {
            name,
            kind,
            is_mut,
            state: State::Free,
            is_loose: false,
            depth,
            level,
        });
        self.scopes.last_mut().expect("a scope is open").variables.push(id);
        id
    }

    pub(crate) fn get(&self, id: Id) -> &Variable {
        &self.variables[id]
    }

    pub(crate) fn make_loose(&mut self, id: Id) {
        self.variables[id].is_loose = true;
    }

    /// Everything that can be named here, shadowed ones left out.
    fn visible(&self) -> Vec<Id> {
        let mut seen: Vec<&str> = Vec::new();
        let mut visible = Vec::new();
        for scope in self.scopes.iter().rev() {
            for &id in scope.variables.iter().rev() {
                let name = self.variables[id].name.as_str();
                if !seen.contains(&name) {
                    seen.push(name);
                    visible.push(id);
                }
            }
        }
        visible
    }

    /// What fits, of all that can be named here.
    pub(crate) fn all(&self, fits: impl Fn(&Variable) -> bool) -> Vec<Id> {
        self.visible().into_iter().filter(|&id| fits(&self.variables[id])).collect()
    }

    /// Notes that `id` is read here, and names it.
    pub(crate) fn read(&mut self, id: Id) -> String {
        self.note(id, false);
        self.variables[id].name.clone()
    }

    /// Notes that `id` is changed here, and names it.
    pub(crate) fn write(&mut self, id: Id) -> String {
        self.note(id, true);
        self.variables[id].name.clone()
    }

    /// Moves out of `id`.
    pub(crate) fn take(&mut self, id: Id) -> String {
        self.note(id, true);
        self.variables[id].state = State::Taken;
        self.variables[id].name.clone()
    }

    /// Whether it can be moved from here: not from a loop or closure that it is declared outside of.
    pub(crate) fn is_movable(&self, variable: &Variable) -> bool {
        variable.state == State::Free && variable.depth == self.depth && !variable.name.contains('.')
    }

    fn note(&mut self, id: Id, is_write: bool) {
        let level = self.variables[id].level;
        for capture in &mut self.captures {
            if level <= capture.level {
                let list = if is_write { &mut capture.written } else { &mut capture.read };
                list.push(id);
            }
        }
    }

    /// Borrows `id` until the innermost scope ends.
    pub(crate) fn lock(&mut self, id: Id, state: State) {
        let before = self.raise(id, state);
        self.scopes.last_mut().expect("a scope is open").locks.push((id, before));
    }

    /// Ends the borrow of `id` before its scope does.
    pub(crate) fn unlock(&mut self, id: Id) {
        let scope = self.scopes.last_mut().expect("a scope is open");
        if let Some(at) = scope.locks.iter().rposition(|&(locked, _)| locked == id) {
            let (_, state) = scope.locks.remove(at);
            self.variables[id].state = state;
        }
    }

    /// Raises the state for a moment; [`Scopes::restore`] gives back what this returns.
    pub(crate) fn raise(&mut self, id: Id, state: State) -> State {
        let before = self.variables[id].state;
        self.variables[id].state = before.max(state);
        before
    }

    /// See [`Scopes::raise`].
    pub(crate) fn restore(&mut self, id: Id, state: State) {
        self.variables[id].state = state;
    }

    /// Says that `id` cannot be used any more (or not yet).
    pub(crate) fn retire(&mut self, id: Id) {
        self.variables[id].state = State::Taken;
    }

    pub(crate) fn begin_capture(&mut self) {
        let level = self.scopes.len();
        self.captures.push(Capture { level, read: Vec::new(), written: Vec::new() });
    }

    pub(crate) fn end_capture(&mut self) -> Capture {
        self.captures.pop().expect("a closure is being written")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadowed_and_closed_variables_are_not_offered() {
        let mut scopes = Scopes::default();
        scopes.open();
        let outer = scopes.declare("x", Kind::I32, false);
        let other = scopes.declare("y", Kind::I32, false);
        scopes.open();
        let inner = scopes.declare("x", Kind::Bool, false);
        assert_eq!(scopes.all(|_| true), [inner, other]);
        scopes.close();
        assert_eq!(scopes.all(|_| true), [other, outer]);
    }

    #[test]
    fn a_borrow_ends_with_its_scope() {
        let mut scopes = Scopes::default();
        scopes.open();
        let x = scopes.declare("x", Kind::I32, true);
        scopes.open();
        scopes.lock(x, State::Taken);
        assert!(scopes.all(|variable| variable.state == State::Free).is_empty());
        scopes.close();
        assert_eq!(scopes.all(|variable| variable.state == State::Free), [x]);
    }

    #[test]
    fn a_closure_knows_what_it_captures() {
        let mut scopes = Scopes::default();
        scopes.open();
        let x = scopes.declare("x", Kind::I32, true);
        scopes.begin_capture();
        scopes.open();
        let y = scopes.declare("y", Kind::I32, true);
        scopes.write(x);
        scopes.write(y);
        scopes.close();
        assert_eq!(scopes.end_capture().written, [x]);
    }
}
