//! Running user code so that its panic ends nobody else.

#[cfg_attr(feature = "std", path = "catching.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod platform;

use alloc::boxed::Box;
use core::any::Any;

pub(crate) use self::platform::catch;
#[cfg(feature = "std")]
pub(crate) use self::platform::resume;

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Runs `f` and swallows its panic, and the panic of that panic's payload when it is dropped.
pub(crate) fn contain(f: impl FnOnce()) {
    if let Err(payload) = catch(f) {
        discard(payload);
    }
}

/// Payloads whose drop panics with another payload, one in the other, that are dropped before the last one is given up: one
/// that makes another of its kind each time could go on for ever.
const DEEPEST_PAYLOAD: u32 = 4;

/// Drops a payload, and that of the panic of its drop, and so on.
pub(crate) fn discard(payload: Payload) {
    let mut next = Some(payload);
    for _ in 0..DEEPEST_PAYLOAD {
        let Some(payload) = next.take() else { return };
        next = catch(|| drop(payload)).err();
    }
    core::mem::forget(next);
}
