//! Re-entrance: every public call inside every callback. Nothing panics but for the documented errors, nothing locks
//! up, and the scheduler works on.

mod support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use colibri_core::{
    Activity, Budget, Clock, Instant, IteratorExt, Latest, ManualClock, Observer, Priority, Scheduler,
    SliceReport, Step, Task, TaskEvent, TaskScope, YieldReason, checkpoint, current, interval, set_progress,
    should_yield, sleep, sleep_until, spawn, timeout, uninterrupted, with_budget, yield_now,
};

use self::support::{Boxed, MS, OnDrop, panic_of, poll, poll_with, quiet_panic};

const HOUR: Duration = Duration::from_secs(3600);

/// What a callback finds: a scheduler with tasks in every state.
struct World {
    scheduler: RefCell<Option<Scheduler>>,
    clock: ManualClock,
    tasks: [RefCell<Option<Task<()>>>; 6],
    latest: RefCell<Option<Latest>>,
    scope: RefCell<Option<TaskScope>>,
    /// The call that the next callback makes, once.
    armed: Cell<Option<Make>>,
    /// The observer's method that makes it.
    observed: Cell<&'static str>,
    in_turn: Cell<bool>,
    /// Whether it was made in a turn of the scheduler, and what its panic said.
    outcome: RefCell<Option<(bool, Option<String>)>>,
}

type Make = fn(&World);

/// The places of `World::tasks`.
const OWN: usize = 0;
const STATES: [&str; 6] = ["its own", "a ready", "an idle", "a delayed", "a paused", "a finished"];

colibri_core::task_local! { static LOCAL: u32; }

