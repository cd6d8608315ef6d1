//! Without threads, on bare metal: only wakes come from outside, from interrupts. The host never parks, since it is the one
//! that calls, and its hook is there from the start, since nothing without a lock could replace it.

use alloc::vec::Vec;

use super::{Hook, Remote};
use crate::engine::Engine;
use crate::sync::{AtomicBool, Ordering};
use crate::unwind::Containment;

/// Nobody sends any.
pub(crate) enum Message {}

impl Engine {
    pub(crate) fn carry_out(&self, message: Message) {
        match message {}
    }
}

/// Always empty; but there may be wakes for which there was no time.
pub(crate) struct Inbox {
    kept: AtomicBool,
}

impl Inbox {
    pub(super) fn new(_max_tasks: usize) -> Self {
        Inbox { kept: AtomicBool::new(false) }
    }

    #[inline(always)]
    pub(super) fn has_mail(&self) -> bool {
        self.kept.load(Ordering::Relaxed)
    }

    pub(crate) fn keep_mail(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }

    pub(crate) fn receive(&self) -> Vec<Message> {
        self.kept.store(false, Ordering::Relaxed);
        Vec::new()
    }

    pub(super) fn close(&self) -> Vec<Message> {
        Vec::new()
    }
}

impl Remote {
    /// Whether one more task may live.
    pub(crate) fn take_place(&self, live: usize, max_tasks: usize) -> bool {
        live < max_tasks
    }
}

/// The host has no thread to be woken.
pub(crate) struct Host;

impl Host {
    pub(super) fn new() -> Self {
        Host
    }

    pub(super) fn notify(&self) {}
}

/// Where the host's hook is.
pub(crate) struct HookPlace(Option<Hook>);

impl HookPlace {
    pub(super) fn new(hook: Option<Hook>) -> Self {
        HookPlace(hook)
    }

    pub(super) fn call(&self, contained: &Containment) {
        if let Some(hook) = &self.0 {
            contained.contain(|| hook());
        }
    }

    /// It stays.
    pub(super) fn take(&self) -> Option<Hook> {
        None
    }
}
