//! Without the feature `std`: one core, a clock and a hook of the firmware's, and wakes from interrupts.
//!
//! `cargo test -p colibri-core --no-default-features --features macros --test no_std`

#![cfg(not(feature = "std"))]

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use colibri_core::{
    Activity, Budget, Builder, Clock, Instant, Latest, ManualClock, Observer, Priority, Scheduler,
    SpawnError, Step, TaskError, TaskEvent, TaskScope, TaskState, YieldReason, checkpoint, cooperative,
    with_budget, yield_now,
};

const MS: Duration = Duration::from_millis(1);

/// There is one core, so that one test has it at a time.
fn alone() -> MutexGuard<'static, ()> {
    static CORE: Mutex<()> = Mutex::new(());
    CORE.lock().unwrap_or_else(|failed| failed.into_inner())
}

/// A timer's counter, as firmware has it: read seldom, not at each check.
#[derive(Clone, Default)]
struct Counter(Rc<Cell<u64>>);

impl Counter {
    fn tick(&self, nanos: u64) {
        self.0.set(self.0.get() + nanos);
    }
}

impl Clock for Counter {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.0.get())
    }
}

#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn say(&self, what: impl Into<String>) {
        self.0.borrow_mut().push(what.into());
    }

    fn take(&self) -> String {
        self.0.take().join(" ")
    }
}

/// Waits for an interrupt, which finds the waker in `place`.
async fn interrupt(place: Rc<RefCell<Option<Waker>>>) {
    let mut waited = false;
    poll_fn(move |context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        *place.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    })
    .await;
}

/// Says its name in each of `turns`, and gives way after it.
fn says(log: &Log, name: &'static str, turns: u32) -> impl Future<Output = &'static str> + use<> {
    let log = log.clone();
    async move {
        for _ in 0..turns {
            log.say(name);
            yield_now().await;
        }
        name
    }
}

/// Says so when it is dropped.
struct Farewell(Log, &'static str);

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.say(format!("-{}", self.1));
    }
}

#[test]
fn tasks_run_by_class_and_in_turn() {
    let _core = alone();
    let scheduler = Builder::with_clock(Counter::default()).build();
    let log = Log::default();
    let work = |name| says(&log, name, 2);
    let idle = scheduler.spawn(Priority::Idle, work("idle"));
    let a = scheduler.spawn(Priority::Normal, work("a"));
    let b = scheduler.spawn(Priority::Normal, work("b"));
    let joined = {
        let log = log.clone();
        scheduler.spawn(Priority::Idle, async move {
            log.say(format!("joined {}", a.await.unwrap()));
        })
    };
    drop(b);
    let report = scheduler.run_slice();
    assert_eq!(log.take(), "a b a b idle joined a idle");
    assert_eq!((report.finished, report.work_left), (4, false));
    assert!(idle.is_finished() && joined.is_finished());
}

#[test]
fn an_interrupt_wakes_a_task_and_asks_the_host_once() {
    let _core = alone();
    let asked = Arc::new(AtomicUsize::new(0));
    let asks = asked.clone();
    let scheduler = Builder::with_clock(Counter::default())
        .on_ready(move || {
            asks.fetch_add(1, Ordering::Relaxed);
        })
        .build();
    let (place, log) = (Rc::default(), Log::default());
    let task = scheduler.spawn(Priority::Normal, {
        let (place, log) = (Rc::clone(&place), log.clone());
        async move {
            interrupt(place).await;
            log.say("woken");
        }
    });
    assert_eq!(asked.load(Ordering::Relaxed), 1); // a new task is work, too
    scheduler.run_slice();
    let waker = place.take().unwrap();
    waker.wake_by_ref();
    waker.wake_by_ref();
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    assert_eq!(log.take(), "");
    scheduler.run_slice();
    assert_eq!(log.take(), "woken");
    assert!(task.is_finished());
    waker.wake(); // stale, and harmless
    assert!(!scheduler.run_slice().work_left);
}

#[test]
fn timers_come_in_order_and_never_early() {
    let _core = alone();
    let clock = Counter::default();
    let scheduler = Builder::with_clock(clock.clone()).build();
    let log = Log::default();
    for (name, time) in [("late", 3 * MS), ("early", MS), ("later", 3 * MS)] {
        let (sleep, log) = (scheduler.sleep(time), log.clone());
        drop(scheduler.spawn(Priority::Normal, async move {
            sleep.await;
            log.say(name);
        }));
    }
    let report = scheduler.run_slice();
    assert_eq!(report.next_timer, Some(Instant::ZERO + MS));
    clock.tick(999_999);
    scheduler.run_slice();
    assert_eq!(log.take(), "");
    clock.tick(1);
    scheduler.run_slice();
    assert_eq!(log.take(), "early");
    clock.tick(2_000_000);
    scheduler.run_slice();
    assert_eq!(log.take(), "late later");
}

