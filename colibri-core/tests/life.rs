//! The table of task life: how a task ends, whose destructors panic, who cancels it and when, and what becomes of its
//! handle; all combinations.

mod support;

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use colibri_core::{ManualClock, Observer, Priority, Task, TaskError, TaskScope, TaskState, yield_now};

use self::support::{MS, panic_of, poll_with, until_dropped};

/// How it ends if nobody cancels it: at its second poll, or not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Finishes,
    Panics,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Dropping {
    Quietly,
    Panicking,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cancel {
    Nobody,
    BeforeTheFirstPoll,
    WhileIdle,
    WhilePaused,
    WhileReady,
    WhileRunning,
    ByAnotherTask,
    ByAnotherThread,
    ByADestructor,
    ByItsOwnDestructor,
    ByItsTimeout,
    ByShutdown,
    AfterTheEnd,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Handle {
    /// Polled from the start, with a waker that counts.
    Joined,
    BlockedOn,
    Taken,
    DroppedBefore,
    /// In its own second poll.
    DroppedWhileItRuns,
    DroppedAfter,
    /// Dropped while the task is idle.
    CancelsOnDrop,
    AwaitedInATask,
}

const ENDS: [End; 3] = [End::Finishes, End::Panics, End::Never];
const DROPPINGS: [Dropping; 2] = [Dropping::Quietly, Dropping::Panicking];
const CANCELS: [Cancel; 13] = [
    Cancel::Nobody,
    Cancel::BeforeTheFirstPoll,
    Cancel::WhileIdle,
    Cancel::WhilePaused,
    Cancel::WhileReady,
    Cancel::WhileRunning,
    Cancel::ByAnotherTask,
    Cancel::ByAnotherThread,
    Cancel::ByADestructor,
    Cancel::ByItsOwnDestructor,
    Cancel::ByItsTimeout,
    Cancel::ByShutdown,
    Cancel::AfterTheEnd,
];
const HANDLES: [Handle; 8] = [
    Handle::Joined,
    Handle::BlockedOn,
    Handle::Taken,
    Handle::DroppedBefore,
    Handle::DroppedWhileItRuns,
    Handle::DroppedAfter,
    Handle::CancelsOnDrop,
    Handle::AwaitedInATask,
];

/// One row of the table.
#[derive(Clone, Copy, Debug)]
struct Case {
    end: End,
    future: Dropping,
    /// Of the output, or of the panic's payload.
    output: Dropping,
    cancel: Cancel,
    handle: Handle,
}

/// What is to come of it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Finished,
    Panicked,
    Cancelled,
    TimedOut,
    /// It lives until its scheduler is dropped.
    Lives,
}

impl Case {
    fn all() -> impl Iterator<Item = Case> {
        let cases = ENDS.into_iter().flat_map(|end| DROPPINGS.map(|future| (end, future)));
        let cases = cases.flat_map(|(end, future)| DROPPINGS.map(|output| (end, future, output)));
        let cases = cases.flat_map(|case| CANCELS.map(|cancel| (case, cancel)));
        cases.flat_map(|((end, future, output), cancel)| {
            HANDLES.map(|handle| Case { end, future, output, cancel, handle })
        })
    }

    /// Whether it is cancelled before its second poll.
    fn cut_short(self) -> bool {
        use Cancel::{AfterTheEnd, ByItsOwnDestructor, Nobody, WhileRunning};
        self.handle == Handle::CancelsOnDrop
            || !matches!(self.cancel, Nobody | WhileRunning | ByItsOwnDestructor | AfterTheEnd)
    }

    fn outcome(self) -> Outcome {
        let by_timeout = self.cancel == Cancel::ByItsTimeout && self.handle != Handle::CancelsOnDrop;
        match (self.end, self.cancel) {
            _ if by_timeout => Outcome::TimedOut,
            _ if self.cut_short() => Outcome::Cancelled,
            // What a panic says is worth more than that somebody did not want it.
            (End::Panics, _) => Outcome::Panicked,
            (_, Cancel::WhileRunning) | (End::Never, Cancel::AfterTheEnd) => Outcome::Cancelled,
            // Though its own destructor cancels it: it has ended before.
            (End::Finishes, _) => Outcome::Finished,
            (End::Never, _) => Outcome::Lives,
        }
    }
}

/// An output, or a panic's payload.
struct Value {
    drops: Arc<AtomicUsize>,
    panics: bool,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
        if self.panics {
            std::panic::resume_unwind(Box::new("the value's destructor"));
        }
    }
}

