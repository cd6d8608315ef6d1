//! A slice that takes too long: by whom, and where.

#![cfg(feature = "std")]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use colibri_core::{
    DEFAULT_SLICE, Instant, ManualClock, Observer, Priority, Scheduler, SliceReport, TaskId, cooperative,
    yield_now,
};

/// Notes overruns.
struct Overruns(Rc<RefCell<Vec<SliceReport>>>);

impl Observer for Overruns {
    fn overran(&self, report: &SliceReport, _: Instant) {
        self.0.borrow_mut().push(*report);
    }
}

#[cooperative]
fn holds_in_the_sixth_round(clock: ManualClock) {
    for round in 0..10 {
        if round == 5 {
            clock.advance(Duration::from_millis(30));
        }
    }
}

#[test]
fn an_overrun_names_the_task_and_its_last_checkpoint() {
    let overruns = Rc::new(RefCell::new(Vec::new()));
    let clock = ManualClock::new();
    let scheduler = support::builder().clock(clock.clone()).observer(Overruns(Rc::clone(&overruns))).build();
    let task = scheduler.spawn(Priority::Normal, holds_in_the_sixth_round(clock.clone()));
    let report = scheduler.run_slice();
    assert_eq!((report.overrun_by, report.overrun), (Some(task.id()), Duration::from_millis(22)));
    let (function, file, line) = report.last_checkpoint.expect("it passed five");
    assert_eq!((function, line), ("holds_in_the_sixth_round", line!() - 16));
    assert!(file.ends_with("overruns.rs"), "{file}");
    assert_eq!(*overruns.borrow(), [report]);

    // One that passes no checkpoint at all.
    let held = clock.clone();
    drop(task);
    let task = scheduler.spawn_fn(Priority::Immediate, move || held.advance(Duration::from_millis(9)));
    let report = scheduler.run_slice();
    assert_eq!((report.overrun_by, report.last_checkpoint), (Some(task.id()), None));
}

#[test]
fn an_overrun_of_a_few_looks_at_the_clock_is_no_news() {
    const IN_ORDER: Duration = Duration::from_micros(100);
    let overruns = Rc::new(RefCell::new(Vec::new()));
    let clock = ManualClock::new();
    let scheduler = support::builder().clock(clock.clone()).observer(Overruns(Rc::clone(&overruns))).build();
    for (late, told) in [(IN_ORDER, 0), (IN_ORDER + Duration::from_nanos(1), 1)] {
        let held = clock.clone();
        drop(scheduler.spawn_fn(Priority::Normal, move || held.advance(DEFAULT_SLICE + late)));
        assert_eq!(scheduler.run_slice().overrun, late);
        assert_eq!((overruns.borrow().len() as u64, scheduler.stats().overruns), (told, told));
        assert_eq!(scheduler.stats().worst_overrun, late);
    }
}

/// Fifty tasks of short polls, among them one that holds the thread for 50 ms, once. On a clock that is looked at seldom, as
/// the system's.
fn short_polls_and_a_long_one(clock: &ManualClock, scheduler: &Scheduler) -> TaskId {
    let start = |held: Duration| {
        let clock = clock.clone();
        scheduler.spawn(Priority::Normal, async move {
            for round in 0..300 {
                if round == 150 {
                    clock.advance(held);
                }
                yield_now().await;
            }
        })
    };
    (0..25).for_each(|_| drop(start(Duration::ZERO)));
    let long = start(Duration::from_millis(50)).id();
    (0..24).for_each(|_| drop(start(Duration::ZERO)));
    long
}

#[test]
fn an_observer_learns_who_held_the_thread_among_many_short_polls() {
    let (clock, overruns) = (ManualClock::new(), Rc::new(RefCell::new(Vec::new())));
    let builder = support::builder().clock(support::Lazy(clock.clone()));
    let scheduler = builder.observer(Overruns(Rc::clone(&overruns))).build();
    let long = short_polls_and_a_long_one(&clock, &scheduler);
    while scheduler.run_slice().work_left {}
    let by: Vec<_> = overruns.borrow().iter().map(|report| report.overrun_by).collect();
    assert_eq!(by, [Some(long)]);
}

#[test]
fn nobody_is_named_for_what_another_did() {
    let clock = ManualClock::new();
    let scheduler = support::builder().clock(support::Lazy(clock.clone())).build();
    let long = short_polls_and_a_long_one(&clock, &scheduler);
    let mut overruns = Vec::new();
    loop {
        let report = scheduler.run_slice();
        overruns.extend((!report.overrun.is_zero()).then_some(report));
        if !report.work_left {
            break;
        }
    }
    assert_eq!(overruns.len(), 1);
    // It may be unknown: nobody watches.
    assert!(overruns[0].overrun_by.is_none_or(|by| by == long), "{:?} for {long:?}", overruns[0]);
}

#[cooperative]
fn holds_after(rounds: u64, clock: ManualClock) {
    for round in 0..rounds {
        std::hint::black_box(round);
    }
    clock.advance(Duration::from_millis(50));
}

#[test]
fn who_looked_at_the_clock_is_known_also_among_short_polls() {
    if !support::in_turn() {
        // Where each check gives way, a poll has none behind it.
        return;
    }
    let clock = ManualClock::new();
    let scheduler = support::builder().clock(support::Lazy(clock.clone())).build();
    let short = || async {
        for _ in 0..300 {
            yield_now().await;
        }
    };
    (0..25).for_each(|_| drop(scheduler.spawn(Priority::Normal, short())));
    // Some checks are looks at the clock, however fast the machine is.
    let work = holds_after(3_000_000, clock.clone());
    let long = scheduler.spawn(Priority::Normal, async move {
        short().await;
        work.await
    });
    (0..24).for_each(|_| drop(scheduler.spawn(Priority::Normal, short())));
    let mut named = Vec::new();
    loop {
        let report = scheduler.run_slice();
        if !report.overrun.is_zero() {
            named.push((report.overrun_by, report.last_checkpoint.map(|(function, ..)| function)));
        }
        if !report.work_left {
            break;
        }
    }
    assert_eq!(named, [(Some(long.id()), Some("holds_after"))]);
}
