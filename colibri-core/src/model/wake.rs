//! A wake from another thread against what its task does meanwhile.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::bench::{Flag, Started, bystander, say_and_wake, scheduler, start, two_turns, wait_once};
use super::explore;
use crate::fault::Fault;
use crate::{Priority, checkpoint};

fn wake_against_poll() -> bool {
    let Started { scheduler, mut task, waker, said } = start(|heard| async move {
        let mut polls = 1;
        while !heard.is_set() {
            // It takes in what came: a wake of the running task.
            checkpoint().await;
            wait_once().await;
            polls += 1;
        }
        polls
    });
    two_turns(&scheduler, say_and_wake(said, waker));
    let polls = task.try_take().unwrap().unwrap();
    assert!(polls <= 2, "one wake is one poll");
    polls == 1
}

#[test]
fn model_wake_against_poll() {
    explore("a wake against the poll of its task", Fault::ForgetsWakesOfTheRunning, wake_against_poll);
}

fn wake_against_pending() -> bool {
    let scheduler = scheduler();
    let (place, said) = (Arc::new(Mutex::new(None::<Waker>)), Flag::new());
    let other = {
        let (place, said) = (place.clone(), said.clone());
        thread::spawn(move || {
            said.set();
            let waker = place.lock().unwrap().take();
            // Handed back, as by `say_and_wake`.
            waker.inspect(Waker::wake_by_ref)
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
    // Polled right after it, with the next waker that the scheduler has.
    let (_bystander, others_polls) = bystander(&scheduler);
    let found = two_turns(&scheduler, other).is_some();
    assert!(task.try_take().unwrap().is_ok());
    assert_eq!(others_polls.get(), 1, "a wake came to the wrong task");
    // Who found no waker spoke before the task looked.
    assert!(found || polls.get() == 1);
    polls.get() == 1
}

#[test]
fn model_wake_against_pending() {
    explore("a wake against the return of Pending", Fault::LendsWhatWasKept, wake_against_pending);
}

fn wake_against_finish() -> bool {
    let early = Rc::new(Cell::new(false));
    let noted = early.clone();
    let Started { scheduler, task, waker, said } = start(|heard| async move { noted.set(heard.is_set()) });
    drop(task);
    let other = thread::spawn(move || {
        waker.wake_by_ref();
        said.set();
        waker
    });
    scheduler.run_slice();
    // Who comes into the place of the one that ended is polled once, wherever the late wake is.
    let (_successor, polls) = bystander(&scheduler);
    two_turns(&scheduler, other);
    assert_eq!(polls.get(), 1, "a wake came to the wrong task");
    early.get()
}

#[test]
fn model_wake_against_finish() {
    explore("a wake against the end of its task", Fault::LeavesHeaderBound, wake_against_finish);
}
