//! Models of whole schedulers: one thread runs tasks, another one wakes, cancels or spawns.
//!
//! After the races the host takes one more turn: what is not done by then was lost. (Parked for ever would show it, too,
//! but loom cannot clean up after a deadlock in which destructors use what threads share.)

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::{assert_finds, explore, explore_bounded};
use crate::fault::Fault;
use crate::{Clock, Instant, Priority, Scheduler, TaskError, checkpoint, local, yield_now};

/// Time stands still: no interleaving depends on the system's clock.
struct Still;

impl Clock for Still {
    fn now(&self) -> Instant {
        Instant::ZERO
    }
}

fn scheduler() -> Scheduler {
    Scheduler::builder().clock(Still).build()
}

/// What another thread says by a wake: written before it, relaxed, so that only the wake orders it.
#[derive(Clone)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn new() -> Self {
        Flag(Arc::new(AtomicBool::new(false)))
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The task's own waker. The slice ends with this poll, and the task stays ready: so the host has the waker before the
/// polls that are raced.
async fn give_waker(place: Rc<RefCell<Option<Waker>>>) {
    poll_fn(|context| {
        *place.borrow_mut() = Some(context.waker().clone());
        Poll::Ready(())
    })
    .await;
    local::with_current(|engine| engine.remote.request_yield());
    yield_now().await;
}

