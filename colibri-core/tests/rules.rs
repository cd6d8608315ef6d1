//! The scheduling rules, 1 to 12, as ordered lists of events on a clock that moves only when told.

mod support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;

use colibri_core::{
    Activity, Clock, DEFAULT_QUANTUM, DEFAULT_SLICE, DEFAULT_UPGRADE_AFTER, Instant, Latest, ManualClock,
    Observer, Priority, SpawnError, TaskError, TaskEvent, TaskScope, TaskState, YieldReason, checkpoint,
    current, sleep, spawn, uninterrupted, yield_now,
};
use futures::FutureExt;
use futures::channel::oneshot;

use self::support::{
    Bench, Coarse, Lazy, Log, MS, Shared, US, Wakes, idle, in_a_process_of_its_own, panic_of, quiet_panic,
    spy, until_dropped,
};

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);

/// Says what happens, for tests that ask why.
struct Teller(Log);

impl Observer for Teller {
    fn started(&self, task: &TaskEvent) {
        self.0.say(format!("{}:start", task.id));
    }
    fn yielded(&self, task: &TaskEvent, reason: YieldReason) {
        self.0.say(format!("{}:{reason:?}", task.id));
    }
    fn suspended(&self, task: &TaskEvent) {
        self.0.say(format!("{}:waits", task.id));
    }
    fn woken(&self, task: &TaskEvent) {
        self.0.say(format!("{}:woken", task.id));
    }
    fn finished(&self, task: &TaskEvent) {
        self.0.say(format!("{}:done", task.id));
    }
    fn cancelled(&self, task: &TaskEvent) {
        self.0.say(format!("{}:cancelled", task.id));
    }
}

// Rule 1: classes are strict.

#[test]
fn rule_01_higher_classes_are_served_first_whatever_the_order_of_coming() {
    let bench = Bench::new();
    bench.start(Priority::Idle, bench.work("i", 3, MS));
    bench.start(Priority::Normal, bench.work("n", 3, MS));
    bench.start(Priority::Immediate, bench.work("m", 3, MS));
    bench.start(Priority::Idle, bench.work("I", 3, MS));
    bench.start(Priority::Normal, bench.work("N", 3, MS));
    bench.start(Priority::Immediate, bench.work("M", 3, MS));
    bench.slices(9);
    bench.log.told("m×2 M×2 m M | n×2 N×2 n N | i×2 I×2 i I");
}

#[test]
fn rule_01_waits_meet_their_targets_under_a_feasible_load() {
    // Each 20 ms: 1 ms of Immediate work, 2 ms of Normal work, 8 ms of Idle work: 55 % of the time. The host takes 8 ms
    // of each 16 ms.
    let bench = Bench::new();
    for (class, cost) in [(Priority::Immediate, 1), (Priority::Normal, 2), (Priority::Idle, 5)] {
        let clock = bench.clock.clone();
        bench.start(class, async move {
            loop {
                sleep(20 * MS).await;
                for _ in 0..cost {
                    clock.advance(MS);
                    checkpoint().await;
                }
            }
        });
    }
    for _ in 0..1000 {
        let used = bench.scheduler.run_slice().used;
        bench.clock.advance(16 * MS - used);
    }
    let waits = Priority::ALL.map(|class| bench.scheduler.stats().class(class).longest_wait);
    assert!(waits[0] <= 16 * MS && waits[1] <= 100 * MS && waits[2] <= 1000 * MS, "{waits:?}");
}

// Rule 2: round robin by quantum.

#[test]
fn rule_02_a_quantum_ends_at_its_time_and_the_figures_are_those_promised() {
    assert_eq!((DEFAULT_QUANTUM, DEFAULT_SLICE, DEFAULT_UPGRADE_AFTER), (2 * MS, 8 * MS, 500 * MS));
    let bench = Bench::with(|builder| builder.quantum(3 * MS).slice(10 * MS));
    for name in ["a", "b", "c"] {
        bench.start(Priority::Normal, bench.work(name, 100, MS));
    }
    let slices: Vec<String> = (0..4)
        .map(|_| {
            bench.scheduler.run_slice();
            assert_eq!(bench.log.len(), 10, "a slice has its length, whoever runs in it");
            bench.log.folded()
        })
        .collect();
    if support::in_turn() {
        // The slice ends in a turn, which goes on in the next slice.
        assert_eq!(slices, ["a×3 b×3 c×3 a", "a×2 b×3 c×3 a×2", "a b×3 c×3 a×3", "b×3 c×3 a×3 b"]);
    }
}

#[test]
fn rule_02_weights_scale_the_quantum() {
    let bench = Bench::with(|builder| builder.slice(100 * MS));
    for (name, weight) in [("one", 1), ("three", 3), ("zero", 0)] {
        drop(bench.scheduler.task(bench.work(name, 100, MS)).weight(weight).spawn());
    }
    bench.scheduler.run_for(20 * MS);
    assert_eq!(bench.log.len(), 20);
    if support::in_turn() {
        // Zero counts as one.
        assert_eq!(bench.log.folded(), "one×2 three×6 zero×2 one×2 three×6 zero×2");
    }
}

#[test]
fn rule_02_long_shares_follow_the_weights() {
    let bench = Bench::new();
    let (one, five) = (bench.work("one", u32::MAX, 700 * US), bench.work("five", u32::MAX, 1300 * US));
    drop(bench.scheduler.task(one).weight(1).spawn());
    drop(bench.scheduler.task(five).weight(5).spawn());
    for _ in 0..1000 {
        bench.scheduler.run_slice();
    }
    let (one, five) = (bench.log.count("one") as u32 * 700 * US, bench.log.count("five") as u32 * 1300 * US);
    let all = one + five;
    assert!(
        (8000 * MS..=9300 * MS).contains(&all),
        "{all:?} of 8 s and overruns: the thread was idle, or slices had another length"
    );
    if !support::in_turn() {
        return assert!(one.min(five) > Duration::ZERO, "{one:?} and {five:?}");
    }
    // Not off by more than a turn and a gap of each, however long it goes on.
    assert!((one * 5).abs_diff(five) <= 5 * (2 * MS + 700 * US) + 10 * MS + 1300 * US, "{one:?} to {five:?}");
}

#[test]
fn rule_02_a_task_that_sleeps_saves_no_credit() {
    let bench = Bench::with(|builder| builder.slice(100 * MS));
    let (log, clock) = (bench.log.clone(), bench.clock.clone());
    bench.start(Priority::Normal, async move {
        sleep(20 * MS).await;
        for _ in 0..6 {
            clock.advance(MS);
            log.say("sleeper");
            checkpoint().await;
        }
    });
    bench.start(Priority::Normal, bench.work("busy", 26, MS));
    bench.slices(1);
    if !support::in_turn() {
        return bench.log.told("busy×26 sleeper×6");
    }
    bench.log.told("busy×20 sleeper×2 busy×2 sleeper×2 busy×2 sleeper×2 busy×2");
}

#[test]
fn rule_02_who_gives_way_by_itself_gives_up_the_rest_of_its_turn() {
    let bench = Bench::new();
    let (log, clock) = (bench.log.clone(), bench.clock.clone());
    bench.start(Priority::Normal, async move {
        for _ in 0..4 {
            clock.advance(MS);
            log.say("a");
            yield_now().await;
        }
    });
    bench.start(Priority::Normal, bench.work("b", 4, MS));
    bench.slices(2);
    bench.log.told("a b×2 a b×2 a×2");
}

#[test]
fn rule_02_nobody_loses_a_turn_to_the_host() {
    // Slices of every length, some shorter than a step: the order is that of one long slice.
    let expected = "a×2 b×2 c×2 a×2 b×2 c×2 a×2 b×2 c×2";
    for slice in 1..=20 {
        let bench = Bench::with(|builder| builder.slice(slice * MS / 2));
        for name in ["a", "b", "c"] {
            bench.start(Priority::Normal, bench.work(name, 6, MS));
        }
        bench.slices(100);
        bench.log.told_in(expected, &format!("slices of {:?}", slice * MS / 2));
    }
}

// Rule 3: preemption at the next checkpoint, with the rest of the quantum kept, at the head of the class.

/// Runs two Normal tasks in steps of 1/4 ms; `urge` is called in the second step of the first one.
fn preempt(bench: &Bench, urge: impl FnOnce() + 'static) {
    let (clock, log, work) = (bench.clock.clone(), bench.log.clone(), bench.work("a", 8, MS / 4));
    bench.start(Priority::Normal, async move {
        clock.advance(MS / 4);
        log.say("a");
        checkpoint().await;
        urge();
        work.await;
    });
    bench.start(Priority::Normal, bench.work("b", 8, MS / 4));
    bench.slices(5);
}

/// Two steps were done when it was stopped: `a`'s, but in a mode that changes turns perhaps `b`'s. Six more are the rest of its
/// quantum, then it is b's turn.
#[track_caller]
fn preempted(bench: &Bench, after: impl Fn(&[String]) -> bool) {
    const PREEMPTED: &str = "a×2 urgent×2 a×6 b×8 a";
    if support::in_turn() {
        return bench.log.told(PREEMPTED);
    }
    // Whoever runs then is stopped at once, and nobody comes between.
    let log = bench.log.take();
    let urgent = log.iter().position(|entry| entry == "urgent").expect("it runs");
    assert!(after(&log[..urgent]) && log[urgent + 1] == "urgent", "{log:?}");
    log.into_iter().for_each(|entry| bench.log.say(entry));
    bench.log.told(PREEMPTED);
}

/// It was urged in the second step of `a`.
fn in_second_step(before: &[String]) -> bool {
    before.last().is_some_and(|last| last == "a") && before.iter().filter(|entry| *entry == "a").count() == 2
}

/// It was urged by the clock, after two steps of whoever ran.
fn after_two_steps(before: &[String]) -> bool {
    before.len() == 2
}

#[test]
fn rule_03_a_wake_preempts() {
    let bench = Bench::new();
    let (send, receive) = oneshot::channel::<()>();
    let urgent = bench.work("urgent", 2, MS / 4);
    bench.start(Priority::Immediate, async move {
        receive.await.unwrap();
        urgent.await;
    });
    preempt(&bench, move || send.send(()).unwrap());
    preempted(&bench, in_second_step);
}

#[test]
fn rule_03_a_timer_preempts() {
    let bench = Bench::new();
    let urgent = bench.work("urgent", 2, MS / 4);
    bench.start(Priority::Immediate, async move {
        sleep(MS / 2).await;
        urgent.await;
    });
    preempt(&bench, || ());
    preempted(&bench, after_two_steps);
    let bench = Bench::new();
    drop(
        bench
            .scheduler
            .task(bench.work("urgent", 2, MS / 4))
            .priority(Priority::Immediate)
            .after(MS / 2)
            .spawn(),
    );
    preempt(&bench, || ());
    preempted(&bench, after_two_steps);
}

