//! With threads: each has its own.

use alloc::rc::Rc;
use core::cell::RefCell;

use super::{Local, Outer};
use crate::engine::Engine;

/// Whether code in a poll can find the scheduler that runs it.
pub(crate) const KNOWS_SCHEDULER: bool = true;

crate::sync::thread_locals! {
    static LOCAL: Local = const { Local::new() };
    /// The running scheduler. Apart from `LOCAL`, since it has a destructor.
    static CURRENT: RefCell<Option<Rc<Engine>>> = const { RefCell::new(None) };
}

/// Runs `f` on this thread's state.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(&Local) -> R) -> R {
    LOCAL.with(f)
}

/// The scheduler that runs on this thread now, if one does.
pub(crate) fn current() -> Option<Rc<Engine>> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// Runs `f` on the running scheduler, without counting references. `f` must not run user code.
#[inline]
pub(crate) fn with_current<R>(f: impl FnOnce(&Rc<Engine>) -> R) -> Option<R> {
    CURRENT.try_with(|current| current.borrow().as_ref().map(f)).ok().flatten()
}

/// Marks a scheduler as running on this thread, and puts the one before back when dropped: schedulers nest.
pub(crate) struct Enter {
    engine: Option<Rc<Engine>>,
    outer: Outer,
}

impl Enter {
    pub(crate) fn new(engine: &Rc<Engine>) -> Self {
        let before = CURRENT.with(|current| current.borrow_mut().replace(engine.clone()));
        Enter { engine: before, outer: with(|local| local.enter(engine.address())) }
    }
}

impl Drop for Enter {
    fn drop(&mut self) {
        with(|local| local.leave(&self.outer));
        // Dropped after the borrow ends: it may be the last reference, and its drop runs destructors.
        let _mine =
            CURRENT.with(|current| core::mem::replace(&mut *current.borrow_mut(), self.engine.take()));
    }
}
