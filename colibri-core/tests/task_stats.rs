//! What single tasks used, by their own account.

mod support;

use std::time::Duration;

use colibri_core::{Priority, TaskState, checkpoint, yield_now};

use self::support::{Bench, Lazy, MS, US};

#[test]
fn an_account_tells_polls_yields_runs_and_waits() {
    let bench = Bench::new();
    let clock = bench.clock.clone();
    let task = bench
        .scheduler
        .task(async move {
            clock.advance(3 * MS); // its turn of 2 ms is over: it gives way, 1 ms in debt
            checkpoint().await;
            clock.advance(MS);
            std::future::pending::<()>().await; // it waits, and no longer for its turn
        })
        .with_stats()
        .spawn();
    // Nobody has run yet.
    assert_eq!(task.stats().unwrap().polls, 0);
    bench.clock.advance(5 * MS); // it is ready and waits
    bench.start(Priority::Normal, bench.work("other", 2, MS));
    bench.slices(9);
    bench.clock.advance(100 * MS);
    let stats = task.stats().unwrap();
    assert_eq!(stats.polls, 2);
    assert_eq!(stats.yields, 1);
    assert_eq!(stats.ran, 4 * MS);
    assert_eq!(stats.longest_run, 3 * MS);
    if support::in_turn() {
        assert_eq!(stats.waited, 7 * MS); // 5 before its first turn, 2 while the other had its own
    }
    assert!(stats.waited >= stats.longest_wait);
    assert_eq!(stats.longest_wait, 5 * MS);
    assert_eq!(bench.log.folded(), "other×2");
}

#[test]
fn only_who_asks_has_an_account() {
    let bench = Bench::new();
    let plain = bench.scheduler.spawn(Priority::Normal, yield_now());
    let named = bench.scheduler.task(yield_now()).name("named").spawn();
    bench.slices(2);
    assert_eq!(plain.stats(), None);
    assert_eq!(named.stats(), None);

    let bench = Bench::with(|builder| builder.task_stats(true));
    let plain = bench.scheduler.spawn(Priority::Normal, yield_now());
    let spawned_inside = bench.scheduler.spawn(Priority::Normal, async {
        colibri_core::spawn(Priority::Idle, async { yield_now().await }).await
    });
    bench.slices(2);
    assert_eq!(plain.stats().map(|stats| (stats.polls, stats.yields)), Some((2, 1)));
    assert_eq!(spawned_inside.stats().map(|stats| (stats.polls, stats.yields)), Some((2, 0)));
}

#[test]
fn an_account_outlives_its_task_until_the_output_is_taken() {
    let bench = Bench::new();
    let mut finished = bench.scheduler.task(bench.work("work", 1, 2 * MS)).with_stats().name("job").spawn();
    let cancelled = bench.scheduler.task(std::future::pending::<()>()).with_stats().spawn();
    bench.slices(2);
    cancelled.cancel();
    assert_eq!(finished.state(), TaskState::Finished);
    assert_eq!(finished.name(), None); // the name goes with the task, the account stays
    assert_eq!(finished.stats().unwrap().ran, 2 * MS);
    assert_eq!(cancelled.stats().unwrap().polls, 1);
    assert!(finished.try_take().is_some());
    assert_eq!(finished.stats(), None);

    // Who comes into the same place has no account of its predecessor.
    let successor = bench.scheduler.spawn(Priority::Normal, yield_now());
    assert_eq!(successor.id().to_string(), "0.1");
    bench.slices(2);
    assert_eq!(successor.stats(), None);
}

#[test]
fn a_snapshot_tells_what_each_task_used() {
    let bench = Bench::new();
    let busy = bench.scheduler.task(bench.work("busy", 100, MS)).with_stats().spawn();
    let plain = bench.scheduler.spawn(Priority::Idle, yield_now());
    bench.scheduler.run_slice();
    let used: Vec<_> = bench
        .scheduler
        .tasks()
        .into_iter()
        .map(|task| (task.id, task.stats.map(|stats| stats.ran)))
        .collect();
    assert_eq!(used, [(busy.id(), Some(8 * MS)), (plain.id(), None)]);
}

#[test]
fn its_time_is_its_own_also_where_others_are_timed_together() {
    // Short polls are timed sixteen at a time; not those of a task with an account.
    let bench = Bench::on(Lazy);
    let work = |step: Duration| {
        let clock = bench.clock.clone();
        async move {
            for _ in 0..50 {
                clock.advance(step);
                yield_now().await;
            }
        }
    };
    let counted = bench.scheduler.task(work(US)).with_stats().spawn();
    let others: Vec<_> = (0..3).map(|_| bench.scheduler.spawn(Priority::Normal, work(US / 4))).collect();
    bench.slices(2);
    assert_eq!(counted.stats().unwrap().ran, 50 * US);
    assert!(others.iter().all(|other| other.is_finished()));
}

#[test]
fn a_promoted_task_has_waited_from_when_it_became_ready() {
    let bench = Bench::with(|builder| builder.upgrade_after(20 * MS));
    let low = bench.scheduler.task(bench.say("low")).priority(Priority::Idle).with_stats().spawn();
    bench.start(Priority::Normal, bench.work("high", 100, MS));
    bench.slices(4);
    let waited = low.stats().unwrap().waited;
    assert!(low.is_finished() && waited >= 20 * MS && waited < 24 * MS, "{waited:?}");
}
