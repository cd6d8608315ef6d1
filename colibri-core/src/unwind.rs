//! Running user code so that its panic ends nobody else.

use alloc::boxed::Box;
use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Runs `f`; its panic is returned. What `f` touches is either dropped afterwards or consists of cells that are
/// consistent at each call into user code, so that the unwind-safety marker has nothing to guard.
#[inline(always)]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f))
}

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

/// Goes on with a panic that was caught.
pub(crate) fn resume(payload: Payload) -> ! {
    std::panic::resume_unwind(payload)
}
