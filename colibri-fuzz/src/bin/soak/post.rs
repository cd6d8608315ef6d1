//! Where tasks wait and other threads find them.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use colibri_core::AbortHandle;

/// A count that a task waits for, and whom to tell of it.
#[derive(Default)]
pub(crate) struct Post {
    count: AtomicUsize,
    owner: Mutex<Owner>,
}

/// The task that waits at a post.
#[derive(Default)]
pub(crate) struct Owner {
    pub(crate) waker: Option<Waker>,
    pub(crate) abort: Option<AbortHandle>,
}

impl Post {
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    pub(crate) fn owner(&self) -> MutexGuard<'_, Owner> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more and returns the waker to be woken for it: a copy, or the one that is there.
    pub(crate) fn send(&self, copy: bool) -> Option<Waker> {
        self.count.fetch_add(1, Ordering::SeqCst);
        let mut owner = self.owner();
        if copy { owner.waker.clone() } else { owner.waker.take() }
    }

    /// Waits until `target` were sent.
    pub(crate) async fn reach(&self, target: usize) {
        poll_fn(|context| {
            // First the waker, then the look: a count that comes in between wakes.
            let before = self.owner().waker.replace(context.waker().clone());
            drop(before);
            if self.count() >= target { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}
