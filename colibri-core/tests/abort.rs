//! Cancelling from other threads.

mod support;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use colibri_core::{AbortHandle, Priority, SpawnError, TaskError, checkpoint, yield_now};

use self::support::{Bench, MS, OnDrop, quiet_panic, until_dropped};

/// Calls `f` on another thread and waits for its end.
fn elsewhere<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    thread::spawn(f).join().expect("the other thread does not panic")
}

#[test]
fn an_abort_from_another_thread_takes_effect_at_the_next_turn() {
    let bench = Bench::new();
    let log = bench.log.clone();
    let mut task = bench.scheduler.spawn(Priority::Normal, until_dropped(move || log.say("dropped")));
    bench.scheduler.run_slice();
    let stop = task.abort_handle();
    assert_eq!(stop.id(), task.id());
    elsewhere(move || stop.abort());
    bench.log.say("aborted");
    assert!(!task.is_finished());
    // Not even a slice without any time leaves it alive.
    bench.scheduler.run_for(Duration::ZERO);
    assert_eq!(bench.log.folded(), "aborted dropped");
    assert!(matches!(task.try_take(), Some(Err(TaskError::Cancelled))));
}

#[test]
fn an_abort_by_a_task_of_the_same_scheduler_takes_effect_at_once() {
    let bench = Bench::new();
    let log = bench.log.clone();
    let victim = bench.scheduler.spawn(Priority::Immediate, until_dropped(move || log.say("dropped")));
    let (stop, log) = (victim.abort_handle(), bench.log.clone());
    bench.start(Priority::Normal, async move {
        stop.abort();
        log.say("aborted");
        stop.abort(); // once is enough, twice does no harm
    });
    bench.slices(2);
    assert_eq!(bench.log.folded(), "dropped aborted");
}

#[test]
fn a_running_task_ends_at_its_next_check() {
    for own in [false, true] {
        let bench = Bench::new();
        let log = bench.log.clone();
        let handle = Rc::new(OnceCell::new());
        let stop = handle.clone();
        let task = bench.scheduler.spawn(Priority::Normal, async move {
            let _end = OnDrop({
                let log = log.clone();
                move || log.say("dropped")
            });
            let stop: AbortHandle = Rc::unwrap_or_clone(stop).into_inner().unwrap();
            if own {
                stop.abort()
            } else {
                elsewhere(move || stop.abort())
            }
            log.say("goes on");
            checkpoint().await;
            log.say("never");
        });
        handle.set(task.abort_handle()).unwrap();
        drop(handle);
        let report = bench.scheduler.run_slice();
        assert_eq!(bench.log.folded(), "goes on dropped");
        // The end that comes from afar is taken in by the check; where that gives way at once, after the poll.
        let polled = u64::from(own || !support::always_yields());
        assert_eq!((report.tasks_run, report.finished), (1, polled));
    }
}

#[test]
fn a_host_is_asked_for_a_turn() {
    let scheduler = support::builder().build();
    let task = scheduler.spawn(Priority::Normal, std::future::pending::<()>());
    scheduler.run_slice();
    let (asked, asks) = mpsc::channel();
    scheduler.on_ready(move || asked.send(thread::current().id()).expect("the test waits for it"));
    let stop = task.abort_handle();
    let other = elsewhere(move || {
        stop.abort();
        thread::current().id()
    });
    assert_eq!(asks.try_iter().collect::<Vec<_>>(), [other]);
    scheduler.run_slice();
    assert!(task.is_finished());
}

#[test]
fn a_parked_host_is_woken_and_goes_home() {
    let scheduler = support::builder().build();
    let task = scheduler.spawn(Priority::Normal, std::future::pending::<()>());
    let stop = task.abort_handle();
    let other = thread::spawn(move || stop.abort());
    // Nothing else could end it.
    scheduler.run();
    assert!(task.is_finished());
    other.join().unwrap();
}

