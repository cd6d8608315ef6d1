//! What threads share and wait for: under `--cfg colibri_loom` all of it is loom's, so that the models run what users run.

#[cfg(colibri_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};

#[cfg(not(colibri_loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

#[cfg(colibri_loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};

#[cfg(all(feature = "std", not(colibri_loom)))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

#[cfg(colibri_loom)]
pub(crate) use loom::thread::{Thread, current as current_thread, park};

/// loom's own knows no constant initialisers.
#[cfg(colibri_loom)]
macro_rules! thread_locals {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = const $value:block;)+) => {
        $(loom::thread_local! { $(#[$attribute])* static $name: $type = $value; })+
    };
}

#[cfg(colibri_loom)]
pub(crate) use thread_locals;

#[cfg(all(feature = "std", not(colibri_loom)))]
pub(crate) use std::thread_local as thread_locals;

#[cfg(all(feature = "std", not(colibri_loom)))]
pub(crate) use std::thread::{Thread, current as current_thread, park, park_timeout};

/// loom has no time: a park that ends by itself is one that need not end.
#[cfg(colibri_loom)]
pub(crate) fn park_timeout(_timeout: core::time::Duration) {
    park();
}

#[cfg(all(feature = "std", not(colibri_loom)))]
pub(crate) use core::sync::atomic::AtomicU8;

/// Locks; a panic of whoever held the lock before is no reason to fail, since no lock here is held across user code.
#[cfg(feature = "std")]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Gives the lock back until `changed` is notified, or `timeout` is over if there is one.
#[cfg(feature = "std")]
pub(crate) fn wait<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    timeout: Option<core::time::Duration>,
) -> MutexGuard<'a, T> {
    match timeout {
        Some(timeout) => {
            changed.wait_timeout(guard, timeout).unwrap_or_else(|poisoned| poisoned.into_inner()).0
        }
        None => changed.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner()),
    }
}
