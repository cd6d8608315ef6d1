//! Running user code so that its panic ends nobody else.

#[cfg_attr(feature = "std", path = "catching.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod platform;

use alloc::boxed::Box;
use core::any::Any;

#[cfg(feature = "std")]
pub(crate) use self::platform::resume;
pub(crate) use self::platform::{both, catch};
use crate::sync::{AtomicU32, Ordering};

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Payloads whose drop panics with another payload, one in the other, that are dropped before the last one is given up: one
/// that makes another of its kind each time could go on for ever.
const DEEPEST_PAYLOAD: u32 = 4;

/// Swallows the panics of user code that nobody waits for, and counts them. On any thread, since the host's hook
/// is called on any.
pub(crate) struct Containment {
    panics: AtomicU32,
}

impl Containment {
    pub(crate) fn new() -> Self {
        Containment { panics: AtomicU32::new(0) }
    }

    /// How many panics were swallowed.
    pub(crate) fn panics(&self) -> u32 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Runs `f` and swallows its panic.
    pub(crate) fn contain(&self, f: impl FnOnce()) {
        if let Err(payload) = catch(f) {
            self.swallow(payload);
        }
    }

    /// Counts a panic and drops its payload, and that of the panic of the payload's drop, and so on.
    pub(crate) fn swallow(&self, payload: Payload) {
        let mut last = payload;
        self.count();
        for _ in 0..DEEPEST_PAYLOAD {
            let Err(next) = catch(|| drop(last)) else { return };
            self.count();
            last = next;
        }
        core::mem::forget(last);
    }

    fn count(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }
}
