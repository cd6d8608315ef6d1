//! A task's life but for its turns: accepted, queued, woken, ended. The numbers are those of the diagram in
//! [`crate::slot`].

use alloc::boxed::Box;

use super::leftovers::Leftovers;
use super::{Engine, Extras, id_of};
use crate::event::Kind;
use crate::fault::{self, Fault};
use crate::priority::Priority;
use crate::queue;
use crate::slot::{
    DETACHED, EXTRAS, HIDDEN, Left, NIL, Object, PAUSED, STRAGGLER, Slot, State, WAITS, WOKEN,
};
use crate::stats::TaskStats;
use crate::task::{SpawnError, TaskId};
use crate::timer::{Key, Target};

impl Engine {
    /// Accepts a task, unless there is no room or the scheduler is shut down.
    #[inline(never)]
    pub(crate) fn admit(
        &self,
        body: Object,
        class: Priority,
        flags: u8,
        extras: Option<Box<Extras>>,
    ) -> Result<TaskId, (SpawnError, Object)> {
        // First, since a clock is user code, which may even shut the scheduler down or start tasks.
        self.look_before_stamp();
        if flags & HIDDEN == 0 && self.figures.max_tasks != usize::MAX && !self.takes_place() {
            return Err((self.refuse(SpawnError::Full), body));
        }
        self.give_place(body, class, flags, extras)
    }

    /// The same for a task that was promised a place.
    #[cfg(feature = "std")]
    pub(crate) fn admit_promised(
        &self,
        body: Object,
        class: Priority,
    ) -> Result<TaskId, (SpawnError, Object)> {
        self.look_before_stamp();
        self.give_place(body, class, DETACHED, None)
    }

    /// Whether there is room for one more; it counts as living from now on, so that nobody else is promised its place.
    #[cold]
    fn takes_place(&self) -> bool {
        !self.closed.get() && self.remote.take_place(self.live.get(), self.figures.max_tasks)
    }

    #[cold]
    fn refuse(&self, error: SpawnError) -> SpawnError {
        self.counters.refused();
        if self.closed.get() { SpawnError::ShutDown } else { error }
    }

    #[inline(always)]
    fn give_place(
        &self,
        body: Object,
        class: Priority,
        flags: u8,
        extras: Option<Box<Extras>>,
    ) -> Result<TaskId, (SpawnError, Object)> {
        if self.closed.get() {
            return Err((self.refuse(SpawnError::ShutDown), body));
        }
        let (index, slot) = match self.free.get() {
            NIL => match self.slots.grow(Slot::vacant) {
                Some(index) => (index, self.slots.at(index)),
                None => return Err((self.refuse(SpawnError::Full), body)),
            },
            index => {
                let slot = self.slots.at(index);
                self.free.set(slot.next.get());
                (index, slot)
            }
        };
        // A vacant slot's is empty: forgotten, it need not be asked whether there is something to drop.
        core::mem::forget(slot.body.replace(Some(body)));
        slot.class.set(class);
        slot.used.set(0);
        slot.set_flags(flags);
        slot.state.set(State::Idle);
        if flags & HIDDEN == 0 {
            self.set_live(self.live.get() + 1);
            self.counters.spawned();
        }
        if extras.is_some() || self.figures.task_stats {
            self.start_with_extras(index, slot, extras);
        } else {
            self.note(Kind::Spawned, index, slot);
            self.enqueue_plain(index, slot, class);
        }
        Ok(id_of(index, slot))
    }

    /// The same for a task with extras, which may be delayed.
    #[cold]
    fn start_with_extras(&self, index: u32, slot: &Slot, extras: Option<Box<Extras>>) {
        let mut extras = extras;
        if self.figures.task_stats && !slot.is(HIDDEN) {
            extras.get_or_insert_default().account = Some(TaskStats::default());
        }
        let delayed = extras.as_ref().is_some_and(|extras| extras.delayed);
        if let Some(extras) = extras {
            slot.set(EXTRAS);
            self.extras.borrow_mut().insert(index, extras);
        }
        self.note(Kind::Spawned, index, slot);
        if !delayed {
            self.enqueue(index, slot);
        }
    }

    /// Other threads read the number, to know whether there is room.
    #[inline(always)]
    fn set_live(&self, live: usize) {
        self.live.set(live);
        self.remote.set_live(live);
    }

    /// Sets the timers of a delayed start and of the end, once the task has its place.
    pub(crate) fn set_timers(&self, id: TaskId, start: Option<u64>, end: Option<u64>) {
        let (index, generation) = id.parts();
        self.set_timer(id, start, Target::Task(index, generation), |extras| &mut extras.start);
        self.set_timer(id, end, Target::End(index, generation), |extras| &mut extras.timeout);
    }

    /// An earlier timer asks the host, who may do anything: each is set if the task still lives, and noted if it does then.
    fn set_timer(
        &self,
        id: TaskId,
        due: Option<u64>,
        target: Target,
        place: fn(&mut Extras) -> &mut Option<Key>,
    ) {
        let Some(due) = due else { return };
        if !self.is_live(id) {
            return;
        }
        let key = self.add_timer(due, target);
        let lives = self.is_live(id);
        let mut all = self.extras.borrow_mut();
        match all.get_mut(id.parts().0).filter(|_| lives) {
            Some(extras) => *place(extras) = Some(key),
            None => {
                drop(all);
                self.remove_timer(key);
            }
        }
    }

