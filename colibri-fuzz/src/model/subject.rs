//! The model as a [`Subject`]: what a task awaits, and how it is woken.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use colibri_core::ManualClock;

use super::{Body, Inner, Letter, Model, State, Task, Timer};
use crate::bell::{Ear, bell};
use crate::rules::Rules;
use crate::span::nanos;
use crate::subject::{Skill, Spec, Subject, Turn};
use crate::trace::{Recorder, Why};
use crate::workload::{Class, Settings};

impl<R: Rules> Subject for Model<R> {
    type Task = u32;

    const NAME: &'static str = "the model";
    const SKILLS: &'static [Skill] = &[
        Skill::Classes,
        Skill::Weights,
        Skill::Timers,
        Skill::Cancel,
        Skill::Pause,
        Skill::Requests,
        Skill::Deadlines,
        Skill::Limit,
        Skill::Activity,
        Skill::Clock,
        Skill::BadDrops,
        Skill::BadWakers,
        Skill::Asks,
        Skill::Afar,
    ];
    const OBSERVED: bool = true;

    fn new(settings: &Settings, clock: &ManualClock, recorder: &Recorder) -> Self {
        Model(Rc::new(Inner {
            rules: R::default(),
            clock: clock.clone(),
            recorder: recorder.clone(),
            slices: settings.clone(),
            activity: Cell::default(),
            time: Cell::default(),
            asked: Cell::default(),
            asks: Cell::default(),
            quantum: nanos(settings.quantum).max(1),
            upgrade_after_micros: nanos(settings.upgrade_after) / 1_000,
            tasks: RefCell::default(),
            own: RefCell::default(),
            due: RefCell::default(),
            guests: RefCell::default(),
            guest_before: Cell::default(),
            timers: RefCell::default(),
            made: Cell::default(),
            stragglers: Cell::default(),
            news: RefCell::default(),
            mail: RefCell::default(),
            running: Cell::default(),
            running_level: Cell::new(Class::Idle),
            charged: Cell::default(),
            reason: Cell::default(),
            in_slice: Cell::default(),
            slice_end: Cell::default(),
            host_asks: Cell::default(),
        }))
    }

    fn spawn<F>(&self, spec: Spec, future: F) -> u32
    where
        F: Future<Output = ()> + 'static,
    {
        // The real one looks at its clock first, refused or not.
        self.0.charge();
        let number = spec.number;
        if self.0.is_full() {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
            return number;
        }
        self.0.admit(spec, Box::pin(future));
        number
    }

    fn spawn_from_afar<F>(&self, spec: Spec, future: F) -> bool
    where
        F: Future<Output = ()> + 'static,
    {
        // What another thread does between two steps of this one has the same effect when this one does it.
        if self.0.is_full() {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
            return false;
        }
        self.0.mail.borrow_mut().push_back(Letter { spec, body: Box::pin(future) });
        self.0.ask_host();
        true
    }

    fn submit<F>(&self, spec: Spec, future: F, before: Option<u32>) -> Option<u32>
    where
        F: Future<Output = ()> + 'static,
    {
        let before = before.filter(|before| self.0.with(*before, |before| before.state != State::Ended));
        before.into_iter().for_each(|before| self.0.cancel(before));
        Some(self.spawn(spec, future))
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        let usual = self.0.slices.slice_while(self.0.activity.get());
        self.0.run_slice(nanos(length.unwrap_or(usual)))
    }

    async fn checkpoint(&self) {
        let mut gave_way = false;
        poll_fn(|_| {
            if std::mem::replace(&mut gave_way, true) {
                return Poll::Ready(());
            }
            match self.0.check() {
                None => Poll::Ready(()),
                why => {
                    self.0.reason.set(why);
                    Poll::Pending
                }
            }
        })
        .await;
    }

    async fn yield_now(&self) {
        let mut gave_way = false;
        poll_fn(|_| {
            if std::mem::replace(&mut gave_way, true) {
                return Poll::Ready(());
            }
            self.0.reason.set(Some(Why::Own));
            Poll::Pending
        })
        .await;
    }

    async fn sleep(&self, span: Duration) {
        let inner = &self.0;
        let deadline = inner.now().saturating_add(nanos(span));
        let mut key = Registered { inner, made: None };
        poll_fn(|context| {
            if inner.rules.is_due(deadline, inner.now()) {
                return Poll::Ready(());
            }
            let mut timers = inner.timers.borrow_mut();
            if !timers.iter().any(|timer| Some(timer.made) == key.made) {
                inner.made.set(inner.made.get() + 1);
                key.made = Some(inner.made.get());
                timers.push(Timer { deadline, made: inner.made.get(), waker: context.waker().clone() });
            }
            Poll::Pending
        })
        .await;
    }

    fn poll_join(&self, task: &mut u32, context: &mut Context<'_>) -> Poll<()> {
        if self.0.with(*task, |task| task.state == State::Ended) {
            self.0.with(*task, |task| task.taken = true);
            return Poll::Ready(());
        }
        self.0.with(*task, |task| task.joiner = Some(context.waker().clone()));
        if let Some(waiter) = self.0.running.get() {
            self.0.with(*task, |task| task.awaited_by = Some(waiter));
            self.0.with(waiter, |waiter| waiter.awaits = Some(*task));
            self.0.settle_class(*task);
        }
        Poll::Pending
    }

    fn cancel(&self, task: &mut u32) {
        self.0.cancel(*task);
    }

    fn pause(&self, task: &u32) {
        self.0.pause(*task);
    }

    fn resume(&self, task: &u32) {
        self.0.resume(*task);
    }

    fn set_class(&self, task: &u32, class: Class) {
        self.0.set_class(*task, class);
    }

    fn set_activity(&self, activity: usize) {
        self.0.activity.set(activity);
    }

    fn now(&self, _clock: &ManualClock) -> u64 {
        self.0.now()
    }

    fn asked(&self) -> u64 {
        self.0.asks.get()
    }

    fn wake_from_afar(&self, waker: Waker) {
        // What another thread does between two steps of this one has the same effect when this one does it.
        let in_slice = self.0.in_slice.replace(false);
        waker.wake();
        self.0.in_slice.set(in_slice);
    }

    fn request_yield(&self) {
        self.0.host_asks.set(true);
    }

    fn shutdown(&self) {
        let numbers = self.0.tasks.borrow().keys().copied().collect::<Vec<_>>();
        for number in numbers {
            let body = self.0.with(number, |task| {
                task.state = State::Ended;
                task.body.take()
            });
            let _ = catch_unwind(AssertUnwindSafe(|| drop(body)));
        }
        let mail = self.0.mail.take();
        mail.into_iter().for_each(|letter| drop(catch_unwind(AssertUnwindSafe(|| drop(letter)))));
    }
}

