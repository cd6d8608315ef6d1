//! Every callback of what a scheduler is given: observer, clock, policy, hook, and whom summaries are told; and their drops.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use colibri_core::{
    Activity, Budget, Priority, Task, checkpoint, interval, should_yield, sleep, timeout, with_budget,
    yield_now,
};

use crate::places::{Drive, Plain, own};
use crate::support::{Boxed, MS, poll, quiet_panic};
use crate::world::{HOUR, Here, WORLD, World, here, waits_once};

/// All of them, by name.
pub(crate) fn places() -> Vec<(String, Drive)> {
    let mut places: Vec<(&str, Plain)> = vec![
        ("the slice's policy", |world, arm| {
            arm();
            world.observed.set("the slice's policy");
            world.scheduler().set_activity(Activity::Interacting);
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
        ("the hook, by a delayed spawn", |world, arm| {
            hooked(world, arm, || drop(world.scheduler().task(async {}).after(MS).spawn()));
        }),
        ("the hook, by a sleep", |world, arm| {
            hooked(world, arm, || assert!(poll(&mut world.scheduler().sleep(MS)).is_pending()));
        }),
        ("the hook, by a resume", |world, arm| {
            let paused = world.scheduler().spawn(Priority::Normal, async {});
            paused.pause();
            hooked(world, arm, || paused.resume());
        }),
        ("the hook, by an abort", |world, arm| {
            let abort =
                world.scheduler().spawn(Priority::Normal, std::future::pending::<()>()).abort_handle();
            hooked(world, arm, || abort.abort());
        }),
        ("the hook, by a message", |world, arm| {
            let spawner = world.scheduler().spawner();
            hooked(world, arm, || _ = spawner.spawn(Priority::Normal, async {}));
        }),
        ("the hook, by the last spawner's drop", |world, arm| {
            let spawner = world.spawner.take();
            hooked(world, arm, || drop(spawner));
        }),
        ("the hook, by a shutdown", |world, arm| {
            hooked(world, arm, || world.scheduler().shutdown());
        }),
        ("a replaced hook's drop", |world, arm| {
            let dropped = Here;
            world.scheduler().on_ready(move || _ = &dropped);
            arm();
            world.scheduler().on_ready(|| ());
        }),
        ("the hook's drop at shutdown", |world, arm| {
            let dropped = Here;
            world.scheduler().on_ready(move || _ = &dropped);
            arm();
            world.scheduler().shutdown();
        }),
        ("whom summaries are told", |world, arm| {
            world.clock.advance(HOUR);
            arm();
            world.observed.set("whom summaries are told");
            world.turn();
        }),
        ("the observer's drop, with its scheduler", |world, arm| drop_all(world, arm, "the observer's drop")),
        ("the clock's drop, with its scheduler", |world, arm| drop_all(world, arm, "the clock's drop")),
        ("the policy's drop, with its scheduler", |world, arm| drop_all(world, arm, "the policy's drop")),
        ("the drop of whom summaries are told, with its scheduler", |world, arm| {
            drop_all(world, arm, "the drop of whom summaries are told");
        }),
        ("a read of the clock at a spawn", |world, arm| {
            clocked(world, arm, || drop(world.scheduler().spawn(Priority::Normal, async {})));
        }),
        ("a read of the clock at a delayed spawn", |world, arm| {
            clocked(world, arm, || drop(world.scheduler().task(async {}).after(MS).timeout(HOUR).spawn()));
        }),
        ("a read of the clock at a pause", |world, arm| {
            let other = world.scheduler().spawn(Priority::Normal, async {});
            clocked(world, arm, || other.pause());
        }),
        ("a read of the clock at a resume", |world, arm| {
            let other = world.scheduler().spawn(Priority::Normal, async {});
            other.pause();
            clocked(world, arm, || other.resume());
        }),
        ("a read of the clock at a change of class", |world, arm| {
            let other = world.scheduler().spawn(Priority::Normal, async {});
            clocked(world, arm, || other.set_priority(Priority::Idle));
        }),
        ("a read of the clock at a cancel", |world, arm| {
            let other = world.scheduler().spawn(Priority::Normal, async {});
            clocked(world, arm, || other.cancel());
        }),
        ("a read of the clock at a sleep", |world, arm| {
            clocked(world, arm, || assert!(poll(&mut world.scheduler().sleep(MS)).is_pending()));
        }),
        ("a read of the clock at a wake in a task", |world, arm| {
            let idle = world.wakers[2].borrow().clone().expect("it was polled");
            own(world, async move { at_its_read(|| idle.wake_by_ref()) });
            arm();
            world.turn();
        }),
        ("a read of the clock at a sleep in a task", |world, arm| {
            own(world, async { at_its_read(|| _ = poll(&mut sleep(MS))) });
            arm();
            world.turn();
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
    let mut places = crate::places::named(places);
    // Wherever else it is read.
    for read in 0..clock_reads() {
        let drive = move |world: &World, arm: &dyn Fn()| {
            arm();
            world.calls_before.set(read);
            world.observed.set("the clock");
            be_busy(world);
        };
        places.push((format!("read {read} of the clock in busy turns"), Rc::new(drive)));
    }
    places
}

/// `call` calls the hook.
fn hooked(world: &World, arm: &dyn Fn(), call: impl FnOnce()) {
    world.turn();
    world.scheduler().on_ready(here);
    world.turn();
    arm();
    call();
}

/// `call` reads the clock.
fn clocked(world: &World, arm: &dyn Fn(), call: impl FnOnce()) {
    arm();
    world.observed.set("the clock");
    call();
}

/// The same in a task of an armed world.
fn at_its_read(call: impl FnOnce()) {
    let observe = |what| WORLD.with_borrow(|world| world.as_ref().unwrap().observed.set(what));
    observe("the clock");
    call();
    observe("");
}

/// The scheduler goes, and with it what it was given.
fn drop_all(world: &World, arm: &dyn Fn(), observed: &'static str) {
    for task in &world.tasks {
        task.take();
    }
    // They hold on to it, too.
    drop((world.latest.take(), world.scope.take()));
    let scheduler = world.scheduler.take();
    world.observed.set(observed);
    arm();
    drop(scheduler);
}

/// How often the clock is read in busy turns.
fn clock_reads() -> u32 {
    const MANY: u32 = 1 << 20;
    let world = World::new(&Rc::default());
    WORLD.set(Some(world.clone()));
    world.armed.set(Some(|_| ()));
    world.calls_before.set(MANY);
    world.observed.set("the clock");
    be_busy(&world);
    WORLD.take();
    MANY - world.calls_before.get()
}

/// Does whatever reads the clock: lifts and their ends, wakes from near and far, timers, accounts, changes by handles.
fn be_busy(world: &World) {
    let scheduler = world.scheduler();
    let target = || scheduler.spawn(Priority::Idle, waits_once(3));
    let waiter = |target: Task<()>| scheduler.spawn(Priority::Immediate, async { drop(target.await) });
    // One target is the scope's, which calls cancel; one waiter is that which is its own.
    let scope = world.scope.take();
    let owned = scope.as_ref().map(|scope| scope.spawn(Priority::Idle, waits_once(3)));
    world.scope.replace(scope);
    own(world, async move { drop(owned.unwrap().await) });
    let waiters = [waiter(target()), waiter(target())];
    let mut handle = target();
    let lets_go = scheduler.spawn(Priority::Immediate, async move {
        assert!(poll(&mut handle).is_pending());
        yield_now().await;
        drop(handle);
    });
    let timed = scheduler.task(std::future::pending::<()>()).timeout(2 * MS).with_stats().spawn();
    let other = scheduler.task(waits_once(2)).deadline(9 * MS).with_stats().spawn();
    let clock = world.clock.clone();
    // A call may have dropped it.
    let idle = world.wakers[2].borrow().clone();
    let wakes = idle.clone().unwrap_or_else(|| Waker::noop().clone());
    let works = scheduler.spawn(Priority::Immediate, async move {
        let mut ticks = interval(MS);
        for _ in 0..3 {
            clock.advance(MS);
            checkpoint().await;
            with_budget(Budget::time(MS), || _ = should_yield());
            wakes.wake_by_ref();
            drop(timeout(MS, ticks.tick()).await);
        }
    });
    idle.as_ref().inspect(|idle| idle.wake_by_ref());
    world.turn();
    idle.as_ref().inspect(|idle| idle.wake_by_ref());
    other.pause();
    other.resume();
    other.set_priority(Priority::Idle);
    world.turn();
    waiters[0].cancel();
    world.clock.advance(2 * MS);
    world.turn();
    drop((waiters, lets_go, timed, other, works));
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
