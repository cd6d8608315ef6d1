//! A cancel from another thread against what its task does meanwhile.

use std::cell::Cell;
use std::rc::Rc;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::bench::{Drops, Started, finished, say_and_wake, scheduler, start, two_turns};
use super::{explore, explore_bounded};
use crate::fault::Fault;
use crate::{Priority, checkpoint, yield_now};

fn cancel_against_poll() -> bool {
    let scheduler = scheduler();
    let (sent, drops) = (Arc::new(AtomicBool::new(false)), Rc::new(Cell::new(0)));
    let (arrived, captured) = (sent.clone(), Drops(drops.clone()));
    let task = scheduler.spawn(Priority::Normal, async move {
        let _captured = captured;
        let before = arrived.load(Ordering::Acquire);
        checkpoint().await;
        assert!(!before, "a check was passed after a cancel");
    });
    let stop = task.abort_handle();
    let other = thread::spawn(move || {
        stop.abort();
        sent.store(true, Ordering::Release);
    });
    two_turns(&scheduler, other);
    assert_eq!(drops.get(), 1);
    finished(task)
}

#[test]
fn model_cancel_against_poll() {
    explore("a cancel against the poll of its task", Fault::ForgetsCancelOfTheRunning, cancel_against_poll);
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
    two_turns(&scheduler, other);
    assert!(successor.try_take().unwrap().is_ok(), "a cancel came to the wrong task");
    ran.get()
}

#[test]
fn model_cancel_against_finish() {
    explore("a cancel against the end of its task", Fault::IgnoresGenerations, cancel_against_finish);
}

fn cancel_against_wake() -> bool {
    let drops = Rc::new(Cell::new(0));
    let captured = Drops(drops.clone());
    let Started { scheduler, task, waker, said } = start(|heard| async move {
        let _captured = captured;
        heard.wait().await;
    });
    let stop = task.abort_handle();
    let wakes = say_and_wake(said, waker);
    let cancels = thread::spawn(move || stop.abort());
    scheduler.run_slice();
    cancels.join().unwrap();
    two_turns(&scheduler, wakes);
    assert_eq!(drops.get(), 1);
    finished(task)
}

#[test]
fn model_cancel_against_wake() {
    explore_bounded(
        "a cancel against a wake of its task, both from outside",
        Fault::LeavesCancelledInTheirList,
        cancel_against_wake,
    );
}