#[test]
fn what_has_ended_is_left_alone_and_so_is_who_came_into_its_place() {
    let bench = Bench::new();
    let first = bench.scheduler.spawn(Priority::Normal, async {});
    let stop = first.abort_handle();
    bench.slices(1);
    drop(first);
    let second = bench.scheduler.spawn(Priority::Normal, bench.say("second"));
    assert_eq!((stop.id().to_string(), second.id().to_string()), ("0".into(), "0.1".into()));
    let again = stop.clone();
    elsewhere(move || again.abort());
    bench.slices(1);
    assert_eq!(bench.log.folded(), "second");
    assert!(second.is_finished());
    drop((bench, second));
    // Its scheduler is gone.
    stop.abort();
}

#[test]
fn a_destructor_that_panics_harms_nobody() {
    let bench = Bench::new();
    let bad = bench.scheduler.spawn(Priority::Normal, until_dropped(|| quiet_panic("in a destructor")));
    let good = bench.scheduler.spawn(Priority::Normal, until_dropped(|| ()));
    bench.slices(1);
    let stops = [bad.abort_handle(), good.abort_handle()];
    elsewhere(move || stops.iter().for_each(|stop| stop.abort()));
    bench.start(Priority::Normal, bench.say("after"));
    bench.slices(1);
    assert_eq!(bench.log.folded(), "after");
    assert!(bad.is_finished() && good.is_finished());
}

#[test]
fn aborts_on_their_way_take_no_place_of_tasks() {
    let bench = Bench::with(|builder| builder.max_tasks(2));
    let task = bench.scheduler.spawn(Priority::Normal, std::future::pending::<()>());
    let stop = task.abort_handle();
    (0..5).for_each(|_| stop.abort());
    let spawner = bench.scheduler.spawner();
    // One lives, so that one more is accepted, and no third.
    assert_eq!(spawner.spawn(Priority::Normal, async {}), Ok(()));
    assert_eq!(spawner.spawn(Priority::Normal, async {}), Err(SpawnError::Full));
    bench.slices(1);
    assert_eq!(bench.scheduler.live_tasks(), 0);
    assert_eq!(spawner.spawn(Priority::Normal, async {}), Ok(()));
}

#[test]
fn tasks_that_were_received_and_not_started_count_for_max_tasks() {
    let bench = Bench::with(|builder| builder.max_tasks(100));
    let spawner = bench.scheduler.spawner();
    for _ in 0..100 {
        spawner.spawn(Priority::Normal, yield_now()).unwrap();
    }
    // A turn starts a portion of them and has received all.
    bench.scheduler.run_for(Duration::ZERO);
    assert!((1..100).contains(&bench.scheduler.live_tasks()));
    assert_eq!(spawner.spawn(Priority::Normal, async {}), Err(SpawnError::Full));
    bench.slices(100);
    assert_eq!(bench.scheduler.stats().ended, 100);
    assert_eq!(spawner.spawn(Priority::Normal, async {}), Ok(()));
}

#[test]
fn aborts_race_with_the_ends_of_their_tasks() {
    // Whoever comes first: each future is dropped once, and each handle says one thing.
    let scheduler = support::builder().build();
    let spawner = scheduler.spawner();
    let (send, stops) = mpsc::channel::<AbortHandle>();
    let other = thread::spawn(move || {
        let _spawner = spawner;
        stops.iter().for_each(|stop| stop.abort());
    });
    let (mut finished, mut cancelled, drops) = (0, 0, Rc::new(Cell::new(0)));
    for _ in 0..2_000 {
        let own = drops.clone();
        let end = OnDrop(move || own.set(own.get() + 1));
        let mut task = scheduler.spawn(Priority::Normal, async move {
            let _end = end;
            for _ in 0..20 {
                yield_now().await;
            }
        });
        send.send(task.abort_handle()).unwrap();
        while !task.is_finished() {
            scheduler.run_for(MS);
        }
        match task.try_take() {
            Some(Ok(())) => finished += 1,
            Some(Err(TaskError::Cancelled)) => cancelled += 1,
            other => panic!("{other:?}"),
        }
    }
    drop(send);
    other.join().unwrap();
    assert_eq!((finished + cancelled, drops.get()), (2_000, 2_000));
}
