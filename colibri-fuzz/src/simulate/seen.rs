//! What can be seen of a task from outside: for schedulers that do not tell of their events themselves. Each task gets a
//! waker that notes the wake before it passes it on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use super::World;
use crate::bell::{Ear, bell};
use crate::subject::Subject;
use crate::trace::{What, Why};

/// What is seen of one task.
#[derive(Debug, Default)]
pub(super) struct Seen {
    state: Cell<State>,
    /// It gave way at a checkpoint, or was woken, in its present poll: it is ready after it.
    again: Cell<Option<Why>>,
    /// The waker that it is given.
    bell: RefCell<Option<Waker>>,
    /// The scheduler's.
    behind: RefCell<Option<Waker>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Not spawned, or gone.
    #[default]
    Absent,
    Ready,
    Running,
    Waiting,
}

impl Seen {
    /// It is spawned, and its wakes are heard from now on.
    pub(super) fn hang(&self, ear: Rc<dyn Ear>, task: u32) {
        self.state.set(State::Ready);
        *self.bell.borrow_mut() = Some(bell(&ear, task));
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state.get() == State::Ready
    }

    /// Its future is dropped.
    pub(super) fn is_gone(&self) {
        self.state.set(State::Absent);
    }

    /// A poll begins: the waker to hand on.
    pub(super) fn begin(&self, behind: &Waker) -> Waker {
        self.state.set(State::Running);
        self.again.set(None);
        *self.behind.borrow_mut() = Some(behind.clone());
        self.bell.borrow().clone().unwrap_or_else(|| behind.clone())
    }

    /// It gives way.
    pub(super) fn gives_way(&self, why: Why) {
        self.again.set(Some(why));
    }

    /// A poll ends and the task has not.
    pub(super) fn end(&self) -> What {
        let again = self.again.get();
        self.state.set(if again.is_some() { State::Ready } else { State::Waiting });
        again.map_or(What::Suspended, What::Yielded)
    }
}

impl<S: Subject> Ear for World<S> {
    fn hear(&self, task: u32) {
        let seen = &self.posts[task as usize].seen;
        match seen.state.get() {
            State::Waiting => {
                seen.state.set(State::Ready);
                self.note(task, What::Woken);
            }
            State::Running => seen.again.set(seen.again.get().or(Some(Why::Own))),
            State::Ready | State::Absent => {}
        }
        let behind = seen.behind.borrow().clone();
        if let Some(behind) = behind {
            behind.wake();
        }
    }
}