#[test]
fn rule_03_another_thread_preempts() {
    let bench = Bench::new();
    let (send, receive) = oneshot::channel::<()>();
    let urgent = bench.work("urgent", 2, MS / 4);
    bench.start(Priority::Immediate, async move {
        receive.await.unwrap();
        urgent.await;
    });
    let wake = move || std::thread::spawn(move || send.send(()).unwrap()).join().unwrap();
    preempt(&bench, wake);
    preempted(&bench, in_second_step);

    // And so does a spawn from another thread.
    let bench = Bench::new();
    let (spawner, clock) = (bench.scheduler.spawner(), bench.clock.clone());
    let runs = Arc::new(AtomicUsize::new(0));
    let ran = runs.clone();
    let urgent = async move {
        ran.fetch_add(1, Ordering::SeqCst);
        clock.advance(MS / 4);
    };
    let (log, seen) = (bench.log.clone(), runs.clone());
    let urge = move || {
        std::thread::spawn(move || spawner.spawn(Priority::Immediate, urgent).unwrap()).join().unwrap();
        assert_eq!(seen.load(Ordering::SeqCst), 0);
        log.say("sent");
    };
    preempt(&bench, urge);
    bench.log.told("a sent a×7 b×8 a");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[test]
fn rule_03_a_resume_and_a_rise_preempt() {
    let bench = Bench::new();
    let hovers = bench.scheduler.spawn(Priority::Immediate, bench.work("urgent", 2, MS / 4));
    hovers.pause();
    preempt(&bench, move || hovers.resume());
    preempted(&bench, in_second_step);

    let bench = Bench::new();
    let rises = bench.scheduler.spawn(Priority::Idle, bench.work("urgent", 2, MS / 4));
    preempt(&bench, move || rises.set_priority(Priority::Immediate));
    preempted(&bench, in_second_step);
}

#[test]
fn rule_03_a_fall_of_the_running_task_lets_others_by() {
    let bench = Bench::new();
    let own = Shared::default();
    let (me, work, clock, log) =
        (own.clone(), bench.work("a", 2, MS / 4), bench.clock.clone(), bench.log.clone());
    let task = bench.scheduler.spawn(Priority::Normal, async move {
        me.borrow().as_ref().unwrap().set_priority(Priority::Idle);
        clock.advance(MS / 4);
        log.say("falls");
        checkpoint().await;
        work.await;
    });
    own.replace(Some(task));
    bench.start(Priority::Normal, bench.work("b", 2, MS / 4));
    bench.slices(3);
    bench.log.told("falls b×2 | a×2");
    own.take();
}

#[test]
fn rule_03_the_host_gets_the_thread_at_the_next_checkpoint() {
    let bench = Bench::new();
    let host = Rc::new(RefCell::new(Some(bench.scheduler.clone())));
    let asks = host.clone();
    let work = bench.work("b", 8, MS / 4);
    bench.start(Priority::Normal, async move {
        checkpoint().await;
        asks.borrow().as_ref().unwrap().request_yield();
        work.await;
    });
    bench.start(Priority::Normal, bench.work("c", 8, MS / 4));
    let report = bench.scheduler.run_slice();
    assert!(report.work_left);
    // Its first step is the last of the slice.
    let log = bench.log.take();
    assert_eq!((log.iter().filter(|entry| *entry == "b").count(), log.last().unwrap().as_str()), (1, "b"));
    if support::in_turn() {
        assert_eq!((log.len(), report.used), (1, MS / 4));
    }
    // The request is met, and the task goes on with the rest of its quantum.
    let report = bench.scheduler.run_slice();
    assert!(!report.work_left);
    log[..log.len() - 1].iter().for_each(|entry| bench.log.say(entry));
    bench.log.told("b×7 c×8");
    host.take();
    // A request outside of a slice ends the next before it begins, and only that.
    bench.start(Priority::Immediate, bench.work("d", 1, MS));
    bench.scheduler.request_yield();
    let report = bench.scheduler.run_slice();
    assert_eq!((report.tasks_run, report.work_left), (0, true));
    let report = bench.scheduler.run_slice();
    assert_eq!((report.finished, report.work_left), (1, false));
}

#[test]
fn rule_03_equals_and_lower_ones_do_not_preempt() {
    let bench = Bench::new();
    let (equal, lower) = (bench.work("equal", 1, MS), bench.work("lower", 1, MS));
    preempt(&bench, move || {
        drop(spawn(Priority::Idle, lower));
        drop(spawn(Priority::Normal, equal));
    });
    bench.log.told("a×8 b×8 equal a | lower");
}

#[test]
fn rule_03_reasons_are_told() {
    let log = Log::default();
    let bench = Bench::with(|builder| builder.observer(Teller(log.clone())).slice(4 * MS));
    let urgent = bench.work("", 1, MS);
    let work = bench.work("", 3, MS);
    bench.start(Priority::Normal, async move {
        yield_now().await;
        drop(spawn(Priority::Immediate, urgent));
        work.await;
    });
    bench.slices(3);
    if !support::in_turn() {
        // Each poll that began has ended, in one way.
        let log = log.take();
        let starts = log.iter().filter(|event| event.ends_with("start")).count();
        let ends = log.iter().filter(|event| event.ends_with("done")).count();
        return assert_eq!((2 * starts, ends), (log.len(), 2), "{log:?}");
    }
    assert_eq!(
        log.folded(),
        "0:start 0:Own 0:start 0:Preempted 1:start 1:done 0:start 0:Quantum 0:start 0:Slice 0:start 0:done",
        "its third step ends with the slice"
    );
}

// Rule 4: no starvation.

#[test]
fn rule_04_idle_work_rises_twice_and_falls_back() {
    let bench = Bench::new();
    bench.start(Priority::Immediate, bench.work("m", 4000, MS));
    bench.start(Priority::Idle, bench.work("i", 4, MS));
    bench.scheduler.run_for(2100 * MS);
    bench.rises_in_time("i", 2100, 1000);
    // 500 ms to Normal, 500 ms more to Immediate, where it has one turn; then it is Idle again.
    if support::in_turn() {
        assert_eq!(bench.log.folded(), "m×1002 i×2 m×1002 i×2 m×92");
    }
}

#[test]
fn rule_04_a_storm_of_promotions_leaves_the_upper_class_half() {
    // Also when the storm has waited at the Normal level for as long again and rises to Immediate, where nobody else is.
    for upper in [Priority::Immediate, Priority::Normal] {
        let bench = Bench::new();
        bench.start(upper, bench.work("upper", u32::MAX, MS));
        for _ in 0..400 {
            bench.start(Priority::Idle, bench.work("storm", u32::MAX, MS));
        }
        for _ in 0..600 {
            bench.scheduler.run_slice();
        }
        let log = bench.log.take();
        let (before, after) = log.split_at(500);
        assert!(before.iter().all(|name| name == "upper"), "nobody rises before his time");
        assert!(after.iter().filter(|name| *name == "storm").count() > 400, "the storm is served");
        for (at, window) in after.chunks(100).enumerate() {
            let own = window.iter().filter(|name| *name == "upper").count();
            assert!(own >= 48, "{upper}: {own} of 100 ms, from {} ms", 500 + 100 * at);
        }
    }
}

#[test]
fn rule_04_a_storm_rises_in_portions_that_do_not_hold_the_thread() {
    let bench = Bench::new();
    for _ in 0..200 {
        bench.start(Priority::Idle, bench.work("storm", 1, MS));
    }
    bench.clock.advance(600 * MS);
    // Each look lets 64 of them rise: one slice of no length is one look.
    let risen: Vec<u64> = (0..5).map(|_| bench.scheduler.run_for(Duration::ZERO).promoted).collect();
    assert_eq!(risen, [64, 64, 64, 8, 0]);
}

#[test]
fn rule_04_promotions_come_in_order() {
    let bench = Bench::new();
    bench.start(Priority::Normal, bench.work("n", u32::MAX, MS));
    for name in ["1", "2", "3", "4"] {
        bench.start(Priority::Idle, bench.work(name, 1, MS));
        bench.scheduler.run_for(10 * MS);
    }
    bench.log.take();
    bench.scheduler.run_for(600 * MS);
    let order: Vec<String> = bench.log.take().into_iter().filter(|name| name != "n").collect();
    assert_eq!(order, ["1", "2", "3", "4"]);
}

#[test]
fn rule_04_deadlines_do_not_starve_deadlines() {
    for class in Priority::ALL {
        let bench = Bench::new();
        drop(bench.scheduler.task(bench.work("soon", u32::MAX, MS)).priority(class).deadline(MS).spawn());
        let late = bench.scheduler.task(bench.work("late", 1, MS)).priority(class).deadline(DAY).spawn();
        for _ in 0..500 {
            bench.scheduler.run_slice();
        }
        assert!(late.is_finished(), "{class}: not after {} ms", bench.ms());
    }
}

#[test]
fn rule_04_the_bound_holds_with_many_equals() {
    const EQUALS: u32 = 50;
    let bench = Bench::new();
    for _ in 0..EQUALS {
        bench.start(Priority::Immediate, bench.work("m", u32::MAX, 3 * MS));
    }
    let (clock, log, worst) = (bench.clock.clone(), bench.log.clone(), Rc::new(Cell::new(Duration::ZERO)));
    let (longest, mut last) = (worst.clone(), Instant::ZERO);
    bench.start(Priority::Idle, async move {
        for _ in 0..3 {
            longest.set(longest.get().max(clock.now() - last));
            clock.advance(MS);
            log.say("i");
            last = clock.now();
            yield_now().await;
        }
    });
    for _ in 0..2000 {
        bench.scheduler.run_slice();
    }
    assert_eq!(bench.log.count("i"), 3);
    if !support::in_turn() && !support::always_yields() {
        // Who is drawn by lot among equals may be so late or later.
        return;
    }
    let bound = 2 * (500 + 2 + 3) * MS + 2 * (EQUALS + 1) * 5 * MS;
    assert!(worst.get() <= bound, "{:?}, the bound is {bound:?}", worst.get());
    let own = bench.scheduler.stats().class(Priority::Immediate).longest_wait;
    assert!(own <= bound, "{own:?}, the bound is {bound:?}");
}

#[test]
fn rule_04_the_bound_holds_on_a_clock_that_is_looked_at_seldom() {
    for gap in [10 * US, 900 * US, 3 * MS, 40 * MS] {
        let bench = Bench::on(Lazy);
        bench.start(Priority::Normal, bench.work("n", u32::MAX, gap));
        let (ran, clock) = (Rc::new(Cell::new(None)), bench.clock.clone());
        let first = ran.clone();
        bench.start(Priority::Idle, async move { first.set(Some(clock.now() - Instant::ZERO)) });
        let bound = 2 * (500 * MS + 2 * MS + gap) + 4 * (2 * MS + gap);
        while bench.clock.now() < Instant::ZERO + 3 * bound && ran.get().is_none() {
            bench.scheduler.run_slice();
        }
        let waited = ran.get().unwrap_or(Duration::MAX);
        assert!(waited >= 500 * MS && waited <= bound, "gaps of {gap:?}: it waited {waited:?} of {bound:?}");
    }
}

#[test]
fn rule_04_who_is_moved_to_and_fro_does_not_lose_what_it_waited() {
    for (one, other) in [(Priority::Normal, Priority::Idle), (Priority::Idle, Priority::Normal)] {
        let bench = Bench::new();
        bench.start(Priority::Immediate, bench.work("i", u32::MAX, MS));
        let moved = bench.scheduler.spawn(one, bench.work("moved", 1, MS));
        while !moved.is_finished() && bench.ms() < 3000 {
            bench.scheduler.run_for(10 * MS);
            moved.set_priority(if moved.priority() == Some(one) { other } else { one });
        }
        if !support::in_turn() {
            assert!(moved.is_finished(), "{one} first");
            continue;
        }
        // Each time it is Normal it is one class from what never ends: A, and then a turn.
        assert!((500..=520).contains(&bench.ms()), "{one} first: {} ms", bench.ms());
    }
}

#[test]
fn rule_04_a_move_counts_from_when_it_became_ready_also_where_nobody_rises() {
    // While it is Immediate and its turn was cut, no list that is searched has it.
    let bench = Bench::new();
    let mine = bench.scheduler.spawn(Priority::Immediate, bench.work("mine", 2, MS));
    bench.scheduler.run_for(MS);
    bench.clock.advance(400 * MS);
    bench.start(Priority::Immediate, bench.work("other", u32::MAX, MS));
    mine.set_priority(Priority::Normal);
    bench.scheduler.run_for(98 * MS);
    assert_eq!(bench.log.folded(), "mine other×98");
    bench.scheduler.run_for(6 * MS);
    assert_eq!(bench.log.count("mine"), 1);
}

#[test]
fn rule_04_a_promoted_tasks_wait_counts_from_its_becoming_ready() {
    let bench = Bench::new();
    bench.start(Priority::Normal, bench.work("n", u32::MAX, MS));
    bench.start(Priority::Idle, bench.work("i", 1, MS));
    bench.scheduler.run_for(600 * MS);
    assert_eq!(bench.log.count("i"), 1);
    let idle = bench.scheduler.stats().class(Priority::Idle);
    assert_eq!(idle.promotions, 1);
    assert!(idle.longest_wait >= 500 * MS, "{:?}", idle.longest_wait);
    if support::in_turn() {
        assert_eq!((idle.longest_wait, idle.total_wait), (502 * MS, 502 * MS));
    }
}

#[test]
fn rule_04_what_was_overdrawn_is_paid_back() {
    let bench = Bench::with(|builder| builder.slice(100 * MS));
    bench.start(Priority::Normal, bench.work("coarse", 9, 5 * MS));
    bench.start(Priority::Normal, bench.work("fine", 30, MS));
    bench.slices(1);
    // 5 ms for a turn of 2: a debt of 3 costs the next turn (1 left) and half of the one after, and so on.
    let log = bench.log.take();
    assert_eq!((log.len(), log.iter().filter(|entry| *entry == "fine").count()), (39, 30));
    if !support::in_turn() {
        return;
    }
    let mut lead = 0_i32;
    for name in &log[..36] {
        lead += if name == "coarse" { 5 } else { -1 };
        assert!((-4..=7).contains(&lead), "a lead of {lead} ms in {log:?}");
    }
}

// Rule 5: nothing grows or recurses with the number of tasks.

#[test]
fn rule_05_a_long_chain_of_waits_does_not_recurse() {
    in_a_process_of_its_own("rule_05_a_long_chain_of_waits_does_not_recurse", || {
        let scheduler = support::builder().build();
        let mut last = scheduler.spawn(Priority::Idle, async { 0_u32 });
        for _ in 0..100_000 {
            last = scheduler.spawn(Priority::Idle, async move { last.await.unwrap() + 1 });
        }
        let top = scheduler.spawn(Priority::Immediate, last);
        assert_eq!(scheduler.block_on(top).unwrap().unwrap(), 100_000);
    });
}

#[test]
fn rule_05_a_long_chain_of_owners_does_not_recurse() {
    // Each future owns the next one's handle, with `cancel_on_drop`: cancel, drop, cancel, drop, ... on the stack.
    in_a_process_of_its_own("rule_05_a_long_chain_of_owners_does_not_recurse", || {
        let scheduler = support::builder().build();
        let mut last = scheduler.spawn(Priority::Idle, std::future::pending::<()>()).cancel_on_drop();
        for _ in 0..100_000 {
            let owned = last;
            last = scheduler.spawn(Priority::Idle, async move { drop(owned.await) }).cancel_on_drop();
        }
        drop(last);
        assert_eq!(scheduler.live_tasks(), 0);
    });
}

#[test]
fn rule_05_a_long_chain_of_outputs_does_not_recurse() {
    in_a_process_of_its_own("rule_05_a_long_chain_of_outputs_does_not_recurse", || {
        // Each output owns the handle of the task before.
        struct Link(#[expect(dead_code)] Option<colibri_core::Task<Link>>);
        let scheduler = support::builder().build();
        let mut last = None;
        for _ in 0..100_000 {
            let before = last.take();
            last = Some(scheduler.spawn(Priority::Normal, async move { Link(before) }));
            scheduler.run_slice();
        }
        drop(last);
        assert_eq!(scheduler.stats().ended, 100_000);
    });
}

#[test]
fn rule_05_destructors_that_cancel_others_see_them_dropped() {
    // A chain of a reasonable length is dropped from within, each before the cancel that ends it returns.
    let bench = Bench::new();
    let mut last = bench.scheduler.spawn(Priority::Normal, until_dropped(|| ()));
    for _ in 0..20 {
        let (next, log) = (last, bench.log.clone());
        last = bench.scheduler.spawn(
            Priority::Normal,
            until_dropped(move || {
                next.cancel();
                log.say(if next.is_finished() { "gone" } else { "alive" });
            }),
        );
    }
    bench.slices(1);
    last.cancel();
    assert_eq!((bench.log.folded().as_str(), bench.scheduler.live_tasks()), ("gone×20", 0));
}

#[test]
fn rule_05_what_more_than_64_nested_destructors_cancel_is_dropped_by_the_outermost_call() {
    for (tasks, late) in [(64, 0), (65, 1), (66, 1), (200, 3)] {
        let bench = Bench::new();
        let mut last = None::<colibri_core::Task<()>>;
        let mut below = Rc::new(());
        for _ in 0..tasks {
            let (next, log) = (last.take(), bench.log.clone());
            let own = Rc::new(());
            let (held, nexts) = (own.clone(), std::mem::replace(&mut below, own));
            let on_drop = move || {
                if let Some(next) = &next {
                    next.cancel();
                    assert!(next.is_finished());
                    log.say(if Rc::strong_count(&nexts) == 1 { "dropped" } else { "late" });
                }
            };
            last = Some(bench.scheduler.spawn(Priority::Normal, async move {
                let _held = held;
                until_dropped(on_drop).await;
            }));
        }
        bench.slices(1);
        last.expect("there are some").cancel();
        let all = (bench.log.count("late"), bench.log.len(), bench.scheduler.live_tasks());
        assert_eq!(all, (late, tasks - 1, 0), "{tasks} tasks");
        assert_eq!(Rc::strong_count(&below), 1, "{tasks} tasks");
    }
}

#[test]
fn rule_05_places_are_used_again() {
    let bench = Bench::new();
    let mut highest = 0;
    for _ in 0..2000 {
        let task = bench.scheduler.spawn(Priority::Normal, async { yield_now().await });
        let index = task.id().to_string();
        highest = highest.max(index.split('.').next().unwrap().parse::<u32>().unwrap());
        bench.slices(2);
    }
    assert_eq!(highest, 0, "one task at a time needs one place");
}

// Rule 6: cancel and pause, on a task in each state.

/// A task in the given state, with what shows whether its captures are alive, and how often it was polled.
struct Subject {
    task: colibri_core::Task<()>,
    alive: Rc<()>,
    seen: support::Seen,
}

fn in_state(bench: &Bench, state: &'static str) -> Subject {
    let alive = Rc::new(());
    let (held, clock) = (alive.clone(), bench.clock.clone());
    let (future, seen) = spy(async move {
        let _held = held;
        if state == "idle" || state == "paused idle" {
            std::future::pending::<()>().await;
        }
        for _ in 0..3 {
            clock.advance(MS);
            yield_now().await;
        }
    });
    let builder = bench.scheduler.task(future);
    let task = if state == "delayed" { builder.after(10 * MS).spawn() } else { builder.spawn() };
    match state {
        "new" | "delayed" => (),
        "ready" | "paused ready" | "idle" | "paused idle" => drop(bench.scheduler.run_for(MS / 2)),
        "finished" => bench.slices(5),
        _ => unreachable!(),
    }
    if state.starts_with("paused") {
        task.pause();
    }
    Subject { task, alive, seen }
}

const STATES: [&str; 7] = ["new", "ready", "idle", "delayed", "paused ready", "paused idle", "finished"];

#[test]
fn rule_06_cancel_drops_at_once_in_every_state_and_is_idempotent() {
    for state in STATES {
        let bench = Bench::new();
        let Subject { mut task, alive, seen } = in_state(&bench, state);
        let polls = seen.polls();
        for _ in 0..3 {
            task.cancel();
            assert_eq!(Rc::strong_count(&alive), 1, "{state}");
            assert_eq!((task.state(), bench.scheduler.live_tasks()), (TaskState::Finished, 0), "{state}");
        }
        seen.wake();
        bench.clock.advance(DAY);
        assert_eq!(bench.scheduler.run_slice().tasks_run, 0, "{state}");
        assert_eq!((seen.polls(), bench.scheduler.pending_timers()), (polls, 0), "{state}");
        let outcome = task.try_take().expect("it has ended");
        assert_eq!(outcome.is_ok(), state == "finished", "{state}");
        assert!(task.try_take().is_none(), "{state}: taken once");
    }
}

#[test]
fn rule_06_pause_keeps_everything_in_every_state_and_is_idempotent() {
    for state in STATES {
        let bench = Bench::new();
        let Subject { task, alive, seen } = in_state(&bench, state);
        let (polls, kept) = (seen.polls(), Rc::strong_count(&alive));
        (0..3).for_each(|_| task.pause());
        bench.clock.advance(DAY);
        seen.wake();
        bench.slices(5);
        assert_eq!((seen.polls(), Rc::strong_count(&alive)), (polls, kept), "{state}");
        (0..3).for_each(|_| task.resume());
        bench.slices(5);
        match state {
            // The wake was remembered, and waited for.
            "idle" | "paused idle" => {
                assert_eq!((seen.polls(), task.state()), (2, TaskState::Waiting), "{state}")
            }
            // Its time has come while it hovered.
            _ => assert_eq!((seen.polls(), task.state()), (4, TaskState::Finished), "{state}"),
        }
    }
}

#[test]
fn rule_06_a_delayed_task_that_is_resumed_still_waits_for_its_time() {
    let bench = Bench::new();
    let task = bench.scheduler.task(bench.work("late", 1, MS)).after(10 * MS).spawn();
    task.pause();
    task.resume();
    task.set_priority(Priority::Immediate);
    bench.slices(2);
    assert_eq!((bench.log.folded().as_str(), task.state()), ("", TaskState::Waiting));
    bench.clock.advance(10 * MS);
    bench.slices(2);
    assert_eq!(bench.log.folded(), "late");
}

#[test]
fn rule_06_the_running_task_may_cancel_or_pause_itself() {
    let bench = Bench::new();
    for call in ["cancel", "pause", "pause, resume", "cancel, pause", "pause, cancel"] {
        let own = Shared::default();
        let (me, work, dropped) = (own.clone(), bench.work("on", 3, MS / 4), bench.log.clone());
        let task = bench.scheduler.spawn(Priority::Normal, async move {
            let _told = support::OnDrop(|| dropped.say("dropped"));
            for call in call.split(", ") {
                let task = me.borrow();
                let task = task.as_ref().unwrap();
                match call {
                    "cancel" => task.cancel(),
                    "pause" => task.pause(),
                    _ => task.resume(),
                }
            }
            // It goes on to its next checkpoint.
            work.await;
        });
        own.replace(Some(task));
        bench.slices(2);
        let (stopped, state) = (bench.log.folded(), own.borrow().as_ref().unwrap().state());
        own.borrow().as_ref().unwrap().resume();
        bench.slices(2);
        let after = bench.log.folded();
        let got = (stopped.as_str(), state, after.as_str());
        let expected = match call {
            "pause" => ("on", TaskState::Paused, "on×2 dropped"),
            "pause, resume" => ("on×3 dropped", TaskState::Finished, ""),
            _ => ("on dropped", TaskState::Finished, ""),
        };
        assert_eq!(got, expected, "{call}");
        own.take();
    }
    assert_eq!(bench.scheduler.live_tasks(), 0);
}

#[test]
fn rule_06_one_task_may_cancel_and_pause_another_and_the_order_of_the_rest_stays() {
    let bench = Bench::new();
    let others: Rc<RefCell<Vec<colibri_core::Task<()>>>> = Rc::default();
    let reach = others.clone();
    bench.start(Priority::Immediate, async move {
        reach.borrow()[1].cancel();
        reach.borrow()[3].pause();
    });
    for name in ["0", "1", "2", "3", "4"] {
        let task = bench.scheduler.spawn(Priority::Normal, bench.work(name, 2, MS));
        others.borrow_mut().push(task);
    }
    bench.slices(3);
    bench.log.told("0×2 2×2 4×2");
    others.borrow()[3].resume();
    bench.slices(3);
    bench.log.told("3×2");
    others.take();
}

#[test]
fn rule_06_a_changed_class_counts_in_every_state() {
    for state in STATES {
        let bench = Bench::new();
        let Subject { task, seen, .. } = in_state(&bench, state);
        task.set_priority(Priority::Idle);
        task.set_priority(Priority::Immediate);
        if state == "finished" {
            assert_eq!(task.priority(), Some(Priority::Normal), "{state}");
            continue;
        }
        assert_eq!(task.priority(), Some(Priority::Immediate), "{state}");
        // Ready by whatever means, it is before a Normal one that was there first.
        let (others, polls) = (bench.scheduler.spawn(Priority::Normal, bench.work("n", 2, MS)), seen.polls());
        bench.clock.advance(10 * MS);
        task.resume();
        seen.wake();
        bench.scheduler.run_for(MS / 2);
        assert_eq!(
            (seen.polls(), bench.log.len()),
            (polls + 1, usize::from(state.contains("idle"))),
            "{state}"
        );
        drop(others);
    }
}

#[test]
fn rule_06_a_change_of_class_goes_to_the_tail_of_the_new_one() {
    let bench = Bench::new();
    let moves = bench.scheduler.spawn(Priority::Idle, bench.work("moves", 1, MS));
    bench.start(Priority::Idle, bench.work("idle", 1, MS));
    bench.start(Priority::Normal, bench.work("a", 1, MS));
    bench.start(Priority::Normal, bench.work("b", 1, MS));
    moves.set_priority(Priority::Normal);
    // The same class again changes nothing, its place neither.
    bench.start(Priority::Normal, bench.work("c", 1, MS));
    moves.set_priority(Priority::Normal);
    bench.slices(3);
    bench.log.told("a b moves c | idle");
}

// Rule 7: a panic ends its task alone.

#[test]
fn rule_07_a_panic_anywhere_takes_nobody_along() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                quiet_panic("a destructor");
            }
        }
    }
    struct PanicsWhenWoken;
    impl std::task::Wake for PanicsWhenWoken {
        fn wake(self: Arc<Self>) {
            quiet_panic("a waker");
        }
    }
    struct PanicsAtEverything;
    impl Observer for PanicsAtEverything {
        fn spawned(&self, _: &TaskEvent) {
            quiet_panic("an observer");
        }
        fn started(&self, _: &TaskEvent) {
            quiet_panic("an observer");
        }
        fn finished(&self, _: &TaskEvent) {
            quiet_panic("an observer");
        }
        fn slice_ended(&self, _: &colibri_core::SliceReport, _: Instant) {
            quiet_panic("an observer");
        }
    }
    let bench = Bench::with(|builder| builder.observer(PanicsAtEverything));
    bench.scheduler.on_ready(|| quiet_panic("a hook"));
    let mut panics = bench.scheduler.spawn(Priority::Normal, async { quiet_panic("a task") });
    let mut steps = bench.scheduler.spawn_steps::<_, ()>(Priority::Normal, || quiet_panic("a step"));
    let mut drops = bench.scheduler.spawn(Priority::Normal, async {
        let held = Panics;
        yield_now().await;
        // Kept to the end of the future, and dropped with it.
        std::future::pending::<()>().await;
        drop(held);
    });
    let mut joined = bench.scheduler.spawn(Priority::Normal, yield_now());
    assert!(support::poll_with(&mut joined, &Arc::new(PanicsWhenWoken).into()).is_pending());
    let (timer_waker, say) = (Arc::new(PanicsWhenWoken), bench.say("lives"));
    bench.start(Priority::Normal, async move {
        let mut sleep = Box::pin(sleep(MS));
        assert!(support::poll_with(&mut sleep, &timer_waker.into()).is_pending());
        sleep.await;
    });
    bench.start(Priority::Normal, async move {
        sleep(2 * MS).await;
        say.await;
    });
    bench.slices(3);
    bench.clock.advance(2 * MS);
    bench.slices(3);
    drops.cancel();
    assert_eq!(panics.try_take().unwrap().unwrap_err().panic_message(), Some("a task"));
    assert_eq!(steps.try_take().unwrap().unwrap_err().panic_message(), Some("a step"));
    assert!(matches!(drops.try_take(), Some(Err(TaskError::Cancelled))));
    assert!(matches!(joined.try_take(), Some(Ok(()))));
    assert_eq!((bench.log.folded().as_str(), bench.scheduler.live_tasks()), ("lives", 0));
    assert_eq!(bench.scheduler.block_on(async { 1 }), 1);
}

