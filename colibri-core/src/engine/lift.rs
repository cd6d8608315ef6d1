//! Lifting: a task whose handle is awaited runs in its waiter's class meanwhile, if that is the higher one.
//!
//! Without it a middle task keeps a low one from running while a high one waits for the low one. The lift is
//! transitive, and ends when the waiter awaits something else, when the handle is dropped, or when either task ends.

use alloc::vec::Vec;

use super::Engine;
use crate::priority::Priority;
use crate::slot::{EXTRAS, NIL, Slot, State, WAITS};

/// A task awaits another's handle.
pub(super) struct Wait {
    /// It polled the handle with its own waker, and so polls it again in each poll while it awaits it. Under another
    /// waker (`FuturesUnordered`) it need not.
    direct: bool,
    /// The number of [`Engine::renewals`] when it was noted last.
    noted: u64,
}

impl Engine {
    /// The running task awaits `target`.
    pub(super) fn note_wait(&self, target: u32, direct: bool) {
        let waiter = self.running.get();
        if waiter == NIL || waiter == target {
            return;
        }
        let wait = Wait { direct, noted: self.renewals.get() };
        let before = self.waiters.borrow_mut().insert(target, waiter);
        if let Some(other) = before.filter(|&other| other != waiter) {
            self.waits.borrow_mut().remove(&(other, target));
        }
        self.waits.borrow_mut().insert((waiter, target), wait);
        self.slots.at(waiter).set(WAITS);
        if before != Some(waiter) {
            self.relift(target);
        }
    }

    /// Nobody awaits `target` any more: it falls back.
    pub(super) fn forget_waiter(&self, target: u32) {
        if self.remove_waiter(target) {
            self.relift(target);
        }
    }

    /// Nobody awaits `target` any more, which may have ended: whether anybody did.
    pub(super) fn remove_waiter(&self, target: u32) -> bool {
        let waiter = self.waiters.borrow_mut().remove(&target);
        if let Some(waiter) = waiter {
            self.waits.borrow_mut().remove(&(waiter, target));
        }
        waiter.is_some()
    }

    /// `waiter` has ended: whom it awaited falls back.
    #[cold]
    pub(super) fn forget_waits(&self, waiter: u32, slot: &Slot) {
        slot.clear(WAITS);
        for target in self.awaited_by(waiter) {
            self.forget_waiter(target);
        }
    }

    /// A poll of `waiter` has ended: whom it awaited directly and did not poll again, it awaits no more.
    #[cold]
    pub(super) fn forget_waits_not_renewed(&self, waiter: u32, slot: &Slot) {
        let renewal = self.renewals.get();
        self.renewals.set(renewal + 1);
        let mut all = 0;
        let over: Vec<u32> = (self.waits.borrow().range((waiter, 0)..=(waiter, NIL)))
            .inspect(|_| all += 1)
            .filter(|(_, wait)| wait.direct && wait.noted != renewal)
            .map(|(&(_, target), _)| target)
            .collect();
        if over.len() == all {
            slot.clear(WAITS);
        }
        for target in over {
            self.forget_waiter(target);
        }
    }

    fn awaited_by(&self, waiter: u32) -> Vec<u32> {
        self.waits.borrow().range((waiter, 0)..=(waiter, NIL)).map(|(&(_, target), _)| target).collect()
    }

    /// A task's own class, lifted or not.
    pub(super) fn own_class(&self, index: u32, slot: &Slot) -> Priority {
        if !slot.is(EXTRAS) {
            return slot.class.get();
        }
        self.extras.borrow().get(index).and_then(|extras| extras.own_class).unwrap_or(slot.class.get())
    }

    /// Puts `first`, and transitively whom it awaits, into the class that its own and its waiter's make. A list of its
    /// own instead of recursion: a chain of waits may be long.
    fn relift(&self, first: u32) {
        let mut todo = Vec::new();
        let mut next = Some(first);
        while let Some(index) = next {
            self.relift_one(index, &mut todo);
            next = todo.pop();
        }
    }

    /// Adds to `todo` whom it awaits, if its class has changed.
    fn relift_one(&self, index: u32, todo: &mut Vec<u32>) {
        let slot = self.slots.at(index);
        if matches!(slot.state.get(), State::Vacant | State::Done) {
            return;
        }
        let own = self.own_class(index, slot);
        let waiter = self.waiters.borrow().get(&index).copied();
        let lifted = waiter.map_or(own, |waiter| own.min(self.slots.at(waiter).class.get()));
        if lifted != own {
            slot.set(EXTRAS);
            self.extras.borrow_mut().get_or_default(index).own_class = Some(own);
        } else if slot.is(EXTRAS)
            && let Some(extras) = self.extras.borrow_mut().get_mut(index)
        {
            extras.own_class = None;
        }
        if lifted != slot.class.get() {
            self.move_to_class(index, slot, lifted);
            if slot.is(WAITS) {
                todo.extend(self.awaited_by(index));
            }
        }
    }

    /// Sets a task's own class.
    pub(super) fn set_own_class(&self, index: u32, slot: &Slot, class: Priority) {
        if let Some(extras) = self.extras.borrow_mut().get_mut(index)
            && extras.own_class.is_some()
        {
            extras.own_class = Some(class);
        } else if slot.class.get() != class {
            self.move_to_class(index, slot, class);
        }
        // Its waiter may lift it, and it lifts whom it awaits.
        if self.waiters.borrow().contains_key(&index) {
            self.relift(index);
        }
        if slot.is(WAITS) {
            for target in self.awaited_by(index) {
                self.relift(target);
            }
        }
    }

    /// To the tail of `class`, if it is ready. What it has waited counts there as well: else a task that is moved to and fro
    /// would never rise. No look at the clock: it is called in the middle of other changes, and a clock is user code.
    fn move_to_class(&self, index: u32, slot: &Slot, class: Priority) {
        if slot.state.get() == State::Ready {
            let since = self.ready_since(index, slot);
            self.unlink(index, slot);
            slot.class.set(class);
            self.enqueue(index, slot);
            if slot.since.replace(since) != since {
                self.note_straggler(index, slot, class);
                // When the next one is overdue was found out without it, if it waited where nobody rises.
                self.no_promotion_for.set(0);
            }
        } else {
            slot.class.set(class);
        }
        if self.running.get() == index {
            self.running_level.set(class);
        }
    }
}
