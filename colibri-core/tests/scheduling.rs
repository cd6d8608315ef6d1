//! The scheduling rules, as ordered lists of events on a clock that moves only when told.

mod support;

use std::rc::Rc;
use std::time::Duration;

use colibri_core::{
    ManualClock, Priority, SpawnError, TaskError, set_progress, sleep, spawn, timeout, yield_now,
};
use support::{Bench, Log, MS};

#[test]
fn equals_take_turns_by_quantum_across_slices() {
    let bench = Bench::new();
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("a", 5, MS)));
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("b", 5, MS)));
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("c", 2, MS)));
    let report = bench.scheduler.run_slice();
    // Two steps of a ms are a quantum; four quanta are a slice.
    assert_eq!(bench.log.len(), 8);
    let first = bench.log.folded();
    assert_eq!(report.used, 8 * MS);
    assert!(report.work_left);
    bench.scheduler.run_slice();
    assert_eq!(bench.log.len(), 4);
    if support::in_turn() {
        assert_eq!([first, bench.log.folded()], ["a×2 b×2 c×2 a×2", "b×2 a b"]);
    }
}

#[test]
fn a_slice_that_ends_in_a_quantum_takes_no_turn_away() {
    let bench = Bench::new();
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("a", 4, MS)));
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("b", 4, MS)));
    bench.scheduler.run_for(MS);
    bench.scheduler.run_for(2 * MS);
    bench.scheduler.run_for(MS);
    assert_eq!(bench.log.len(), 4);
    if support::in_turn() {
        // a keeps the second half of its quantum over the first slice's end, b over the second's.
        assert_eq!(bench.log.folded(), "a×2 b×2");
    }
}

#[test]
fn classes_are_strict_and_a_wake_preempts_at_the_next_checkpoint() {
    let bench = Bench::new();
    drop(bench.scheduler.spawn(Priority::Idle, bench.work("idle", 2, MS)));
    drop(bench.scheduler.spawn(Priority::Normal, {
        let (work, urgent) = (bench.work("normal", 2, MS / 4), bench.work("urgent", 2, MS / 4));
        async move {
            drop(spawn(Priority::Immediate, urgent));
            work.await;
        }
    }));
    bench.scheduler.run_slice();
    assert_eq!(bench.log.folded(), "normal urgent×2 normal idle×2");
}

#[test]
fn what_was_overdrawn_is_charged_to_the_next_turn() {
    let bench = Bench::new();
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("coarse", 100, 3 * MS)));
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("fine", 300, MS)));
    bench.scheduler.run_for(300 * MS);
    let log = bench.log.take();
    let coarse = 3 * log.iter().filter(|name| *name == "coarse").count() as i64;
    let fine = log.iter().filter(|name| *name == "fine").count() as i64;
    assert!((300..303).contains(&(coarse + fine)), "{coarse} ms and {fine} ms of 300");
    assert!(
        !support::in_turn() || (coarse - fine).abs() <= 5,
        "a quantum and a gap at most: {coarse} ms against {fine} ms"
    );
}

#[test]
fn a_task_that_waits_too_long_rises_and_falls_back() {
    let bench = Bench::new();
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("normal", 3000, MS)));
    drop(bench.scheduler.spawn(Priority::Idle, bench.work("idle", 4, MS)));
    bench.scheduler.run_for(1100 * MS);
    bench.rises_in_time("idle", 1100, 500);
    // It rises after 500 ms, to the tail: the normal task, whose quantum ended at the same moment, is before it. It runs
    // for its own quantum, falls back, and waits again.
    if support::in_turn() {
        assert_eq!(bench.log.folded(), "normal×502 idle×2 normal×502 idle×2 normal×92");
    }
}

#[test]
fn timers_fire_in_order_and_never_early_while_others_yield() {
    let bench = Bench::new();
    let (clock, log) = (bench.clock.clone(), bench.log.clone());
    for (name, wait) in [("late", 20), ("early", 10), ("early_too", 10)] {
        let log = log.clone();
        drop(bench.scheduler.spawn(Priority::Normal, async move {
            sleep(wait * MS).await;
            log.say(name);
        }));
    }
    drop(bench.scheduler.spawn(Priority::Normal, async move {
        loop {
            clock.advance(MS);
            yield_now().await;
        }
    }));
    bench.scheduler.run_for(9 * MS);
    assert_eq!(bench.log.folded(), "");
    bench.scheduler.run_for(20 * MS);
    bench.log.told("early early_too | late");
}

#[test]
fn a_panic_ends_one_task() {
    let bench = Bench::new();
    let panics = bench.scheduler.spawn(Priority::Normal, async { panic!("oh no") });
    let lives = bench.scheduler.spawn(Priority::Normal, async { 7 });
    let error = bench.scheduler.block_on(panics).unwrap_err();
    assert_eq!(error.panic_message(), Some("oh no"));
    assert_eq!(bench.scheduler.block_on(lives).unwrap(), 7);
}

