//! The model as a [`Subject`]: what a task awaits, and how it is woken.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use colibri_core::ManualClock;

use super::{Inner, Model, State, Task, Timer};
use crate::rules::Rules;
use crate::span::nanos;
use crate::subject::{Spec, Subject, Turn};
use crate::trace::{Recorder, Why};
use crate::workload::{Class, Settings};

impl<R: Rules> Subject for Model<R> {
    type Task = u32;

    fn new(settings: &Settings, clock: &ManualClock, recorder: &Recorder) -> Self {
        Model(Rc::new(Inner {
            rules: R::default(),
            clock: clock.clone(),
            recorder: recorder.clone(),
            slice: nanos(settings.slice),
            quantum: nanos(settings.quantum).max(1),
            upgrade_after_micros: nanos(settings.upgrade_after) / 1_000,
            tasks: RefCell::default(),
            own: RefCell::default(),
            guests: RefCell::default(),
            guest_before: Cell::default(),
            timers: RefCell::default(),
            made: Cell::default(),
            news: RefCell::default(),
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
        let Spec { number, class, weight } = spec;
        let task = Task {
            body: Some(Box::pin(future)),
            waker: bell(&self.0, number),
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
            turn: self.0.quantum * u64::from(weight),
            used: 0,
            since: 0,
        };
        self.0.tasks.borrow_mut().insert(number, task);
        self.0.enqueue(number);
        number
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        self.0.run_slice(length.map_or(self.0.slice, nanos))
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

    fn cancel(&self, task: &u32) {
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

/// A task's waker: it may be sent anywhere, but finds its model only on the thread where that lives.
struct Bell {
    model: u64,
    task: u32,
}

/// Something that hears bells.
trait Ear {
    fn hear(&self, task: u32);
}

impl<R: Rules> Ear for Inner<R> {
    fn hear(&self, task: u32) {
        Inner::hear(self, task);
    }
}

static BELLS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static EARS: RefCell<BTreeMap<u64, Weak<dyn Ear>>> = const { RefCell::new(BTreeMap::new()) };
}

fn bell<R: Rules>(inner: &Rc<Inner<R>>, task: u32) -> Waker {
    let ear: Rc<dyn Ear> = inner.clone();
    let model = BELLS.fetch_add(1, Ordering::Relaxed);
    EARS.with(|ears| ears.borrow_mut().insert(model, Rc::downgrade(&ear)));
    Waker::from(Arc::new(Bell { model, task }))
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let ear = EARS.with(|ears| ears.borrow().get(&self.model).and_then(Weak::upgrade));
        if let Some(ear) = ear {
            ear.hear(self.task);
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // The map may be gone when a thread ends; then there is nothing to take out.
        let _ = EARS.try_with(|ears| ears.borrow_mut().remove(&self.model));
    }
}
