//! Every public call.

use std::task::Poll;

use colibri_core::{
    Activity, Budget, Instant, IteratorExt, Latest, MissedTick, Priority, Scheduler, Step, Task, TaskScope,
    checkpoint, current, interval, set_progress, should_yield, sleep, sleep_until, spawn, timeout,
    uninterrupted, with_budget, yield_now,
};

use crate::support::{self, MS, poll};
use crate::world::{HOUR, Make, STATES, World};

colibri_core::task_local! { static LOCAL: u32; }

/// Which calls are errors, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Allowed {
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

/// The same with the task's waker.
macro_rules! each_waker {
    ($calls:ident, $what:literal, |$waker:ident| $call:expr) => {{
        fn on<const STATE: usize>(world: &World) {
            let waker = world.wakers[STATE].borrow_mut().take();
            if let Some($waker) = waker {
                $call;
            }
        }
        let each: [Make; 6] = [on::<0>, on::<1>, on::<2>, on::<3>, on::<4>, on::<5>];
        for (state, make) in each.into_iter().enumerate() {
            $calls.push((format!("{} of the waker of {} task", $what, STATES[state]), Anywhere, make));
        }
    }};
}

/// All public calls, by name.
pub(crate) fn calls() -> Vec<(String, Allowed, Make)> {
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
    each_waker!(calls, "wake", |waker| waker.wake());
    each_waker!(calls, "wake_by_ref", |waker| waker.wake_by_ref());
    each_waker!(calls, "clone, will_wake and drop", |waker| assert!(waker.clone().will_wake(&waker)));
    each_waker!(calls, "drop", |waker| drop(waker));
    let others: [(&str, Allowed, Make); 61] = [
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
        ("stats", Anywhere, |w| {
            w.on(|s| {
                let stats = s.stats();
                let since = stats.since(&stats);
                assert_eq!(since.mean_run(), since.class(Priority::Normal).mean_wait(), "{stats:?}");
            });
        }),
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
        ("run until a task's shutdown", NotInATurn, |w| {
            w.on(|s| {
                let shuts_down = s.clone();
                drop(s.spawn(Priority::Idle, async move { shuts_down.shutdown() }));
                s.run();
            });
        }),
        ("drop of the last spawner", Anywhere, |w| drop(w.spawner.take())),
        (
            "a spawner's clone, spawn and request_yield, whether its scheduler is there or not",
            Anywhere,
            |w| {
                let spawner = w.spawner.borrow().clone();
                if let Some(spawner) = spawner {
                    _ = spawner.spawn(Priority::Normal, yield_now());
                    spawner.request_yield();
                }
            },
        ),
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
        ("with_budget", Anywhere, |_| {
            with_budget(Budget::checks(9), || {
                with_budget(Budget::time(MS).and_checks(3), || _ = should_yield())
            });
        }),
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
            let mut interval = interval(MS).missed_tick(MissedTick::Skip);
            assert_eq!(interval.period(), MS);
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
        ("Latest::submit_after", Anywhere, |w| {
            let latest = w.latest.borrow_mut().take();
            if let Some(latest) = latest {
                latest.submit_after(MS, async {});
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
