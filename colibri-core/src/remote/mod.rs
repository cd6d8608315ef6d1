//! What other threads, and interrupts, see of a scheduler: the stack of wakes, the inbox, and how to reach the host.

#[cfg_attr(feature = "std", path = "threads.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod platform;

use alloc::sync::Arc;
use alloc::vec::Vec;

pub(crate) use self::platform::Message;
use self::platform::{HookPlace, Host, Inbox};
use crate::fault::{self, Fault};
use crate::slot::NIL;
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use crate::unwind::Containment;

/// Asks the host for a turn.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

pub(crate) struct Remote {
    /// The newest of the woken headers' numbers; see [`crate::waker`].
    pub(crate) woken: AtomicU32,
    pub(crate) inbox: Inbox,
    /// How many tasks live.
    live: AtomicU32,
    host: Host,
    hook: HookPlace,
    /// The hook was called and the host has not come yet: it is asked at most once.
    asked: AtomicBool,
    /// Somebody asked for the thread, on input for example: the running task gives way at its next look.
    yield_requested: AtomicBool,
    pub(crate) contained: Containment,
}

impl Remote {
    pub(crate) fn new(max_tasks: usize, hook: Option<Hook>) -> Self {
        Remote {
            woken: AtomicU32::new(NIL),
            inbox: Inbox::new(max_tasks),
            live: AtomicU32::new(0),
            host: Host::new(),
            hook: HookPlace::new(hook),
            asked: AtomicBool::new(false),
            yield_requested: AtomicBool::new(false),
            contained: Containment::new(),
        }
    }

    /// Whether another thread has something for the scheduler.
    #[inline(always)]
    pub(crate) fn has_news(&self) -> bool {
        self.woken.load(Ordering::Relaxed) != NIL || self.inbox.has_mail()
    }

    /// Notes how many tasks live.
    #[inline(always)]
    pub(crate) fn set_live(&self, live: usize) {
        // The table holds fewer tasks than a u32 counts.
        self.live.store(live as u32, Ordering::Relaxed);
    }

    /// Takes no more messages and asks no more host. Returns the messages that were not carried out, and the hook, to be
    /// dropped.
    pub(crate) fn close(&self) -> (Vec<Message>, Option<Hook>) {
        (self.inbox.close(), self.hook.take())
    }

    /// Tells the host that there is something to do: unparks it if it is parked, calls its hook if it has one.
    pub(crate) fn notify(&self) {
        self.host.notify();
        self.ask_host();
    }

    /// Calls the hook, once until the host's next turn.
    pub(crate) fn ask_host(&self) {
        if !self.asked.swap(true, Ordering::AcqRel) {
            self.hook.call(&self.contained);
        }
    }

    /// The same by the scheduler's own thread, which is the one that clears the flag: if it reads that the host was asked,
    /// so it was, and the exchange is spared.
    pub(crate) fn ask_host_from_home(&self) {
        if !self.asked.load(Ordering::Relaxed) {
            self.ask_host();
        }
    }

    /// The host has come: it can be asked again. A swap, so that it sees what a waker pushed that found the host asked; after
    /// a mere store the look that follows may miss it, and nobody would ask.
    pub(crate) fn host_came(&self) {
        if fault::seeded(Fault::ComesUnannounced) {
            return self.asked.store(false, Ordering::Release);
        }
        self.asked.swap(false, Ordering::AcqRel);
    }

    pub(crate) fn request_yield(&self) {
        self.yield_requested.store(true, Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn is_yield_requested(&self) -> bool {
        self.yield_requested.load(Ordering::Relaxed)
    }

    pub(crate) fn clear_yield_request(&self) {
        self.yield_requested.store(false, Ordering::Relaxed);
    }
}
