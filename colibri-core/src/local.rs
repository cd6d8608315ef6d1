//! What a thread knows while it runs: the budget's meter, whose poll this is, and which scheduler is at work.

use alloc::rc::Rc;
use core::cell::{Cell, RefCell};
use core::ptr;
use core::task::{RawWakerVTable, Waker};

use crate::engine::Engine;
use crate::event::YieldReason;
use crate::meter::Meter;

/// The part that every check, yield and wake touches. Constant at start and without a destructor, so that an
/// access is one load off the thread pointer, at any time in the thread's life.
pub(crate) struct Local {
    pub(crate) meter: Meter,
    /// The address of the running scheduler's `Remote`: a waker that finds its own there wakes without atomics.
    pub(crate) scheduler: Cell<*const ()>,
    /// Data and table of the waker that the running task was polled with.
    waker: Cell<(*const (), *const RawWakerVTable)>,
    /// The running task gave way without using its waker.
    pub(crate) yielded: Cell<bool>,
    /// Why the scheduler told the running task to give way, if it did.
    pub(crate) reason: Cell<Option<YieldReason>>,
}

crate::sync::thread_locals! {
    static LOCAL: Local = const {
        Local {
            meter: Meter::new(),
            scheduler: Cell::new(ptr::null()),
            waker: Cell::new((ptr::null(), ptr::null())),
            yielded: Cell::new(false),
            reason: Cell::new(None),
        }
    };
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

impl Local {
    /// Notes the waker with which a task is polled next.
    #[inline(always)]
    pub(crate) fn set_waker(&self, waker: &Waker) {
        self.waker.set((waker.data(), waker.vtable()));
    }

    /// Whether `waker` is the very one the scheduler polled the running task with. Inside `FuturesUnordered`,
    /// `join_all` or another executor it is not, and a flag would be lost there.
    #[inline(always)]
    pub(crate) fn is_own_waker(&self, waker: &Waker) -> bool {
        let (data, vtable) = self.waker.get();
        ptr::eq(data, waker.data()) && ptr::eq(vtable, waker.vtable())
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

/// Marks a scheduler as running on this thread, and puts the one before back when dropped: schedulers nest.
pub(crate) struct Enter {
    engine: Option<Rc<Engine>>,
    scheduler: *const (),
    waker: (*const (), *const RawWakerVTable),
    yielded: bool,
    reason: Option<YieldReason>,
    meter: crate::meter::Saved,
}

impl Enter {
    pub(crate) fn new(engine: &Rc<Engine>) -> Self {
        let before = CURRENT.with(|current| current.borrow_mut().replace(engine.clone()));
        with(|local| Enter {
            engine: before,
            scheduler: local.scheduler.replace(engine.address()),
            waker: local.waker.replace((ptr::null(), ptr::null())),
            yielded: local.yielded.replace(false),
            reason: local.reason.replace(None),
            meter: local.meter.save(),
        })
    }
}

impl Drop for Enter {
    fn drop(&mut self) {
        with(|local| {
            local.scheduler.set(self.scheduler);
            local.waker.set(self.waker);
            local.yielded.set(self.yielded);
            local.reason.set(self.reason);
            local.meter.restore(self.meter);
        });
        // Dropped after the borrow ends: it may be the last reference, and its drop runs destructors.
        let _mine =
            CURRENT.with(|current| core::mem::replace(&mut *current.borrow_mut(), self.engine.take()));
    }
}