#[test]
fn cancel_drops_at_once_and_pause_remembers() {
    let bench = Bench::new();
    let held = Rc::new(());
    let kept = held.clone();
    let task = bench.scheduler.spawn(Priority::Normal, async move {
        let _kept = kept;
        std::future::pending::<()>().await;
    });
    bench.scheduler.run_slice();
    assert_eq!(Rc::strong_count(&held), 2);
    task.cancel();
    assert_eq!(Rc::strong_count(&held), 1);
    assert!(matches!(bench.scheduler.block_on(task), Err(TaskError::Cancelled)));

    let task = bench.scheduler.spawn(Priority::Normal, bench.work("hover", 4, MS));
    bench.scheduler.run_for(MS);
    task.pause();
    task.pause();
    bench.scheduler.run_slice();
    assert_eq!(bench.log.folded(), "hover");
    task.resume();
    bench.scheduler.run_slice();
    assert_eq!(bench.log.folded(), "hover×3");
    assert!(task.is_finished());
}

#[test]
fn a_timeout_ends_a_loop_that_is_always_ready() {
    let bench = Bench::new();
    let work = bench.work("w", 1000, MS);
    let task = bench.scheduler.spawn(Priority::Normal, async move { timeout(10 * MS, work).await });
    let outcome = bench.scheduler.block_on(task).unwrap();
    assert!(matches!(outcome, Err(TaskError::TimedOut)));
    assert_eq!(bench.log.folded(), "w×10");
}

#[test]
fn run_ends_when_nothing_can_run() {
    let bench = Bench::new();
    let paused = bench.scheduler.spawn(Priority::Normal, bench.work("paused", 1, MS));
    paused.pause();
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("w", 20, MS)));
    bench.scheduler.run();
    assert_eq!(bench.log.folded(), "w×20");
}

#[test]
fn other_threads_spawn_and_wake_a_parked_host() {
    let scheduler = support::builder().build();
    let (send, receive) = futures::channel::oneshot::channel();
    let spawner = scheduler.spawner();
    let thread = std::thread::spawn(move || {
        spawner.spawn(Priority::Normal, async move { send.send(5).unwrap() }).unwrap();
    });
    assert_eq!(scheduler.block_on(receive), Ok(5));
    thread.join().unwrap();
    scheduler.run();
}

#[test]
fn deadlines_order_a_class_earliest_first() {
    let bench = Bench::new();
    for (name, deadline) in [("none", None), ("late", Some(50)), ("soon", Some(20)), ("soon_too", Some(20))] {
        let task = bench.scheduler.task(bench.work(name, 2, MS));
        let task = match deadline {
            Some(deadline) => task.deadline(deadline * MS),
            None => task,
        };
        drop(task.spawn());
    }
    bench.scheduler.run_slice();
    bench.log.told("soon×2 soon_too×2 | late×2 | none×2");
}

#[test]
fn who_waits_behind_deadlines_for_too_long_gets_turns() {
    let bench = Bench::new();
    let forever = bench.work("due", 5000, MS);
    drop(bench.scheduler.task(forever).priority(Priority::Immediate).deadline(MS).spawn());
    drop(bench.scheduler.spawn(Priority::Immediate, bench.work("none", 2, MS)));
    bench.scheduler.run_for(600 * MS);
    bench.rises_in_time("none", 600, 500);
    if support::in_turn() {
        assert_eq!(bench.log.folded(), "due×502 none×2 due×96");
    }
}

#[test]
fn awaiting_a_handle_lifts_the_task_while_it_is_awaited() {
    // RIOT-OS #7365: a middle task kept a low one from running while a high one waited for the low one.
    let bench = Bench::new();
    let low = bench.scheduler.spawn(Priority::Idle, bench.work("low", 2, MS));
    let middle = bench.scheduler.spawn(Priority::Idle, {
        let (log, work) = (bench.log.clone(), bench.work("between", 1, MS));
        async move {
            low.await.unwrap();
            log.say("between woke");
            work.await;
        }
    });
    bench.scheduler.run_for(MS);
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("normal", 3, MS)));
    let log = bench.log.clone();
    drop(bench.scheduler.spawn(Priority::Immediate, async move {
        log.say("high waits");
        middle.await.unwrap();
        log.say("high goes on");
    }));
    bench.scheduler.run_for(20 * MS);
    // low ran once before; then both, transitively, run above the normal task, which was there first.
    assert_eq!(bench.log.folded(), "low high waits low between woke between high goes on normal×3");
}

