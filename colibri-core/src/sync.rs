//! The only file that names `std::sync` or `loom`: under `--cfg colibri_loom` what threads share is loom's.

#[cfg(colibri_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};

#[cfg(not(colibri_loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

#[cfg(colibri_loom)]
pub(crate) use loom::sync::Mutex;

#[cfg(all(feature = "std", not(colibri_loom)))]
pub(crate) use std::sync::Mutex;

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
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> impl core::ops::DerefMut<Target = T> + '_ {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
