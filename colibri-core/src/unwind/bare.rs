//! Without std nothing can catch a panic: the machine's panic handler has the last word.

use super::Payload;

/// Runs `f`.
#[inline(always)]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    Ok(f())
}

/// Runs both.
#[inline(always)]
pub(crate) fn both(first: impl FnOnce(), second: impl FnOnce()) {
    first();
    second();
}
