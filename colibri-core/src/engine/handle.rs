//! What a task's handle does to it.

use alloc::string::String;
use alloc::vec::Vec;
use core::task::Waker;

use super::{Engine, id_of};
use crate::event::Kind;
use crate::fault::{self, Fault};
use crate::local;
use crate::priority::Priority;
use crate::slot::{CANCELLED, DETACHED, EXTRAS, HIDDEN, Left, NIL, PAUSED, Slot, State, WOKEN};
use crate::task::{TaskError, TaskId, TaskSnapshot, TaskState};
use crate::word;

impl Engine {
    #[inline(always)]
    pub(crate) fn find(&self, id: TaskId) -> Option<(u32, &Slot)> {
        let (index, generation) = id.parts();
        if index >= self.slots.length() {
            return None;
        }
        let slot = self.slots.at(index);
        let same = slot.generation.get() == generation || fault::seeded(Fault::IgnoresGenerations);
        (same && slot.state.get() != State::Vacant).then_some((index, slot))
    }

    /// Finds a task to which something `applies`, with a look at the clock. A clock is user code, which may do anything to the
    /// task: what was true before the look is asked again.
    fn find_and_look(&self, id: TaskId, applies: impl Fn(&Slot) -> bool) -> Option<(u32, &Slot)> {
        self.find(id).filter(|(_, slot)| applies(slot))?;
        self.look_before_stamp();
        self.find(id).filter(|(_, slot)| applies(slot))
    }

    pub(crate) fn cancel(&self, id: TaskId) {
        if let Some((index, slot)) = self.find_and_look(id, |_| true) {
            self.end(index, slot, None);
            self.tell();
        }
    }

    /// The task's time is over.
    pub(super) fn time_out(&self, index: u32, generation: u32) {
        let id = TaskId::new(index, generation);
        let Some((_, slot)) = self.find_and_look(id, |_| true) else { return };
        if slot.state.get() == State::Running
            && let Some(extras) = self.extras.borrow_mut().get_mut(index)
        {
            extras.timed_out = true;
        }
        self.end(index, slot, Some(TaskError::TimedOut));
    }

    /// Ends a task before it is finished; the running one at the end of its poll.
    fn end(&self, index: u32, slot: &Slot, error: Option<TaskError>) {
        match slot.state.get() {
            State::Running if fault::seeded(Fault::ForgetsCancelOfTheRunning) => return,
            State::Running => return slot.set(CANCELLED),
            State::Ready if fault::seeded(Fault::LeavesCancelledInTheirList) => {}
            State::Ready => self.unlink(index, slot),
            State::Idle => {}
            State::Vacant | State::Done => return,
        }
        let body = slot.body.take();
        let failure = error.filter(|_| !slot.is(DETACHED)).map_or(Left::Nothing, Left::failure);
        let leftovers = self.finish(index, slot, failure, Kind::Cancelled);
        self.dispose(body);
        self.settle(leftovers);
    }

    pub(crate) fn pause(&self, id: TaskId) {
        let pauses = |slot: &Slot| slot.state.get() != State::Done && !slot.is(PAUSED);
        let Some((index, slot)) = self.find_and_look(id, pauses) else { return };
        let state = slot.state.get();
        slot.set(PAUSED);
        self.paused.set(self.paused.get() + 1);
        if state == State::Ready {
            self.unlink(index, slot);
            slot.set(WOKEN);
        }
        self.note(Kind::Paused, index, slot);
        self.tell();
    }

    pub(crate) fn resume(&self, id: TaskId) {
        let resumes = |slot: &Slot| slot.state.get() != State::Done && slot.is(PAUSED);
        let Some((index, slot)) = self.find_and_look(id, resumes) else { return };
        slot.clear(PAUSED);
        self.paused.set(self.paused.get() - 1);
        self.note(Kind::Resumed, index, slot);
        let goes_on = slot.state.get() == State::Idle && slot.is(WOKEN);
        if goes_on {
            slot.clear(WOKEN);
            self.wake(index);
        }
        self.tell();
        // Of a task that waits for something there is no news.
        if goes_on {
            self.ask_host();
        }
    }

    pub(crate) fn set_priority(&self, id: TaskId, class: Priority) {
        let own_class = |slot: &Slot| self.own_class(id.parts().0, slot);
        let changes = |slot: &Slot| slot.state.get() != State::Done && own_class(slot) != class;
        let Some((index, slot)) = self.find_and_look(id, changes) else { return };
        self.set_own_class(index, slot, class);
        self.note(Kind::Reprioritised, index, slot);
        self.tell();
    }

    /// The handle is gone.
    #[inline(always)]
    pub(crate) fn detach(&self, id: TaskId) {
        // Most handles have been awaited, and stand for nothing any more.
        if let Some((index, slot)) = self.find(id) {
            self.let_go(index, slot);
        }
    }