impl<R: Rules> Inner<R> {
    /// Whether there is no room for one more task, beside those that live or were sent.
    fn is_full(&self) -> bool {
        let live = self.tasks.borrow().values().filter(|task| task.state != State::Ended).count();
        self.rules.refuses(live + self.mail.borrow().len(), self.slices.max_tasks)
    }

    /// The task lives, and is ready.
    pub(super) fn admit(self: &Rc<Self>, spec: Spec, body: Body) {
        let Spec { number, class, weight, deadline } = spec;
        let ear: Rc<dyn Ear> = self.clone();
        let task = Task {
            body: Some(body),
            waker: bell(&ear, number),
            joiner: None,
            awaited_by: None,
            awaits: None,
            given: class,
            class,
            state: State::Waiting,
            goes_on: false,
            paused: false,
            woken: false,
            cancelled: false,
            taken: false,
            deadline: deadline.map(|deadline| self.now().saturating_add(nanos(deadline))),
            turn: self.rules.turn(self.quantum, weight),
            slept_from: 0,
            bonus: 0,
            used: 0,
            since: 0,
            ready_since: 0,
            came: None,
        };
        self.tasks.borrow_mut().insert(number, task);
        self.enqueue(number);
    }
}

/// A timer that is taken out again when its sleep is dropped.
struct Registered<'a, R: Rules> {
    inner: &'a Inner<R>,
    made: Option<u64>,
}

impl<R: Rules> Drop for Registered<'_, R> {
    fn drop(&mut self) {
        self.inner.timers.borrow_mut().retain(|timer| Some(timer.made) != self.made);
    }
}

impl<R: Rules> Ear for Inner<R> {
    fn hear(&self, task: u32) {
        Inner::hear(self, task);
    }
}