#[cooperative]
fn sum(limit: u64, each: impl Fn(u64)) -> u64 {
    let mut sum = 0;
    for n in 0..limit {
        each(n);
        sum += n;
    }
    sum
}

#[test]
fn a_long_loop_lets_what_an_interrupt_woke_go_first() {
    let _core = alone();
    let clock = Counter::default();
    let scheduler = Builder::with_clock(clock.clone()).build();
    let (place, log) = (Rc::<RefCell<Option<Waker>>>::default(), Log::default());
    drop(scheduler.spawn(Priority::Immediate, {
        let (place, log) = (Rc::clone(&place), log.clone());
        async move {
            interrupt(place).await;
            log.say("pressed");
        }
    }));
    let long = sum(10_000, {
        let (clock, log) = (clock.clone(), log.clone());
        move |n| {
            clock.tick(100);
            if n == 5_000 {
                log.say("interrupt");
                place.take().unwrap().wake();
            }
        }
    });
    let end = log.clone();
    drop(scheduler.spawn(Priority::Idle, async move { end.say(format!("sum {}", long.await)) }));
    scheduler.run_slice();
    assert_eq!(log.take(), "interrupt pressed sum 49995000");
}

#[test]
fn polls_are_as_long_as_a_look_is_apart() {
    let _core = alone();
    let clock = Counter::default();
    let scheduler = Builder::with_clock(clock.clone()).slice(1000 * MS).build();
    let ticks = clock.clone();
    let task = scheduler.spawn(Priority::Normal, sum(1_000_000, move |_| ticks.tick(50)));
    let report = scheduler.run_slice();
    // 50 ms of work, a look every 20 µs; at first they come more often.
    assert!((2_500..2_600).contains(&report.tasks_run), "{}", report.tasks_run);
    assert!(task.is_finished());
}

/// Writes down why tasks gave way.
struct Reasons(Log);

impl Observer for Reasons {
    fn yielded(&self, task: &TaskEvent, reason: YieldReason) {
        self.0.say(format!("{}:{reason:?}", task.id));
    }
}

#[test]
fn equals_take_turns_by_quantum_and_a_slice_ends() {
    let _core = alone();
    let (clock, log) = (ManualClock::new(), Log::default());
    let scheduler = Builder::with_clock(clock.clone()).observer(Reasons(log.clone())).build();
    for _ in 0..2 {
        let clock = clock.clone();
        drop(scheduler.spawn(Priority::Normal, sum(100, move |_| clock.advance(MS))));
    }
    let report = scheduler.run_slice();
    // A quantum is 2 ms, a slice 8. This clock is looked at in each check, the first one before any work is done.
    assert_eq!(
        log.take(),
        "0:Look 0:Look 0:Quantum 1:Look 1:Look 1:Quantum 0:Look 0:Quantum 1:Look 1:Quantum"
    );
    assert_eq!((report.used, report.overrun), (8 * MS, Duration::ZERO));
}

#[test]
fn what_a_handle_does() {
    let _core = alone();
    let scheduler = Builder::with_clock(Counter::default()).build();
    let log = Log::default();
    let work = |name: &'static str| {
        let log = log.clone();
        async move {
            yield_now().await;
            log.say(name);
        }
    };
    let paused = scheduler.spawn(Priority::Normal, work("paused"));
    let cancelled = scheduler.spawn(Priority::Normal, work("cancelled"));
    paused.pause();
    cancelled.cancel();
    scheduler.run_slice();
    assert_eq!((log.take().as_str(), paused.state()), ("", TaskState::Paused));
    assert!(cancelled.is_finished());
    paused.resume();
    scheduler.run_slice();
    assert_eq!(log.take(), "paused");
    scheduler.shutdown();
    assert!(scheduler.try_spawn(Priority::Normal, async {}).is_err());
}

#[test]
fn what_a_builder_sets() {
    let _core = alone();
    let clock = Counter::default();
    let scheduler = Builder::with_clock(clock.clone()).build();
    let log = Log::default();
    let plain = scheduler.task(says(&log, "plain", 1)).name("plain").spawn();
    drop(scheduler.task(says(&log, "late", 1)).deadline(5 * MS).spawn());
    drop(scheduler.task(says(&log, "soon", 1)).deadline(2 * MS).spawn());
    drop(scheduler.task(says(&log, "idle", 1)).priority(Priority::Idle).spawn());
    drop(scheduler.task(says(&log, "delayed", 1)).after(3 * MS).spawn());
    let forever = Farewell(log.clone(), "forever");
    let mut forever = scheduler
        .task(async move {
            let _forever = forever;
            std::future::pending::<()>().await;
        })
        .timeout(4 * MS)
        .spawn();
    assert_eq!(plain.name().as_deref(), Some("plain"));
    let states: Vec<_> = scheduler.tasks().into_iter().map(|task| (task.name, task.state)).collect();
    assert_eq!((states.len(), &states[0]), (6, &(Some("plain".into()), TaskState::Ready)));
    scheduler.run_slice();
    assert_eq!(log.take(), "soon late plain idle");
    clock.tick(3_000_000);
    scheduler.run_slice();
    assert_eq!(log.take(), "delayed");
    clock.tick(1_000_000);
    scheduler.run_slice();
    assert_eq!(log.take(), "-forever");
    assert!(matches!(forever.try_take(), Some(Err(TaskError::TimedOut))));
    let stats = scheduler.stats();
    assert_eq!((stats.spawned, stats.ended, scheduler.live_tasks()), (6, 6, 0));
}

