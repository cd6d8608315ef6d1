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

/// Drops a payload. One whose own drop panics is given up: a third level could go on for ever.
pub(crate) fn discard(payload: Payload) {
    if let Err(second) = catch(|| drop(payload)) {
        core::mem::forget(second);
    }
}