#[test]
fn rule_07_two_messages_that_panic_when_dropped_unread() {
    // Dropped as one vector, the second panic in its destructor aborts the process.
    in_a_process_of_its_own("rule_07_two_messages_that_panic_when_dropped_unread", || {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                quiet_panic("a destructor");
            }
        }
        let scheduler = support::builder().build();
        let spawner = scheduler.spawner();
        for _ in 0..2 {
            let held = Panics;
            spawner.spawn(Priority::Normal, async move { drop(held) }).unwrap();
        }
        scheduler.shutdown();
        assert_eq!(scheduler.live_tasks(), 0);
    });
}

#[test]
fn rule_07_two_timers_whose_wakers_panic_when_dropped() {
    in_a_process_of_its_own("rule_07_two_timers_whose_wakers_panic_when_dropped", || {
        struct PanicsWhenDropped;
        impl std::task::Wake for PanicsWhenDropped {
            fn wake(self: Arc<Self>) {}
        }
        impl Drop for PanicsWhenDropped {
            fn drop(&mut self) {
                quiet_panic("a waker's destructor");
            }
        }
        let (scheduler, sleeps) = (support::builder().build(), Rc::new(RefCell::new(Vec::new())));
        let kept = sleeps.clone();
        let task = scheduler.spawn(Priority::Normal, async move {
            for _ in 0..2 {
                let mut sleep = Box::pin(sleep(DAY));
                assert!(support::poll_with(&mut sleep, &Arc::new(PanicsWhenDropped).into()).is_pending());
                // Its timer stays.
                kept.borrow_mut().push(sleep);
            }
        });
        scheduler.block_on(task).unwrap();
        assert_eq!(scheduler.pending_timers(), 2);
        scheduler.shutdown();
        assert_eq!(scheduler.pending_timers(), 0);
        drop(sleeps);
    });
}

