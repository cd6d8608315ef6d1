//! What the models of whole schedulers have in common: one thread runs tasks, another one wakes, cancels or spawns.
//!
//! After the races the host takes one more turn: what is not done by then was lost. (Parked for ever would show it, too,
//! but loom cannot clean up after a deadlock in which destructors use what threads share.)

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::{Builder, Clock, Instant, Priority, Scheduler, Task, TaskError, local, yield_now};

/// Time stands still: no interleaving depends on the system's clock.
struct Still;

impl Clock for Still {
    fn now(&self) -> Instant {
        Instant::ZERO
    }
}

pub(super) fn builder() -> Builder {
    Scheduler::builder().clock(Still)
}

pub(super) fn scheduler() -> Scheduler {
    builder().build()
}

/// What another thread says by a wake: written before it, relaxed, so that only the wake orders it.
#[derive(Clone)]
pub(super) struct Flag(Arc<AtomicBool>);

impl Flag {
    pub(super) fn new() -> Self {
        Flag(Arc::new(AtomicBool::new(false)))
    }

    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits for the wake that brings it.
    pub(super) async fn wait(self) {
        while !self.is_set() {
            wait_once().await;
        }
    }
}

/// Where a task leaves its waker.
#[derive(Clone, Default)]
pub(super) struct Place(Rc<RefCell<Option<Waker>>>);

impl Place {
    pub(super) fn put(&self, waker: &Waker) {
        let before = self.0.replace(Some(waker.clone()));
        drop(before);
    }

    pub(super) fn take(&self) -> Waker {
        self.0.take().expect("the task has left its waker")
    }
}

/// A task that has given its waker away and waits for its next poll, which is raced.
pub(super) struct Started<T> {
    pub(super) scheduler: Scheduler,
    pub(super) task: Task<T>,
    pub(super) waker: Waker,
    /// What the task hears of.
    pub(super) said: Flag,
}

/// Starts a task that gives its waker away, and does what `then` makes after that.
pub(super) fn start<F>(then: impl FnOnce(Flag) -> F + 'static) -> Started<F::Output>
where
    F: Future + 'static,
{
    let (scheduler, place, said) = (scheduler(), Place::default(), Flag::new());
    let (given, heard) = (place.clone(), said.clone());
    let task = scheduler.spawn(Priority::Normal, async move {
        give_waker(given).await;
        then(heard).await
    });
    scheduler.run_slice();
    Started { scheduler, task, waker: place.take(), said }
}

/// The slice ends with this poll, and the task stays ready: so the host has the waker before the polls that are raced.
async fn give_waker(place: Place) {
    poll_fn(|context| {
        place.put(context.waker());
        Poll::Ready(())
    })
    .await;
    local::with_current(|engine| engine.remote.request_yield());
    yield_now().await;
}

/// One poll that is not ready and wakes nobody.
pub(super) async fn wait_once() {
    let mut waited = false;
    poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Another thread, with something to say to the owner of `waker`. It hands the waker back: loom does not see the count of a
/// waker's clones, whose last drop publishes the wake to who uses the header again. `parts` has a model of that.
pub(super) fn say_and_wake(said: Flag, waker: Waker) -> thread::JoinHandle<Waker> {
    thread::spawn(move || {
        said.set();
        waker.wake_by_ref();
        waker
    })
}

/// A turn that races with `other`, and one after it.
pub(super) fn two_turns<R>(scheduler: &Scheduler, other: thread::JoinHandle<R>) -> R {
    scheduler.run_slice();
    let result = other.join().unwrap();
    scheduler.run_slice();
    result
}

/// A task that keeps its waker, and waits for ever: how often it was polled. A wake that comes to it was meant for another.
pub(super) fn bystander(scheduler: &Scheduler) -> (Task<()>, Rc<Cell<u32>>) {
    let (place, polls) = (Place::default(), Rc::new(Cell::new(0)));
    let counted = polls.clone();
    let task = scheduler.spawn(
        Priority::Normal,
        poll_fn(move |context| {
            counted.set(counted.get() + 1);
            // Only with a waker of its own it could be taken for another.
            place.put(context.waker());
            Poll::Pending
        }),
    );
    (task, polls)
}

/// Whether a task finished, where a cancel may have come first.
pub(super) fn finished(mut task: Task<()>) -> bool {
    match task.try_take().unwrap() {
        Ok(()) => true,
        Err(TaskError::Cancelled) => false,
        Err(other) => panic!("{other}"),
    }
}

/// Counts one more when it is dropped.
pub(super) struct Drops(pub(super) Rc<Cell<u32>>);

impl Drop for Drops {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}