    /// Where the last look may be long ago, or a test wants it exactly, the stamp of a task that becomes ready needs a new
    /// one. Inside a slice the next look corrects what it must; outside, where a host often starts many tasks in a row, it is
    /// every so many stamps, as with short polls.
    #[inline(always)]
    pub(super) fn look_before_stamp(&self) {
        if self.every_check {
            self.look(self.read_clock());
        } else if !self.in_slice.get() {
            self.look_every_so_often();
        }
    }

    /// The same of a task in its place: whether it is there still. A clock is user code: it may have ended the task, and another
    /// may be in its place.
    #[inline(always)]
    pub(super) fn is_there_after_a_look(&self, slot: &Slot) -> bool {
        let generation = slot.generation.get();
        self.look_before_stamp();
        slot.generation.get() == generation
    }

    /// To the tail of its class.
    #[inline(always)]
    pub(super) fn enqueue(&self, index: u32, slot: &Slot) {
        if slot.is(EXTRAS) && self.enqueue_by_deadline(index, slot) {
            return;
        }
        self.enqueue_plain(index, slot, slot.class.get());
    }

    /// The same for a task without extras.
    #[inline(always)]
    pub(super) fn enqueue_plain(&self, index: u32, slot: &Slot, class: Priority) {
        slot.since.set(self.now_micros.get());
        self.ready.push_back(&self.slots, index, slot, class, queue::Kind::Ready);
    }

    #[cold]
    fn enqueue_by_deadline(&self, index: u32, slot: &Slot) -> bool {
        let came = self.came.get() + 1;
        let deadline = {
            let mut extras = self.extras.borrow_mut();
            let Some(extras) = extras.get_mut(index) else { return false };
            let Some(deadline) = extras.deadline else { return false };
            extras.came = came;
            deadline
        };
        self.came.set(came);
        slot.since.set(self.now_micros.get());
        self.ready.push_deadline(&self.slots, index, slot, (deadline, came));
        true
    }

    /// Out of the ready list it is in.
    pub(super) fn unlink(&self, index: u32, slot: &Slot) {
        if slot.is(STRAGGLER) {
            self.forget_straggler(index, slot);
        }
        if queue::is_promoted(slot.place.get()) {
            self.risen.borrow_mut().remove(&index);
        }
        self.ready.unlink(&self.slots, index, slot, || {
            let extras = self.extras.borrow();
            let extras = extras.get(index);
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
        if slot.state.get() == State::Idle && !slot.is(PAUSED) && !self.is_there_after_a_look(slot) {
            return;
        }
        match slot.state.get() {
            State::Idle if !slot.is(PAUSED) => {
                self.enqueue(index, slot);
                self.note(Kind::Woken, index, slot);
            }
            State::Running if fault::seeded(Fault::ForgetsWakesOfTheRunning) => {}
            State::Idle | State::Running => slot.set(WOKEN),
            State::Vacant | State::Ready | State::Done => {}
        }
    }

    /// Ends a task: its header, its joiner and its side tables are let go, its value is kept for the handle.
    #[inline(always)]
    pub(super) fn finish(&self, index: u32, slot: &Slot, value: Left, kind: Kind) -> Leftovers {
        self.note(kind, index, slot);
        if !slot.is(HIDDEN) {
            self.set_live(self.live.get() - 1);
            self.counters.ended();
        }
        if slot.is(PAUSED) {
            self.paused.set(self.paused.get() - 1);
            slot.clear(PAUSED);
        }
        if slot.header.get() != NIL {
            self.drop_header(slot.header.replace(NIL));
        }
        let mut leftovers = Leftovers::default();
        if slot.joiner.get() != NIL {
            leftovers.joiner = self.take_joiner_of_ended(index, slot);
        }
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
            leftovers.object = value.into_object();
            self.release(index, slot);
        } else {
            slot.end(value);
        }
        leftovers
    }

    #[cold]
    pub(super) fn drop_extras(&self, index: u32, slot: &Slot, leftovers: &mut Leftovers) {
        slot.clear(EXTRAS);
        let extras = self.extras.borrow_mut().remove(index);
        let keys = extras.as_ref().map(|extras| [extras.start, extras.timeout]).unwrap_or_default();
        for key in keys.into_iter().flatten() {
            // These timers' targets are numbers: there is nothing to drop.
            self.remove_timer(key);
        }
        self.keep_account(index, slot, extras.as_deref());
        if let Some(own) = extras.as_ref().and_then(|extras| extras.own_class) {
            slot.class.set(own);
        }
        leftovers.extras = extras;
    }

    /// Gives the slot back. What it held is the caller's to drop.
    pub(super) fn release(&self, index: u32, slot: &Slot) -> Option<Object> {
        slot.state.set(State::Vacant);
        if slot.is(EXTRAS) {
            // Of an ended task only the account is left, which has no destructor.
            self.extras.borrow_mut().remove(index);
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