// Rule 8: a wake runs nothing.

/// Wakes from this thread, from another one, and from this one again: the last with the waker itself.
fn wake_thrice(waker: Waker) {
    waker.wake_by_ref();
    std::thread::scope(|scope| {
        scope.spawn(|| waker.wake_by_ref());
    });
    waker.wake();
}

#[test]
fn rule_08_a_wake_runs_nothing_by_itself_whatever_the_task_does() {
    const ENDS: &str = "start Own start Own start done";
    const ALL: &str = "start Own start Own start Own start done";
    for state in STATES.into_iter().chain(["cancelled", "gone"]) {
        let told = Log::default();
        let bench = Bench::with(|builder| builder.observer(Teller(told.clone())));
        // Its place was another's before, whose waker is still there: all that could wake a task that was never polled.
        let (before, past) = idle();
        let before = bench.scheduler.spawn(Priority::Normal, before);
        bench.slices(1);
        drop(before.cancel_on_drop());
        let Subject { task, alive, seen } =
            in_state(&bench, if state == "cancelled" || state == "gone" { "idle" } else { state });
        assert_eq!(task.id().to_string(), "0.1", "{state}");
        let wakers: Vec<Waker> =
            [&past, &seen].into_iter().filter(|seen| seen.polls() > 0).map(support::Seen::waker).collect();
        assert_eq!(wakers.len(), if state == "new" || state == "delayed" { 1 } else { 2 }, "{state}");
        let bench = match state {
            "gone" => {
                drop(bench);
                None
            }
            _ => Some(bench),
        };
        if state == "cancelled" {
            task.cancel();
        }
        told.take();
        let (polls, owners) = (seen.polls(), Rc::strong_count(&alive));
        wakers.into_iter().for_each(wake_thrice);
        assert_eq!((seen.polls(), Rc::strong_count(&alive), told.len()), (polls, owners, 0), "{state}");
        let Some(bench) = bench else { continue };
        let events = || told.folded().replace("0.1:", "");
        // However often it was woken, it is polled once for it; what is ready anyway is not polled once more.
        let (now, then) = match state {
            "new" => (ALL, String::new()),
            "ready" => (ENDS, String::new()),
            "idle" => ("woken start waits", String::new()),
            "delayed" => ("", format!("woken {ALL}")),
            "paused ready" => ("", format!("woken {ENDS}")),
            "paused idle" => ("", "woken start waits".into()),
            _ => ("", String::new()),
        };
        bench.slices(5);
        assert_eq!(events(), now, "{state}");
        bench.clock.advance(10 * MS);
        task.resume();
        bench.slices(5);
        assert_eq!(events(), then, "{state}: when its time has come and it hovers no more");
        for _ in 0..2 {
            seen.wake();
            assert_eq!(told.len(), 0, "{state}");
            bench.slices(5);
            assert_eq!(events(), if state.ends_with("idle") { "woken start waits" } else { "" }, "{state}");
        }
        assert_eq!(past.polls(), 1, "{state}");
    }
}

#[test]
fn rule_08_a_wake_by_another_task_runs_nothing_before_that_one_gives_way() {
    for state in STATES {
        let told = Log::default();
        let bench = Bench::with(|builder| builder.observer(Teller(told.clone())));
        let Subject { task, alive: _alive, seen } = in_state(&bench, state);
        if seen.polls() == 0 {
            // Nobody has a waker of a task that was never polled.
            continue;
        }
        bench.slices(5);
        told.take();
        let log = told.clone();
        bench.start(Priority::Normal, async move {
            log.say("in");
            seen.wake();
            seen.wake();
            log.say("out");
        });
        bench.slices(5);
        // Its events are told when the waker's poll is over.
        let expected = if state == "idle" { "in out 0:woken" } else { "in out 1:done" };
        let events = told.folded();
        assert!(events.contains(expected), "{state}: {events}");
        drop(task);
    }
}

