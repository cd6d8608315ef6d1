//! The table of task life: how a task ends, whose destructors panic, who ends it and what it is doing then, and what
//! becomes of its handle; all combinations.
//!
//! A row lives one task. Before anybody acts, the scheduler is asked what the task is doing, so that no row speaks of another
//! state than it says.

#[path = "../support/mod.rs"]
mod support;
mod table;
mod world;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};
use std::time::Duration;

use colibri_core::{ManualClock, Observer, Priority, Scheduler, Task, TaskState, yield_now};

use self::support::{panic_of, poll, poll_with};
use self::table::{Case, Handle, Outcome, WHEN, WHO, When, Who, no_such_pair};
use self::world::{Awaits, DELAY, Joiner, Subject, TIMEOUT, Value, World, read, set_off};

/// More slices than any row needs: a task that comes back for ever fails its row, and does not hang it.
const MOST_SLICES: u32 = 100;

/// Whose call it is that the task lives through.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The code that holds the scheduler.
    Host,
    /// A task of the lowest class, while that code is in `block_on`.
    Director,
}

/// Everybody runs who can.
async fn all_run(world: &World, stage: Stage) {
    if stage == Stage::Director {
        // Whoever is ready is above it.
        return yield_now().await;
    }
    let scheduler = world.scheduler();
    let ends = (0..MOST_SLICES).any(|_| !scheduler.run_slice().work_left);
    world.check(ends, "the work does not end");
}

