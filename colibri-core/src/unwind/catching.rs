//! With std, panics are caught.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Payload;

/// Runs `f`; its panic is returned. What `f` touches is either dropped afterwards or consists of cells that are
/// consistent at each call into user code, so that the unwind-safety marker has nothing to guard.
#[inline(always)]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f))
}

/// Goes on with a panic that was caught.
pub(crate) fn resume(payload: Payload) -> ! {
    resume_unwind(payload)
}
