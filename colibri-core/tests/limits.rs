//! Figures at their limits: the longest quantum and wait, iterations as long as a coarse clock's steps, and what it takes to end
//! one of a hundred and one of a million.

mod support;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use colibri_core::policy::{Kind, Link, Lists, NIL, Tasks};
use colibri_core::{ManualClock, Observer, Priority, TaskEvent, TaskState, checkpoint, cooperative};

use self::support::{Bench, Boxed, Lazy, MS, US};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

/// What a task used of its turn is kept in 32 bits of nanoseconds, 4.29 s: a longer quantum would never end.
#[test]
fn a_quantum_is_four_seconds_at_most() {
    for longer in [4 * SECOND, 5 * SECOND, HOUR, Duration::MAX] {
        let bench = Bench::with(|builder| builder.quantum(longer).slice(HOUR));
        // Immediate, since others rise when they have waited for half a second.
        bench.start(Priority::Immediate, bench.work("a", 100, SECOND / 10));
        bench.start(Priority::Immediate, bench.work("b", 100, SECOND / 10));
        bench.slices(2);
        bench.log.told_in("a×40 b×40 a×40 b×40 a×20 b×20", &format!("{longer:?}"));
    }
}

/// The same of the turns of a task with a weight: whoever is heavier than that does not starve its equals, nor those below.
#[test]
fn a_weighted_turn_is_four_seconds_at_most() {
    for weight in [4, 5, 3000, u32::MAX] {
        let bench = Bench::with(|builder| builder.quantum(SECOND).upgrade_after(HOUR).slice(HOUR));
        let heavy = bench.work("heavy", 100, SECOND / 10);
        drop(bench.scheduler.task(heavy).weight(weight).spawn());
        bench.start(Priority::Normal, bench.work("light", 100, SECOND / 10));
        bench.slices(2);
        let expected = "heavy×40 light×10 heavy×40 light×10 heavy×20 light×80";
        bench.log.told_in(expected, &format!("weight {weight}"));
    }
}

#[test]
fn a_quantum_of_nothing_ends_at_each_checkpoint() {
    let bench = Bench::with(|builder| builder.quantum(Duration::ZERO));
    bench.start(Priority::Normal, bench.work("a", 3, US));
    bench.start(Priority::Normal, bench.work("b", 3, US));
    bench.slices(2);
    bench.log.told("a b a b a b");
}

/// Since when a task is ready is kept in 32 bits of µs, 71 minutes: who is to wait for longer rises after an hour all the same.
#[test]
fn who_waits_rises_after_an_hour_at_the_latest() {
    for longer in [HOUR, 2 * HOUR, Duration::MAX] {
        let bench = Bench::with(|builder| builder.upgrade_after(longer).slice(2 * HOUR));
        bench.start(Priority::Normal, bench.work("n", u32::MAX, SECOND / 2));
        bench.start(Priority::Idle, bench.work("i", 1, SECOND / 2));
        bench.scheduler.run_for(HOUR + 10 * SECOND);
        let log = bench.log.take();
        let first = log.iter().position(|entry| entry == "i").expect("it rises");
        assert!((7200..=7204).contains(&first), "after {first} half seconds, of {longer:?}");
    }
}

/// Each iteration of some ms makes the clock step by more than 2 ms, as a coarse one does. But few checks see it stand meanwhile,
/// so that nothing is estimated: slices end when they are to by the clock, and the time is the clock's.
#[test]
fn a_long_iteration_under_a_fine_clock_makes_it_no_coarse_one() {
    for long_step in [3 * MS, 5 * MS, 16 * MS] {
        let bench = Bench::on(Lazy);
        let (clock, log) = (bench.clock.clone(), bench.log.clone());
        bench.start(Priority::Normal, async move {
            loop {
                clock.advance(long_step);
                log.say("long");
                // In no time: where a clock is coarse, these are what time is estimated by.
                for _ in 0..4 {
                    checkpoint().await;
                }
            }
        });
        // In the first one it is learned what a check takes here.
        bench.scheduler.run_slice();
        bench.log.take();
        let iterations_a_slice = (8 * MS).as_nanos().div_ceil(long_step.as_nanos()) as usize;
        for slice in 1..=20 {
            bench.scheduler.run_slice();
            assert_eq!(bench.log.len(), slice * iterations_a_slice, "{long_step:?}");
            assert_eq!(bench.scheduler.now(), bench.clock.now(), "{long_step:?}");
        }
    }
}

/// Tasks that count how often one of them is looked at.
struct Counted {
    links: Vec<Link>,
    looks: Cell<u32>,
}