thread_local! {
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// The callback: makes the call, if it has not been made.
fn here() {
    let Ok(Some(world)) = WORLD.try_with(|world| world.borrow().clone()) else { return };
    if let Some(make) = world.armed.take() {
        let panic = panic_of(|| make(&world));
        world.outcome.replace(Some((world.in_turn.get(), panic)));
    }
}

/// Calls when dropped; as a waker, when woken.
struct Here;

impl Drop for Here {
    fn drop(&mut self) {
        here();
    }
}

struct CallsWhenWoken;

impl Wake for CallsWhenWoken {
    fn wake(self: Arc<Self>) {
        here();
    }
}

#[allow(dead_code)]
struct CallsWhenDropped(Here);

impl Wake for CallsWhenDropped {
    fn wake(self: Arc<Self>) {}
}

struct Told(#[expect(dead_code)] Rc<()>);

impl Told {
    fn tell(&self, method: &str) {
        let observed = WORLD.with(|world| world.borrow().as_ref().map(|world| world.observed.get()));
        if observed == Some(method) {
            here();
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.tell("its drop");
    }
}

impl Observer for Told {
    fn spawned(&self, _: &TaskEvent) {
        self.tell("spawned");
    }
    fn woken(&self, _: &TaskEvent) {
        self.tell("woken");
    }
    fn started(&self, _: &TaskEvent) {
        self.tell("started");
    }
    fn yielded(&self, _: &TaskEvent, _: YieldReason) {
        self.tell("yielded");
    }
    fn suspended(&self, _: &TaskEvent) {
        self.tell("suspended");
    }
    fn promoted(&self, _: &TaskEvent) {
        self.tell("promoted");
    }
    fn paused(&self, _: &TaskEvent) {
        self.tell("paused");
    }
    fn resumed(&self, _: &TaskEvent) {
        self.tell("resumed");
    }
    fn reprioritised(&self, _: &TaskEvent) {
        self.tell("reprioritised");
    }
    fn cancelled(&self, _: &TaskEvent) {
        self.tell("cancelled");
    }
    fn finished(&self, _: &TaskEvent) {
        self.tell("finished");
    }
    fn panicked(&self, _: &TaskEvent) {
        self.tell("panicked");
    }
    fn slice_started(&self, _: Instant) {
        self.tell("slice_started");
    }
    fn overran(&self, _: &SliceReport, _: Instant) {
        self.tell("overran");
    }
    fn slice_ended(&self, _: &SliceReport, _: Instant) {
        self.tell("slice_ended");
    }
}

/// A clock that calls when it is read.
struct Calls(ManualClock);

impl Clock for Calls {
    fn now(&self) -> Instant {
        let observed = WORLD.with(|world| world.borrow().as_ref().map(|world| world.observed.get()));
        if observed == Some("the clock") {
            here();
        }
        self.0.now()
    }

    fn every_check(&self) -> bool {
        true
    }
}

impl World {
    fn scheduler(&self) -> Scheduler {
        self.scheduler.borrow().clone().expect("it is there in the driver")
    }

    /// Makes a call on the scheduler, if it is still there.
    fn on(&self, call: impl FnOnce(&Scheduler)) {
        let scheduler = self.scheduler.borrow().clone();
        if let Some(scheduler) = scheduler {
            call(&scheduler);
        }
    }

    /// Makes a call on each task, whatever it does.
    fn each(&self, call: impl Fn(&mut Task<()>)) {
        for task in &self.tasks {
            if let Some(task) = &mut *task.borrow_mut() {
                call(task);
            }
        }
    }

    /// The scheduler has a turn.
    fn turn(&self) {
        let scheduler = self.scheduler.borrow().clone();
        if let Some(scheduler) = scheduler {
            self.in_turn.set(true);
            scheduler.run_slice();
            self.in_turn.set(false);
        }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.in_turn.set(true);
        let output = self.scheduler().block_on(future);
        self.in_turn.set(false);
        output
    }
}

/// Which calls are errors, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Allowed {
    Anywhere,
    /// A scheduler must not be run inside of its own turn.
    NotInATurn,
    /// There must be a scheduler at work on this thread.
    InATurn,
}
use Allowed::{Anywhere, InATurn, NotInATurn};

macro_rules! each_state {
    ($calls:ident, $what:literal, |$task:ident| $call:expr) => {{
        fn on<const STATE: usize>(world: &World) {
            // Out of its place, so that what the call runs may reach all others.
            let task = world.tasks[STATE].borrow_mut().take();
            if let Some(mut task) = task {
                {
                    let $task: &mut Task<()> = &mut task;
                    let _done = $call;
                }
                let before = world.tasks[STATE].borrow_mut().replace(task);
                drop(before);
            }
        }
        let each: [Make; 6] = [on::<0>, on::<1>, on::<2>, on::<3>, on::<4>, on::<5>];
        for (state, make) in each.into_iter().enumerate() {
            $calls.push((format!("{} of {} task", $what, STATES[state]), Anywhere, make));
        }
    }};
}

/// All public calls, by name.
fn calls() -> Vec<(String, Allowed, Make)> {
    let mut calls: Vec<(String, Allowed, Make)> = Vec::new();
    each_state!(calls, "cancel", |task| task.cancel());
    each_state!(calls, "an abort", |task| task.abort_handle().abort());
    each_state!(calls, "an abort handle's id", |task| assert_eq!(task.abort_handle().id(), task.id()));
    each_state!(calls, "pause", |task| task.pause());
    each_state!(calls, "resume", |task| task.resume());
    each_state!(calls, "set_priority(Immediate)", |task| task.set_priority(Priority::Immediate));
    each_state!(calls, "set_priority(Idle)", |task| task.set_priority(Priority::Idle));
    each_state!(calls, "try_take", |task| task.try_take());
    each_state!(calls, "a poll of the handle", |task| poll(task));
    each_state!(calls, "pause, resume, pause, cancel", |task| {
        task.pause();
        task.resume();
        task.pause();
        task.cancel();
    });
    each_state!(calls, "all getters", |task| {
        let name = (task.name(), task.priority(), task.progress(), task.stats(), format!("{task:?}"));
        (task.id(), task.state(), task.is_finished(), name)
    });
    fn drops<const STATE: usize>(world: &World) {
        let task = world.tasks[STATE].borrow_mut().take();
        drop(task);
    }
    fn cancels_on_drop<const STATE: usize>(world: &World) {
        let task = world.tasks[STATE].borrow_mut().take();
        drop(task.map(Task::cancel_on_drop));
    }
    let drops: [Make; 6] = [drops::<0>, drops::<1>, drops::<2>, drops::<3>, drops::<4>, drops::<5>];
    let cancelling: [Make; 6] = [
        cancels_on_drop::<0>,
        cancels_on_drop::<1>,
        cancels_on_drop::<2>,
        cancels_on_drop::<3>,
        cancels_on_drop::<4>,
        cancels_on_drop::<5>,
    ];
    for (state, (drops, cancels)) in drops.into_iter().zip(cancelling).enumerate() {
        calls.push((format!("drop of the handle of {} task", STATES[state]), Anywhere, drops));
        calls.push((format!("cancel_on_drop of {} task", STATES[state]), Anywhere, cancels));
    }
    let others: [(&str, Allowed, Make); 57] = [
        ("spawn", Anywhere, |w| w.on(|s| drop(s.spawn(Priority::Immediate, async { yield_now().await })))),
        ("spawn_fn", Anywhere, |w| w.on(|s| drop(s.spawn_fn(Priority::Normal, || 1)))),
        ("spawn_steps", Anywhere, |w| w.on(|s| drop(s.spawn_steps(Priority::Idle, || Step::Done(1))))),
        ("spawn_all", Anywhere, |w| {
            w.on(|s| drop(s.spawn_all(Priority::Normal, (0..3).map(|_| yield_now()))))
        }),
        ("a builder's spawn", Anywhere, |w| {
            w.on(|s| {
                let task = s.task(async {}).name("n").priority(Priority::Idle).weight(3).deadline(MS);
                drop(task.after(MS).timeout(HOUR).spawn());
            });
        }),
        ("a builder's try_spawn", Anywhere, |w| {
            w.on(|s| drop(s.task(yield_now()).name("n").after(MS).timeout(HOUR).try_spawn()));
        }),
        ("try_spawn", Anywhere, |w| w.on(|s| drop(s.try_spawn(Priority::Idle, yield_now())))),
        ("a builder's spawn with an account", Anywhere, |w| {
            w.on(|s| {
                let task = s.task(yield_now()).with_stats().spawn();
                assert!(task.stats().is_some() || task.is_finished());
            });
        }),
        ("spawn and cancel", Anywhere, |w| w.on(|s| s.spawn(Priority::Normal, async {}).cancel())),
        ("Spawner::spawn", Anywhere, |w| {
            w.on(|s| {
                let spawner = s.spawner().clone();
                _ = spawner.spawn(Priority::Normal, async {});
            });
        }),
        ("Spawner::request_yield", Anywhere, |w| w.on(|s| s.spawner().request_yield())),
        ("clone and drop of the scheduler", Anywhere, |w| w.on(|s| drop(s.clone()))),
        ("drop of the scheduler", Anywhere, |w| {
            let scheduler = w.scheduler.borrow_mut().take();
            drop(scheduler);
        }),
        ("shutdown", Anywhere, |w| w.on(Scheduler::shutdown)),
        ("is_shut_down", Anywhere, |w| w.on(|s| _ = s.is_shut_down())),
        ("stats", Anywhere, |w| w.on(|s| drop(format!("{:?}", s.stats())))),
        ("tasks", Anywhere, |w| w.on(|s| drop(s.tasks()))),
        ("counts", Anywhere, |w| {
            w.on(|s| assert!(s.live_tasks() < 99 && s.pending_timers() < 99 && !format!("{s:?}").is_empty()));
        }),
        ("now", Anywhere, |w| w.on(|s| assert!(s.now() <= w.clock.now()))),
        ("on_ready", Anywhere, |w| w.on(|s| s.on_ready(|| ()))),
        ("set_activity", Anywhere, |w| w.on(|s| s.set_activity(Activity::Background))),
        ("request_yield", Anywhere, |w| w.on(Scheduler::request_yield)),
        ("ManualClock::advance", Anywhere, |w| w.clock.advance(20 * MS)),
        ("ManualClock::step_back", Anywhere, |w| w.clock.step_back(2 * MS)),
        ("run_slice", NotInATurn, |w| w.on(|s| drop(format!("{:?}", s.run_slice())))),
        ("run_for", NotInATurn, |w| w.on(|s| drop(format!("{:?}", s.run_for(MS))))),
        ("block_on", NotInATurn, |w| w.on(|s| s.block_on(yield_now()))),
        ("shutdown, run", NotInATurn, |w| {
            w.on(|s| {
                s.shutdown();
                s.run();
            });
        }),
        ("another scheduler's block_on", Anywhere, |_| {
            let other = support::builder().build();
            drop(other.spawn(Priority::Idle, async {}));
            other.block_on(yield_now());
        }),
        ("another scheduler's run", Anywhere, |_| {
            let other = support::builder().always_yield(true).build();
            drop(other.spawn(Priority::Idle, checkpoint()));
            other.run();
        }),
        ("the free spawn", InATurn, |_| drop(spawn(Priority::Normal, async {}))),
        ("current", Anywhere, |_| drop(current())),
        ("set_progress", Anywhere, |_| set_progress(1, 2)),
        ("should_yield", Anywhere, |_| _ = should_yield()),
        ("with_budget", Anywhere, |_| with_budget(Budget::time(MS).and_checks(3), || _ = should_yield())),
        ("a poll of checkpoint", Anywhere, |_| {
            assert!(matches!(poll(&mut checkpoint()), Poll::Ready(()) | Poll::Pending))
        }),
        ("a poll of yield_now", Anywhere, |_| assert!(poll(&mut yield_now()).is_pending())),
        ("a poll of an uninterrupted section", Anywhere, |_| {
            assert!(poll(&mut Box::pin(uninterrupted(yield_now()))).is_pending())
        }),
        ("a poll of sleep", InATurn, |_| assert!(poll(&mut sleep(MS)).is_pending())),
        ("a poll of timeout", InATurn, |_| drop(poll(&mut Box::pin(timeout(MS, yield_now()))))),
        ("a poll of a tick", InATurn, |_| {
            let mut interval = interval(MS);
            let tick = poll(&mut Box::pin(interval.tick()));
            assert!(tick.is_ready());
        }),
        ("a poll of Scheduler::sleep", Anywhere, |w| w.on(|s| assert!(poll(&mut s.sleep(MS)).is_pending()))),
        ("a poll of Scheduler::sleep_until", Anywhere, |w| {
            w.on(|s| {
                assert!(poll(&mut s.sleep_until(s.now() + MS)).is_pending());
                assert!(poll(&mut s.sleep_until(Instant::ZERO)).is_ready());
            });
        }),
        ("a poll of sleep_until", InATurn, |_| assert!(poll(&mut sleep_until(Instant::ZERO)).is_ready())),
        ("a poll of a cooperative iterator", Anywhere, |_| {
            _ = poll(&mut Box::pin((0..9_u32).cooperative().sum::<u32>()));
        }),
        ("a poll in a task-local's scope", Anywhere, |_| {
            let scope = LOCAL.scope(7, async { LOCAL.with(|value| *value) });
            assert!(matches!(poll(&mut Box::pin(scope)), Poll::Ready(7)));
        }),
        ("a read of a task-local", Anywhere, |_| assert!(LOCAL.try_with(|_| ()).is_none())),
        ("a sleep that is not polled", Anywhere, |_| drop(sleep(MS))),
        ("Latest::new, submit, drop", Anywhere, |w| {
            w.on(|s| {
                let latest = Latest::new(s, Priority::Normal);
                latest.submit(async {});
                latest.submit_after(MS, async {});
            });
        }),
        ("Latest::submit", Anywhere, |w| {
            let latest = w.latest.borrow_mut().take();
            if let Some(latest) = latest {
                latest.submit(async {});
                w.latest.replace(Some(latest));
            }
        }),
        ("Latest::cancel", Anywhere, |w| {
            let latest = w.latest.borrow_mut().take();
            if let Some(latest) = latest {
                latest.cancel();
                assert!(!latest.is_pending() && latest.cancelled() < 9);
            }
        }),
        ("drop of a Latest", Anywhere, |w| {
            let latest = w.latest.borrow_mut().take();
            drop(latest);
        }),
        ("TaskScope::spawn", Anywhere, |w| {
            if let Some(scope) = &*w.scope.borrow() {
                drop(scope.spawn(Priority::Normal, async {}));
                assert!(scope.live_tasks() < 99);
            }
        }),
        ("TaskScope::cancel", Anywhere, |w| {
            let scope = w.scope.borrow_mut().take();
            if let Some(scope) = scope {
                scope.cancel();
            }
        }),
        ("a new scope and its drop", Anywhere, |w| {
            w.on(|s| {
                let scope = TaskScope::new(s);
                drop(scope.spawn(Priority::Normal, std::future::pending::<()>()));
            });
        }),
        ("every task's cancel", Anywhere, |w| w.each(|task| task.cancel())),
        ("every task's pause and resume", Anywhere, |w| {
            w.each(|task| {
                task.pause();
                task.resume();
            });
        }),
    ];
    calls.extend(others.into_iter().map(|(name, allowed, make)| (name.to_owned(), allowed, make)));
    calls
}

/// How a callback comes to be called: it arms the world right before.
type Drive = fn(&World, &dyn Fn());

/// Puts `future` into the place of the task that the callback belongs to.
fn own(world: &World, future: impl Future<Output = ()> + 'static) {
    let task = world.scheduler().spawn(Priority::Immediate, future);
    world.tasks[OWN].replace(Some(task));
}

/// A future that ends when it is polled for the second time, and calls when it is dropped.
async fn calls_when_dropped() {
    let _here = Here;
    yield_now().await;
}

fn waits_and_calls_when_dropped() -> Boxed {
    Box::pin(async {
        let _here = Here;
        std::future::pending::<()>().await;
    })
}

/// All callbacks, by name.
fn places() -> Vec<(&'static str, Drive)> {
    let mut places: Vec<(&str, Drive)> = vec![
        ("a poll", |world, arm| {
            own(world, async {
                here();
                yield_now().await;
            });
            arm();
            world.turn();
        }),
        ("a poll of block_on's future", |world, arm| {
            arm();
            world.block_on(async { here() });
        }),
        ("a poll inside of a set", |world, arm| {
            own(world, async {
                let both = [Box::pin(async { here() }) as Boxed, Box::pin(yield_now())];
                futures::future::join_all(both).await;
            });
            arm();
            world.turn();
        }),
        ("a step", |world, arm| {
            let task = world.scheduler().spawn_steps(Priority::Immediate, || {
                here();
                Step::Done(())
            });
            world.tasks[OWN].replace(Some(task));
            arm();
            world.turn();
        }),
        ("a future's drop at its end", |world, arm| {
            own(world, calls_when_dropped());
            arm();
            world.turn();
        }),
        ("a future's drop by a cancel", |world, arm| {
            let scope = TaskScope::new(&world.scheduler());
            world.tasks[OWN].replace(Some(scope.spawn(Priority::Normal, waits_and_calls_when_dropped())));
            world.turn();
            arm();
            scope.cancel();
        }),
        ("a future's drop by a cancel before its first poll", |world, arm| {
            let scope = TaskScope::new(&world.scheduler());
            let here = Here;
            world.tasks[OWN].replace(Some(scope.spawn(Priority::Normal, async move { drop(here) })));
            arm();
            scope.cancel();
        }),
        ("a future's drop by a cancel in a task", |world, arm| {
            let scope = TaskScope::new(&world.scheduler());
            world.tasks[OWN].replace(Some(scope.spawn(Priority::Normal, waits_and_calls_when_dropped())));
            world.turn();
            drop(world.scheduler().spawn_fn(Priority::Normal, move || scope.cancel()));
            arm();
            world.turn();
        }),
        ("a future's drop by a panic", |world, arm| {
            let here = Here;
            own(world, async move {
                // Kept in the future, which is dropped after the panic.
                let _here = futures::future::maybe_done(async move { drop(here) });
                quiet_panic("a task");
            });
            arm();
            world.turn();
        }),
        ("a future's drop by its timeout", |world, arm| {
            let future = waits_and_calls_when_dropped();
            let task = world.scheduler().task(future).timeout(5 * MS).spawn();
            world.tasks[OWN].replace(Some(task));
            world.turn();
            world.clock.advance(5 * MS);
            arm();
            world.turn();
        }),
        ("a future's drop by its timeout, at another's check", |world, arm| {
            let future = waits_and_calls_when_dropped();
            let task = world.scheduler().task(future).timeout(5 * MS).spawn();
            world.tasks[OWN].replace(Some(task));
            world.turn();
            let clock = world.clock.clone();
            drop(world.scheduler().spawn(Priority::Immediate, async move {
                clock.advance(5 * MS);
                checkpoint().await;
            }));
            arm();
            world.turn();
        }),
        ("a future's drop at shutdown", |world, arm| {
            own(world, waits_and_calls_when_dropped());
            world.turn();
            arm();
            world.scheduler().shutdown();
        }),
        ("a future's drop with its scheduler", |world, arm| {
            own(world, waits_and_calls_when_dropped());
            world.turn();
            // `Latest` holds a handle, too.
            world.latest.take();
            let scheduler = world.scheduler.take();
            arm();
            drop(scheduler);
        }),
        ("a refused future's drop", |world, arm| {
            world.scheduler().shutdown();
            arm();
            let here = Here;
            drop(world.scheduler().spawn(Priority::Normal, async move { drop(here) }));
        }),
        ("a replaced future's drop", |world, arm| {
            let latest = Latest::new(&world.scheduler(), Priority::Normal);
            latest.submit(waits_and_calls_when_dropped());
            world.turn();
            arm();
            latest.submit(async {});
        }),
        ("an output's drop, detached", |world, arm| {
            drop(world.scheduler().spawn(Priority::Immediate, async { Here }));
            arm();
            world.turn();
        }),
        ("an output's drop, with its handle", |world, arm| {
            let task = world.scheduler().spawn(Priority::Immediate, async { Here });
            world.turn();
            arm();
            drop(task);
        }),
        ("an unwanted output's drop", |world, arm| {
            let (scope, cancels) =
                (TaskScope::new(&world.scheduler()), Rc::<RefCell<Option<TaskScope>>>::default());
            let own = cancels.clone();
            let _task = scope.spawn(Priority::Immediate, async move {
                own.borrow().as_ref().unwrap().cancel();
                Here
            });
            cancels.replace(Some(scope));
            arm();
            world.turn();
            cancels.take();
        }),
        ("a payload's drop, detached", |world, arm| {
            let panics = async { std::panic::resume_unwind(Box::new(Here)) };
            drop(world.scheduler().spawn::<Boxed>(Priority::Immediate, Box::pin(panics)));
            arm();
            world.turn();
        }),
        ("a payload's drop, with its handle", |world, arm| {
            let panics = async { std::panic::resume_unwind(Box::new(Here)) };
            let task = world.scheduler().spawn::<Boxed>(Priority::Immediate, Box::pin(panics));
            world.turn();
            arm();
            drop(task);
        }),
        ("the panic hook", |world, arm| {
            own(world, async { panic!("a task") });
            arm();
            world.turn();
        }),
        ("a joiner's wake at the end", |world, arm| {
            let mut task = world.scheduler().spawn(Priority::Immediate, async {});
            assert!(poll_with(&mut task, &Waker::from(Arc::new(CallsWhenWoken))).is_pending());
            world.tasks[OWN].replace(Some(task));
            arm();
            world.turn();
        }),
        ("a joiner's wake by a cancel", |world, arm| {
            let scope = TaskScope::new(&world.scheduler());
            let mut task = scope.spawn(Priority::Immediate, async {});
            assert!(poll_with(&mut task, &Waker::from(Arc::new(CallsWhenWoken))).is_pending());
            world.tasks[OWN].replace(Some(task));
            arm();
            scope.cancel();
        }),
        ("a joiner's wake at shutdown", |world, arm| {
            let mut task = world.scheduler().spawn(Priority::Immediate, async {});
            assert!(poll_with(&mut task, &Waker::from(Arc::new(CallsWhenWoken))).is_pending());
            world.tasks[OWN].replace(Some(task));
            arm();
            world.scheduler().shutdown();
        }),
        ("a joiner's drop with the handle", |world, arm| {
            let mut task = world.scheduler().spawn(Priority::Immediate, async {});
            assert!(poll_with(&mut task, &Waker::from(Arc::new(CallsWhenDropped(Here)))).is_pending());
            arm();
            drop(task);
        }),
        ("a joiner's drop by the next one", |world, arm| {
            let mut task = world.scheduler().spawn(Priority::Immediate, async {});
            assert!(poll_with(&mut task, &Waker::from(Arc::new(CallsWhenDropped(Here)))).is_pending());
            arm();
            assert!(poll(&mut task).is_pending());
            world.tasks[OWN].replace(Some(task));
        }),
        ("a timer's wake", |world, arm| {
            own(world, async {
                let mut sleep = sleep(5 * MS);
                assert!(poll_with(&mut sleep, &Waker::from(Arc::new(CallsWhenWoken))).is_pending());
                std::future::pending::<()>().await;
                drop(sleep);
            });
            world.turn();
            world.clock.advance(5 * MS);
            arm();
            world.turn();
        }),
        ("the drop of a timer's waker", |world, arm| {
            own(world, async {
                let mut sleep = sleep(5 * MS);
                assert!(poll_with(&mut sleep, &Waker::from(Arc::new(CallsWhenDropped(Here)))).is_pending());
                yield_now().await;
            });
            arm();
            world.turn();
        }),
        ("the drop of a replaced timer's waker", |world, arm| {
            own(world, async {
                let mut sleep = sleep(5 * MS);
                assert!(poll_with(&mut sleep, &Waker::from(Arc::new(CallsWhenDropped(Here)))).is_pending());
                assert!(poll(&mut sleep).is_pending());
            });
            arm();
            world.turn();
        }),
        ("the drop of a timer's waker at shutdown", |world, arm| {
            let outside = Rc::new(RefCell::new(None));
            let keeps = outside.clone();
            own(world, async move {
                let mut sleep = sleep(5 * MS);
                assert!(poll_with(&mut sleep, &Waker::from(Arc::new(CallsWhenDropped(Here)))).is_pending());
                keeps.replace(Some(sleep));
            });
            world.turn();
            arm();
            world.scheduler().shutdown();
            outside.take();
        }),
        ("the hook", |world, arm| {
            world.turn();
            world.scheduler().on_ready(here);
            world.turn();
            arm();
            drop(world.scheduler().spawn(Priority::Normal, async {}));
        }),
        ("the hook, at once", |world, arm| {
            world.turn();
            drop(world.scheduler().spawn(Priority::Normal, std::future::pending::<()>()));
            world.scheduler().run_for(Duration::ZERO);
            arm();
            world.scheduler().on_ready(here);
        }),
        ("the hook, by a wake", |world, arm| {
            let waker = Rc::new(RefCell::new(None));
            let keeps = waker.clone();
            own(
                world,
                futures::future::poll_fn(move |context| {
                    keeps.replace(Some(context.waker().clone()));
                    Poll::Pending
                }),
            );
            world.turn();
            world.scheduler().on_ready(here);
            world.turn();
            arm();
            let waker: Option<Waker> = waker.take();
            waker.unwrap().wake();
        }),
        ("the iterator of a batch", |world, arm| {
            arm();
            drop(world.scheduler().spawn_all(
                Priority::Normal,
                (0..3).map(|_| {
                    here();
                    yield_now()
                }),
            ));
        }),
        ("the slice's policy", |world, arm| {
            arm();
            world.scheduler().set_activity(Activity::Interacting);
        }),
        ("a message's drop, unread", |world, arm| {
            let (spawner, here) = (world.scheduler().spawner(), Here);
            spawner.spawn(Priority::Normal, async move { drop(here) }).unwrap();
            arm();
            world.scheduler().shutdown();
        }),
        ("a message's task", |world, arm| {
            let spawner = world.scheduler().spawner();
            spawner.spawn(Priority::Immediate, async { here() }).unwrap();
            arm();
            world.turn();
        }),
        ("a message's drop, sent too late", |world, arm| {
            let (spawner, here) = (world.scheduler().spawner(), Here);
            world.scheduler().shutdown();
            arm();
            assert!(spawner.spawn(Priority::Normal, async move { drop(here) }).is_err());
        }),
        ("a read of the clock in a turn", |world, arm| {
            arm();
            world.observed.set("the clock");
            world.turn();
        }),
        ("a read of the clock at a spawn", |world, arm| {
            arm();
            world.observed.set("the clock");
            drop(world.scheduler().spawn(Priority::Normal, async {}));
        }),
        ("a read of the clock at a pause", |world, arm| {
            let other = world.scheduler().spawn(Priority::Normal, async {});
            arm();
            world.observed.set("the clock");
            other.pause();
        }),
        ("a read of the clock at a cancel", |world, arm| {
            let other = world.scheduler().spawn(Priority::Normal, async {});
            arm();
            world.observed.set("the clock");
            other.cancel();
        }),
    ];
    macro_rules! observed {
        ($($method:literal)*) => {
            $(places.push((concat!("the observer: ", $method), |world, arm| observe(world, $method, arm)));)*
        };
    }
    observed! {
        "spawned" "woken" "started" "yielded" "suspended" "promoted" "paused" "resumed" "reprioritised" "cancelled"
        "finished" "panicked" "slice_started" "overran" "slice_ended"
    }
    places
}

/// Lets everything happen that an observer can see.
fn observe(world: &World, method: &'static str, arm: &dyn Fn()) {
    world.observed.set(method);
    arm();
    let scheduler = world.scheduler();
    let waker = Rc::new(RefCell::new(None));
    let keeps = waker.clone();
    let busy = scheduler.spawn(Priority::Normal, async { yield_now().await });
    let waits = scheduler.spawn(
        Priority::Normal,
        futures::future::poll_fn(move |context| {
            keeps.replace(Some(context.waker().clone()));
            Poll::<()>::Pending
        }),
    );
    drop(scheduler.spawn::<Boxed>(Priority::Normal, Box::pin(async { quiet_panic("a task") })));
    let late = scheduler.spawn(Priority::Idle, async {});
    world.clock.advance(600 * MS);
    world.turn();
    waits.pause();
    waits.resume();
    waits.set_priority(Priority::Idle);
    let waker: Option<Waker> = waker.take();
    waker.inspect(Waker::wake_by_ref);
    world.turn();
    world.turn();
    let clock = world.clock.clone();
    drop(scheduler.spawn(Priority::Immediate, async move { clock.advance(20 * MS) }));
    world.turn();
    waits.cancel();
    drop((busy, waits, late));
}

/// Makes a call inside a callback and says what is wrong.
fn reenter(
    (place, drive): (&str, Drive),
    (name, allowed, make): &(String, Allowed, Make),
) -> Result<(), String> {
    let check = |ok: bool, what: &str| if ok { Ok(()) } else { Err(format!("{name}, in {place}: {what}")) };
    let (clock, alive) = (ManualClock::new(), Rc::new(()));
    let scheduler = support::builder()
        .clock(Calls(clock.clone()))
        .observer(Told(alive.clone()))
        .slice_policy(|_| {
            here();
            8 * MS
        })
        .build();
    let world = Rc::new(World {
        scheduler: RefCell::new(Some(scheduler.clone())),
        clock,
        tasks: Default::default(),
        latest: RefCell::new(Some(Latest::new(&scheduler, Priority::Normal))),
        scope: RefCell::new(Some(TaskScope::new(&scheduler))),
        armed: Cell::new(None),
        observed: Cell::new(""),
        in_turn: Cell::new(false),
        outcome: RefCell::new(None),
    });
    world.latest.borrow().as_ref().unwrap().submit(std::future::pending());
    drop(world.scope.borrow().as_ref().unwrap().spawn(Priority::Normal, std::future::pending::<()>()));
    let idle = scheduler.spawn(Priority::Normal, std::future::pending());
    let finished = scheduler.spawn(Priority::Normal, async {});
    scheduler.run_slice();
    let ready = scheduler.spawn(Priority::Normal, async {
        for _ in 0..20 {
            yield_now().await;
        }
    });
    let delayed = scheduler.task(async {}).after(HOUR).spawn();
    let paused = scheduler.spawn(Priority::Normal, async {});
    paused.pause();
    for (state, task) in [ready, idle, delayed, paused, finished].into_iter().enumerate() {
        world.tasks[1 + state].replace(Some(task));
    }
    drop(scheduler);
    WORLD.with(|here| here.replace(Some(world.clone())));

    let driven = panic_of(|| drive(&world, &|| world.armed.set(Some(*make))));
    check(driven.is_none(), &format!("the caller panicked: {driven:?}"))?;
    world.in_turn.set(false);
    let outcome = world.outcome.take();
    check(outcome.is_some(), "the callback was not called")?;
    let (in_turn, panic) = outcome.unwrap();
    match (allowed, in_turn) {
        (NotInATurn, true) => {
            let error = panic.unwrap_or_default();
            check(
                error.contains("its own scheduler") || error.contains("the same scheduler"),
                "no error, or another",
            )?;
        }
        (InATurn, false) => {
            let error = panic.unwrap_or_default();
            check(error.contains("outside of a colibri scheduler"), "no error, or another")?;
        }
        // A scheduler that is shut down can not be waited for.
        _ if panic.as_ref().is_some_and(|error| name == "block_on" && error.contains("was shut down")) => (),
        _ => check(panic.is_none(), &format!("it panicked: {panic:?}"))?,
    }

    // The scheduler works on, unless it was ended.
    let scheduler = world.scheduler.take();
    let ends = name.contains("shutdown") || name.contains("drop of the scheduler");
    let ended = ["shutdown", "refused", "unread", "too late", "with its scheduler"]
        .iter()
        .any(|end| place.contains(end));
    if let Some(scheduler) = scheduler.filter(|_| !ends && !ended) {
        let done = Rc::new(Cell::new(false));
        let ran = done.clone();
        drop(scheduler.spawn(Priority::Normal, async move {
            yield_now().await;
            ran.set(true);
        }));
        for _ in 0..5 {
            scheduler.run_slice();
        }
        check(done.get(), "the scheduler does not work any more")?;
        check(scheduler.live_tasks() <= 12, "tasks are left")?;
    }
    // And nothing is left of it.
    for task in &world.tasks {
        task.take();
    }
    world.latest.take();
    world.scope.take();
    WORLD.with(|here| here.take());
    check(Rc::strong_count(&world) == 1, "something holds on to the tasks")?;
    check(Rc::strong_count(&alive) == 1, "something holds on to the scheduler")
}

#[test]
fn every_call_inside_every_callback() {
    // Some hundred pairs end in a documented error: it need not be printed.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| here()));
    let (calls, places) = (calls(), places());
    let mut wrong = Vec::new();
    for &place in &places {
        for call in &calls {
            if place.0 == "the panic hook" && call.1 == NotInATurn {
                // An error by a panic, which in there would end the process.
                continue;
            }
            match panic_of(|| reenter(place, call).unwrap_or_else(|what| wrong.push(what))) {
                None => (),
                Some(panic) => wrong.push(format!("{}, in {}: the test panicked: {panic}", call.0, place.0)),
            }
            WORLD.with(|world| world.take());
        }
    }
    std::panic::set_hook(print);
    let all = calls.len() * places.len();
    assert!(all > 5000, "{all} pairs");
    assert!(wrong.is_empty(), "{} of {all} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A hook that is replaced is dropped: what its captures' destructors call must not meet a lock that is held.
#[test]
fn a_hooks_destructor_may_call_the_scheduler() {
    // It did: the old hook was dropped under its lock, and a spawn in there asks the host.
    let (done, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        thread_local! { static SCHEDULER: Scheduler = support::builder().build(); }
        SCHEDULER.with(|scheduler| {
            let spawns =
                OnDrop(|| SCHEDULER.with(|scheduler| drop(scheduler.spawn(Priority::Normal, async {}))));
            scheduler.on_ready(move || {
                let _owned = &spawns;
            });
            scheduler.run_slice();
            scheduler.on_ready(|| ());
            scheduler.run_slice();
            assert_eq!(scheduler.stats().ended, 1);
        });
        done.send(()).unwrap();
    });
    assert!(wait.recv_timeout(Duration::from_secs(10)).is_ok(), "it hangs or has panicked");
}

/// An observer that spawns a task at each event it sees: what it causes is told after it, without recursion.
#[test]
fn an_observer_that_answers_each_event_does_not_recurse() {
    struct Answers(Rc<Cell<u32>>, RefCell<Option<Scheduler>>);
    impl Observer for Answers {
        fn spawned(&self, _: &TaskEvent) {
            self.0.set(self.0.get() + 1);
            if self.0.get() < 10_000 {
                let scheduler = self.1.borrow();
                drop(scheduler.as_ref().unwrap().spawn(Priority::Normal, async {}));
            } else {
                self.1.take();
            }
        }
    }
    let place = Rc::new(Answers(Rc::default(), RefCell::default()));
    struct Shared(Rc<Answers>);
    impl Observer for Shared {
        fn spawned(&self, task: &TaskEvent) {
            self.0.spawned(task);
        }
    }
    let scheduler = support::builder().observer(Shared(place.clone())).build();
    place.1.replace(Some(scheduler.clone()));
    drop(scheduler.spawn(Priority::Normal, async {}));
    while scheduler.run_slice().work_left {}
    assert_eq!((place.0.get(), scheduler.stats().ended), (10_000, 10_000));
}
