//! A task's life: accepted, woken, picked, polled, ended. The numbers are those of the diagram in [`crate::slot`].

use alloc::boxed::Box;
use core::task::Context;

use super::leftovers::Leftovers;
use super::{Engine, Extras, id_of};
use crate::event::{Kind, YieldReason};
use crate::fault::{self, Fault};
use crate::local;
use crate::meter::UNLIMITED;
use crate::priority::Priority;
use crate::queue;
use crate::slot::{
    CANCELLED, DEBTOR, DETACHED, EXTRAS, Failure, HIDDEN, NIL, Object, PAUSED, Slot, State, WAITS, WOKEN,
};
use crate::spawner::SpawnError;
use crate::stats::TaskStats;
use crate::task::{TaskError, TaskId};
use crate::timer::Target;
use crate::unwind;

/// How one poll ended, for the slice's account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Finished,
    Yielded,
    Suspended,
}

impl Engine {
    /// Accepts a task. `None`: there is no room, or the scheduler is shut down.
    pub(crate) fn admit(
        &self,
        body: Object,
        class: Priority,
        flags: u8,
        extras: Option<Extras>,
    ) -> Result<TaskId, (SpawnError, Object)> {
        if flags & HIDDEN == 0 && self.live.get() >= self.figures.max_tasks {
            self.counters.refused();
            return Err((SpawnError::Full, body));
        }
        self.admit_beyond_limit(body, class, flags, extras)
    }

    /// The same for a task that was promised a place.
    pub(crate) fn admit_beyond_limit(
        &self,
        body: Object,
        class: Priority,
        flags: u8,
        extras: Option<Extras>,
    ) -> Result<TaskId, (SpawnError, Object)> {
        // First, since a clock is user code, which may even shut the scheduler down.
        self.look_before_stamp();
        if self.closed.get() {
            self.counters.refused();
            return Err((SpawnError::ShutDown, body));
        }
        let index = match self.free.get() {
            NIL => match self.slots.grow(Slot::vacant) {
                Some(index) => index,
                None => return Err((SpawnError::Full, body)),
            },
            index => {
                self.free.set(self.slots.at(index).next.get());
                index
            }
        };
        let extras = if self.figures.task_stats && flags & HIDDEN == 0 {
            Some(Extras { account: Some(TaskStats::default()), ..extras.unwrap_or_default() })
        } else {
            extras
        };
        let delayed = extras.as_ref().is_some_and(|extras| extras.delayed);
        let slot = self.slots.at(index);
        slot.body.set(Some(body));
        slot.class.set(class);
        slot.used.set(0);
        slot.set_flags(flags);
        slot.state.set(State::Idle);
        if flags & HIDDEN == 0 {
            self.set_live(self.live.get() + 1);
            self.counters.spawned();
        }
        if let Some(extras) = extras {
            slot.set(EXTRAS);
            self.extras.borrow_mut().insert(index, extras);
        }
        self.note(Kind::Spawned, index, slot);
        if !delayed {
            self.enqueue(index, slot);
        }
        Ok(id_of(index, slot))
    }

    /// Other threads read the number, to know whether there is room.
    #[inline(always)]
    fn set_live(&self, live: usize) {
        self.live.set(live);
        self.remote.set_live(live);
    }

    /// Sets the timers of a delayed start and of the end, once the task has its place.
    pub(crate) fn set_timers(&self, id: TaskId, start: Option<u64>, end: Option<u64>) {
        let Some((index, slot)) = self.find(id) else { return };
        let generation = slot.generation.get();
        let start = start.map(|due| self.add_timer(due, Target::Task(index, generation)));
        let end = end.map(|due| self.add_timer(due, Target::End(index, generation)));
        if let Some(extras) = self.extras.borrow_mut().get_mut(&index) {
            extras.start = start;
            extras.timeout = end;
        }
    }

    /// Where the last look may be long ago, or a test wants it exactly, the stamp of a task that becomes ready needs a new
    /// one. Inside a slice the next look corrects what it must.
    #[inline(always)]
    pub(super) fn look_before_stamp(&self) {
        if self.every_check || !self.in_slice.get() {
            self.look(self.read_clock());
        }
    }