#[test]
fn rule_08_wakes_of_the_running_task_run_nothing_and_are_one_poll_after_it() {
    for (from, expected) in [
        ("here", "start in out Own start waits"),
        ("elsewhere", "start in out waits woken start waits"),
        ("everywhere", "start in out Own start waits"),
    ] {
        let told = Log::default();
        let bench = Bench::with(|builder| builder.observer(Teller(told.clone())));
        let (log, mut first) = (told.clone(), true);
        let task = std::future::poll_fn(move |context| {
            if std::mem::take(&mut first) {
                log.say("in");
                let waker = context.waker().clone();
                match from {
                    "here" => waker.wake_by_ref(),
                    "elsewhere" => std::thread::spawn(move || waker.wake()).join().unwrap(),
                    _ => wake_thrice(waker),
                }
                log.say("out");
            }
            std::task::Poll::<()>::Pending
        });
        let task = bench.scheduler.spawn(Priority::Normal, task);
        // Not `slices`: a wake that comes late must be seen, too.
        for _ in 0..5 {
            bench.scheduler.run_slice();
        }
        assert_eq!(told.folded().replace("0:", ""), expected, "{from}");
        drop(task);
    }
}

/// A clock on which each look takes 5 µs.
struct Slow(ManualClock);

impl Clock for Slow {
    fn now(&self) -> Instant {
        self.0.advance(5 * US);
        self.0.now()
    }
}

#[test]
fn rule_08_many_wakes_from_afar_hold_the_thread_for_a_look_each_and_come_in_order() {
    const MANY: usize = 1000;
    let bench = Bench::on(Slow);
    let wakers = Rc::new(RefCell::new(Vec::new()));
    for number in 0..MANY {
        let (wakers, log) = (wakers.clone(), bench.log.clone());
        bench.start(
            Priority::Normal,
            std::future::poll_fn(move |context| {
                wakers.borrow_mut().push(context.waker().clone());
                log.say(number.to_string());
                std::task::Poll::Pending
            }),
        );
    }
    bench.slices(100);
    let order = bench.log.take();
    let woken = wakers.take();
    std::thread::scope(|scope| {
        scope.spawn(|| woken.iter().for_each(Waker::wake_by_ref));
    });
    let mut slices = 0;
    while bench.log.len() < MANY {
        // No time for any poll: what comes from outside is taken in all the same, and in bursts.
        let report = bench.scheduler.run_for(Duration::ZERO);
        assert!(report.used <= 50 * US, "{:?}", report.used);
        assert!(report.work_left);
        slices += 1;
        if slices > 10 {
            bench.scheduler.run_slice();
        }
    }
    if support::in_turn() {
        assert_eq!(bench.log.take(), order);
    }
}

#[test]
fn rule_08_after_the_end_of_the_scheduler_wakes_do_nothing() {
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let hook = asked.clone();
    bench.scheduler.on_ready(move || {
        hook.fetch_add(1, Ordering::SeqCst);
    });
    let (task, seen) = idle();
    let mut task = bench.scheduler.spawn(Priority::Normal, task);
    bench.slices(1);
    asked.store(0, Ordering::SeqCst);
    drop(bench.scheduler);
    assert!(matches!(task.try_take(), Some(Err(TaskError::Cancelled))));
    seen.wake();
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nobody is there to come");
    drop(task);
    assert_eq!(Arc::strong_count(&asked), 1, "the hook is dropped with its scheduler");
}

// Rule 9: re-entrance; see `reentrancy.rs` for the whole table.

#[test]
fn rule_09_tasks_may_run_other_schedulers_but_not_their_own() {
    let bench = Bench::new();
    let own = bench.scheduler.clone();
    let task = bench.scheduler.spawn(Priority::Normal, async move {
        let other = support::builder().build();
        let three = other.spawn(Priority::Idle, async {
            yield_now().await;
            let third = support::builder().build();
            third.block_on(async {
                yield_now().await;
                3
            })
        });
        assert_eq!(other.block_on(three).unwrap(), 3);
        let errors = [
            panic_of(|| own.block_on(async {})),
            panic_of(|| own.run()),
            panic_of(|| own.run_slice()),
            panic_of(|| other.block_on(async { own.run_for(MS) })),
        ];
        // And this task is still itself.
        assert!(current().is_some());
        yield_now().await;
        errors
    });
    bench.slices(3);
    for error in bench.scheduler.block_on(task).unwrap() {
        let error = error.expect("it is refused");
        assert!(error.contains("await"), "the error names the cure: {error}");
    }
}

#[test]
fn rule_09_a_nested_scheduler_leaves_the_outer_budget_as_it_was() {
    for (inner_clock, expected) in [
        // What the inner one's tasks take by a clock of their own is not the outer's business.
        ("its own", "outer×2 other×2 outer×2 other×2"),
        // By the same clock it is charged to the task that runs it: 2 ms a step.
        ("the same", "outer other×2 outer other×2 outer×2"),
    ] {
        let bench = Bench::new();
        let (clock, log, mut inner) = (bench.clock.clone(), bench.log.clone(), Bench::new());
        if inner_clock == "the same" {
            inner.clock = clock.clone();
        }
        bench.start(Priority::Normal, async move {
            for _ in 0..4 {
                inner.scheduler.block_on(inner.work("", 1, MS));
                clock.advance(MS);
                log.say("outer");
                checkpoint().await;
            }
        });
        bench.start(Priority::Normal, bench.work("other", 4, MS));
        bench.slices(5);
        bench.log.told_in(expected, inner_clock);
    }
}

/// After how many readings a [`Meddler`] does what.
type Meddling = Rc<RefCell<Option<(u32, Box<dyn FnOnce()>)>>>;

/// A clock that does something at one of its readings, as user code may.
struct Meddler(ManualClock, Meddling);

impl Clock for Meddler {
    fn now(&self) -> Instant {
        let due =
            self.1.borrow_mut().take_if(|(after, _)| std::mem::replace(after, after.saturating_sub(1)) == 0);
        if let Some((_, meddle)) = due {
            meddle();
        }
        self.0.now()
    }

    fn every_check(&self) -> bool {
        true
    }
}

#[test]
fn rule_09_a_clock_that_meddles_with_a_task_that_is_woken_or_timed_out_leads_nobody_astray() {
    for (how, meddles) in [("wake", "pauses"), ("wake", "replaces"), ("time", "pauses"), ("time", "replaces")]
    {
        for reading in 0..12 {
            let meddling = Meddling::default();
            let bench = Bench::on(|clock| Meddler(clock, meddling.clone()));
            let (future, seen) = idle();
            let task = bench.scheduler.task(future).timeout(20 * MS).spawn();
            bench.slices(2);
            // What is seen of it when it is paused, or gone.
            let polls = Rc::new(Cell::new(None));
            let (then, watched, handle) = (polls.clone(), seen.clone(), Rc::new(RefCell::new(Some(task))));
            let (held, scheduler, log) = (handle.clone(), bench.scheduler.clone(), bench.log.clone());
            let meddle = Box::new(move || {
                then.set(Some(watched.polls()));
                if meddles == "pauses" {
                    return held.borrow().iter().for_each(colibri_core::Task::pause);
                }
                drop(held.take().map(colibri_core::Task::cancel_on_drop));
                // In its place.
                drop(scheduler.spawn(Priority::Normal, says_next(log)));
            });
            let waker = seen.clone();
            bench.start(Priority::Normal, async move {
                *meddling.borrow_mut() = Some((reading, meddle));
                if how == "wake" {
                    waker.wake();
                }
            });
            if how == "time" {
                bench.clock.advance(20 * MS);
            }
            bench.slices(4);
            let case = format!("{how}, the clock {meddles} it at reading {reading}");
            if let Some(polls) = polls.get() {
                assert_eq!(seen.polls(), polls, "{case}");
                assert_eq!(bench.log.count("next"), usize::from(meddles == "replaces"), "{case}");
            }
            drop(handle);
        }
    }
}

async fn says_next(log: Log) {
    yield_now().await;
    log.say("next");
}

// Rule 10: timers and clocks.

#[test]
fn rule_10_equal_timers_fire_in_the_order_of_their_making() {
    let bench = Bench::new();
    for name in ["1", "2", "3", "4", "5", "6"] {
        let log = bench.log.clone();
        let future = async move {
            if name.parse::<u32>().unwrap() % 2 == 0 {
                sleep(10 * MS).await;
            }
            log.say(name);
        };
        let task = bench.scheduler.task(future);
        drop(if name.parse::<u32>().unwrap() % 2 == 1 { task.after(10 * MS).spawn() } else { task.spawn() });
    }
    bench.slices(1);
    bench.clock.advance(DAY);
    bench.slices(1);
    // The delayed starts were made by the spawns, the sleeps by the first polls.
    bench.log.told("1 3 5 2 4 6");
}

#[test]
fn rule_10_timers_are_never_early_and_not_late_by_more_than_a_gap() {
    let bench = Bench::new();
    let late = Rc::new(Cell::new(Duration::ZERO));
    for number in 0..200_u32 {
        let (clock, late) = (bench.clock.clone(), late.clone());
        bench.start(Priority::Immediate, async move {
            // Not in order, many of them equal.
            let due = clock.now() + number * 7919 % 97 * MS + 300 * US;
            colibri_core::sleep_until(due).await;
            assert!(clock.now() >= due, "early");
            late.set(late.get().max(clock.now() - due));
        });
    }
    bench.start(Priority::Normal, bench.work("n", 200, MS));
    bench.slices(50);
    assert!(late.get() < MS, "{:?}", late.get());
    assert_eq!(bench.scheduler.stats().ended, 201);
}

#[test]
fn rule_10_a_timer_that_is_due_takes_no_later_one_along() {
    // Starts and timeouts: nobody looks again whether it is time, as a sleep does.
    let bench = Bench::new();
    for half_ms in [20, 21, 22] {
        let log = bench.log.clone();
        drop(
            bench
                .scheduler
                .task(async move { log.say(format!("start {half_ms}")) })
                .after(half_ms * MS / 2)
                .spawn(),
        );
        let log = bench.log.clone();
        let ends = until_dropped(move || log.say(format!("end {half_ms}")));
        drop(bench.scheduler.task(ends).timeout(half_ms * MS / 2).spawn());
    }
    bench.slices(1);
    bench.clock.advance(10 * MS - Duration::from_nanos(1));
    bench.slices(1);
    assert_eq!(bench.log.folded(), "");
    bench.clock.advance(Duration::from_nanos(1));
    bench.slices(1);
    assert_eq!(bench.log.folded(), "end 20 start 20");
    bench.clock.advance(MS / 2);
    bench.slices(1);
    assert_eq!(bench.log.folded(), "end 21 start 21");
    bench.clock.advance(MS / 2);
    bench.slices(1);
    assert_eq!(bench.log.folded(), "end 22 start 22");
}

#[test]
fn rule_10_many_timers_that_are_due_together_hold_the_thread_no_longer_than_a_slice() {
    let bench = Bench::new();
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (clock, log) = (bench.clock.clone(), bench.log.clone());
            let task = until_dropped(move || {
                clock.advance(MS);
                log.say("dropped");
            });
            bench.scheduler.task(task).timeout(100 * MS).spawn()
        })
        .collect();
    bench.scheduler.run_slice();
    bench.clock.advance(100 * MS);
    let mut reports = Vec::new();
    for _ in 0..4 {
        bench.start(Priority::Normal, bench.say("beside"));
        let report = bench.scheduler.run_slice();
        let left = if report.work_left { ", more" } else { "" };
        reports.push(format!("{}, {} ms{left}", bench.log.folded(), report.used.as_millis()));
    }
    let expected = [
        "dropped beside dropped×8, 8 ms, more",
        "dropped beside dropped×8, 8 ms, more",
        "dropped beside dropped, 2 ms",
        "beside, 0 ms",
    ];
    assert_eq!(reports, expected);
    drop(tasks);
}

