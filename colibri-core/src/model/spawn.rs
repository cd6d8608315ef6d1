//! A spawn from another thread against the scheduler's turns and its end.

use loom::thread;

use super::bench::{Flag, scheduler, two_turns};
use super::{explore, explore_bounded};
use crate::Priority;
use crate::fault::Fault;

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
    explore_bounded("two spawns from outside against turns", Fault::ForgetsMail, spawn_against_turn);
}

/// A capture that notes its drop.
struct Says(Flag);

impl Drop for Says {
    fn drop(&mut self) {
        assert!(!self.0.is_set(), "dropped twice");
        self.0.set();
    }
}

fn spawn_against_shutdown() -> bool {
    let scheduler = scheduler();
    let spawner = scheduler.spawner();
    // Whatever is left in the inbox would go with the last spawner.
    let last = spawner.clone();
    let dropped = Flag::new();
    let captured = Says(dropped.clone());
    let other = thread::spawn(move || spawner.spawn(Priority::Normal, async move { drop(captured) }).is_ok());
    scheduler.run_slice();
    drop(scheduler);
    let accepted = other.join().unwrap();
    assert!(dropped.is_set(), "what is accepted is run or dropped, what is refused is dropped");
    drop(last);
    accepted
}

#[test]
fn model_spawn_against_shutdown() {
    let name = "a spawn from outside against the scheduler's end";
    explore(name, Fault::ClosesTooLate, spawn_against_shutdown);
}