#[test]
fn a_lift_ends_with_the_wait() {
    let bench = Bench::new();
    let low = bench.scheduler.spawn(Priority::Idle, bench.work("low", 4, MS));
    drop(bench.scheduler.spawn(Priority::Immediate, async move {
        let waited = timeout(MS, low).await;
        assert!(waited.is_err());
        yield_now().await;
    }));
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("normal", 2, MS)));
    bench.scheduler.run_for(20 * MS);
    // Lifted, it is the waiter's equal and has its quantum; when the handle is dropped the rest is idle work again.
    bench.log.told("low×2 normal×2 low×2");
}

#[test]
fn a_timeout_of_the_builder_ends_the_task() {
    let bench = Bench::new();
    let held = Rc::new(());
    let (kept, work) = (held.clone(), bench.work("w", 100, MS));
    let task = bench
        .scheduler
        .task(async move {
            let _kept = kept;
            work.await;
        })
        .timeout(10 * MS)
        .spawn();
    assert!(matches!(bench.scheduler.block_on(task), Err(TaskError::TimedOut)));
    assert_eq!(Rc::strong_count(&held), 1);
    assert_eq!(bench.log.folded(), "w×10");
    assert_eq!(bench.scheduler.pending_timers(), 0);
}

#[test]
fn always_yield_gives_way_at_each_check() {
    let clock = ManualClock::new();
    let scheduler = support::builder().clock(clock.clone()).always_yield(true).build();
    let bench = Bench { clock, scheduler, log: Log::default() };
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("a", 3, MS / 8)));
    drop(bench.scheduler.spawn(Priority::Normal, bench.work("b", 3, MS / 8)));
    bench.scheduler.run_slice();
    bench.log.told("a b a b a b");
}

#[test]
fn shuffle_draws_among_equals_and_repeats_with_its_seed() {
    let run = |seed| {
        let clock = ManualClock::new();
        let scheduler = support::builder().clock(clock.clone()).shuffle(seed).build();
        let bench = Bench { clock, scheduler, log: Log::default() };
        for name in ["a", "b", "c", "d", "e", "f"] {
            drop(bench.scheduler.spawn(Priority::Normal, bench.work(name, 1, MS / 8)));
        }
        bench.scheduler.run_slice();
        bench.log.folded()
    };
    assert_eq!(run(1), run(1));
    let orders: std::collections::HashSet<String> = (0..10).map(run).collect();
    assert!(orders.len() > 3, "{orders:?}");
}

#[test]
fn a_snapshot_shows_who_lives() {
    let bench = Bench::new();
    let task = bench.scheduler.task(async {
        set_progress(3, 10);
        yield_now().await;
    });
    let task = task.name("index").priority(Priority::Idle).spawn();
    drop(bench.scheduler.spawn(Priority::Normal, std::future::pending::<()>()));
    bench.scheduler.run_for(MS);
    assert_eq!(task.progress(), None, "a finished task has none");
    let task = bench.scheduler.task(async {
        set_progress(3, 10);
        std::future::pending::<()>().await;
    });
    let task = task.name("index").priority(Priority::Idle).spawn();
    bench.scheduler.run_for(MS);
    assert_eq!(task.progress(), Some((3, 10)));
    task.pause();
    let shown: Vec<String> = bench
        .scheduler
        .tasks()
        .iter()
        .map(|task| format!("{:?} {} {:?}", task.name.as_deref(), task.priority, task.state))
        .collect();
    assert_eq!(shown, ["None normal Waiting", "Some(\"index\") idle Paused"]);
}

#[test]
fn a_sleep_of_another_scheduler_wakes_its_own_task() {
    for nested in [false, true] {
        let bench = Bench::new();
        let outer = &bench.scheduler;
        let inner = support::builder().clock(bench.clock.clone()).build();
        let (sleep, log) = (outer.sleep(Duration::from_millis(1)), bench.log.clone());
        let task = inner.spawn(Priority::Normal, async move {
            sleep.await;
            log.say("slept");
        });
        if nested {
            // Polled inside a task of the scheduler whose timer it is, which the timer must not wake instead.
            let (inner, log) = (inner.clone(), bench.log.clone());
            drop(outer.spawn(Priority::Normal, async move {
                inner.run_slice();
                log.say("waits");
                std::future::pending::<()>().await;
            }));
            outer.run_slice();
            assert_eq!(bench.log.take(), ["waits"]);
        } else {
            inner.run_slice();
        }
        bench.clock.advance(Duration::from_millis(1));
        assert_eq!(outer.run_slice().tasks_run, 0);
        assert_eq!(inner.run_slice().tasks_run, 1);
        assert_eq!(bench.log.take(), ["slept"]);
        assert!(task.is_finished());
    }
}