#[test]
fn rule_10_a_sleep_of_nothing_and_one_of_for_ever() {
    let bench = Bench::new();
    let say = bench.say("at once");
    bench.start(Priority::Normal, async move {
        sleep(Duration::ZERO).await;
        say.await;
    });
    let say = bench.say("never");
    let endless = bench.scheduler.spawn(Priority::Normal, async move {
        sleep(Duration::MAX).await;
        say.await;
    });
    drop(bench.scheduler.task(bench.say("never")).after(Duration::MAX).spawn());
    drop(bench.scheduler.task(bench.say("in time")).timeout(Duration::MAX).deadline(Duration::MAX).spawn());
    bench.slices(1);
    bench.clock.advance(1000 * DAY);
    bench.slices(1);
    assert_eq!(bench.log.folded(), "in time at once");
    assert!(!endless.is_finished());
}

#[test]
fn rule_10_a_clock_that_jumps_a_day_starves_nobody() {
    // Charged in full, who ran when the clock jumped would be passed over for thousands of rounds.
    for at in ["in a turn", "between slices"] {
        let bench = Bench::new();
        let (clock, log) = (bench.clock.clone(), bench.log.clone());
        bench.start(Priority::Normal, async move {
            for step in 0..u32::MAX {
                clock.advance(if at == "in a turn" && step == 2 { DAY } else { MS });
                log.say("a");
                checkpoint().await;
            }
        });
        bench.start(Priority::Normal, bench.work("b", u32::MAX, MS));
        for slice in 0..100 {
            if at == "between slices" && slice == 2 {
                bench.clock.advance(DAY);
            }
            let report = bench.scheduler.run_slice();
            assert!(report.work_left && report.tasks_run > 0, "{at}");
        }
        let (a, b) = (bench.log.count("a"), bench.log.count("b"));
        assert!(a.min(b) > 200, "{at}: {a} ms to {b} ms");
    }
}

#[test]
fn rule_10_on_a_clock_of_16_ms_steps_nothing_breaks() {
    let bench = Bench::on(|clock| Coarse(clock, 16 * MS));
    for name in ["a", "b"] {
        bench.start(Priority::Normal, bench.work(name, u32::MAX, 10 * US));
    }
    let (clock, woke) = (bench.clock.clone(), Rc::new(Cell::new(None)));
    let when = woke.clone();
    bench.start(Priority::Immediate, async move {
        sleep(100 * MS).await;
        when.set(Some(clock.now() - Instant::ZERO));
    });
    let mut longest = Duration::ZERO;
    for _ in 0..200 {
        let before = bench.clock.now();
        assert!(bench.scheduler.run_slice().work_left);
        longest = longest.max(bench.clock.now() - before);
    }
    let (a, b) = (bench.log.count("a") as f64, bench.log.count("b") as f64);
    assert!(a.min(b) / a.max(b) > 0.5, "{a} to {b} steps");
    let woke = woke.get().expect("it woke");
    assert!((100 * MS..=132 * MS).contains(&woke), "{woke:?}");
    assert!(longest <= 33 * MS, "a slice of {longest:?}");
}

#[test]
fn rule_10_on_a_coarse_clock_the_budget_counts_checks() {
    // By the clock alone a slice of 8 ms would last until the next tick, up to 16 ms.
    let bench = Bench::on(|clock| Coarse(clock, 16 * MS));
    bench.start(Priority::Normal, bench.work("a", u32::MAX, 10 * US));
    bench.start(Priority::Normal, bench.work("b", u32::MAX, 10 * US));
    let slices = |count: u32| {
        let before = bench.clock.now();
        for _ in 0..count {
            bench.scheduler.run_slice();
        }
        (bench.clock.now() - before) / count
    };
    // The first ones calibrate.
    slices(50);
    bench.log.take();
    let mean = slices(200);
    let (a, b) = (bench.log.count("a") as f64, bench.log.count("b") as f64);
    // Where each check gives way none is counted: a slice lasts to a tick.
    let longest = if support::always_yields() { 16 * MS } else { 10 * MS };
    assert!(
        (6 * MS..=longest).contains(&mean),
        "a slice of 8 ms takes {mean:?} on average; {a} to {b} steps"
    );
    assert!(!support::in_turn() || a.min(b) / a.max(b) > 0.9, "{a} to {b} steps");
}

#[test]
fn rule_10_on_clocks_of_any_step_slices_have_their_length_on_average() {
    for (tick, step) in [(1, 10 * US), (5, 10 * US), (16, 100 * US), (33, 10 * US), (100, 10 * US)] {
        let bench = Bench::on(|clock| Coarse(clock, tick * MS));
        bench.start(Priority::Normal, bench.work("a", u32::MAX, step));
        bench.start(Priority::Normal, bench.work("b", u32::MAX, step));
        let slices = |count: u32| {
            let before = bench.clock.now();
            for _ in 0..count {
                bench.scheduler.run_slice();
            }
            (bench.clock.now() - before) / count
        };
        slices(100);
        bench.log.take();
        let mean = slices(300);
        let (a, b) = (bench.log.count("a") as f64, bench.log.count("b") as f64);
        let what = format!("ticks of {tick} ms, steps of {step:?}: {mean:?}, {a} to {b} steps");
        // Where each check gives way none is counted: a slice lasts to a tick.
        let longest = if support::always_yields() { tick.max(11) * MS } else { 11 * MS };
        assert!((6 * MS..=longest).contains(&mean), "{what}");
        assert!(!support::in_turn() || a.min(b) / a.max(b) > 0.85, "{what}");
    }
}

#[test]
fn rule_10_a_clock_that_errs_at_random_breaks_nothing() {
    for seed in 1..=100_u64 {
        let mut draw = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut below = |limit: usize| {
            draw ^= draw << 13;
            draw ^= draw >> 7;
            draw ^= draw << 17;
            (draw >> 33) as usize % limit
        };
        let bench = Bench::new();
        bench.clock.advance(DAY);
        bench.start(Priority::Normal, bench.work("a", u32::MAX, MS));
        bench.start(Priority::Normal, bench.work("b", u32::MAX, MS));
        let (slept, log) = (Rc::new(Cell::new(0_u32)), bench.log.clone());
        let count = slept.clone();
        bench.start(Priority::Immediate, async move {
            loop {
                let before = log.len();
                sleep(20 * MS).await;
                // However far the clock has jumped, in steps it may be short by one jump, which is between two slices.
                assert!(log.len() > before, "it slept at all");
                count.set(count.get() + 1);
            }
        });
        for _ in 0..300 {
            let by = [Duration::from_nanos(1), US, MS, 7 * MS, 60 * MS, SECOND, 3600 * SECOND][below(7)];
            match below(4) {
                0 => bench.clock.step_back(by),
                1 => bench.clock.advance(by),
                _ => (),
            }
            let before = bench.log.len();
            let report = bench.scheduler.run_slice();
            let ran = bench.log.len() - before;
            assert!(report.work_left && (1..=70).contains(&ran), "seed {seed}: a slice of {ran} ms");
            assert!(report.used <= 70 * MS, "seed {seed}: {:?}", report.used);
        }
        let (a, b) = (bench.log.count("a"), bench.log.count("b"));
        // While the scheduler waits for a clock that stepped back a little, nothing is charged.
        assert!(a.abs_diff(b) * 5 <= a + b, "seed {seed}: {a} to {b}");
        assert!(slept.get() >= 20, "seed {seed}: it woke {} times", slept.get());
    }
}

/// Each reading takes a µs.
struct Ticking(ManualClock);

impl Clock for Ticking {
    fn now(&self) -> Instant {
        self.0.advance(US);
        self.0.now()
    }

    fn every_check(&self) -> bool {
        true
    }
}

// Rule 11: overload.

#[test]
fn rule_11_a_flood_of_messages_does_not_hold_the_host() {
    // Each admission takes a µs or two.
    let bench = Bench::on(Ticking);
    let spawner = bench.scheduler.spawner();
    for _ in 0..50_000 {
        spawner.spawn(Priority::Normal, async {}).unwrap();
    }
    let mut slices = 0;
    while bench.scheduler.stats().ended < 50_000 {
        let report = bench.scheduler.run_slice();
        slices += 1;
        assert!(report.overrun <= MS, "a slice of 8 ms took {:?}", report.used);
        assert!(report.work_left || bench.scheduler.stats().ended == 50_000, "the host must come again");
        assert!(slices < 1000);
    }
}

#[test]
fn rule_11_more_than_max_tasks_are_refused_and_none_that_was_accepted_is_lost() {
    let bench = Bench::with(|builder| builder.max_tasks(3));
    let dropped = Rc::new(Cell::new(0));
    let tasks: Vec<_> = ["0", "1", "2", "3", "4"]
        .into_iter()
        .map(|name| {
            let (work, gone) = (bench.work(name, 1, MS), dropped.clone());
            bench.scheduler.spawn(Priority::Normal, async move {
                let _told = support::OnDrop(|| gone.set(gone.get() + 1));
                work.await;
            })
        })
        .collect();
    assert_eq!(
        tasks.iter().map(|task| task.is_finished()).collect::<Vec<_>>(),
        [false, false, false, true, true]
    );
    let mut tasks = tasks.into_iter().rev();
    let (awaited, mut taken) = (tasks.next().unwrap(), tasks.next().unwrap());
    assert!(matches!(bench.scheduler.block_on(awaited), Err(TaskError::Cancelled)));
    assert!(matches!(taken.try_take(), Some(Err(TaskError::Cancelled))));
    assert!(taken.try_take().is_none() && taken.is_finished(), "an output is taken once");
    drop((tasks, taken));
    bench.slices(2);
    bench.log.told("0 1 2");
    assert_eq!(bench.scheduler.stats().refused, 2);
    // Room again; and a refused future is dropped at once.
    let held = Rc::new(());
    for round in 0..3 {
        let kept = held.clone();
        drop(bench.scheduler.spawn(Priority::Normal, async move { drop(kept) }));
        assert_eq!(Rc::strong_count(&held), 2 + round);
    }
    let kept = held.clone();
    drop(bench.scheduler.spawn(Priority::Normal, async move { drop(kept) }));
    assert_eq!(Rc::strong_count(&held), 4);
    bench.slices(1);
    assert_eq!((Rc::strong_count(&held), bench.scheduler.live_tasks()), (1, 0));
}

#[test]
fn rule_11_try_spawn_says_why_there_is_no_task() {
    let bench = Bench::with(|builder| builder.max_tasks(1));
    let first = bench.scheduler.try_spawn(Priority::Normal, bench.work("first", 1, MS));
    assert!(first.is_ok());
    assert_eq!(bench.scheduler.try_spawn(Priority::Normal, async {}).err(), Some(SpawnError::Full));
    bench.slices(1);
    assert!(bench.scheduler.try_spawn(Priority::Normal, async {}).is_ok());
    bench.scheduler.shutdown();
    assert_eq!(bench.scheduler.try_spawn(Priority::Normal, async {}).err(), Some(SpawnError::ShutDown));
}