impl Tasks for Counted {
    type Task = Link;

    fn at(&self, index: u32) -> &Link {
        self.looks.set(self.looks.get() + 1);
        &self.links[index as usize]
    }
}

/// How many tasks the lists look at to take one of so many out: at the head, in the middle and at the tail, as a cancel, a pause
/// and a change of class do.
fn looks_to_take_out(tasks: u32) -> [u32; 3] {
    [1, tasks / 2, tasks - 1].map(|index| {
        let all = Counted { links: (0..tasks).map(|_| Link::new()).collect(), looks: Cell::new(0) };
        let lists = Lists::<NIL>::new();
        for index in 0..tasks {
            lists.push_back(&all, index, Priority::Normal as u32, Kind::Ready);
        }
        // The head's own neighbour is stale by design: the next one is taken out first.
        assert_eq!(lists.pop(&all), Some((0, Priority::Normal as u32)));
        all.looks.set(0);
        lists.take_out(&all, index);
        all.looks.get()
    })
}

#[test]
fn to_take_one_out_of_a_million_touches_as_few_as_out_of_a_hundred() {
    let looks = looks_to_take_out(100);
    assert_eq!(looks_to_take_out(1_000_000), looks);
    assert!(looks.iter().all(|&looks| looks <= 4), "{looks:?}");
}

/// Tells how many events there were.
struct Counts(Rc<Cell<u64>>);

impl Counts {
    fn count(&self) {
        self.0.set(self.0.get() + 1);
    }
}

impl Observer for Counts {
    fn paused(&self, _: &TaskEvent) {
        self.count();
    }
    fn resumed(&self, _: &TaskEvent) {
        self.count();
    }
    fn reprioritised(&self, _: &TaskEvent) {
        self.count();
    }
    fn cancelled(&self, _: &TaskEvent) {
        self.count();
    }
}

/// What touched each of the others would take 10¹² steps here: half a million are paused, moved, resumed and cancelled, from the
/// middle, and each call concerns its task alone.
#[test]
fn half_of_a_million_can_be_paused_moved_and_cancelled_one_by_one() {
    const MANY: usize = 1_000_000;
    let events = Rc::new(Cell::new(0));
    let bench = Bench::with(|builder| builder.observer(Counts(events.clone())));
    let tasks: Vec<_> = (0..MANY).map(|_| bench.scheduler.spawn(Priority::Normal, async {})).collect();
    let half = || tasks[MANY / 4..3 * MANY / 4].iter();
    let concerned = half().count() as u64;
    half().for_each(|task| task.pause());
    half().for_each(|task| task.set_priority(Priority::Idle));
    half().for_each(|task| task.resume());
    half().for_each(|task| task.cancel());
    assert_eq!(events.get(), 4 * concerned);
    assert!(half().all(|task| task.state() == TaskState::Finished));
    while bench.scheduler.run_slice().work_left {}
    let stats = bench.scheduler.stats();
    assert_eq!((stats.class(Priority::Normal).runs, stats.ended), (MANY as u64 - concerned, MANY as u64));
}

#[cooperative]
fn each_iteration(clock: ManualClock, step: Duration) {
    loop {
        clock.advance(step);
    }
}

#[cooperative]
fn each_fifth_iteration(clock: ManualClock, step: Duration) {
    let mut iterations = 0_u64;
    loop {
        iterations += 1;
        if iterations % 5 == 0 {
            clock.advance(step);
        }
    }
}

/// A function whose iterations take so long that a grant outlasts its turn has no look but the one at which it gives way, and learns
/// from that. Once each of its slices lasted for 64 iterations.
#[test]
fn iterations_that_outlast_a_turn_are_learned() {
    type Function = fn(ManualClock, Duration) -> Boxed;
    for step in [MS / 10, MS, 3 * MS] {
        let functions: [(&str, Function); 2] = [
            ("each iteration", |clock, step| Box::pin(each_iteration(clock, step))),
            ("each fifth iteration", |clock, step| Box::pin(each_fifth_iteration(clock, step))),
        ];
        for (which, function) in functions {
            let bench = Bench::on(Lazy);
            bench.start(Priority::Normal, function(bench.clock.clone(), step));
            // A first iteration in no time says nothing of the others.
            let learns_in = if which == "each iteration" { 0 } else { 3 };
            for _ in 0..learns_in {
                bench.scheduler.run_slice();
            }
            for _ in 0..20 {
                let overrun = bench.scheduler.run_slice().overrun;
                assert!(overrun <= step, "{which} takes {step:?}: {overrun:?}");
            }
        }
    }
}