fn wake(world: &World) {
    let waker = world.waker.borrow().clone();
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Brings the task to where the row says, lets act who is to, and lets it live on.
async fn script(world: Rc<World>, stage: Stage) {
    let Case { who, when, .. } = world.case;
    let is_unpolled = matches!(when, When::New | When::Delayed);
    if !is_unpolled {
        all_run(&world, stage).await;
    }
    match when {
        When::New | When::Delayed | When::Idle => {}
        // Woken, and not run. The host's wake is taken in by a slice without time.
        When::Ready => {
            wake(&world);
            if stage == Stage::Host {
                world.scheduler().run_for(Duration::ZERO);
            }
        }
        When::Paused => {
            if let Some(task) = &*world.handle.borrow() {
                task.pause();
            }
        }
        // In the second poll, or at its end, it sets off itself who is to act.
        When::Running | When::Dropping => wake(&world),
        When::Ended => {
            wake(&world);
            all_run(&world, stage).await;
        }
    }
    let acts_here = !matches!(when, When::Running | When::Dropping);
    // block_on's future was first, if the task is not polled yet.
    if acts_here && !(is_unpolled && stage == Stage::Director) {
        if who == Who::Task && stage == Stage::Host {
            let world = world.clone();
            let scheduler = world.scheduler();
            drop(scheduler.spawn(Priority::Immediate, async move { set_off(&world) }));
        } else {
            set_off(&world);
        }
    }
    all_run(&world, stage).await;

    // What it would live through if it were still there. The wake may come late.
    if when == When::Delayed {
        world.clock.advance(DELAY);
        all_run(&world, stage).await;
    }
    if when == When::Paused
        && let Some(task) = &*world.handle.borrow()
    {
        task.resume();
    }
    wake(&world);
    all_run(&world, stage).await;
}

/// An observer that only shows whether the scheduler's inside is alive.
struct Alive(#[expect(dead_code)] Rc<()>);

impl Observer for Alive {}

/// Spawns the task, between two others.
fn spawn(world: &Rc<World>, scheduler: &Scheduler, capture: &Arc<()>) -> Task<Value> {
    let bystander = || {
        let world = world.clone();
        drop(scheduler.spawn(Priority::Normal, async move {
            for _ in 0..5 {
                yield_now().await;
            }
            world.bystanders_done.set(world.bystanders_done.get() + 1);
        }));
    };
    bystander();
    let subject = Subject::new(world, capture);
    let (delayed, timed) = (world.case.when == When::Delayed, world.case.who == Who::Timeout);
    let task = if delayed || timed {
        let task = scheduler.task(subject);
        let task = if delayed { task.after(DELAY) } else { task };
        if timed { task.timeout(TIMEOUT).spawn() } else { task.spawn() }
    } else {
        world.scope.borrow().as_ref().unwrap().spawn(Priority::Normal, subject)
    };
    bystander();
    world.abort.replace(Some(task.abort_handle()));
    if world.case.who == Who::CancelOnDrop { task.cancel_on_drop() } else { task }
}

/// Waits for the task from the start, while a director does what else is to happen.
fn block_on(world: &Rc<World>, scheduler: &Scheduler) -> Outcome {
    drop(scheduler.spawn(Priority::Idle, script(world.clone(), Stage::Director)));
    let mut awaits = Awaits(world.clone());
    let mut is_first = matches!(world.case.when, When::New | When::Delayed);
    scheduler.block_on(std::future::poll_fn(move |context| {
        let polled = poll_with(&mut awaits, context.waker());
        if std::mem::take(&mut is_first) {
            set_off(&awaits.0);
        }
        polled
    }))
}

/// Lives a case and says what is wrong with it.
fn live(case: Case) -> Result<(), String> {
    let check = |ok: bool, what: &str| if ok { Ok(()) } else { Err(format!("{case:?}: {what}")) };
    let expected = case.outcome();
    let ended = expected != Outcome::Lives;
    let shut_down = case.who == Who::Shutdown;
    let (clock, engine_alive, capture) = (ManualClock::new(), Rc::new(()), Arc::new(()));
    let scheduler = support::builder().clock(clock.clone()).observer(Alive(engine_alive.clone())).build();
    let world = World::new(case, clock, &scheduler, &capture);
    let mut task = spawn(&world, &scheduler, &capture);
    let joins = Joiner::new(&capture);
    let join_waker = Waker::from(joins.clone());
    if case.handle == Handle::Joined {
        check(poll_with(&mut task, &join_waker).is_pending(), "joined too early")?;
    }
    if case.is_paused_at_once() {
        task.pause();
    }
    if case.handle == Handle::DroppedBefore {
        drop(task);
    } else {
        world.handle.replace(Some(task));
    }
    if case.handle == Handle::AwaitedInATask {
        let world = world.clone();
        drop(scheduler.spawn(Priority::Normal, async move {
            let outcome = Awaits(world.clone()).await;
            world.awaited.set(Some(outcome));
        }));
    }
    if case.handle == Handle::BlockedOn {
        let refused = panic_of(|| world.awaited.set(Some(block_on(&world, &scheduler))));
        let says = refused.as_deref().unwrap_or_default();
        check(refused.is_some() == shut_down, &format!("block_on panics: {refused:?}"))?;
        check(!shut_down || says.contains("was shut down"), "block_on's error is another")?;
        for _ in 0..MOST_SLICES {
            scheduler.run_slice();
        }
    } else {
        let lived = poll(&mut Box::pin(script(world.clone(), Stage::Host)));
        check(lived.is_ready(), "the host waits for nobody")?;
    }

    // What has become of it.
    check(world.complaints.borrow().is_empty(), &world.complaints.borrow().join(", "))?;
    check(world.acts.get() == 1, &format!("{} acts", world.acts.get()))?;
    check(world.polls.get() == case.polls(), &format!("{} polls", world.polls.get()))?;
    check(world.values_made.get() == case.values(), "outputs and payloads")?;
    check(world.future_drops.get() == u32::from(ended), "the future's drops, at the end")?;
    check(Arc::strong_count(&capture) == if ended { 1 } else { 2 }, "captures, at the end")?;
    check((world.state() == TaskState::Finished) == ended, "its state, by the scheduler")?;
    check(shut_down || world.bystanders_done.get() == 2, "others were harmed")?;
    let waits = usize::from(case.handle == Handle::AwaitedInATask);
    check(scheduler.live_tasks() == if ended { 0 } else { 1 + waits }, "live tasks, at the end")?;
    check(scheduler.pending_timers() == 0, "timers are left")?;
    if let Some(task) = &*world.handle.borrow() {
        check(task.is_finished() == ended, "is_finished")?;
        check((task.state() == TaskState::Finished) == ended, "its state, by its handle")?;
    }
    let mut handle = world.handle.take();
    match (case.handle, &mut handle) {
        (Handle::Joined, handle) => {
            let wakes = joins.wakes();
            check(!joins.was_woken_early(), "woken before the captures are dropped")?;
            check(wakes == case.wakes_of_the_joiner(), &format!("{wakes} wakes of the joiner"))?;
            check(handle.is_some() == (case.who != Who::CancelOnDrop), "the handle is there, or not")?;
            match handle.as_mut().map(|task| poll_with(task, &join_waker)) {
                None => {}
                Some(Poll::Pending) => check(!ended, "it cannot be joined")?,
                Some(Poll::Ready(result)) => {
                    let outcome = read(result);
                    check(outcome == expected, &format!("joined: {outcome:?}, not {expected:?}"))?;
                }
            }
        }
        (Handle::BlockedOn | Handle::AwaitedInATask, _) => {
            let awaited = world.awaited.get().unwrap_or(Outcome::Lives);
            let expected = if case.shuts_waiters_down() { Outcome::Lives } else { expected };
            check(awaited == expected, &format!("awaited: {awaited:?}, not {expected:?}"))?;
        }
        (Handle::BlockedOnLate, handle) => {
            let task = handle.take().expect("nobody took it");
            let mut outcome = None;
            let refused = panic_of(|| outcome = Some(read(scheduler.block_on(task))));
            let expected = Some(expected).filter(|_| !shut_down);
            check(outcome == expected, &format!("blocked on: {outcome:?}, not {expected:?}"))?;
            let says = refused.unwrap_or_default();
            check(says.contains("was shut down") == shut_down, "block_on's error is another")?;
        }
        (Handle::Taken, Some(task)) => {
            let outcome = task.try_take().map_or(Outcome::Lives, read);
            check(outcome == expected, &format!("taken: {outcome:?}, not {expected:?}"))?;
            check(task.try_take().is_none(), "taken twice")?;
        }
        (Handle::DroppedAfter, handle) => {
            check(handle.is_some() == (case.who != Who::CancelOnDrop), "the handle is there, or not")?;
        }
        (Handle::Taken | Handle::DroppedBefore | Handle::DroppedWhileItRuns, handle) => {
            check(handle.is_none() && case.handle != Handle::Taken, "the handle is there, or not")?;
        }
    }
    check(panic_of(|| drop(handle)).is_none(), "a handle's drop panicked")?;

    // The scheduler works on; and ends with nothing left.
    if !shut_down {
        let lives = scheduler.spawn(Priority::Idle, async { 7 });
        check(matches!(scheduler.block_on(lives), Ok(7)), "the scheduler does not work any more")?;
    }
    world.scheduler.take();
    check(panic_of(|| drop(scheduler)).is_none(), "the scheduler's drop panicked")?;
    check(world.future_drops.get() == 1, "the future's drops, after all")?;
    check(Arc::strong_count(&capture) == 1, "captures, after all")?;
    check(world.value_drops.load(Ordering::SeqCst) == case.values(), "the value's drops")?;
    drop((world.scope.take(), world.waker.take(), world.abort.take()));
    check(Rc::strong_count(&world) == 1, "something holds on to the tasks")?;
    check(Rc::strong_count(&engine_alive) == 1, "something holds on to the scheduler")
}

#[test]
fn all_combinations_of_a_tasks_life() {
    let mut wrong = Vec::new();
    let mut lived = Vec::new();
    for case in Case::all().filter(|case| case.is_impossible().is_none()) {
        lived.push(case);
        match panic_of(|| live(case).unwrap_or_else(|what| wrong.push(what))) {
            None => {}
            Some(panic) => wrong.push(format!("{case:?}: it panicked: {panic}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), lived.len(), wrong.join("\n"));
    for (who, when) in WHO.into_iter().flat_map(|who| WHEN.map(|when| (who, when))) {
        let rows = lived.iter().filter(|case| case.who == who && case.when == when).count();
        let no_such_pair = no_such_pair(who, when);
        assert_eq!(rows == 0, no_such_pair.is_some(), "{rows} rows of {who:?}, {when:?}: {no_such_pair:?}");
    }
    assert_eq!(lived.len(), 4384, "of the product of 7680");
}