    /// To the tail of its class.
    #[inline(always)]
    pub(super) fn enqueue(&self, index: u32, slot: &Slot) {
        slot.since.set(self.now_micros.get());
        if slot.is(EXTRAS) && self.enqueue_by_deadline(index, slot) {
            return;
        }
        self.ready.push_back(&self.slots, index, slot, slot.class.get(), queue::Kind::Ready);
    }

    #[cold]
    fn enqueue_by_deadline(&self, index: u32, slot: &Slot) -> bool {
        let came = self.came.get() + 1;
        let deadline = {
            let mut extras = self.extras.borrow_mut();
            let Some(extras) = extras.get_mut(&index) else { return false };
            let Some(deadline) = extras.deadline else { return false };
            extras.came = came;
            deadline
        };
        self.came.set(came);
        self.ready.push_deadline(&self.slots, index, slot, (deadline, came));
        true
    }

    /// Out of the ready list it is in.
    pub(super) fn unlink(&self, index: u32, slot: &Slot) {
        if slot.is(DEBTOR) {
            self.forget_debtor(index, slot);
        }
        if queue::is_promoted(slot.place.get()) {
            self.risen.borrow_mut().remove(&index);
        }
        self.ready.unlink(&self.slots, index, slot, || {
            let extras = self.extras.borrow();
            let extras = extras.get(&index);
            extras.map_or((0, 0), |extras| (extras.deadline.unwrap_or(0), extras.came))
        });
    }

    /// Wakes a task. It never runs, polls, drops or calls anything of the user's.
    #[inline]
    pub(crate) fn wake(&self, index: u32) {
        if index == NIL {
            return;
        }
        let slot = self.slots.at(index);
        match slot.state.get() {
            State::Idle if !slot.is(PAUSED) => {
                self.look_before_stamp();
                // A clock is user code: it may have ended the task.
                if slot.state.get() == State::Idle {
                    self.enqueue(index, slot);
                    self.note(Kind::Woken, index, slot);
                }
            }
            State::Running if fault::seeded(Fault::ForgetsWakesOfTheRunning) => {}
            State::Idle | State::Running => slot.set(WOKEN),
            State::Vacant | State::Ready | State::Done => {}
        }
    }

    /// The next task to run, with its slot and the level it runs at. A task that has overdrawn a whole turn is passed
    /// over, unless it is alone: each round then pays off one quantum.
    #[inline(always)]
    pub(crate) fn pick(&self) -> Option<(u32, &Slot, Priority)> {
        loop {
            let (index, slot, level) = self.ready.pop(&self.slots)?;
            let guest = level != slot.class.get();
            let overdrawn = slot.used.get() != 0 && u64::from(slot.used.get()) >= self.quota(index, slot);
            if overdrawn && !guest && !self.ready.any_at(level) {
                slot.used.set(0);
            } else if overdrawn && !guest {
                self.pass_over(index, slot, level);
                continue;
            }
            if slot.is(DEBTOR) {
                self.forget_debtor(index, slot);
            }
            self.ready.note_run(guest);
            return Some((index, slot, level));
        }
    }

    /// The turn goes to paying off what was overdrawn.
    #[cold]
    fn pass_over(&self, index: u32, slot: &Slot, level: Priority) {
        let left = u64::from(slot.used.get()) - self.quota(index, slot);
        slot.used.set(left as u32);
        if !slot.is(DEBTOR) {
            slot.set(DEBTOR);
            let waited = self.now_micros.get().wrapping_sub(slot.since.get());
            let since = (self.now.get() / 1000).saturating_sub(u64::from(waited));
            self.debtors.add(index, level, since);
        }
        self.ready.push_back(&self.slots, index, slot, level, queue::Kind::Ready);
    }

    #[cold]
    fn forget_debtor(&self, index: u32, slot: &Slot) {
        slot.clear(DEBTOR);
        self.debtors.remove(index);
    }