/// What the parts of a case share.
struct World {
    case: Case,
    scope: RefCell<Option<TaskScope>>,
    /// The handle that is dropped while its task runs.
    handle: RefCell<Option<Task<Value>>>,
    waker: RefCell<Option<Waker>>,
    polls: Cell<u32>,
    future_drops: Cell<u32>,
    value_drops: Arc<AtomicUsize>,
    values_made: Cell<usize>,
    bystanders_done: Cell<u32>,
    awaited: RefCell<Option<Outcome>>,
}

impl World {
    fn cancel(&self) {
        // Taken out meanwhile: the cancel runs destructors, which may come here as well.
        let scope = self.scope.take();
        if let Some(scope) = &scope {
            scope.cancel();
        }
        if scope.is_some() {
            self.scope.replace(scope);
        }
    }

    fn value(&self) -> Value {
        self.values_made.set(self.values_made.get() + 1);
        Value { drops: self.value_drops.clone(), panics: self.case.output == Dropping::Panicking }
    }
}

/// The task's future.
struct Subject {
    world: Rc<World>,
    over: bool,
    _capture: Arc<()>,
}

impl Future for Subject {
    type Output = Value;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Value> {
        let world = self.world.clone();
        assert!(!self.over, "polled after its end");
        world.polls.set(world.polls.get() + 1);
        *world.waker.borrow_mut() = Some(context.waker().clone());
        if world.polls.get() == 1 {
            return Poll::Pending;
        }
        let handle = world.handle.take();
        assert!(panic_of(|| drop(handle)).is_none(), "a handle's drop panicked");
        if world.case.cancel == Cancel::WhileRunning {
            self.over = true;
            world.cancel();
            assert_eq!(world.future_drops.get(), 0, "dropped while it runs");
        }
        match world.case.end {
            End::Finishes => {
                self.over = true;
                Poll::Ready(world.value())
            }
            End::Panics => {
                self.over = true;
                std::panic::resume_unwind(Box::new(world.value()))
            }
            End::Never => Poll::Pending,
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        self.world.future_drops.set(self.world.future_drops.get() + 1);
        if self.world.case.cancel == Cancel::ByItsOwnDestructor {
            self.world.cancel();
        }
        if self.world.case.future == Dropping::Panicking {
            std::panic::resume_unwind(Box::new("the future's destructor"));
        }
    }
}

/// Counts its wakes, and sees whether captures are dropped by then.
#[derive(Default)]
struct Joiner {
    wakes: AtomicUsize,
    early: AtomicBool,
    capture: Weak<()>,
}

impl Joiner {
    fn wakes(&self) -> usize {
        self.wakes.load(Ordering::SeqCst)
    }
}

impl Wake for Joiner {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        // One is the table's own.
        self.early.fetch_or(self.capture.strong_count() != 1, Ordering::SeqCst);
    }
}

/// Reads an outcome, and drops its value.
fn read(result: Result<Value, TaskError>) -> Outcome {
    let outcome = match &result {
        Ok(_) => Outcome::Finished,
        Err(TaskError::Cancelled) => Outcome::Cancelled,
        Err(TaskError::TimedOut) => Outcome::TimedOut,
        Err(_) => Outcome::Panicked,
    };
    panic_of(move || drop(result));
    outcome
}