#[test]
fn rule_11_a_spawner_is_told_that_there_is_no_room() {
    let bench = Bench::with(|builder| builder.max_tasks(2));
    let (spawner, runs) = (bench.scheduler.spawner(), Arc::new(AtomicUsize::new(0)));
    let accepted = (0..5)
        .filter(|_| {
            let runs = runs.clone();
            let task = async move {
                runs.fetch_add(1, Ordering::SeqCst);
            };
            spawner.spawn(Priority::Normal, task).is_ok()
        })
        .count();
    // Who was promised a place has it: also before those that this thread starts.
    assert_eq!(accepted, 2);
    assert_eq!(bench.scheduler.try_spawn(Priority::Normal, async {}).err(), Some(SpawnError::Full));
    bench.slices(5);
    assert_eq!(runs.load(Ordering::SeqCst), accepted);
}

// Rule 12: the same again, to the letter.

/// A mixed load, and the observer's account of it.
fn account(set: impl FnOnce(colibri_core::Builder) -> colibri_core::Builder) -> Vec<String> {
    let log = Log::default();
    let bench = Bench::with(|builder| set(builder.observer(Teller(log.clone()))));
    let mut handles = Vec::new();
    for number in 0..12_u32 {
        let class = Priority::ALL[number as usize % 3];
        let (clock, wait) = (bench.clock.clone(), number * 5 % 7 * MS / 2);
        handles.push(bench.scheduler.spawn(class, async move {
            for step in 0..6 {
                clock.advance((number + step) % 4 * MS / 4);
                match step % 3 {
                    0 => checkpoint().await,
                    1 => sleep(wait).await,
                    _ => drop(spawn(class, checkpoint()).await),
                }
            }
        }));
    }
    for slice in 0..60 {
        match slice {
            3 => handles[4].cancel(),
            5 => handles[5].pause(),
            9 => handles[5].resume(),
            11 => handles[6].set_priority(Priority::Idle),
            _ => (),
        }
        bench.scheduler.run_for(MS);
        bench.clock.advance(MS / 3);
    }
    assert_eq!(bench.scheduler.live_tasks(), 0);
    log.take()
}

#[test]
fn rule_12_the_same_inputs_give_the_same_events() {
    assert_eq!(account(|builder| builder), account(|builder| builder));
    let yielding = || account(|builder| builder.always_yield(true));
    assert_eq!(yielding(), yielding());
    for seed in 0..5 {
        let shuffled = || account(|builder| builder.shuffle(seed));
        assert_eq!(shuffled(), shuffled());
        let both = || account(|builder| builder.shuffle(seed).always_yield(true));
        assert_eq!(both(), both());
    }
}

#[test]
fn rule_12_the_modes_differ_from_the_plain_run_and_end_what_it_ends() {
    let ends = |account: &[String]| {
        let mut ends: Vec<String> = account
            .iter()
            .filter(|event| event.ends_with("done") || event.ends_with("cancelled"))
            .cloned()
            .collect();
        ends.sort();
        ends.len()
    };
    let plain = account(|builder| builder);
    let yielding = account(|builder| builder.always_yield(true));
    let orders: std::collections::BTreeSet<_> = (0..10).map(|seed| account(|b| b.shuffle(seed))).collect();
    if support::in_turn() {
        // Where the plain run is plain.
        assert!(yielding.len() > plain.len(), "every check gave way");
    }
    assert!(orders.len() >= 9, "ten seeds, ten orders or nearly so");
    assert!(orders.iter().chain([&yielding]).all(|account| ends(account) == ends(&plain)));
}

#[test]
fn rule_12_a_shuffle_keeps_the_classes() {
    for seed in 0..20 {
        let bench = Bench::with(|builder| builder.shuffle(seed));
        for name in ["m", "n", "i", "m", "n", "i", "m", "n", "i"] {
            let class = match name {
                "m" => Priority::Immediate,
                "n" => Priority::Normal,
                _ => Priority::Idle,
            };
            bench.start(class, bench.work(name, 2, MS / 4));
        }
        bench.slices(3);
        assert_eq!(bench.log.folded(), "m×6 n×6 i×6", "seed {seed}");
    }
}

// What else section 4 names.

#[test]
fn latest_replaces_debounces_and_cancels_on_drop() {
    let bench = Bench::new();
    let latest = Latest::new(&bench.scheduler, Priority::Normal);
    for name in ["a", "b", "c"] {
        latest.submit(bench.say(name));
    }
    assert_eq!((latest.cancelled(), latest.is_pending(), bench.scheduler.live_tasks()), (2, true, 1));
    bench.slices(1);
    assert_eq!((bench.log.folded().as_str(), latest.is_pending()), ("c", false));
    // Each submission starts the time anew; the one that runs is replaced where it is.
    for name in ["d", "e"] {
        latest.submit_after(10 * MS, bench.say(name));
        bench.clock.advance(9 * MS);
        bench.slices(1);
    }
    assert_eq!(bench.log.folded(), "");
    bench.clock.advance(MS);
    bench.slices(1);
    assert_eq!((bench.log.folded().as_str(), latest.cancelled()), ("e", 3));
    let (log, again) = (bench.log.clone(), bench.work("f", 99, MS));
    latest.submit(async move {
        let _told = support::OnDrop(|| log.say("f dropped"));
        again.await;
    });
    bench.scheduler.run_for(2 * MS);
    latest.submit(bench.say("g"));
    assert_eq!(bench.log.folded(), "f×2 f dropped");
    drop(latest);
    bench.slices(1);
    assert_eq!((bench.log.folded().as_str(), bench.scheduler.live_tasks()), ("", 0));
}

#[test]
fn latest_may_be_submitted_to_by_the_task_it_replaces_and_by_its_destructor() {
    let bench = Bench::new();
    let latest = Rc::new(RefCell::new(Some(Latest::new(&bench.scheduler, Priority::Normal))));
    let (inner, next, log) = (latest.clone(), bench.say("next"), bench.log.clone());
    let submit = move |future| inner.borrow().as_ref().unwrap().submit(future);
    let first = async move {
        submit(Box::pin(next) as support::Boxed);
        log.say("replaced itself");
        checkpoint().await;
        yield_now().await;
        log.say("it should be gone");
    };
    latest.borrow().as_ref().unwrap().submit(first);
    bench.slices(2);
    assert_eq!(bench.log.folded(), "replaced itself next");
    let (inner, late) = (latest.clone(), bench.say("by a destructor"));
    let mut late = Some(late);
    latest.borrow().as_ref().unwrap().submit(until_dropped(move || {
        inner.borrow().as_ref().unwrap().submit(late.take().unwrap());
    }));
    bench.slices(1);
    latest.borrow().as_ref().unwrap().submit(bench.say("newest"));
    bench.slices(1);
    assert_eq!((bench.log.folded().as_str(), bench.scheduler.live_tasks()), ("newest", 0));
    latest.take();
}

#[test]
fn a_scope_owns_its_children() {
    let bench = Bench::new();
    let scope = Rc::new(TaskScope::new(&bench.scheduler));
    let (inner, log) = (scope.clone(), bench.log.clone());
    let first = scope.spawn(Priority::Normal, until_dropped(move || log.say("first dropped")));
    let grandchild = bench.work("grandchild", 2, MS);
    drop(scope.spawn(Priority::Normal, async move { drop(inner.spawn(Priority::Normal, grandchild)) }));
    bench.slices(2);
    assert_eq!((bench.log.folded().as_str(), scope.live_tasks()), ("grandchild×2", 1));
    // It can be used on after a cancel; the last one is cancelled first.
    let log = bench.log.clone();
    drop(scope.spawn(Priority::Normal, until_dropped(move || log.say("second dropped"))));
    bench.slices(1);
    scope.cancel();
    assert_eq!(bench.log.folded(), "second dropped first dropped");
    let outside = bench.scheduler.spawn(Priority::Normal, bench.say("outside"));
    drop(scope.spawn(Priority::Normal, bench.say("never")));
    drop(scope);
    bench.slices(1);
    assert_eq!((bench.log.folded().as_str(), bench.scheduler.live_tasks()), ("outside", 0));
    drop((first, outside));
    // A thousand that end leave nothing in it.
    let scope = TaskScope::new(&bench.scheduler);
    for _ in 0..1000 {
        drop(scope.spawn(Priority::Normal, async {}));
        bench.slices(1);
    }
    assert_eq!(scope.live_tasks(), 0);
}

#[test]
fn task_locals_belong_to_their_task() {
    colibri_core::task_local! { static NAME: Rc<Cell<u32>>; }
    let bench = Bench::new();
    let task = |start: u32| {
        bench.scheduler.spawn(
            Priority::Normal,
            NAME.scope(Rc::new(Cell::new(start)), async {
                for _ in 0..3 {
                    NAME.with(|value| value.set(value.get() + 1));
                    yield_now().await;
                    NAME.scope(Rc::new(Cell::new(99)), async {
                        yield_now().await;
                        assert_eq!(NAME.with(|value| value.get()), 99);
                    })
                    .await;
                }
                NAME.with(|value| value.get())
            }),
        )
    };
    let (a, b) = (task(10), task(20));
    let panics = bench.scheduler.spawn(
        Priority::Normal,
        NAME.scope(Rc::new(Cell::new(0)), async {
            quiet_panic("inside a scope");
        }),
    );
    let none = bench.scheduler.spawn(Priority::Normal, async {
        yield_now().await;
        NAME.try_with(|value| value.get())
    });
    assert_eq!(bench.scheduler.block_on(a).unwrap(), 13);
    assert_eq!(bench.scheduler.block_on(b).unwrap(), 23);
    assert_eq!(bench.scheduler.block_on(none).unwrap(), None);
    assert!(bench.scheduler.block_on(panics).is_err());
    assert_eq!(NAME.try_with(|value| value.get()), None);
    // Inside of `with`: reading again is well, another scope is an error that names the cure.
    let nested = NAME.scope(Rc::default(), async {
        NAME.with(|outer| NAME.with(|inner| assert!(Rc::ptr_eq(outer, inner))));
        let scope = || NAME.scope(Rc::default(), std::future::ready(()));
        let said = NAME.with(|_| panic_of(|| scope().now_or_never()));
        scope().await;
        said.unwrap()
    });
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let said = bench.scheduler.block_on(nested);
    std::panic::set_hook(print);
    assert!(said.contains("await it outside"), "{said}");
}

#[test]
fn the_slice_follows_the_hosts_activity() {
    let bench = Bench::new();
    bench.start(Priority::Normal, bench.work("w", u32::MAX, MS / 2));
    let lengths = [
        (Activity::Foreground, 8),
        (Activity::Interacting, 4),
        (Activity::Background, 50),
        (Activity::LowPower, 16),
        (Activity::Foreground, 8),
    ];
    assert_eq!(bench.scheduler.run_slice().used, 8 * MS);
    for (activity, ms) in lengths {
        bench.scheduler.set_activity(activity);
        assert_eq!(bench.scheduler.run_slice().used, ms * MS, "{activity:?}");
    }
    let own = Bench::with(|builder| {
        builder
            .slice(3 * MS)
            .slice_policy(|activity| if activity == Activity::Background { 20 * MS } else { 5 * MS })
    });
    own.start(Priority::Normal, own.work("w", u32::MAX, MS / 2));
    assert_eq!(own.scheduler.run_slice().used, 5 * MS, "the policy wins");
    own.scheduler.set_activity(Activity::Background);
    assert_eq!(own.scheduler.run_slice().used, 20 * MS);
    let fixed = Bench::with(|builder| builder.slice(3 * MS));
    fixed.start(Priority::Normal, fixed.work("w", u32::MAX, MS / 2));
    fixed.scheduler.set_activity(Activity::Background);
    assert_eq!(fixed.scheduler.run_slice().used, 3 * MS, "a fixed slice stays");
}

