//! What a callback finds: a scheduler with tasks in every state.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use colibri_core::{
    Clock, Instant, Latest, ManualClock, Observer, Priority, Scheduler, SliceReport, Spawner, Task,
    TaskEvent, TaskScope, YieldReason, sleep, yield_now,
};

use crate::support::{self, Boxed, MS, OnDrop, Seen, panic_of, spy};

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// What a callback finds: a scheduler with tasks in every state.
pub(crate) struct World {
    pub(crate) scheduler: RefCell<Option<Scheduler>>,
    pub(crate) clock: ManualClock,
    pub(crate) tasks: [RefCell<Option<Task<()>>>; 6],
    /// The tasks' wakers, of those that were polled.
    pub(crate) wakers: [RefCell<Option<Waker>>; 6],
    pub(crate) latest: RefCell<Option<Latest>>,
    pub(crate) scope: RefCell<Option<TaskScope>>,
    pub(crate) spawner: RefCell<Option<Spawner>>,
    /// The call that the next callback makes, once.
    pub(crate) armed: Cell<Option<Make>>,
    /// The callback that makes it, of those that are called for many reasons.
    pub(crate) observed: Cell<&'static str>,
    /// How many calls of that one come before.
    pub(crate) calls_before: Cell<u32>,
    pub(crate) in_turn: Cell<bool>,
    /// Whether it was made in a turn of the scheduler, and what its panic said.
    pub(crate) outcome: RefCell<Option<(bool, Option<String>)>>,
    /// Of three tasks that no call knows of, of which one is ready, one sleeps and one waits for a wake: how many have ended,
    /// which must be all, and who waits.
    pub(crate) others_ended: Rc<Cell<u32>>,
    pub(crate) other_waits: RefCell<Seen>,
}

pub(crate) type Make = fn(&World);

/// The places of `World::tasks`.
pub(crate) const OWN: usize = 0;
pub(crate) const STATES: [&str; 6] = ["its own", "a ready", "an idle", "a delayed", "a paused", "a finished"];

thread_local! {
    pub(crate) static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// The callback: makes the call, if it has not been made.
pub(crate) fn here() {
    let Ok(Some(world)) = WORLD.try_with(|world| world.borrow().clone()) else { return };
    if let Some(before) = world.calls_before.get().checked_sub(1) {
        world.calls_before.set(before);
        return;
    }
    if let Some(make) = world.armed.take() {
        let panic = panic_of(|| make(&world));
        world.outcome.replace(Some((world.in_turn.get(), panic)));
    }
}

/// Calls when dropped; as a waker, when woken.
pub(crate) struct Here;

impl Drop for Here {
    fn drop(&mut self) {
        here();
    }
}

pub(crate) struct CallsWhenWoken;

impl Wake for CallsWhenWoken {
    fn wake(self: Arc<Self>) {
        here();
    }
}

#[allow(dead_code)]
pub(crate) struct CallsWhenDropped(pub(crate) Here);

impl Wake for CallsWhenDropped {
    fn wake(self: Arc<Self>) {}
}

/// Makes the call if `callback` is the one that is to.
pub(crate) fn here_if(callback: &str) {
    let observed = WORLD.try_with(|world| world.borrow().as_ref().map(|world| world.observed.get()));
    if observed == Ok(Some(callback)) {
        here();
    }
}

/// In a callback's captures: makes the call when they are dropped.
pub(crate) fn here_when_dropped(callback: &'static str) -> OnDrop<impl FnMut()> {
    OnDrop(move || here_if(callback))
}

pub(crate) struct Told(#[expect(dead_code)] pub(crate) Rc<()>);

impl Drop for Told {
    fn drop(&mut self) {
        here_if("the observer's drop");
    }
}

impl Observer for Told {
    fn spawned(&self, _: &TaskEvent) {
        here_if("spawned");
    }
    fn woken(&self, _: &TaskEvent) {
        here_if("woken");
    }
    fn started(&self, _: &TaskEvent) {
        here_if("started");
    }
    fn yielded(&self, _: &TaskEvent, _: YieldReason) {
        here_if("yielded");
    }
    fn suspended(&self, _: &TaskEvent) {
        here_if("suspended");
    }
    fn promoted(&self, _: &TaskEvent) {
        here_if("promoted");
    }
    fn paused(&self, _: &TaskEvent) {
        here_if("paused");
    }
    fn resumed(&self, _: &TaskEvent) {
        here_if("resumed");
    }
    fn reprioritised(&self, _: &TaskEvent) {
        here_if("reprioritised");
    }
    fn cancelled(&self, _: &TaskEvent) {
        here_if("cancelled");
    }
    fn finished(&self, _: &TaskEvent) {
        here_if("finished");
    }
    fn panicked(&self, _: &TaskEvent) {
        here_if("panicked");
    }
    fn slice_started(&self, _: Instant) {
        here_if("slice_started");
    }
    fn overran(&self, _: &SliceReport, _: Instant) {
        here_if("overran");
    }
    fn slice_ended(&self, _: &SliceReport, _: Instant) {
        here_if("slice_ended");
    }
}

/// A clock that calls when it is read, or dropped.
pub(crate) struct Calls(pub(crate) ManualClock);

impl Drop for Calls {
    fn drop(&mut self) {
        here_if("the clock's drop");
    }
}

impl Clock for Calls {
    fn now(&self) -> Instant {
        here_if("the clock");
        self.0.now()
    }

    fn every_check(&self) -> bool {
        true
    }
}

/// Waits for a wake, then gives way so often.
pub(crate) async fn waits_once(yields: u32) {
    let mut is_first = true;
    std::future::poll_fn(
        move |_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) },
    )
    .await;
    for _ in 0..yields {
        yield_now().await;
    }
}