/// An observer that only shows whether the scheduler's inside is alive.
struct Alive(#[expect(dead_code)] Rc<()>);

impl Observer for Alive {}

/// Lives a case and says what is wrong with it.
fn live(case: Case) -> Result<(), String> {
    let check = |ok: bool, what: &str| if ok { Ok(()) } else { Err(format!("{case:?}: {what}")) };
    let (clock, engine_alive, capture) = (ManualClock::new(), Rc::new(()), Arc::new(()));
    let scheduler = support::builder().clock(clock.clone()).observer(Alive(engine_alive.clone())).build();
    let world = Rc::new(World {
        case,
        scope: RefCell::new(Some(TaskScope::new(&scheduler))),
        handle: RefCell::default(),
        waker: RefCell::default(),
        polls: Cell::new(0),
        future_drops: Cell::new(0),
        value_drops: Arc::default(),
        values_made: Cell::new(0),
        bystanders_done: Cell::new(0),
        awaited: RefCell::default(),
    });
    let bystander = || {
        let world = world.clone();
        drop(scheduler.spawn(Priority::Normal, async move {
            for _ in 0..5 {
                yield_now().await;
            }
            world.bystanders_done.set(world.bystanders_done.get() + 1);
        }));
    };

    // It is spawned, between two others.
    bystander();
    let subject = Subject { world: world.clone(), over: false, _capture: capture.clone() };
    let task = match case.cancel {
        Cancel::ByItsTimeout => scheduler.task(subject).timeout(5 * MS).spawn(),
        _ => world.scope.borrow().as_ref().unwrap().spawn(Priority::Normal, subject),
    };
    bystander();
    let joins = Arc::new(Joiner { capture: Arc::downgrade(&capture), ..Joiner::default() });
    let join_waker = Waker::from(joins.clone());
    let abort = task.abort_handle();
    let mut handle: Option<Task<Value>> = Some(task);
    match case.handle {
        Handle::Joined => {
            check(poll_with(handle.as_mut().unwrap(), &join_waker).is_pending(), "joined too early")?;
        }
        Handle::DroppedBefore => drop(handle.take()),
        Handle::CancelsOnDrop => handle = handle.map(Task::cancel_on_drop),
        Handle::AwaitedInATask => {
            let (task, world, capture) = (handle.take().unwrap(), world.clone(), Arc::downgrade(&capture));
            drop(scheduler.spawn(Priority::Normal, async move {
                let result = task.await;
                assert_eq!(capture.strong_count(), 1, "captures are dropped before the join returns");
                *world.awaited.borrow_mut() = Some(read(result));
            }));
        }
        Handle::BlockedOn | Handle::Taken | Handle::DroppedWhileItRuns | Handle::DroppedAfter => (),
    }

    // Its first poll.
    if case.cancel == Cancel::BeforeTheFirstPoll {
        world.cancel();
    }
    scheduler.run_slice();

    // It is idle.
    if case.handle == Handle::CancelsOnDrop {
        let dropped = handle.take();
        check(panic_of(|| drop(dropped)).is_none(), "a handle's drop panicked")?;
    }
    if case.handle == Handle::DroppedWhileItRuns {
        world.handle.replace(handle.take());
    }
    match case.cancel {
        Cancel::WhileIdle => world.cancel(),
        Cancel::WhilePaused => {
            handle.as_ref().or(world.handle.borrow().as_ref()).map(Task::pause);
            world.cancel();
        }
        Cancel::WhileReady => {
            // Woken, taken in, and not run.
            let waker = world.waker.borrow().clone();
            if let Some(waker) = waker {
                waker.wake();
            }
            scheduler.run_for(std::time::Duration::ZERO);
            world.cancel();
        }
        Cancel::ByAnotherTask => {
            let world = world.clone();
            drop(scheduler.spawn(Priority::Normal, async move { world.cancel() }));
        }
        Cancel::ByAnotherThread => {
            // It takes effect in the scheduler's next turn.
            std::thread::spawn(move || abort.abort()).join().unwrap();
            check(
                world.future_drops.get() == u32::from(case.handle == Handle::CancelsOnDrop),
                "dropped too early",
            )?;
        }
        Cancel::ByADestructor => {
            let world = world.clone();
            let other = scheduler.spawn(Priority::Normal, until_dropped(move || world.cancel()));
            scheduler.run_slice();
            other.cancel();
        }
        Cancel::ByItsTimeout => clock.advance(5 * MS),
        Cancel::ByShutdown => scheduler.shutdown(),
        _ => (),
    }
    scheduler.run_slice();

    // Its second poll, if it is still there. The wake may come late.
    let waker = world.waker.borrow().clone();
    if let Some(waker) = waker {
        waker.wake();
    }
    scheduler.run_slice();
    if case.cancel == Cancel::AfterTheEnd {
        world.cancel();
        scheduler.run_slice();
    }

    // What has become of it.
    let expected = case.outcome();
    let ended = expected != Outcome::Lives;
    check(world.future_drops.get() == u32::from(ended), "the future's drops, at the end")?;
    check(Arc::strong_count(&capture) == if ended { 1 } else { 2 }, "captures, at the end")?;
    let polls = match case.cancel {
        Cancel::BeforeTheFirstPoll => 0,
        _ if case.cut_short() => 1,
        _ => 2,
    };
    check(world.polls.get() == polls, &format!("{} polls, not {polls}", world.polls.get()))?;
    if let Some(task) = &handle {
        check(task.is_finished() == ended, "is_finished")?;
        check((task.state() == TaskState::Finished) == ended, "its state")?;
    }
    let shut_down = case.cancel == Cancel::ByShutdown;
    check(shut_down || world.bystanders_done.get() == 2, "others were harmed")?;
    let waits = usize::from(case.handle == Handle::AwaitedInATask);
    check(scheduler.live_tasks() == if ended { 0 } else { 1 + waits }, "live tasks, at the end")?;
    check(scheduler.pending_timers() == 0, "timers are left")?;
    match case.handle {
        Handle::Joined => {
            check(!joins.early.load(Ordering::SeqCst), "woken before the captures are dropped")?;
            check(joins.wakes() == usize::from(ended), &format!("{} wakes of the joiner", joins.wakes()))?;
            if let Poll::Ready(result) = poll_with(handle.as_mut().unwrap(), &join_waker) {
                let outcome = read(result);
                check(outcome == expected, &format!("joined: {outcome:?}, not {expected:?}"))?;
            } else {
                check(!ended, "it cannot be joined")?;
            }
        }
        Handle::BlockedOn if ended && !shut_down => {
            let outcome = read(scheduler.block_on(handle.take().unwrap()));
            check(outcome == expected, &format!("blocked on: {outcome:?}, not {expected:?}"))?;
        }
        Handle::Taken => {
            let outcome = handle.as_mut().unwrap().try_take().map_or(Outcome::Lives, read);
            check(outcome == expected, &format!("taken: {outcome:?}, not {expected:?}"))?;
            check(handle.as_mut().unwrap().try_take().is_none(), "taken twice")?;
        }
        Handle::AwaitedInATask => {
            let awaited = world.awaited.borrow().unwrap_or(Outcome::Lives);
            let expected = if shut_down { Outcome::Lives } else { expected };
            check(awaited == expected, &format!("awaited: {awaited:?}, not {expected:?}"))?;
        }
        _ => (),
    }
    let dropped = (handle.take(), world.handle.take());
    check(panic_of(|| drop(dropped)).is_none(), "a handle's drop panicked")?;

    // The scheduler works on; and ends with nothing left.
    if !shut_down {
        let lives = scheduler.spawn(Priority::Idle, async { 7 });
        check(matches!(scheduler.block_on(lives), Ok(7)), "the scheduler does not work any more")?;
    }
    check(panic_of(|| drop(scheduler)).is_none(), "the scheduler's drop panicked")?;
    check(world.future_drops.get() == 1, "the future's drops, after all")?;
    check(Arc::strong_count(&capture) == 1, "captures, after all")?;
    check(world.value_drops.load(Ordering::SeqCst) == world.values_made.get(), "the value's drops")?;
    world.scope.take();
    world.waker.take();
    check(Rc::strong_count(&world) == 1, "something holds on to the tasks")?;
    check(Rc::strong_count(&engine_alive) == 1, "something holds on to the scheduler")
}

#[test]
fn all_combinations_of_a_tasks_life() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in Case::all() {
        count += 1;
        match panic_of(|| live(case).unwrap_or_else(|what| wrong.push(what))) {
            None => (),
            Some(panic) => wrong.push(format!("{case:?}: it panicked: {panic}")),
        }
    }
    assert_eq!(count, 3 * 2 * 2 * 13 * 8);
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
