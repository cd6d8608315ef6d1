//! loom models of what threads share. Run them with `RUSTFLAGS="--cfg colibri_loom" cargo test --release -p
//! colibri-core --lib model`.
//!
//! Each model asserts, over all interleavings, that both outcomes of its race were seen: a model that never races
//! proves nothing.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use std::sync::atomic::{AtomicBool as StdBool, Ordering as StdOrdering};

use crate::slot::NIL;
use crate::waker::{Link, drain};

/// Two tasks' links and the stack they go on.
struct Stack {
    head: AtomicU32,
    links: [Link; 2],
    /// What a waker writes before it wakes, and the poll reads: relaxed, so that only the wake orders it.
    data: [AtomicU32; 2],
}

impl Stack {
    fn new() -> Self {
        Stack {
            head: AtomicU32::new(NIL),
            links: [Link::new(), Link::new()],
            data: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    /// Writes, then wakes.
    fn write_and_wake(&self, number: usize, value: u32) -> bool {
        self.data[number].fetch_or(value, Ordering::Relaxed);
        self.links[number].push(&self.head, number as u32)
    }

    /// One turn of the scheduler: drains, and polls whom it drained. Returns what the polls saw, per task.
    fn turn(&self) -> [Option<u32>; 2] {
        let mut seen = [None; 2];
        drain(
            &self.head,
            |number| &self.links[number as usize],
            |number| {
                let number = number as usize;
                seen[number] = Some(self.data[number].load(Ordering::Relaxed));
            },
        );
        seen
    }
}

/// The two sides of a race, over all interleavings.
#[derive(Default)]
struct Outcomes([StdBool; 2]);

impl Outcomes {
    fn saw(&self, which: bool) {
        self.0[usize::from(which)].store(true, StdOrdering::Relaxed);
    }

    fn assert_both(&self) {
        assert!(
            self.0.iter().all(|seen| seen.load(StdOrdering::Relaxed)),
            "one side of the race never happened"
        );
    }
}

#[test]
fn model_wakes_of_one_task_are_never_lost() {
    let outcomes = std::sync::Arc::new(Outcomes::default());
    let seen = outcomes.clone();
    loom::model(move || {
        let stack = Arc::new(Stack::new());
        let wakers: Vec<_> = [1, 2]
            .map(|value| {
                let stack = stack.clone();
                loom::thread::spawn(move || {
                    stack.write_and_wake(0, value);
                })
            })
            .into_iter()
            .collect();
        let early = stack.turn()[0];
        for waker in wakers {
            waker.join().unwrap();
        }
        let late = stack.turn()[0];
        // Whichever poll came last saw both writes: a wake that was folded into another is not lost.
        assert_eq!(late.or(early), Some(3));
        seen.saw(early.is_some());
    });
    outcomes.assert_both();
}

#[test]
fn model_two_pushes_against_a_drain() {
    let outcomes = std::sync::Arc::new(Outcomes::default());
    let seen = outcomes.clone();
    loom::model(move || {
        let stack = Arc::new(Stack::new());
        let wakers: Vec<_> = [0, 1]
            .map(|number| {
                let stack = stack.clone();
                loom::thread::spawn(move || stack.write_and_wake(number, 1))
            })
            .into_iter()
            .collect();
        let early = stack.turn();
        let first: Vec<bool> = wakers.into_iter().map(|waker| waker.join().unwrap()).collect();
        let late = stack.turn();
        for number in 0..2 {
            assert_eq!(early[number].or(late[number]), Some(1), "each task is polled");
            assert!(early[number].is_none() || late[number].is_none(), "and only once");
        }
        // Whoever found the stack empty tells the host, so that one does at least.
        assert!(first.contains(&true));
        seen.saw(early.iter().any(Option::is_some));
    });
    outcomes.assert_both();
}
