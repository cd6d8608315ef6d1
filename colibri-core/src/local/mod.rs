//! What a thread knows while it runs: the budget's meter, whose poll this is, and which scheduler is at work.

#[cfg_attr(feature = "std", path = "threads.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod platform;
#[cfg_attr(feature = "std", path = "cells.rs")]
#[cfg_attr(not(feature = "std"), path = "atomics.rs")]
pub(crate) mod word;

use core::ptr;
use core::task::Waker;

pub(crate) use self::platform::{Enter, KNOWS_SCHEDULER, current, with, with_current};
use self::word::{Bool, Pointer, Reason};
use crate::event::YieldReason;
use crate::meter::{Meter, Saved};

/// The part that every check, yield and wake touches. Constant at start and without a destructor, so that an
/// access is one load off the thread pointer, at any time in the thread's life.
pub(crate) struct Local {
    pub(crate) meter: Meter,
    /// The address of the running scheduler's `Remote`: a waker that finds its own there wakes without atomics.
    pub(crate) scheduler: Pointer,
    /// Data and table of the waker that the running task was polled with.
    waker: Pointer,
    waker_table: Pointer,
    /// The running task gave way without using its waker.
    pub(crate) yielded: Bool,
    /// Why the scheduler told the running task to give way, if it did.
    pub(crate) reason: Reason,
}

impl Local {
    const fn new() -> Self {
        Local {
            meter: Meter::new(),
            scheduler: Pointer::new(ptr::null()),
            waker: Pointer::new(ptr::null()),
            waker_table: Pointer::new(ptr::null()),
            yielded: Bool::new(false),
            reason: Reason::new(None),
        }
    }

    /// Notes the waker with which a task is polled next.
    #[inline(always)]
    pub(crate) fn set_waker(&self, waker: &Waker) {
        self.waker.set(waker.data());
        self.waker_table.set(ptr::from_ref(waker.vtable()).cast());
    }

    /// Whether `waker` is the very one the scheduler polled the running task with. Inside `FuturesUnordered`,
    /// `join_all` or another executor it is not, and a flag would be lost there.
    #[inline(always)]
    pub(crate) fn is_own_waker(&self, waker: &Waker) -> bool {
        ptr::eq(self.waker.get(), waker.data())
            && ptr::eq(self.waker_table.get(), ptr::from_ref(waker.vtable()).cast())
    }

    /// Asks to be polled again: by a flag where this scheduler polls the task itself, else through the waker.
    #[inline(always)]
    pub(crate) fn give_way(&self, waker: &Waker) {
        if self.is_own_waker(waker) {
            self.yielded.set(true);
        } else {
            waker.wake_by_ref();
        }
    }
}

/// What is put back when a scheduler has run inside another one's task.
struct Outer {
    scheduler: *const (),
    waker: *const (),
    waker_table: *const (),
    yielded: bool,
    reason: Option<YieldReason>,
    meter: Saved,
}

impl Local {
    /// A scheduler begins to run on this thread.
    fn enter(&self, scheduler: *const ()) -> Outer {
        let outer = Outer {
            scheduler: self.scheduler.replace(scheduler),
            waker: self.waker.replace(ptr::null()),
            waker_table: self.waker_table.replace(ptr::null()),
            yielded: self.yielded.replace(false),
            reason: self.reason.replace(None),
            meter: self.meter.save(),
        };
        self.meter.forget();
        outer
    }

    fn leave(&self, outer: &Outer) {
        self.scheduler.set(outer.scheduler);
        self.waker.set(outer.waker);
        self.waker_table.set(outer.waker_table);
        self.yielded.set(outer.yielded);
        self.reason.set(outer.reason);
        self.meter.restore(outer.meter);
    }
}
