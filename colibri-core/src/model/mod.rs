//! loom models of what threads share: `cargo xtask loom` runs them.
//!
//! Each model asserts, over all interleavings, that both outcomes of its race were seen: a model that never races
//! proves nothing. And each protocol is run once more with a fault, which its model must find.
//!
//! `wakes` has the parts: the stack of numbers, the parked host, the inbox, the count of a waker's clones. `tasks` has
//! whole schedulers with another thread that wakes, cancels or spawns. Handles stay on the scheduler's thread, so that a
//! join or a drop of one races with the end of its task through the wake that brings this end.

mod tasks;
mod wakes;

use std::sync::atomic::{AtomicBool as StdBool, AtomicUsize as StdUsize, Ordering as StdOrdering};

use crate::fault::{self, Fault};

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

/// Runs a model, which says for each interleaving which side of the race it saw: all interleavings.
fn explore(name: &str, model: impl Fn() -> bool + Sync + Send + 'static) {
    explore_with(loom::model::Builder::new(), name, model);
}

/// The same for two races at once: the interleavings with so many preemptions at most.
fn explore_bounded(name: &str, preemptions: usize, model: impl Fn() -> bool + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    explore_with(builder, name, model);
}

fn explore_with(builder: loom::model::Builder, name: &str, model: impl Fn() -> bool + Sync + Send + 'static) {
    // Either would end a run early, silently and green.
    assert!(builder.max_permutations.is_none() && builder.max_duration.is_none());
    let outcomes = std::sync::Arc::new(Outcomes::default());
    let seen = outcomes.clone();
    builder.check(move || seen.saw(model()));
    println!("{name}: {} interleavings", outcomes.interleavings.load(StdOrdering::Relaxed));
    let both = outcomes.seen.iter().all(|seen| seen.load(StdOrdering::Relaxed));
    assert!(both, "{name}: one side of the race never happened");
}

/// Asserts that a model with a fault in it fails.
fn assert_caught(name: &str, model: impl Fn() + Sync + Send + 'static) {
    let quiet = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || loom::model(model)));
    assert!(quiet.is_err(), "{name}: the fault was not found");
    println!("{name}: found");
}

/// Asserts that a model fails when `fault` is seeded into what it runs, within three preemptions.
fn assert_finds(fault: Fault, model: fn() -> bool) {
    fault::seed(Some(fault));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    let caught = std::panic::catch_unwind(|| {
        builder.check(move || {
            model();
        });
    });
    fault::seed(None);
    assert!(caught.is_err(), "{fault:?} was not found");
    println!("{fault:?}: found");
}