    /// Polls a task that `pick` gave out.
    #[inline(always)]
    pub(crate) fn poll(&self, index: u32, slot: &Slot, level: Priority) -> Ended {
        self.polls.set(self.polls.get() + 1);
        let since = if slot.class.get() == level { slot.since.get() } else { self.ready_since(index, slot) };
        let wait_micros = self.now_micros.get().wrapping_sub(since);
        self.counters.run(slot.class.get(), wait_micros);
        slot.state.set(State::Running);
        slot.clear(WOKEN);
        let Some(mut body) = slot.body.take() else { unreachable!("a ready task has a body") };
        let header = slot.header.get();
        let entry = if header == NIL { self.lend_spare(index) } else { self.entry(header) };
        self.running.set(index);
        self.running_level.set(level);
        if self.events.wanted() {
            self.note_at(Kind::Started, index, slot, level);
            self.events.tell();
        }
        let begun = if slot.is(EXTRAS) { self.open_account(index, wait_micros) } else { None };
        local::with(|local| {
            local.set_waker(&entry.waker);
            local.meter.open_scheduled(self.now.get(), self.every_check, self.checks_a_poll());
        });
        let keep = !slot.is(DETACHED);
        let mut context = Context::from_waker(&entry.waker);
        let mut left = None;
        let polled = unwind::catch(|| body.as_mut().step(&mut context, keep, &mut left));
        let (yielded, reason) =
            local::with(|local| (local.yielded.replace(false), local.reason.replace(None)));
        // Straight after the poll: a clone that was handed to another thread counts, since its wake precedes its drop.
        if header == NIL && !entry.is_unshared() {
            slot.header.set(self.spare.replace(NIL));
        }
        self.look_after_poll();
        if let Some(begun) = begun {
            self.close_account(index, begun);
        }
        if matches!(polled, Ok(false)) && !slot.is(CANCELLED) {
            slot.body.set(Some(body));
            let ended = self.settle_pending(index, slot, yielded, reason);
            self.running.set(NIL);
            return ended;
        }
        self.settle_ended(index, slot, body, left, polled);
        Ended::Finished
    }

    /// Since when a promoted task is ready, which is forgotten with that.
    #[cold]
    fn ready_since(&self, index: u32, slot: &Slot) -> u32 {
        self.risen.borrow_mut().remove(&index).unwrap_or(slot.since.get())
    }

    /// How many checks a task passes per poll, besides what its time allows.
    #[inline(always)]
    fn checks_a_poll(&self) -> u64 {
        if self.figures.always_yield { 0 } else { UNLIMITED }
    }

    /// Polls the future of `block_on`, in the place of its stand-in: its time is charged and bounded like a task's.
    pub(crate) fn poll_for_host<R>(&self, id: TaskId, poll: impl FnOnce() -> R) -> R {
        let Some((index, _)) = self.find(id) else { unreachable!("the stand-in lives as long as block_on") };
        self.look(self.read_clock());
        self.slice_end.set(self.now.get().saturating_add(self.slice.get()));
        self.polls.set(self.polls.get() + 1);
        let _running = Running::new(self, index);
        local::with(|local| local.meter.open_scheduled(self.now.get(), self.every_check, UNLIMITED));
        let polled = poll();
        self.look(self.read_clock());
        polled
    }