impl World {
    /// A scheduler with tasks in every state, and others that no call can reach.
    pub(crate) fn new(alive: &Rc<()>) -> Rc<World> {
        let clock = ManualClock::new();
        let policy = here_when_dropped("the policy's drop");
        let summary = here_when_dropped("the drop of whom summaries are told");
        let scheduler = support::builder()
            .clock(Calls(clock.clone()))
            .observer(Told(alive.clone()))
            .slice_policy(move |_| {
                let _captured = &policy;
                here_if("the slice's policy");
                8 * MS
            })
            .summary(30 * 60 * 1000 * MS, move |_| {
                let _captured = &summary;
                here_if("whom summaries are told");
            })
            .build();
        let world = Rc::new(World {
            scheduler: RefCell::new(Some(scheduler.clone())),
            clock,
            tasks: Default::default(),
            wakers: Default::default(),
            latest: RefCell::new(Some(Latest::new(&scheduler, Priority::Normal))),
            scope: RefCell::new(Some(TaskScope::new(&scheduler))),
            spawner: RefCell::new(Some(scheduler.spawner())),
            armed: Cell::new(None),
            observed: Cell::new(""),
            calls_before: Cell::new(0),
            in_turn: Cell::new(false),
            outcome: RefCell::new(None),
            others_ended: Rc::default(),
            other_waits: RefCell::default(),
        });
        world.latest.borrow().as_ref().unwrap().submit(std::future::pending());
        drop(world.scope.borrow().as_ref().unwrap().spawn(Priority::Normal, std::future::pending::<()>()));
        let spawn = |future: Boxed| {
            let (future, seen) = spy(future);
            (scheduler.spawn(Priority::Normal, future), seen)
        };
        let (ready, ready_seen) = spawn(Box::pin(waits_once(20)));
        let (idle, idle_seen) = spawn(Box::pin(std::future::pending()));
        let (paused, paused_seen) = spawn(Box::pin(waits_once(1)));
        let (finished, finished_seen) = spawn(Box::pin(async {}));
        let (other_waits, other_seen) = spy(waits_once(1));
        world.other_waits.replace(other_seen);
        world.spawn_other(&scheduler, other_waits);
        world.spawn_other(&scheduler, sleep(2 * HOUR));
        scheduler.run_slice();
        paused.pause();
        ready_seen.wake();
        paused_seen.wake();
        scheduler.run_for(Duration::ZERO);
        world.spawn_other(&scheduler, async {
            for _ in 0..30 {
                yield_now().await;
            }
        });
        let delayed = scheduler.task(async {}).after(HOUR).spawn();
        let seen = [Some(ready_seen), Some(idle_seen), None, Some(paused_seen), Some(finished_seen)];
        for (state, (task, seen)) in
            [ready, idle, delayed, paused, finished].into_iter().zip(seen).enumerate()
        {
            world.tasks[1 + state].replace(Some(task));
            world.wakers[1 + state].replace(seen.map(|seen| seen.waker()));
        }
        world
    }

    /// A task that no call knows of, so that it must come to its end.
    fn spawn_other(&self, scheduler: &Scheduler, future: impl Future<Output = ()> + 'static) {
        let ended = self.others_ended.clone();
        drop(scheduler.spawn(Priority::Normal, async move {
            future.await;
            ended.set(ended.get() + 1);
        }));
    }

    pub(crate) fn scheduler(&self) -> Scheduler {
        self.scheduler.borrow().clone().expect("it is there in the driver")
    }

    /// Makes a call on the scheduler, if it is still there.
    pub(crate) fn on(&self, call: impl FnOnce(&Scheduler)) {
        let scheduler = self.scheduler.borrow().clone();
        if let Some(scheduler) = scheduler {
            call(&scheduler);
        }
    }

    /// Makes a call on each task, whatever it does.
    pub(crate) fn each(&self, call: impl Fn(&mut Task<()>)) {
        for task in &self.tasks {
            if let Some(task) = &mut *task.borrow_mut() {
                call(task);
            }
        }
    }

    /// The scheduler has a turn.
    pub(crate) fn turn(&self) {
        let scheduler = self.scheduler.borrow().clone();
        if let Some(scheduler) = scheduler {
            self.in_turn.set(true);
            scheduler.run_slice();
            self.in_turn.set(false);
        }
    }

    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.in_turn.set(true);
        let output = self.scheduler().block_on(future);
        self.in_turn.set(false);
        output
    }
}