#[test]
fn a_slice_tells_what_it_did() {
    let bench = Bench::new();
    let heavy = bench.scheduler.spawn(Priority::Normal, bench.work("heavy", 3, 11 * MS));
    bench.start(Priority::Idle, bench.work("later", 1, MS));
    let say = bench.say("slept");
    bench.start(Priority::Normal, async move {
        sleep(100 * MS).await;
        say.await;
    });
    let report = bench.scheduler.run_slice();
    assert_eq!((report.finished, report.promoted), (0, 0));
    assert_eq!((report.used, report.overrun, report.overrun_by), (11 * MS, 3 * MS, Some(heavy.id())));
    assert!(report.work_left);
    if support::in_turn() {
        assert_eq!((report.tasks_run, report.yielded, report.next_timer), (1, 1, None));
    }
    bench.slices(20);
    let report = bench.scheduler.run_slice();
    assert_eq!((report.tasks_run, report.overrun_by, report.work_left), (0, None, false));
    // The sleeper had its first turn behind the heavy one's 11 ms, or before them.
    let due = report.next_timer.unwrap() - Instant::ZERO;
    assert!(due == 111 * MS || (!support::in_turn() && due >= 100 * MS), "{due:?}");
    let stats = bench.scheduler.stats();
    assert_eq!((stats.spawned, stats.ended, stats.worst_overrun), (3, 2, 3 * MS));
}

/// Two tasks that look after themselves, an input, a timer, and one that holds the thread for 400 ms without a check.
#[test]
fn a_task_that_never_checks_is_reported_and_harms_nobody_else() {
    let bench = Bench::new();
    let (clock, log) = (bench.clock.clone(), bench.log.clone());
    bench.start(Priority::Normal, bench.work("a", 6, MS));
    let holds = bench.scheduler.spawn_fn(Priority::Normal, move || {
        log.say("holds");
        clock.advance(400 * MS);
    });
    bench.start(Priority::Normal, bench.work("b", 6, MS));
    let log = bench.log.clone();
    bench.start(Priority::Immediate, async move {
        sleep(10 * MS).await;
        log.say("timer");
    });
    let mut report = bench.scheduler.run_slice();
    while report.overrun.is_zero() {
        // In a mode that changes turns it comes later.
        assert!(!support::in_turn() && report.work_left);
        report = bench.scheduler.run_slice();
    }
    assert!((392 * MS..=400 * MS).contains(&report.overrun), "{:?}", report.overrun);
    assert_eq!((report.used, report.overrun_by), (report.overrun + 8 * MS, Some(holds.id())));
    if support::in_turn() {
        assert_eq!(report.used, 402 * MS);
    }
    // What came meanwhile comes first, then who waited, each with the turn that it has.
    while bench.scheduler.run_slice().work_left {}
    let expected = "a×2 \
                    holds \
                    timer \
                    b×2 a×2 b×2 a×2 b×2";
    bench.log.told(expected);
    let stats = bench.scheduler.stats();
    assert_eq!((stats.overruns, stats.worst_overrun, stats.ended), (1, report.overrun, 4));
}

#[test]
fn run_for_nothing_runs_nothing_and_takes_in_what_came() {
    let bench = Bench::new();
    let (task, seen) = idle();
    let task = bench.scheduler.spawn(Priority::Normal, task);
    bench.slices(1);
    seen.wake();
    let report = bench.scheduler.run_for(Duration::ZERO);
    assert_eq!((report.tasks_run, report.work_left, task.state()), (0, true, TaskState::Ready));
}

#[test]
fn run_returns_when_nothing_can_run_any_more() {
    let bench = Bench::new();
    let hovers = bench.scheduler.spawn(Priority::Normal, bench.work("hovers", 1, MS));
    hovers.pause();
    let (send, receive) = oneshot::channel::<()>();
    bench.start(Priority::Normal, receive.map(drop));
    let work = bench.work("w", 20, MS);
    bench.start(Priority::Idle, async move {
        work.await;
        send.send(()).unwrap();
    });
    bench.scheduler.run();
    assert_eq!((bench.log.folded().as_str(), bench.scheduler.live_tasks()), ("w×20", 1));
    hovers.resume();
    bench.scheduler.run();
    assert_eq!(bench.log.folded(), "hovers");
    // A task may end it.
    let handle = Rc::new(RefCell::new(Some(bench.scheduler.clone())));
    let ends = handle.clone();
    bench.start(Priority::Normal, std::future::pending());
    bench.start(Priority::Normal, async move { ends.take().unwrap().shutdown() });
    bench.scheduler.run();
    assert_eq!(bench.scheduler.live_tasks(), 0);
}

#[test]
fn block_on_runs_its_future_as_an_immediate_task() {
    let bench = Bench::new();
    bench.start(Priority::Immediate, bench.work("m", 4, MS));
    bench.start(Priority::Normal, bench.work("n", 4, MS));
    let not_static = String::from("it may borrow");
    let length = bench.scheduler.block_on(async {
        for _ in 0..4 {
            bench.clock.advance(MS);
            bench.log.say("own");
            checkpoint().await;
        }
        not_static.len()
    });
    assert_eq!(length, 13);
    // Nobody of a lower class has run.
    assert_eq!((bench.log.count("own"), bench.log.count("n")), (4, 0));
    if support::in_turn() {
        assert_eq!(bench.log.folded(), "m×2 own×2 m×2 own×2");
        bench.slices(2);
        assert_eq!(bench.log.folded(), "n×4");
    }
    bench.slices(9);
    // A panic of the future comes out, and the scheduler is as before.
    assert_eq!(panic_of(|| bench.scheduler.block_on(async { quiet_panic("out") })).as_deref(), Some("out"));
    assert_eq!(bench.scheduler.block_on(async { 5 }), 5);
    assert_eq!(bench.scheduler.live_tasks(), 0);
}

#[test]
fn a_finished_task_wakes_its_joiner_once() {
    let bench = Bench::new();
    for end in ["finish", "cancel", "panic", "timeout", "shutdown"] {
        let bench =
            if end == "shutdown" { Bench::new() } else { Bench { log: Log::default(), ..Bench::new() } };
        let mut task = bench
            .scheduler
            .task(async move {
                match end {
                    "finish" => (),
                    "panic" => quiet_panic("end"),
                    _ => std::future::pending().await,
                }
            })
            .timeout(if end == "timeout" { MS } else { DAY })
            .spawn();
        let (old, new) = (Wakes::new(), Wakes::new());
        assert!(support::poll_with(&mut task, &old.clone().into()).is_pending());
        // The last waker counts.
        assert!(support::poll_with(&mut task, &new.clone().into()).is_pending());
        bench.slices(1);
        match end {
            "cancel" => task.cancel(),
            "shutdown" => bench.scheduler.shutdown(),
            _ => bench.clock.advance(2 * MS),
        }
        bench.slices(2);
        assert_eq!((old.count(), new.count()), (0, 1), "{end}");
        assert!(support::poll(&mut task).is_ready(), "{end}");
    }
    assert_eq!(bench.scheduler.live_tasks(), 0);
}

#[test]
fn an_uninterrupted_section_is_charged_but_not_stopped() {
    let bench = Bench::with(|builder| builder.slice(100 * MS));
    let (section, rest) = (bench.work("section", 6, MS), bench.work("rest", 4, MS));
    bench.start(Priority::Normal, async move {
        uninterrupted(section).await;
        rest.await;
    });
    bench.start(Priority::Normal, bench.work("other", 10, MS));
    bench.slices(1);
    // Seven ms in one go, to the first checkpoint that may stop it: its next two turns and half of a third are paid.
    let log = bench.log.folded();
    assert!(log.contains("section×6"), "{log}");
    if support::in_turn() {
        assert_eq!(log, "section×6 rest other×6 rest other×2 rest×2 other×2");
    }
}

#[test]
fn shutdown_ends_everything_and_later_calls_do_no_harm() {
    let bench = Bench::new();
    let (task, seen) = idle();
    let mut waits = bench.scheduler.spawn(Priority::Normal, task);
    let mut ready = bench.scheduler.spawn(Priority::Normal, bench.work("w", 9, MS));
    let mut delayed = bench.scheduler.task(bench.say("never")).after(MS).spawn();
    let (spawner, finished) =
        (bench.scheduler.spawner(), bench.scheduler.spawn(Priority::Immediate, async { 1 }));
    bench.scheduler.run_for(MS);
    bench.log.take();
    for _ in 0..2 {
        bench.scheduler.shutdown();
        assert_eq!((bench.scheduler.live_tasks(), bench.scheduler.pending_timers()), (0, 0));
    }
    for task in [&mut waits, &mut ready, &mut delayed] {
        task.resume();
        task.cancel();
        assert!(matches!(task.try_take(), Some(Err(TaskError::Cancelled))));
    }
    seen.wake();
    assert!(spawner.spawn(Priority::Normal, async {}).is_err());
    let refused = bench.scheduler.spawn(Priority::Normal, bench.say("never"));
    assert!(refused.is_finished());
    bench.clock.advance(SECOND);
    bench.slices(2);
    bench.scheduler.run();
    assert_eq!(bench.log.folded(), "");
    // What had ended is still there to be taken.
    let mut finished = finished;
    assert!(matches!(finished.try_take(), Some(Ok(1))));
}

/// What `checkpoint` calls have learned of one task's steps is not believed of another's: 64 of 0.3 µs may pass between two
/// looks, 64 of 0.5 ms would be four slices.
#[test]
fn long_steps_beside_short_ones_overrun_a_slice_by_no_more_than_themselves() {
    for step in [90 * US, 500 * US] {
        let bench = Bench::on(Lazy);
        bench.start(Priority::Normal, bench.work("short", u32::MAX, Duration::from_nanos(300)));
        bench.start(Priority::Normal, bench.work("long", u32::MAX, step));
        for _ in 0..300 {
            let report = bench.scheduler.run_slice();
            assert!(report.overrun <= step, "{:?} by steps of {step:?}", report.overrun);
        }
    }
}

#[test]
fn lazy_looks_change_no_shares() {
    // On a clock like the system's, looked at every 20 µs: equals have equal shares, slices their length.
    let bench = Bench::on(Lazy);
    for (name, step) in [("a", 300), ("b", 7_000), ("c", 90_000)] {
        bench.start(Priority::Normal, bench.work(name, u32::MAX, Duration::from_nanos(step)));
    }
    for _ in 0..100 {
        let report = bench.scheduler.run_slice();
        assert!(report.overrun <= 600 * US, "{:?}", report.overrun);
    }
    let shares =
        [("a", 300), ("b", 7_000), ("c", 90_000)].map(|(name, step)| bench.log.count(name) as u64 * step);
    if !support::in_turn() {
        return assert!(shares.iter().all(|&share| share > 0), "{shares:?} ns");
    }
    let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
    assert!(most - least <= 5_000_000, "{shares:?} ns");
}