    /// The poll is over and the task is not.
    #[inline(always)]
    pub(super) fn settle_pending(
        &self,
        index: u32,
        slot: &Slot,
        yielded: bool,
        reason: Option<YieldReason>,
    ) -> Ended {
        slot.state.set(State::Idle);
        if slot.is(WAITS) {
            self.forget_waits_not_renewed(index, slot);
        }
        let again = yielded || slot.is(WOKEN);
        let stopped = matches!(reason, Some(YieldReason::Slice | YieldReason::Preempted | YieldReason::Host));
        if slot.used.get() != 0 && !(again && stopped) {
            // The turn is over: what is left of it is not saved, what was overdrawn is kept, but by a guest.
            let guest = self.running_level.get() != slot.class.get();
            let overdrawn = u64::from(slot.used.get()).saturating_sub(self.quota(index, slot));
            slot.used.set(if guest { 0 } else { overdrawn as u32 });
        }
        if !again {
            self.note(Kind::Suspended, index, slot);
            return Ended::Suspended;
        }
        if slot.is(PAUSED) {
            slot.set(WOKEN);
            self.note(Kind::Suspended, index, slot);
            return Ended::Suspended;
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
        Ended::Yielded
    }

    /// The task finished, panicked, or was cancelled while it ran.
    pub(super) fn settle_ended(
        &self,
        index: u32,
        slot: &Slot,
        body: Object,
        mut left: Option<Object>,
        polled: Result<bool, unwind::Payload>,
    ) {
        // Asked first: a destructor that cancels its own task comes too late.
        let cancelled = slot.is(CANCELLED);
        let timed_out = if cancelled { self.timed_out(index, slot) } else { None };
        // Captures first, under this task's name: who sees the end sees them gone.
        self.dispose(Some(body));
        self.running.set(NIL);
        let kind = match polled {
            Err(payload) => {
                self.dispose(left.take());
                if slot.is(DETACHED) {
                    unwind::discard(payload);
                } else {
                    left = Some(Box::pin(Failure(TaskError::Panicked(payload))));
                }
                Kind::Panicked
            }
            Ok(_) if cancelled => {
                self.dispose(left.take());
                left = timed_out;
                Kind::Cancelled
            }
            Ok(_) => Kind::Finished,
        };
        let leftovers = self.finish(index, slot, left, kind);
        self.settle(leftovers);
    }

    /// What a task leaves whose time was over while it ran.
    fn timed_out(&self, index: u32, slot: &Slot) -> Option<Object> {
        if slot.is(DETACHED) || !slot.is(EXTRAS) {
            return None;
        }
        let timed_out = self.extras.borrow().get(&index).is_some_and(|extras| extras.timed_out);
        timed_out.then(|| -> Object { Box::pin(Failure(TaskError::TimedOut)) })
    }

    /// Ends a task: its header, its joiner and its side tables are let go, its value is kept for the handle.
    #[inline(always)]
    pub(super) fn finish(&self, index: u32, slot: &Slot, value: Option<Object>, kind: Kind) -> Leftovers {
        self.note(kind, index, slot);
        if !slot.is(HIDDEN) {
            self.set_live(self.live.get() - 1);
            self.counters.ended();
        }
        if slot.is(PAUSED) {
            self.paused.set(self.paused.get() - 1);
            slot.clear(PAUSED);
        }
        self.drop_header(slot.header.replace(NIL));
        let mut leftovers = Leftovers { joiner: self.take_joiner(index, slot), ..Leftovers::default() };
        if fault::seeded(Fault::ForgetsJoiners) {
            leftovers.joiner = None;
        }
        if slot.is(WAITS) {
            self.forget_waits(index, slot);
        }
        if slot.is(EXTRAS) {
            self.drop_extras(index, slot, &mut leftovers);
        }
        if slot.is(DETACHED) {
            leftovers.object = value;
            self.release(index, slot);
        } else {
            slot.state.set(State::Done);
            slot.body.set(value);
        }
        leftovers
    }

    #[cold]
    pub(super) fn drop_extras(&self, index: u32, slot: &Slot, leftovers: &mut Leftovers) {
        slot.clear(EXTRAS);
        let extras = self.extras.borrow_mut().remove(&index);
        let keys = extras.as_ref().map(|extras| [extras.start, extras.timeout]).unwrap_or_default();
        for key in keys.into_iter().flatten() {
            // These timers' targets are numbers: there is nothing to drop.
            self.remove_timer(key);
        }
        self.keep_account(index, slot, extras.as_ref());
        leftovers.extras = extras;
    }

    /// Gives the slot back. What it held is the caller's to drop.
    pub(super) fn release(&self, index: u32, slot: &Slot) -> Option<Object> {
        slot.state.set(State::Vacant);
        if slot.is(EXTRAS) {
            // Of an ended task only the account is left, which has no destructor.
            self.extras.borrow_mut().remove(&index);
        }
        let generation = slot.generation.get() + 1;
        slot.generation.set(generation);
        // A slot whose generations are used up is retired: an id never comes back.
        if generation < u32::MAX {
            slot.next.set(self.free.replace(index));
        }
        slot.body.take()
    }
}

/// A stretch in which a task counts as running and the scheduler as at work, though not in `run_slice`.
struct Running<'e>(&'e Engine);

impl<'e> Running<'e> {
    pub(super) fn new(engine: &'e Engine, index: u32) -> Self {
        engine.running.set(index);
        engine.running_level.set(Priority::Immediate);
        engine.in_slice.set(true);
        Running(engine)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let index = self.0.running.replace(NIL);
        let slot = self.0.slots.at(index);
        if slot.is(WAITS) {
            self.0.forget_waits_not_renewed(index, slot);
        }
        let overdrawn = u64::from(slot.used.get()).saturating_sub(self.0.figures.quantum);
        slot.used.set(overdrawn as u32);
        self.0.in_slice.set(false);
    }
}
