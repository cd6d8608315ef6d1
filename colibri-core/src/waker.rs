//! Wakers: what other threads, and other code on this one, know of a task.
//!
//! A *header* is the shared half of a task that gave a waker away; most tasks never do. Headers stand in a table of
//! the scheduler and are never freed while it lives: a wake from another thread pushes the header's *number* on a
//! lock-free stack that owns nothing, so that a wake never allocates, blocks or drops, whenever it comes.

use alloc::sync::Arc;
use alloc::task::Wake;
use core::task::Waker;

use crate::fault::{self, Fault};
use crate::local;
use crate::remote::Remote;
use crate::slot::NIL;
use crate::sync::{AtomicBool, AtomicU32, Ordering, fence};

pub(crate) struct Header {
    remote: Arc<Remote>,
    /// The task it stands for; `NIL` if none any more. Used on the scheduler's thread only.
    pub(crate) slot: AtomicU32,
    number: u32,
    link: Link,
}

/// What threads share of a header: its place in the stack of remote wakes.
pub(crate) struct Link {
    next: AtomicU32,
    /// It is in the stack. A flag of its own that is *swapped* on both sides: a compare-exchange that fails publishes
    /// nothing, and a plain store in the shared word would cut the release sequence; either loses wakes.
    queued: AtomicBool,
}

impl Link {
    pub(crate) fn new() -> Self {
        Link { next: AtomicU32::new(NIL), queued: AtomicBool::new(false) }
    }

    /// A wake from anywhere. `true`: it is the first one in the stack, and the host must be told.
    pub(crate) fn push(&self, head: &AtomicU32, number: u32) -> bool {
        if self.set_queued() {
            return false;
        }
        let mut first = head.load(Ordering::Relaxed);
        loop {
            self.next.store(first, Ordering::Relaxed);
            if fault::seeded(Fault::PushesWithoutALook) {
                head.store(number, Ordering::Release);
                return first == NIL;
            }
            match head.compare_exchange_weak(first, number, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return first == NIL,
                Err(now) => first = now,
            }
        }
    }

    /// Notes that it goes on the stack: whether it was there.
    #[inline(always)]
    fn set_queued(&self) -> bool {
        if fault::seeded(Fault::DedupesByExchange) {
            let exchange = self.queued.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed);
            return exchange.is_err();
        }
        self.queued.swap(true, Ordering::AcqRel)
    }

    /// The one behind it among those that were drained.
    pub(crate) fn next(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }

    /// Takes a link that a drain found out of the stack, *before* the task is polled: a wake that comes from now on
    /// is a new one. Its acquire side makes what the waker wrote visible to that poll.
    fn take(&self) {
        if fault::seeded(Fault::DedupesByExchange) {
            return self.queued.store(false, Ordering::Release);
        }
        self.queued.swap(false, Ordering::AcqRel);
    }

    /// Whether none of its wakes is in the stack, asked right after the count of references was seen to be low: the fence
    /// makes what those who dropped theirs did before visible.
    #[inline(always)]
    pub(crate) fn is_settled(&self) -> bool {
        if fault::seeded(Fault::TrustsTheCount) {
            return true;
        }
        fence(Ordering::Acquire);
        !self.queued.load(Ordering::Relaxed)
    }
}

/// Takes all numbers out of the stack and links them the other way round: the number that was pushed first, from which
/// [`take_first`] goes on. `link` finds a number's link.
pub(crate) fn drain<'l>(head: &AtomicU32, link: impl Fn(u32) -> &'l Link) -> u32 {
    let mut newest = head.swap(NIL, Ordering::AcqRel);
    let mut oldest = NIL;
    while newest != NIL {
        let link = link(newest);
        let next = link.next.load(Ordering::Relaxed);
        link.next.store(oldest, Ordering::Relaxed);
        oldest = newest;
        newest = next;
    }
    oldest
}

/// Hands over the first of those that were drained, which can be pushed again from then on, and returns the next one.
pub(crate) fn take_first(first: u32, link: &Link, hand_over: impl FnOnce(u32)) -> u32 {
    let next = link.next.load(Ordering::Relaxed);
    if fault::seeded(Fault::PollsBeforeItUnqueues) {
        hand_over(first);
        link.take();
        return next;
    }
    link.take();
    hand_over(first);
    next
}

impl Header {
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }
}

impl Wake for Header {
    fn wake(self: Arc<Self>) {
        Self::wake_by_ref(&self);
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        let here = Arc::as_ptr(&self.remote).cast::<()>();
        if local::with(|local| local.scheduler.get()) == here {
            // A clock that each wake looks at is user code, which may run another scheduler: not under the borrow.
            let woken = local::with_current(|engine| {
                if engine.every_check {
                    return Some(engine.clone());
                }
                engine.wake(self.slot.load(Ordering::Relaxed));
                None
            });
            match woken {
                Some(None) => return,
                Some(Some(engine)) => return engine.wake(self.slot.load(Ordering::Relaxed)),
                None => {}
            }
        }
        if self.link.push(&self.remote.woken, self.number) {
            self.remote.notify();
        }
    }
}

/// A header with the waker that was made from it, once.
pub(crate) struct Entry {
    pub(crate) header: Arc<Header>,
    pub(crate) waker: Waker,
}

impl Entry {
    pub(crate) fn new(remote: Arc<Remote>, number: u32) -> Self {
        let header = Arc::new(Header { remote, slot: AtomicU32::new(NIL), number, link: Link::new() });
        Entry { waker: Waker::from(header.clone()), header }
    }

    /// Whether nobody else has a clone of the waker, nor is one of its wakes still to be drained: a thread may have
    /// woken and dropped its clone, and the number is in the stack.
    #[inline(always)]
    pub(crate) fn is_unshared(&self) -> bool {
        Arc::strong_count(&self.header) == 2 && self.header.link.is_settled()
    }
}

#[cfg(all(test, not(colibri_loom), target_pointer_width = "64"))]
mod tests {
    use super::*;
    use crate::slot::Slot;
    use core::cell::OnceCell;

    /// What is asked of the heap for a task with a future of 48 bytes, which waits with a waker of its own. An allocator
    /// rounds each piece up: glibc's makes it 184.
    #[test]
    fn a_parked_task_takes_160_bytes() {
        let counts = 2 * size_of::<usize>();
        let header = counts + size_of::<Header>();
        assert_eq!(size_of::<Slot>() + 48 + size_of::<OnceCell<Entry>>() + header, 160);
    }
}
