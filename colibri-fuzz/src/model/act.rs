//! What tasks, timers and the outside do to a task of the model.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::{Inner, State};
use crate::rules::{Rules, Situation};
use crate::trace::{What, Why};
use crate::workload::Class;

impl<R: Rules> Inner<R> {
    /// A wake through a waker. While the host has the thread it waits for the next slice.
    pub(super) fn hear(&self, task: u32) {
        if self.in_slice.get() {
            return self.wake(task);
        }
        let mut news = self.news.borrow_mut();
        if !news.contains(&task) {
            news.push_back(task);
            self.ask_host();
        }
    }

    pub(super) fn wake(&self, task: u32) {
        let ready = self.with(task, |task| match task.state {
            State::Waiting if !task.paused => true,
            State::Waiting => {
                task.woken = self.rules.keeps_wake_while_paused();
                false
            }
            State::Running => {
                task.woken = true;
                false
            }
            State::Ready => !self.rules.queues_once(),
            State::Ended => false,
        });
        if ready {
            self.charge();
            let now = self.now();
            self.with(task, |task| {
                task.bonus = self.rules.credits(now.saturating_sub(task.slept_from), self.quantum);
            });
            self.enqueue(task);
            self.note(task, What::Woken);
        }
    }

    /// It becomes ready.
    pub(super) fn enqueue(&self, task: u32) {
        self.join_queue(task);
        if !self.in_slice.get() {
            self.ask_host();
        }
    }

    /// To the tail of its class.
    fn join_queue(&self, task: u32) {
        let class = self.with(task, |task| {
            task.state = State::Ready;
            task.becomes_ready(self.now() / 1_000);
            task.goes_on = false;
            task.class
        });
        self.line_up(task, class, self.rules.joins_at(task));
    }

    pub(super) fn fire_timers(&self) {
        if !self.rules.looks_at_timers(self.something_is_ready()) {
            return;
        }
        loop {
            let timer = {
                let mut timers = self.timers.borrow_mut();
                timers.sort_by(|one, other| {
                    self.rules.timer_order((one.deadline, one.made), (other.deadline, other.made))
                });
                match timers.first() {
                    Some(first) if self.rules.is_due(first.deadline, self.now()) => timers.remove(0),
                    _ => return,
                }
            };
            let _ = catch_unwind(AssertUnwindSafe(|| timer.waker.wake()));
        }
    }

    /// At a checkpoint: must the running task give way?
    pub(super) fn check(self: &Rc<Self>) -> Option<Why> {
        self.charge();
        self.take_news();
        self.fire_timers();
        let task = self.running.get()?;
        let (stopped, used, turn) =
            self.with(task, |task| (task.cancelled || task.paused, task.used, task.turn + task.bonus));
        self.rules.gives_way(&Situation {
            stopped,
            used,
            quantum: turn,
            host_asks: self.host_asks.get(),
            now: self.now(),
            slice_end: self.slice_end.get(),
            outranked: self.is_outranked(self.running_level.get()),
        })
    }

    pub(super) fn cancel(&self, task: u32) {
        let state = self.with(task, |task| task.state);
        // The real one looks at its clock whenever it is told something of a task that it knows. That matters if the clock
        // jumped: a stretch without a look is charged in full only if it is short.
        if state != State::Ended || !self.with(task, |task| task.taken) {
            self.charge();
        }
        match state {
            State::Ended => return,
            State::Running => return self.with(task, |task| task.cancelled = true),
            State::Ready if self.rules.cancel_stops() => self.unqueue(task),
            State::Ready | State::Waiting => {}
        }
        if !self.rules.cancel_stops() {
            return self.note(task, What::Cancelled);
        }
        let body = if self.rules.cancel_drops() { self.with(task, |task| task.body.take()) } else { None };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(body)));
        self.end(task, What::Cancelled);
    }

    pub(super) fn pause(&self, task: u32) {
        let (state, paused) = self.with(task, |task| (task.state, task.paused));
        if state == State::Ended || paused {
            return;
        }
        self.charge();
        if state == State::Ready && self.rules.pause_stops() {
            self.unqueue(task);
            self.with(task, |task| {
                task.state = State::Waiting;
                task.woken = self.rules.keeps_wake_while_paused();
            });
        }
        self.with(task, |task| task.paused = true);
        self.note(task, What::Paused);
    }

    pub(super) fn resume(&self, task: u32) {
        let (state, paused) =
            self.with(task, |task| (task.state, std::mem::replace(&mut task.paused, false)));
        if state == State::Ended || !paused {
            return;
        }
        self.charge();
        self.note(task, What::Resumed);
        if state == State::Waiting && self.with(task, |task| std::mem::replace(&mut task.woken, false)) {
            self.wake(task);
        }
    }

    pub(super) fn set_class(&self, task: u32, class: Class) {
        let (state, given, present) = self.with(task, |task| (task.state, task.given, task.class));
        if state == State::Ended || given == class {
            return;
        }
        self.with(task, |task| task.given = class);
        if given == present {
            // It is not lifted: it goes there, also if its waiter lifts it back at once.
            self.move_to(task, class);
        }
        self.settle_class(task);
        let awaits = self.with(task, |task| task.awaits);
        awaits.into_iter().for_each(|other| self.settle_class(other));
    }

    /// A task that is awaited runs in its waiter's class, if that is higher; and so on down the chain.
    pub(super) fn settle_class(&self, first: u32) {
        let mut next = Some(first);
        while let Some(task) = next {
            let (state, given, present, waiter, awaits) =
                self.with(task, |task| (task.state, task.given, task.class, task.awaited_by, task.awaits));
            let lifted = waiter.map_or(given, |waiter| given.min(self.with(waiter, |waiter| waiter.class)));
            if state == State::Ended || lifted == present || !self.rules.lifts() {
                return;
            }
            self.move_to(task, lifted);
            next = awaits;
        }
    }

    /// To the tail of `class`, if it is ready. What it has waited counts there as well.
    fn move_to(&self, task: u32, class: Class) {
        self.charge();
        let state = self.with(task, |task| {
            task.class = class;
            task.state
        });
        match state {
            State::Ready => {
                let since = self.with(task, |task| task.ready_since);
                // It was ready before: that is no news for the host.
                self.unqueue(task);
                self.join_queue(task);
                if since != self.with(task, |task| task.since) {
                    self.with(task, |task| task.becomes_ready(since));
                    self.note_straggler(task);
                }
            }
            State::Running => self.running_level.set(class),
            State::Waiting | State::Ended => {}
        }
    }
}
