//! loom models of what threads share: `cargo xtask loom` runs them.
//!
//! Each model asserts, over all interleavings, that both outcomes of its race were seen: a model that never races
//! proves nothing. And each is run once more with a fault seeded into the code that it runs ([`crate::fault`]), which it
//! must find.
//!
//! `parts` has what threads share: the stack of numbers, the parked host, the inbox, the count of a waker's clones; `host`
//! how the host learns of what it waits for, `room` who gets the last place, `stall` the detector's sleep. `wake`,
//! `cancel`, `end` and `spawn` have whole schedulers with another thread that wakes, cancels or spawns; `bench` is what
//! these have in common. Handles stay on the scheduler's thread, so that a join or a drop of one races with the end of its
//! task through the wake that brings this end.

mod bench;
mod cancel;
mod end;
mod host;
mod parts;
mod room;
mod spawn;
mod stall;
mod wake;

use std::sync::atomic::{AtomicBool as StdBool, AtomicUsize as StdUsize, Ordering as StdOrdering};

use crate::fault::{self, Fault};

/// How often a thread may be interrupted where all interleavings would be too many: with two races at once, and to find a
/// seeded fault.
const PREEMPTIONS: usize = 3;

/// The two sides of a race, over all interleavings, and how many there were.
#[derive(Default)]
struct Outcomes {
    seen: [StdBool; 2],
    interleavings: StdUsize,
}

impl Outcomes {
    fn saw(&self, which: bool) {
        self.seen[usize::from(which)].store(true, StdOrdering::Relaxed);
        self.interleavings.fetch_add(1, StdOrdering::Relaxed);
    }
}

/// Runs a model, which says for each interleaving which side of the race it saw: all interleavings. Then seeds `fault` into
/// what the model runs, and asserts that it fails.
fn explore(name: &str, fault: Fault, model: fn() -> bool) {
    explore_with(loom::model::Builder::new(), name, model);
    assert_finds(fault, model);
}

/// The same for two races at once: the interleavings with so many preemptions at most.
fn explore_bounded(name: &str, fault: Fault, model: fn() -> bool) {
    explore_with(bounded(), name, model);
    assert_finds(fault, model);
}

fn bounded() -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder
}

fn explore_with(builder: loom::model::Builder, name: &str, model: fn() -> bool) {
    // Either would end a run early, silently and green.
    assert!(builder.max_permutations.is_none() && builder.max_duration.is_none());
    let outcomes = std::sync::Arc::new(Outcomes::default());
    let seen = outcomes.clone();
    builder.check(move || seen.saw(model()));
    println!("{name}: {} interleavings", outcomes.interleavings.load(StdOrdering::Relaxed));
    let both = outcomes.seen.iter().all(|seen| seen.load(StdOrdering::Relaxed));
    assert!(both, "{name}: one side of the race never happened");
}

/// Asserts that a model fails when `fault` is seeded into what it runs.
fn assert_finds(fault: Fault, model: fn() -> bool) {
    fault::seed(Some(fault));
    let caught = std::panic::catch_unwind(|| {
        bounded().check(move || {
            model();
        });
    });
    fault::seed(None);
    assert!(caught.is_err(), "{fault:?} was not found");
    println!("{fault:?}: found");
}