/// One poll that is not ready and wakes nobody.
async fn wait_once() {
    let mut waited = false;
    poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Another thread, with something to say to the owner of `waker`. It hands the waker back: loom does not see the count of a
/// waker's clones, whose last drop publishes the wake to who uses the header again. `wakes` has a model of that.
fn say_and_wake(said: Flag, waker: Waker) -> thread::JoinHandle<Waker> {
    thread::spawn(move || {
        said.set();
        waker.wake_by_ref();
        waker
    })
}

/// A turn that races with `other`, and one after it.
fn two_turns<R>(scheduler: &Scheduler, other: thread::JoinHandle<R>) -> R {
    scheduler.run_slice();
    let result = other.join().unwrap();
    scheduler.run_slice();
    result
}

/// Counts one more when it is dropped.
struct Drops(Rc<Cell<u32>>);

impl Drop for Drops {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

fn wake_against_poll() -> bool {
    let scheduler = scheduler();
    let (place, said) = (Rc::<RefCell<Option<Waker>>>::default(), Flag::new());
    let (given, heard) = (place.clone(), said.clone());
    let mut task = scheduler.spawn(Priority::Normal, async move {
        give_waker(given).await;
        let mut polls = 1;
        while !heard.is_set() {
            // It takes in what came: a wake of the running task.
            checkpoint().await;
            wait_once().await;
            polls += 1;
        }
        polls
    });
    scheduler.run_slice();
    let waker = place.take().unwrap();
    let other = say_and_wake(said, waker);
    two_turns(&scheduler, other);
    let polls = task.try_take().unwrap().unwrap();
    assert!(polls <= 2, "one wake is one poll");
    polls == 1
}

#[test]
fn model_wake_against_poll() {
    explore("a wake against the poll of its task", wake_against_poll);
    assert_finds(Fault::ForgetsWakesOfTheRunning, wake_against_poll);
}

fn wake_against_pending() -> bool {
    let scheduler = scheduler();
    let (place, said) = (Arc::new(Mutex::new(None::<Waker>)), Flag::new());
    let other = {
        let (place, said) = (place.clone(), said.clone());
        thread::spawn(move || {
            said.set();
            let waker = place.lock().unwrap().take();
            let found = waker.is_some();
            waker.inspect(Waker::wake_by_ref);
            found
        })
    };
    let polls = Rc::new(Cell::new(0));
    let counted = polls.clone();
    let mut task = scheduler.spawn(
        Priority::Normal,
        poll_fn(move |context| {
            counted.set(counted.get() + 1);
            *place.lock().unwrap() = Some(context.waker().clone());
            if said.is_set() { Poll::Ready(()) } else { Poll::Pending }
        }),
    );
    let found = two_turns(&scheduler, other);
    assert!(task.try_take().unwrap().is_ok());
    // Who found no waker spoke before the task looked.
    assert!(found || polls.get() == 1);
    polls.get() == 1
}

#[test]
fn model_wake_against_pending() {
    explore("a wake against the return of Pending", wake_against_pending);
}

fn wake_against_finish() -> bool {
    let scheduler = scheduler();
    let (place, said) = (Rc::<RefCell<Option<Waker>>>::default(), Flag::new());
    let (given, heard) = (place.clone(), said.clone());
    let early = Rc::new(Cell::new(false));
    let noted = early.clone();
    drop(scheduler.spawn(Priority::Normal, async move {
        give_waker(given).await;
        noted.set(heard.is_set());
    }));
    scheduler.run_slice();
    let waker = place.take().unwrap();
    let other = thread::spawn(move || {
        waker.wake_by_ref();
        said.set();
        waker
    });
    scheduler.run_slice();
    // Who comes into the place of the one that ended is polled once, wherever the late wake is.
    let polls = Rc::new(Cell::new(0));
    let counted = polls.clone();
    let successor = scheduler.spawn(
        Priority::Normal,
        poll_fn(move |context| {
            counted.set(counted.get() + 1);
            // Only with a waker of its own it could be taken for another.
            *place.borrow_mut() = Some(context.waker().clone());
            Poll::<()>::Pending
        }),
    );
    scheduler.run_slice();
    other.join().unwrap();
    scheduler.run_slice();
    assert_eq!(polls.get(), 1, "a wake came to the wrong task");
    drop(successor);
    early.get()
}

#[test]
fn model_wake_against_finish() {
    explore("a wake against the end of its task", wake_against_finish);
    assert_finds(Fault::LeavesHeaderBound, wake_against_finish);
}

fn cancel_against_poll() -> bool {
    let scheduler = scheduler();
    let (sent, drops) = (Flag::new(), Rc::new(Cell::new(0)));
    let (arrived, captured) = (sent.clone(), Drops(drops.clone()));
    let mut task = scheduler.spawn(Priority::Normal, async move {
        let _captured = captured;
        let before = arrived.0.load(Ordering::Acquire);
        checkpoint().await;
        assert!(!before, "a check was passed after a cancel");
    });
    let stop = task.abort_handle();
    let other = thread::spawn(move || {
        stop.abort();
        sent.0.store(true, Ordering::Release);
    });
    two_turns(&scheduler, other);
    assert_eq!(drops.get(), 1);
    match task.try_take().unwrap() {
        Ok(()) => true,
        Err(TaskError::Cancelled) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn model_cancel_against_poll() {
    explore("a cancel against the poll of its task", cancel_against_poll);
    assert_finds(Fault::ForgetsCancelOfTheRunning, cancel_against_poll);
}

fn cancel_against_finish() -> bool {
    let scheduler = scheduler();
    let ran = Rc::new(Cell::new(false));
    let noted = ran.clone();
    let task = scheduler.spawn(Priority::Normal, async move { noted.set(true) });
    let stop = task.abort_handle();
    drop(task);
    let other = thread::spawn(move || stop.abort());
    scheduler.run_slice();
    // Into the place of the one that ended, in whatever way: a cancel that comes late is not meant for this one.
    let mut successor = scheduler.spawn(Priority::Normal, yield_now());
    scheduler.run_slice();
    other.join().unwrap();
    scheduler.run_slice();
    assert!(successor.try_take().unwrap().is_ok(), "a cancel came to the wrong task");
    ran.get()
}

#[test]
fn model_cancel_against_finish() {
    explore("a cancel against the end of its task", cancel_against_finish);
    assert_finds(Fault::IgnoresGenerations, cancel_against_finish);
}

fn cancel_against_wake() -> bool {
    let scheduler = scheduler();
    let (place, said) = (Rc::<RefCell<Option<Waker>>>::default(), Flag::new());
    let (given, heard, drops) = (place.clone(), said.clone(), Rc::new(Cell::new(0)));
    let captured = Drops(drops.clone());
    let mut task = scheduler.spawn(Priority::Normal, async move {
        let _captured = captured;
        give_waker(given).await;
        while !heard.is_set() {
            wait_once().await;
        }
    });
    scheduler.run_slice();
    let (waker, stop) = (place.take().unwrap(), task.abort_handle());
    let wakes = say_and_wake(said, waker);
    let cancels = thread::spawn(move || stop.abort());
    scheduler.run_slice();
    cancels.join().unwrap();
    two_turns(&scheduler, wakes);
    assert_eq!(drops.get(), 1);
    match task.try_take().unwrap() {
        Ok(()) => true,
        Err(TaskError::Cancelled) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn model_cancel_against_wake() {
    explore_bounded("a cancel against a wake of its task, both from outside", 3, cancel_against_wake);
}

fn join_against_finish() -> bool {
    let scheduler = scheduler();
    let (place, said) = (Rc::<RefCell<Option<Waker>>>::default(), Flag::new());
    let (given, heard) = (place.clone(), said.clone());
    let mut joined = scheduler.spawn(Priority::Normal, async move {
        give_waker(given).await;
        while !heard.is_set() {
            wait_once().await;
        }
        7
    });
    scheduler.run_slice();
    let waker = place.take().unwrap();
    let other = say_and_wake(said, waker);
    // The lower class comes after the one it joins, which has ended by then or not.
    let mut joins = scheduler.spawn(Priority::Idle, async move {
        let early = joined.is_finished();
        (early, (&mut joined).await.unwrap())
    });
    two_turns(&scheduler, other);
    let (early, output) = joins.try_take().unwrap().unwrap();
    assert_eq!(output, 7);
    early
}

#[test]
fn model_join_against_finish() {
    explore("a join against the end that a wake brings", join_against_finish);
    assert_finds(Fault::ForgetsJoiners, join_against_finish);
}

fn handle_drop_against_finish() -> bool {
    let scheduler = scheduler();
    let (place, said) = (Rc::<RefCell<Option<Waker>>>::default(), Flag::new());
    let (given, heard, drops) = (place.clone(), said.clone(), Rc::new(Cell::new(0)));
    let output = Drops(drops.clone());
    let task = scheduler.spawn(Priority::Normal, async move {
        give_waker(given).await;
        while !heard.is_set() {
            wait_once().await;
        }
        output
    });
    scheduler.run_slice();
    let waker = place.take().unwrap();
    let other = say_and_wake(said, waker);
    scheduler.run_slice();
    let early = task.is_finished();
    drop(task);
    two_turns(&scheduler, other);
    // Not only by the scheduler's end.
    assert_eq!(drops.get(), 1);
    early
}

#[test]
fn model_handle_drop_against_finish() {
    explore("the drop of a handle against the end that a wake brings", handle_drop_against_finish);
    assert_finds(Fault::LeavesOutputs, handle_drop_against_finish);
}

fn last_waker_against_handle() -> bool {
    let scheduler = scheduler();
    let (place, said) = (Rc::<RefCell<Option<Waker>>>::default(), Flag::new());
    let (given, heard, drops) = (place.clone(), said.clone(), Rc::new(Cell::new(0)));
    let captured = Drops(drops.clone());
    let polled = Rc::new(Cell::new(false));
    let noted = polled.clone();
    let task = scheduler.spawn(Priority::Normal, async move {
        let _captured = captured;
        give_waker(given).await;
        wait_once().await;
        // A relaxed look: the wake must have brought it.
        noted.set(heard.is_set());
        std::future::pending::<()>().await;
    });
    scheduler.run_slice();
    let waker = place.take().unwrap();
    let other = say_and_wake(said, waker);
    scheduler.run_slice();
    let woken = polled.get();
    // The last handle and the scheduler itself go, while the last waker does.
    let _detached = task.cancel_on_drop();
    drop(_detached);
    assert_eq!(drops.get(), 1, "a waker keeps no task alive");
    drop(scheduler);
    other.join().unwrap();
    assert_eq!(drops.get(), 1);
    woken
}

#[test]
fn model_last_waker_against_handle() {
    explore("the last waker against handle and scheduler", last_waker_against_handle);
}

fn spawn_against_turn() -> bool {
    let scheduler = scheduler();
    let spawner = scheduler.spawner();
    let other = thread::spawn(move || {
        for _ in 0..2 {
            spawner.spawn(Priority::Normal, async {}).unwrap();
        }
    });
    scheduler.run_slice();
    let early = scheduler.stats().ended;
    two_turns(&scheduler, other);
    assert_eq!(scheduler.stats().ended, 2);
    early > 0
}

#[test]
fn model_spawn_against_turn() {
    explore_bounded("two spawns from outside against turns", 3, spawn_against_turn);
    assert_finds(Fault::ForgetsMail, spawn_against_turn);
}

fn spawn_against_shutdown() -> bool {
    let scheduler = scheduler();
    let spawner = scheduler.spawner();
    let dropped = Flag::new();
    struct Says(Flag);
    impl Drop for Says {
        fn drop(&mut self) {
            assert!(!self.0.is_set(), "dropped twice");
            self.0.set();
        }
    }
    let captured = Says(dropped.clone());
    let other = thread::spawn(move || spawner.spawn(Priority::Normal, async move { drop(captured) }).is_ok());
    scheduler.run_slice();
    drop(scheduler);
    let accepted = other.join().unwrap();
    assert!(dropped.is_set(), "what is accepted is run or dropped, what is refused is dropped");
    accepted
}

#[test]
fn model_spawn_against_shutdown() {
    explore("a spawn from outside against the scheduler's end", spawn_against_shutdown);
}