    fn let_go(&self, index: u32, slot: &Slot) {
        if slot.joiner.get() != NIL {
            // Nobody awaits it any more.
            let joiner = self.take_joiner(index, slot);
            self.contained().contain(|| drop(joiner));
        }
        if slot.state.get() == State::Done && !fault::seeded(Fault::LeavesOutputs) {
            let object = self.release(index, slot);
            self.dispose(object);
        } else {
            slot.set(DETACHED);
        }
    }

    /// Takes a finished task's value or failure into `out`, and gives its slot back.
    pub(crate) fn take<T: 'static>(&self, id: TaskId) -> Option<Result<T, TaskError>> {
        let (index, slot) = self.find(id)?;
        if slot.state.get() != State::Done {
            return None;
        }
        if let Some(word) = slot.word() {
            self.release(index, slot);
            return word::unpack(word).map(Ok);
        }
        let mut out = None::<T>;
        let error = self.release(index, slot).and_then(|object| object.take(&mut out));
        Some(out.ok_or(error.unwrap_or(TaskError::Cancelled)))
    }

    /// Notes who awaits the task: whether it still lives.
    pub(crate) fn set_joiner(&self, id: TaskId, waker: &Waker) -> bool {
        let is_own = local::with(|local| local.is_own_waker(waker));
        // First, since a waker's clone can be user code, which may even end the task.
        let waker = waker.clone();
        let Some((index, slot)) = self.find(id).filter(|(_, slot)| slot.state.get() != State::Done) else {
            return false;
        };
        self.note_wait(index, is_own);
        let before = {
            let mut joiners = self.joiners.borrow_mut();
            if slot.joiner.get() == NIL {
                let number = joiners.free.pop().unwrap_or_else(|| {
                    joiners.wakers.push(None);
                    (joiners.wakers.len() - 1) as u32
                });
                slot.joiner.set(number);
            }
            joiners.wakers[slot.joiner.get() as usize].replace(waker)
        };
        drop(before);
        true
    }

    /// Who awaited the handle does so no more.
    fn take_joiner(&self, index: u32, slot: &Slot) -> Option<Waker> {
        self.forget_waiter(index);
        self.take_joiner_of_ended(index, slot)
    }

    /// The same at the task's end, after which its class is nobody's concern. There is one.
    pub(super) fn take_joiner_of_ended(&self, index: u32, slot: &Slot) -> Option<Waker> {
        let number = slot.joiner.replace(NIL);
        self.remove_waiter(index);
        let mut joiners = self.joiners.borrow_mut();
        joiners.free.push(number);
        joiners.wakers[number as usize].take()
    }

    pub(crate) fn state(&self, id: TaskId) -> TaskState {
        let Some((_, slot)) = self.find(id) else { return TaskState::Finished };
        state_of(slot)
    }

    pub(crate) fn is_live(&self, id: TaskId) -> bool {
        self.state(id) != TaskState::Finished
    }

    pub(crate) fn progress(&self, id: TaskId) -> Option<(u64, u64)> {
        let (index, slot) = self.find(id)?;
        if slot.is(EXTRAS) { self.extras.borrow().get(index)?.progress } else { None }
    }

    /// Notes how far the running task is.
    #[cfg(feature = "std")]
    pub(crate) fn set_progress(&self, progress: (u64, u64)) {
        let running = self.running.get();
        if running != NIL {
            self.slots.at(running).set(EXTRAS);
            self.extras.borrow_mut().get_or_default(running).progress = Some(progress);
        }
    }

    /// All tasks that have not ended, in order of their places.
    pub(crate) fn snapshot(&self) -> Vec<TaskSnapshot> {
        (0..self.slots.length())
            .map(|index| (index, self.slots.at(index)))
            .filter(|(_, slot)| !matches!(slot.state.get(), State::Vacant | State::Done) && !slot.is(HIDDEN))
            .map(|(index, slot)| {
                let id = id_of(index, slot);
                TaskSnapshot {
                    id,
                    name: self.name(id),
                    priority: self.own_class(index, slot),
                    state: state_of(slot),
                    progress: self.progress(id),
                    stats: self.task_stats(id),
                }
            })
            .collect()
    }

    pub(crate) fn priority(&self, id: TaskId) -> Option<Priority> {
        self.find(id).map(|(index, slot)| self.own_class(index, slot))
    }

    pub(crate) fn name(&self, id: TaskId) -> Option<String> {
        let (index, slot) = self.find(id)?;
        if !slot.is(EXTRAS) {
            return None;
        }
        self.extras.borrow().get(index)?.name.clone()
    }
}

fn state_of(slot: &Slot) -> TaskState {
    match slot.state.get() {
        State::Done | State::Vacant => TaskState::Finished,
        _ if slot.is(PAUSED) => TaskState::Paused,
        State::Idle => TaskState::Waiting,
        State::Ready => TaskState::Ready,
        State::Running => TaskState::Running,
    }
}
