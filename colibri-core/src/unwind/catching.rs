//! With std, panics are caught.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Payload;

/// Runs `f`; its panic is returned. What `f` touches is either dropped afterwards or consists of cells that are
/// consistent at each call into user code, so that the unwind-safety marker has nothing to guard.
#[inline(always)]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f))
}

/// Runs both, the second one also if the first one panics, and goes on with the first panic.
pub(crate) fn both(first: impl FnOnce(), second: impl FnOnce()) {
    let (first, second) = (catch(first).err(), catch(second).err());
    match (first, second) {
        (None, None) => {}
        (Some(payload), None) | (None, Some(payload)) => resume(payload),
        (Some(payload), Some(second)) => {
            // Two cannot go on. The second one's payload may panic in its own drop, once more.
            let _ = catch(|| drop(second)).map_err(core::mem::forget);
            resume(payload)
        }
    }
}

/// Goes on with a panic that was caught.
pub(crate) fn resume(payload: Payload) -> ! {
    resume_unwind(payload)
}
