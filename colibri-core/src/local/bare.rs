//! Without threads there is one state for all. It may hold numbers only: a scheduler is neither `Send` nor `Sync`, and a
//! static of one would need unsafe code. So nobody finds the running scheduler here: tasks bring their handle, wakes
//! take the way of those from outside, and a check that cannot ask the scheduler ends the poll.

use alloc::rc::Rc;

use super::{Local, Outer};
use crate::engine::Engine;

/// Whether code in a poll can find the scheduler that runs it.
pub(crate) const KNOWS_SCHEDULER: bool = false;

static LOCAL: Local = Local::new();

/// Runs `f` on the state.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(&Local) -> R) -> R {
    f(&LOCAL)
}

/// Nobody knows.
pub(crate) fn current() -> Option<Rc<Engine>> {
    None
}

/// Nobody knows.
#[inline(always)]
pub(crate) fn with_current<R>(_f: impl FnOnce(&Rc<Engine>) -> R) -> Option<R> {
    None
}

/// Marks a scheduler as running, and puts the one before back when dropped: schedulers nest.
pub(crate) struct Enter(Outer);

impl Enter {
    pub(crate) fn new(engine: &Rc<Engine>) -> Self {
        Enter(with(|local| local.enter(engine.address())))
    }
}

impl Drop for Enter {
    fn drop(&mut self) {
        with(|local| local.leave(&self.0));
    }
}