#[test]
fn a_builder_says_why_it_cannot_start_a_task() {
    let bench = Bench::with(|builder| builder.max_tasks(1));
    let captured = Rc::new(());
    let build = || {
        let held = captured.clone();
        let task = bench.scheduler.task(async move { drop(held) }).name("n").after(MS).timeout(Duration::MAX);
        task.priority(Priority::Idle).deadline(MS).weight(2).with_stats()
    };
    let first = build().try_spawn().expect("there is room for one");
    assert_eq!((first.name().as_deref(), first.priority()), (Some("n"), Some(Priority::Idle)));
    assert_eq!((first.stats().is_some(), bench.scheduler.pending_timers()), (true, 2));
    let refused = |expected| {
        assert_eq!(build().try_spawn().expect_err("it is refused"), expected);
        // The same by `spawn`, whose handle says it.
        assert!(matches!(build().spawn().try_take(), Some(Err(TaskError::Cancelled))));
    };
    refused(SpawnError::Full);
    assert_eq!(
        (Rc::strong_count(&captured), bench.scheduler.pending_timers()),
        (2, 2),
        "nothing is left of them"
    );
    bench.clock.advance(MS);
    bench.slices(2);
    assert!(first.is_finished());
    drop(build().try_spawn().expect("there is room again"));
    bench.scheduler.shutdown();
    refused(SpawnError::ShutDown);
    assert_eq!((Rc::strong_count(&captured), bench.scheduler.pending_timers()), (1, 0));
    assert_eq!((bench.scheduler.stats().spawned, bench.scheduler.stats().refused), (2, 4));
}

#[test]
fn a_batch_starts_in_order_and_hands_out_outputs_in_order() {
    let bench = Bench::new();
    let names = ["a", "b", "c", "d", "e"];
    let tasks = bench.scheduler.spawn_all(
        Priority::Normal,
        names.map(|name| {
            let work = bench.work(name, 1, MS / 4);
            async move {
                work.await;
                name
            }
        }),
    );
    assert_eq!(tasks.iter().map(|task| task.priority()).collect::<Vec<_>>(), [Some(Priority::Normal); 5]);
    bench.slices(9);
    bench.log.told("a b c d e");
    let outputs: Vec<_> = tasks.into_iter().map(|mut task| task.try_take().unwrap().unwrap()).collect();
    assert_eq!(outputs, names);
    assert!(bench.scheduler.spawn_all::<[std::future::Ready<()>; 0]>(Priority::Idle, []).is_empty());
}

#[test]
fn of_a_batch_those_beyond_max_tasks_are_cancelled_and_the_rest_runs() {
    let bench = Bench::with(|builder| builder.max_tasks(3));
    let before = bench.scheduler.spawn(Priority::Normal, std::future::pending::<()>());
    let captured = Rc::new(());
    let futures = (0..5).map(|number| {
        let held = captured.clone();
        async move {
            yield_now().await;
            drop(held);
            number
        }
    });
    let mut tasks = bench.scheduler.spawn_all(Priority::Normal, futures);
    assert_eq!((tasks.len(), bench.scheduler.live_tasks(), Rc::strong_count(&captured)), (5, 3, 3));
    let finished: Vec<bool> = tasks.iter().map(|task| task.is_finished()).collect();
    assert_eq!(finished, [false, false, true, true, true], "who comes first is in");
    bench.slices(3);
    let outputs: Vec<_> = tasks.iter_mut().map(|task| task.try_take().unwrap().ok()).collect();
    assert_eq!(outputs, [Some(0), Some(1), None, None, None]);
    assert_eq!((bench.scheduler.stats().refused, Rc::strong_count(&captured)), (3, 1));
    drop(before);
}

#[test]
fn stats_count_by_class_what_was_done() {
    let bench = Bench::new();
    bench.start(Priority::Normal, bench.work("n", 3, MS));
    bench.clock.advance(4 * MS);
    bench.start(Priority::Idle, bench.work("i", 30, MS));
    let before = bench.scheduler.stats();
    assert_eq!([Priority::Normal, Priority::Idle].map(|class| before.class(class).ready), [1, 1]);
    bench.scheduler.run_slice();
    let stats = bench.scheduler.stats();
    let normal = stats.class(Priority::Normal);
    assert_eq!((normal.runs, normal.ready), (normal.yields + 1, 0));
    assert_eq!((normal.total_wait, normal.longest_wait), (4 * MS, 4 * MS));
    if support::in_turn() {
        // Its turn is over after 2 ms, and nobody else has one: it runs twice.
        assert_eq!((normal.runs, normal.mean_wait()), (2, 2 * MS));
    }
    let idle = stats.class(Priority::Idle);
    assert_eq!((idle.ready, idle.total_wait), (1, 3 * MS));
    assert_eq!((stats.slices, stats.overruns, stats.busy), (1, 0, 8 * MS));
    assert_eq!(stats.mean_run(), 8 * MS / u32::try_from(normal.runs + idle.runs).unwrap());
    let since = stats.since(&before);
    assert_eq!((since.spawned, since.ended, since.class(Priority::Normal).runs), (0, 1, normal.runs));
}
