//! Every callback in the life of tasks: polls, destructors, wakers.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use colibri_core::{
    Budget, IteratorExt, Latest, Priority, Step, TaskScope, checkpoint, sleep, timeout, with_budget,
    yield_now,
};

use crate::support::{Boxed, MS, poll, poll_with, quiet_panic};
use crate::world::{CallsWhenDropped, CallsWhenWoken, Here, OWN, WORLD, World, here};

colibri_core::task_local! { static HERE: Here; }

/// How a callback comes to be called: it arms the world right before.
pub(crate) type Drive = Rc<dyn Fn(&World, &dyn Fn())>;

/// One that needs to know nothing else.
pub(crate) type Plain = fn(&World, &dyn Fn());

pub(crate) fn named(places: Vec<(&str, Plain)>) -> Vec<(String, Drive)> {
    places.into_iter().map(|(name, drive)| (name.to_owned(), Rc::new(drive) as Drive)).collect()
}

/// Puts `future` into the place of the task that the callback belongs to, and its waker beside it.
pub(crate) fn own(world: &World, future: impl Future<Output = ()> + 'static) {
    let mut future = Box::pin(future);
    let future = std::future::poll_fn(move |context| {
        let waker = context.waker().clone();
        WORLD.with_borrow(|world| world.as_ref().map(|world| world.wakers[OWN].replace(Some(waker))));
        future.as_mut().poll(context)
    });
    world.on(|scheduler| {
        let task = scheduler.spawn(Priority::Immediate, future);
        world.tasks[OWN].replace(Some(task));
    });
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
pub(crate) fn places() -> Vec<(String, Drive)> {
    named(vec![
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
        ("the drop of a batch's iterator", |world, arm| {
            let here = Here;
            arm();
            drop(world.scheduler().spawn_all(
                Priority::Normal,
                (0..3).map(move |_| {
                    let _captured = &here;
                    yield_now()
                }),
            ));
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
        ("inside of with_budget", |world, arm| {
            own(world, async { with_budget(Budget::checks(3).and_checks(2), here) });
            arm();
            world.turn();
        }),
        ("inside of a task-local's with", |world, arm| {
            own(world, HERE.scope(Here, async { HERE.with(|_| here()) }));
            arm();
            world.turn();
        }),
        ("a task-local's drop", |world, arm| {
            own(world, HERE.scope(Here, yield_now()));
            arm();
            world.turn();
        }),
        ("the drop of what had a timeout", |world, arm| {
            own(world, async { drop(timeout(5 * MS, waits_and_calls_when_dropped()).await) });
            world.turn();
            world.clock.advance(5 * MS);
            arm();
            world.turn();
        }),
        ("a cooperative iterator's closure", |world, arm| {
            own(world, (0..3).cooperative().for_each(|_| here()));
            arm();
            world.turn();
        }),
    ])
}