#[test]
fn weights_share_the_thread() {
    let _core = alone();
    let (clock, log) = (ManualClock::new(), Log::default());
    let scheduler = Builder::with_clock(clock.clone()).slice(60 * MS).build();
    for (name, weight) in [("heavy", 2), ("light", 1)] {
        let (clock, log) = (clock.clone(), log.clone());
        let work = async move {
            loop {
                log.say(name);
                clock.advance(MS);
                checkpoint().await;
            }
        };
        drop(scheduler.task(work).weight(weight).spawn());
    }
    scheduler.run_slice();
    let said = log.take();
    let times = |name: &str| said.split(' ').filter(|said| *said == name).count();
    assert_eq!((times("heavy"), times("light")), (40, 20));
}

#[test]
fn plain_callbacks_steps_and_batches() {
    let _core = alone();
    let scheduler = Builder::with_clock(Counter::default()).build();
    let log = Log::default();
    let mut answer = scheduler.spawn_fn(Priority::Normal, || 42);
    let mut steps = 0;
    let mut counted = scheduler.spawn_steps(Priority::Normal, move || {
        steps += 1;
        if steps < 3 { Step::More } else { Step::Done(steps) }
    });
    let batch = scheduler.spawn_all(Priority::Idle, ["a", "b"].map(|name| says(&log, name, 2)));
    scheduler.run_slice();
    assert!(matches!((answer.try_take(), counted.try_take()), (Some(Ok(42)), Some(Ok(3)))));
    assert_eq!(log.take(), "a b a b");
    assert!(batch.iter().all(|task| task.is_finished()));
}

#[test]
fn the_latest_submission_runs_once_it_is_quiet() {
    let _core = alone();
    let clock = Counter::default();
    let scheduler = Builder::with_clock(clock.clone()).build();
    let log = Log::default();
    let latest = Latest::new(&scheduler, Priority::Normal);
    for text in ["c", "co", "col"] {
        let log = log.clone();
        latest.submit_after(2 * MS, async move { log.say(text) });
        clock.tick(1_000_000);
        scheduler.run_slice();
    }
    assert_eq!((log.take().as_str(), latest.is_pending(), latest.cancelled()), ("", true, 2));
    clock.tick(1_000_000);
    scheduler.run_slice();
    assert_eq!((log.take().as_str(), latest.is_pending()), ("col", false));
}

#[test]
fn a_scope_and_a_handle_take_their_tasks_along() {
    let _core = alone();
    let scheduler = Builder::with_clock(Counter::default()).build();
    let log = Log::default();
    let waits = |name| {
        let farewell = Farewell(log.clone(), name);
        async move {
            let _farewell = farewell;
            std::future::pending::<()>().await;
        }
    };
    let scope = TaskScope::new(&scheduler);
    drop(scope.spawn(Priority::Normal, waits("a")));
    drop(scope.spawn(Priority::Normal, waits("b")));
    let owned = scheduler.spawn(Priority::Normal, waits("owned")).cancel_on_drop();
    scheduler.run_slice();
    assert_eq!((scope.live_tasks(), log.take().as_str()), (2, ""));
    drop(scope);
    assert_eq!(log.take(), "-b -a");
    drop(owned);
    assert_eq!((log.take().as_str(), scheduler.live_tasks()), ("-owned", 0));
}

#[test]
fn a_task_changes_its_class_and_a_waited_for_one_is_lifted() {
    let _core = alone();
    let scheduler = Builder::with_clock(Counter::default()).build();
    let log = Log::default();
    let moved = scheduler.spawn(Priority::Idle, says(&log, "moved", 1));
    drop(scheduler.spawn(Priority::Normal, says(&log, "normal", 1)));
    moved.set_priority(Priority::Immediate);
    assert_eq!(moved.priority(), Some(Priority::Immediate));
    scheduler.run_slice();
    assert_eq!(log.take(), "moved normal");
    let lifted = scheduler.spawn(Priority::Idle, says(&log, "lifted", 2));
    let waits = {
        let log = log.clone();
        scheduler.spawn(Priority::Immediate, async move {
            lifted.await.unwrap();
            log.say("waited");
        })
    };
    drop(scheduler.spawn(Priority::Normal, says(&log, "normal", 2)));
    scheduler.run_slice();
    assert_eq!(log.take(), "lifted lifted waited normal normal");
    assert!(waits.is_finished());
}

