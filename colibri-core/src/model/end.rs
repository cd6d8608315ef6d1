//! What the handle's owner does against the end of the task, which another thread's wake brings.

use std::cell::Cell;
use std::rc::Rc;

use super::bench::{Drops, Started, bystander, say_and_wake, start, two_turns, wait_once};
use super::explore;
use crate::Priority;
use crate::fault::Fault;

fn join_against_finish() -> bool {
    let Started { scheduler, task: mut joined, waker, said } = start(|heard| async move {
        heard.wait().await;
        7
    });
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
    explore("a join against the end that a wake brings", Fault::ForgetsJoiners, join_against_finish);
}

fn handle_drop_against_finish() -> bool {
    let drops = Rc::new(Cell::new(0));
    let output = Drops(drops.clone());
    let Started { scheduler, task, waker, said } = start(|heard| async move {
        heard.wait().await;
        output
    });
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
    let name = "the drop of a handle against the end that a wake brings";
    explore(name, Fault::LeavesOutputs, handle_drop_against_finish);
}

fn last_waker_against_handle() -> bool {
    let (drops, polled) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let (captured, noted) = (Drops(drops.clone()), polled.clone());
    let Started { scheduler, task, waker, said } = start(|heard| async move {
        let _captured = captured;
        wait_once().await;
        // A relaxed look: the wake must have brought it.
        noted.set(heard.is_set());
        std::future::pending::<()>().await;
    });
    let other = say_and_wake(said, waker);
    scheduler.run_slice();
    let woken = polled.get();
    // The last handle goes, while the last waker may be used yet.
    drop(task.cancel_on_drop());
    assert_eq!(drops.get(), 1, "a waker keeps no task alive");
    // What the waker stands on is nobody else's before it is gone.
    let (successor, polls) = bystander(&scheduler);
    scheduler.run_slice();
    assert_eq!(polls.get(), 1, "a wake came to the wrong task");
    // So does the scheduler itself.
    drop((successor, scheduler));
    other.join().unwrap();
    assert_eq!(drops.get(), 1);
    woken
}

#[test]
fn model_last_waker_against_handle() {
    let name = "the last waker against handle and scheduler";
    explore(name, Fault::ReusesHeadersInUse, last_waker_against_handle);
}
