//! One turn: who is picked, how it is polled, and what becomes of it. The numbers are those of the diagram in
//! [`crate::slot`].

use core::task::Context;

use super::Engine;
use crate::event::{Kind, YieldReason};
use crate::fault::{self, Fault};
use crate::local;
use crate::meter::UNLIMITED;
use crate::priority::Priority;
use crate::queue;
use crate::slot::{
    CANCELLED, DETACHED, EXTRAS, HIDDEN, Left, NIL, Object, PAUSED, STRAGGLER, Slot, State, WAITS, WOKEN,
};
use crate::task::TaskError;
use crate::unwind;
use crate::waker::Entry;

/// The future of `block_on`, which is polled in the turns of its stand-in: whether it is done.
pub(crate) type Root<'r> = dyn FnMut(&mut Context<'_>) -> bool + 'r;

/// What one slice's polls have in common.
pub(crate) struct Polls<'e, 'r> {
    /// The spare header, once it was lent: not looked up for each poll.
    lent: Option<&'e Entry>,
    root: Option<&'r mut Root<'r>>,
}

impl<'r> Polls<'_, 'r> {
    pub(crate) fn new(root: Option<&'r mut Root<'r>>) -> Self {
        Polls { lent: None, root }
    }
}

/// Who runs next.
pub(crate) struct Turn<'e> {
    pub(crate) index: u32,
    slot: &'e Slot,
    /// The level it runs at.
    level: Priority,
}