#[test]
fn who_waits_long_is_promoted() {
    let _core = alone();
    let (clock, log) = (ManualClock::new(), Log::default());
    let scheduler = Builder::with_clock(clock.clone()).upgrade_after(10 * MS).slice(30 * MS).build();
    let hog = clock.clone();
    drop(scheduler.spawn(Priority::Immediate, async move {
        loop {
            hog.advance(MS);
            checkpoint().await;
        }
    }));
    let starved = log.clone();
    drop(scheduler.spawn(Priority::Idle, async move { starved.say(format!("{:?}", clock.now())) }));
    scheduler.run_slice();
    // A class higher at 10 ms and at 20, and run when the running task's quantum is over.
    assert_eq!(log.take(), "22ms");
}

#[test]
fn a_full_scheduler_and_one_that_is_shut_down_refuse() {
    let _core = alone();
    let scheduler = Builder::with_clock(Counter::default()).max_tasks(2).build();
    let log = Log::default();
    let first = scheduler.spawn(Priority::Normal, says(&log, "first", 1));
    drop(scheduler.spawn(Priority::Normal, std::future::pending::<()>()));
    let refused = scheduler.try_spawn(Priority::Normal, async {});
    assert!(matches!(refused, Err(SpawnError::Full)));
    scheduler.run_slice();
    assert!(first.is_finished());
    assert!(scheduler.try_spawn(Priority::Normal, async {}).is_ok());
    scheduler.shutdown();
    assert!(matches!(scheduler.try_spawn(Priority::Normal, async {}), Err(SpawnError::ShutDown)));
    assert_eq!((scheduler.live_tasks(), scheduler.is_shut_down()), (0, true));
}

#[test]
fn slices_follow_what_the_host_does_and_end_on_request() {
    let _core = alone();
    let clock = ManualClock::new();
    let scheduler = Builder::with_clock(clock.clone()).build();
    let ticks = clock.clone();
    drop(scheduler.spawn(Priority::Normal, async move {
        loop {
            ticks.advance(MS);
            checkpoint().await;
        }
    }));
    let mut used = |activity| {
        scheduler.set_activity(activity);
        scheduler.run_slice().used
    };
    use Activity::{Background, Foreground, Interacting, LowPower};
    assert_eq!(
        [Interacting, Foreground, Background, LowPower].map(&mut used),
        [4, 8, 50, 16].map(|ms| ms * MS)
    );
    assert_eq!(scheduler.run_for(3 * MS).used, 3 * MS);
    scheduler.request_yield();
    let report = scheduler.run_slice();
    assert_eq!((report.used, report.work_left), (Duration::ZERO, true));
}

/// Polls to the end and counts the polls, as some other executor would.
fn polls(future: impl Future, around: impl Fn(&mut dyn FnMut() -> bool) -> bool) -> u32 {
    let mut future = pin!(future);
    let mut polls = 0;
    loop {
        polls += 1;
        let mut poll = || {
            let future: Pin<&mut _> = future.as_mut();
            future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
        };
        if around(&mut poll) {
            return polls;
        }
    }
}

#[test]
fn other_executors_get_their_turn_after_so_many_checks() {
    let _core = alone();
    assert_eq!(polls(sum(500, |_| ()), |poll| poll()), 1);
    // 1024 checks a poll; the one at which it stopped counts for the next poll as well.
    let long = polls(sum(10_000, |_| ()), |poll| poll());
    assert!((9..=11).contains(&long), "{long}");
    let by_hand = polls(
        async {
            for _ in 0..10_000 {
                checkpoint().await;
            }
        },
        |poll| poll(),
    );
    assert!((9..=11).contains(&by_hand), "{by_hand}");
}

#[test]
fn budgets_of_checks_are_exact() {
    let _core = alone();
    // Four checks pass and the fifth gives way; then that one and four more; then the rest.
    assert_eq!(polls(sum(10, |_| ()), |poll| with_budget(Budget::checks(4), poll)), 3);
    // The loop checks as often as it asks its iterator, which is once more than it has items.
    let scheduler: Scheduler = Builder::with_clock(Counter::default()).always_yield(true).build();
    let task = scheduler.spawn(Priority::Normal, sum(10, |_| ()));
    assert_eq!(scheduler.run_slice().tasks_run, 12);
    assert!(task.is_finished());
}