impl Engine {
    /// The next task to run. A task that has overdrawn a whole turn is passed over, unless it is alone: each round then
    /// pays off one quantum.
    #[inline(always)]
    pub(crate) fn pick(&self) -> Option<Turn<'_>> {
        loop {
            let (index, slot, level) = self.ready.pop(&self.slots)?;
            let guest = level != slot.class.get();
            if slot.used.get() != 0 && !guest && self.passes_over(index, slot, level) {
                continue;
            }
            if slot.is(STRAGGLER) {
                self.forget_straggler(index, slot);
            }
            self.ready.note_run(guest);
            return Some(Turn { index, slot, level });
        }
    }

    /// If a whole turn was overdrawn, the turn goes to paying off that, unless nobody else would have it.
    #[inline(never)]
    fn passes_over(&self, index: u32, slot: &Slot, level: Priority) -> bool {
        let Some(left) = u64::from(slot.used.get()).checked_sub(self.quota(index, slot)) else {
            return false;
        };
        if !self.ready.any_at(level) {
            slot.used.set(0);
            return false;
        }
        slot.used.set(left as u32);
        if !slot.is(STRAGGLER) {
            self.note_straggler(index, slot, level);
        }
        self.ready.push_back(&self.slots, index, slot, level, queue::Kind::Ready);
        true
    }

    /// It goes to the tail, but keeps its wait.
    #[cold]
    pub(super) fn note_straggler(&self, index: u32, slot: &Slot, level: Priority) {
        slot.set(STRAGGLER);
        let waited = self.now_micros.get().wrapping_sub(slot.since.get());
        let since = (self.now.get() / 1000).saturating_sub(u64::from(waited));
        self.stragglers.add(index, level, since);
    }

    #[cold]
    pub(super) fn forget_straggler(&self, index: u32, slot: &Slot) {
        slot.clear(STRAGGLER);
        self.stragglers.remove(index);
    }

    /// Polls a task that `pick` gave out: whether it has ended. `WATCHED`: an observer is to be told.
    #[inline(always)]
    pub(crate) fn poll<'e, const WATCHED: bool>(
        &'e self,
        turn: &Turn<'e>,
        polls: &mut Polls<'e, '_>,
    ) -> bool {
        let &Turn { index, slot, level } = turn;
        // Who was overtaken by deadlines rises in its own class: no guest, but promoted all the same.
        let promoted = queue::is_promoted(slot.place.get());
        let since = if promoted { self.ready_since(index, slot) } else { slot.since.get() };
        let wait_micros = self.now_micros.get().wrapping_sub(since);
        self.counters.run(slot.class.get(), wait_micros);
        slot.state.set(State::Running);
        if slot.is(WOKEN) {
            slot.clear(WOKEN);
        }
        let Some(mut body) = slot.body.take() else { unreachable!("a ready task has a body") };
        let entry = match slot.header.get() {
            NIL => self.lend_spare(index, &mut polls.lent),
            header => self.entry(header),
        };
        self.running.set(index);
        self.running_level.set(level);
        if WATCHED {
            if self.events.wanted() {
                self.note_at(Kind::Started, index, slot, level);
                self.events.tell(self.contained());
            }
            self.show_poll(index, slot);
        }
        if slot.is(EXTRAS) {
            self.open_account(index, wait_micros);
        }
        local::with(|local| {
            local.set_waker(&entry.waker);
            local.meter.open_scheduled(self.now.get(), self.meter_mode, || self.checks_a_poll());
        });
        let flags = slot.flags();
        let mut context = Context::from_waker(&entry.waker);
        let (mut done, mut left) = (false, Left::Nothing);
        let panic = unwind::catch(|| {
            done = match &mut polls.root {
                Some(root) if slot.is(HIDDEN) => root(&mut context),
                _ => body.as_mut().step(&mut context, flags, &mut left),
            };
        })
        .err();
        let (yielded, reason) =
            local::with(|local| (local.yielded.replace(false), local.reason.replace(None)));
        // Straight after the poll: a clone that was handed to another thread counts, since its wake precedes its drop.
        if slot.header.get() == NIL && !entry.is_unshared() && !fault::seeded(Fault::LendsWhatWasKept) {
            slot.header.set(self.spare.replace(NIL));
            polls.lent = None;
        }
        // First, since its look is what the next grant is learned from.
        let reason = if local::KNOWS_SCHEDULER { reason } else { self.reason_found_late(reason) };
        self.time_poll::<WATCHED>();
        if WATCHED {
            self.hide_poll();
        }
        if slot.is(EXTRAS) {
            self.close_account(index);
        }
        if done || panic.is_some() || slot.is(CANCELLED) {
            if slot.is(HIDDEN) {
                // `block_on` returns.
                self.remote.request_yield();
            }
            self.settle_ended(index, slot, body, left, panic);
            return true;
        }
        // Both are empty: forgotten, they need not be asked whether there is something to drop.
        core::mem::forget((slot.body.replace(Some(body)), left));
        self.settle_pending::<WATCHED>(index, slot, yielded, reason);
        self.running.set(NIL);
        false
    }

    /// Since when a promoted task is ready, which is forgotten with that.
    #[cold]
    pub(super) fn ready_since(&self, index: u32, slot: &Slot) -> u32 {
        self.risen.borrow_mut().remove(&index).unwrap_or(slot.since.get())
    }

    /// How many checks a task passes per poll, besides what its time allows.
    fn checks_a_poll(&self) -> u64 {
        if self.figures.always_yield { 0 } else { UNLIMITED }
    }

    /// The poll is over and the task is not.
    #[inline(always)]
    fn settle_pending<const WATCHED: bool>(
        &self,
        index: u32,
        slot: &Slot,
        yielded: bool,
        reason: Option<YieldReason>,
    ) {
        // The ordinary case, in which none of those below applies.
        let ordinary =
            !WATCHED && reason.is_none() && slot.used.get() == 0 && !slot.is(WAITS | PAUSED | EXTRAS);
        if !ordinary {
            return self.settle_pending_with_care(index, slot, yielded, reason);
        }
        if yielded || slot.is(WOKEN) {
            let class = slot.class.get();
            self.counters.yielded(class);
            self.enqueue_plain(index, slot, class);
        } else {
            slot.state.set(State::Idle);
        }
    }

    /// Out of line: it would take the registers that the ordinary case needs.
    #[inline(never)]
    fn settle_pending_with_care(&self, index: u32, slot: &Slot, yielded: bool, reason: Option<YieldReason>) {
        slot.state.set(State::Idle);
        if slot.is(WAITS) {
            self.forget_waits_not_renewed(index, slot);
        }
        let again = yielded || slot.is(WOKEN);
        let stopped = matches!(
            reason,
            Some(YieldReason::Slice | YieldReason::Preempted | YieldReason::Host | YieldReason::Look)
        );
        if slot.used.get() != 0 && !(again && stopped) {
            // The turn is over: what is left of it is not saved, what was overdrawn is kept, but by a guest.
            let guest = self.running_level.get() != slot.class.get();
            let overdrawn = u64::from(slot.used.get()).saturating_sub(self.quota(index, slot));
            slot.used.set(if guest { 0 } else { overdrawn as u32 });
        }
        if !again {
            return self.note(Kind::Suspended, index, slot);
        }
        if slot.is(PAUSED) {
            slot.set(WOKEN);
            return self.note(Kind::Suspended, index, slot);
        }
        let reason = reason.unwrap_or(YieldReason::Own);
        self.counters.yielded(slot.class.get());
        if slot.is(EXTRAS) {
            self.count_yield(index);
        }
        self.note(Kind::Yielded(reason), index, slot);
        if stopped {
            slot.since.set(self.now_micros.get());
            self.ready.push_front(&self.slots, index, slot);
        } else {
            self.enqueue(index, slot);
        }
    }

    /// If the poll was ended by a check that could not ask: is there a reason? Asked while the task still counts as running: a
    /// clock is user code, which may end it.
    fn reason_found_late(&self, reason: Option<YieldReason>) -> Option<YieldReason> {
        if reason != Some(YieldReason::Look) {
            return reason;
        }
        let before = self.now.get();
        self.look(self.read_clock());
        local::with(|local| local.meter.learn(self.now.get() - before));
        self.reason_to_give_way(self.now.get()).or(reason)
    }

    /// The task finished, panicked, or was cancelled while it ran.
    #[inline(never)]
    fn settle_ended(
        &self,
        index: u32,
        slot: &Slot,
        body: Object,
        mut left: Left,
        panic: Option<unwind::Payload>,
    ) {
        // Asked first: a destructor that cancels its own task comes too late.
        let cancelled = slot.is(CANCELLED);
        let timed_out = if cancelled { self.timed_out(index, slot) } else { Left::Nothing };
        // Captures first, under this task's name: who sees the end sees them gone.
        self.dispose(Some(body));
        self.running.set(NIL);
        let kind = match panic {
            Some(payload) => {
                self.dispose(core::mem::take(&mut left).into_object());
                if slot.is(DETACHED) {
                    self.contained().swallow(payload);
                } else {
                    left = Left::failure(TaskError::Panicked(payload));
                }
                Kind::Panicked
            }
            None if cancelled => {
                self.dispose(core::mem::take(&mut left).into_object());
                left = timed_out;
                Kind::Cancelled
            }
            None => Kind::Finished,
        };
        let leftovers = self.finish(index, slot, left, kind);
        self.settle(leftovers);
    }

    /// What a task leaves whose time was over while it ran.
    fn timed_out(&self, index: u32, slot: &Slot) -> Left {
        if slot.is(DETACHED) || !slot.is(EXTRAS) {
            return Left::Nothing;
        }
        let timed_out = self.extras.borrow().get(index).is_some_and(|extras| extras.timed_out);
        if timed_out { Left::failure(TaskError::TimedOut) } else { Left::Nothing }
    }
}
