//! The scheduler: what users hold.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::future::Future;
use core::time::Duration;

use crate::activity::Activity;
use crate::checkpoint::checkpoint;
use crate::clock::{Clock, SystemClock};
use crate::engine::{Engine, Extras, Figures, Owner};
use crate::event::{Events, Observer};
use crate::instant::{Instant, nanos};
use crate::local;
use crate::priority::Priority;
use crate::slice::{DEFAULT_QUANTUM, DEFAULT_UPGRADE_AFTER, SliceReport};
use crate::spawner::{SpawnError, Spawner};
use crate::stats::Stats;
use crate::task::{Task, TaskId, TaskSnapshot};

/// Runs tasks on one thread, in classes and time slices, without starving anyone.
///
/// It never takes the thread by itself: the host calls [`run_slice`](Scheduler::run_slice) between its own work, or
/// hands the thread over with [`run`](Scheduler::run) or [`block_on`](Scheduler::block_on).
///
/// A `Scheduler` is a handle; clones stand for the same one. When the last is dropped, it is shut down. A task that
/// holds a clone of its own scheduler therefore keeps it alive: use [`colibri_core::spawn`](crate::spawn) in tasks.
///
/// ```
/// use colibri_core::{Priority, Scheduler, yield_now};
///
/// let scheduler = Scheduler::new();
/// let long = scheduler.spawn(Priority::Idle, async {
///     for _ in 0..1000 {
///         yield_now().await;
///     }
///     "done"
/// });
/// let click = scheduler.spawn(Priority::Immediate, async { "clicked" });
/// assert_eq!(scheduler.block_on(click).unwrap(), "clicked");
/// assert_eq!(scheduler.block_on(long).unwrap(), "done");
/// ```
#[derive(Clone)]
pub struct Scheduler {
    owner: Rc<Owner>,
}

impl Scheduler {
    /// A scheduler with the default figures and the system's clock.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Sets figures, clock and observer first.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn engine(&self) -> &Rc<Engine> {
        &self.owner.engine
    }

    /// Starts a task. It runs at the scheduler's next turns; the handle is a future of its output.
    ///
    /// The task is cancelled at once if the scheduler is shut down or full ([`Builder::max_tasks`]).
    pub fn spawn<F>(&self, priority: Priority, future: F) -> Task<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        spawn_on(self.engine(), priority, 0, None, future)
    }

    /// Starts a task, or says why it cannot.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] if the scheduler is full or shut down. The future is dropped then.
    pub fn try_spawn<F>(&self, priority: Priority, future: F) -> Result<Task<F::Output>, SpawnError>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        try_spawn_on(self.engine(), priority, 0, None, future)
    }

    /// Starts a plain callback as a task. It holds the thread until it returns: nothing in it gives way.
    pub fn spawn_fn<F, T>(&self, priority: Priority, callback: F) -> Task<T>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        self.spawn(priority, async move { callback() })
    }

    /// Starts a loop that was cut into steps by hand: `step` is called until it is done, with a checkpoint after each
    /// call.
    pub fn spawn_steps<F, T>(&self, priority: Priority, mut step: F) -> Task<T>
    where
        F: FnMut() -> Step<T> + 'static,
        T: 'static,
    {
        self.spawn(priority, async move {
            loop {
                match step() {
                    Step::More => checkpoint().await,
                    Step::Done(output) => return output,
                }
            }
        })
    }

    /// Starts a batch, in order. Those for which there is no room are cancelled at once, as by [`Scheduler::spawn`].
    pub fn spawn_all<I>(&self, priority: Priority, futures: I) -> Vec<Task<<I::Item as Future>::Output>>
    where
        I: IntoIterator,
        I::Item: Future + 'static,
        <I::Item as Future>::Output: 'static,
    {
        futures.into_iter().map(|future| self.spawn(priority, future)).collect()
    }

    /// Describes a task before it is started, with [`TaskBuilder::spawn`].
    ///
    /// ```
    /// # use colibri_core::{Priority, Scheduler};
    /// # use std::time::Duration;
    /// # let scheduler = Scheduler::new();
    /// let task = scheduler.task(async { 42 }).priority(Priority::Idle).name("index").spawn();
    /// assert_eq!(task.name().as_deref(), Some("index"));
    /// ```
    pub fn task<F>(&self, future: F) -> TaskBuilder<'_, F>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        TaskBuilder::new(self.engine(), future)
    }

    /// Runs tasks for at most one slice, then returns to the host.
    ///
    /// # Panics
    ///
    /// When a task calls it on its own scheduler.
    pub fn run_slice(&self) -> SliceReport {
        self.engine().run_slice(self.engine().slice.get())
    }

    /// Runs tasks for at most `length`, for example what is left of a frame. With no time left no task runs; wakes and
    /// timers are still taken in.
    ///
    /// # Panics
    ///
    /// When a task calls it on its own scheduler.
    pub fn run_for(&self, length: Duration) -> SliceReport {
        self.engine().run_slice(nanos(length))
    }

    /// Says what the host is doing: slices are as long as its policy says from the next one on.
    pub fn set_activity(&self, activity: Activity) {
        let engine = self.engine();
        engine.slice.set(nanos((engine.slice_policy)(activity)));
    }

    /// Makes the running task give way at its next look (about 20 µs) and the slice end, so that the host has the
    /// thread, on input for example. Outside of a slice, the next one ends before it begins.
    pub fn request_yield(&self) {
        self.engine().remote.request_yield();
    }

    /// A handle with which other threads spawn tasks here.
    #[must_use]
    pub fn spawner(&self) -> Spawner {
        Spawner::new(self.engine().remote.clone())
    }

    /// The time on the scheduler's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.engine().read_clock())
    }

    /// How many tasks have not ended.
    #[must_use]
    pub fn live_tasks(&self) -> usize {
        self.engine().live()
    }

    /// All tasks that have not ended. It costs time in the number of tasks there ever were at once.
    #[must_use]
    pub fn tasks(&self) -> Vec<TaskSnapshot> {
        self.engine().snapshot()
    }

    /// What it has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let engine = self.engine();
        engine.counters.stats(|priority| engine.ready_at(priority))
    }

    /// How many timers are set.
    #[must_use]
    pub fn pending_timers(&self) -> usize {
        self.engine().timer_count()
    }

    /// Sets whom to ask for a turn when something becomes ready outside of a slice, from whatever thread. It is called
    /// at most once until the host's next turn. It must not block; it may be called on any thread.
    pub fn on_ready(&self, hook: impl Fn() + Send + Sync + 'static) {
        self.engine().remote.set_hook(alloc::sync::Arc::new(hook));
        self.engine().ask_host();
    }

    /// Cancels all tasks, drops them, and takes no more; later wakes do nothing. A task that runs just now ends at its
    /// next checkpoint.
    pub fn shutdown(&self) {
        self.engine().shutdown();
    }
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("live_tasks", &self.live_tasks()).finish_non_exhaustive()
    }
}

/// What a step of [`Scheduler::spawn_steps`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// There is more to do.
    More,
    /// That was all; this is the task's output.
    Done(T),
}

/// Starts a task in the scheduler that runs on this thread now: for use inside tasks.
///
/// # Panics
///
/// When no scheduler runs on this thread.
pub fn spawn<F>(priority: Priority, future: F) -> Task<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let Some(engine) = local::current() else {
        panic!(
            "colibri_core::spawn was called outside of a colibri scheduler's task: use Scheduler::spawn there"
        )
    };
    spawn_on(&engine, priority, 0, None, future)
}

/// What a task knows of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// Its id.
    pub id: TaskId,
    /// The name it was given.
    pub name: Option<String>,
}

/// The running task, or `None` outside of a scheduler's task.
#[must_use]
pub fn current() -> Option<TaskInfo> {
    let engine = local::current()?;
    let id = engine.running_id()?;
    Some(TaskInfo { id, name: engine.name(id) })
}

/// Notes how far the running task is, for [`Task::progress`] and [`Scheduler::tasks`]: `done`, of `total`, in whatever
/// unit. Outside of a scheduler's task it does nothing. It costs some 20 ns: call it once a ms, not in each iteration.
pub fn set_progress(done: u64, total: u64) {
    local::with_current(|engine| engine.set_progress((done, total)));
}

pub(crate) fn spawn_on<F>(
    engine: &Rc<Engine>,
    priority: Priority,
    flags: u8,
    extras: Option<Extras>,
    future: F,
) -> Task<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    match try_spawn_on(engine, priority, flags, extras, future) {
        Ok(task) => task,
        Err(_) => Task::new(engine.clone(), TaskId::NONE),
    }
}

pub(crate) fn try_spawn_on<F>(
    engine: &Rc<Engine>,
    priority: Priority,
    flags: u8,
    extras: Option<Extras>,
    future: F,
) -> Result<Task<F::Output>, SpawnError>
where
    F: Future + 'static,
    F::Output: 'static,
{
    match engine.admit(Box::pin(future), priority, flags, extras) {
        Ok(id) => {
            engine.tell();
            engine.ask_host();
            Ok(Task::new(engine.clone(), id))
        }
        Err((error, refused)) => {
            engine.dispose(Some(refused));
            Err(error)
        }
    }
}

/// A task that is not started yet.
#[must_use = "a task is not started before `spawn`"]
pub struct TaskBuilder<'s, F> {
    engine: &'s Rc<Engine>,
    future: F,
    priority: Priority,
    name: Option<String>,
    weight: Option<u32>,
    after: Option<Duration>,
    deadline: Option<Duration>,
    timeout: Option<Duration>,
}

impl<'s, F> TaskBuilder<'s, F>
where
    F: Future + 'static,
    F::Output: 'static,
{
    pub(crate) fn new(engine: &'s Rc<Engine>, future: F) -> Self {
        TaskBuilder {
            engine,
            future,
            priority: Priority::default(),
            name: None,
            weight: None,
            after: None,
            deadline: None,
            timeout: None,
        }
    }

    /// Its class; Normal if nothing is said.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// A name for reports. A named task costs some 100 bytes more.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Its share among the equals of its class: the quantum is multiplied by it. 0 counts as 1.
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = Some(weight.max(1));
        self
    }

    /// It becomes ready only when this time is over.
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = Some(delay);
        self
    }

    /// When it should be done, from now. Of the tasks of a class that are ready, the one with the earliest deadline is
    /// next, before those that have none; it does not interrupt an equal's turn. Who waits behind deadlines still rises
    /// after [`Builder::upgrade_after`].
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// How long it may take, from now: then it is dropped, as by a cancel, and its handle says
    /// [`TaskError::TimedOut`](crate::TaskError::TimedOut). Running, it stops at its next checkpoint.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Starts it.
    ///
    /// As with [`Scheduler::spawn`], the task is cancelled at once if the scheduler is shut down or full.
    pub fn spawn(self) -> Task<F::Output> {
        let engine = self.engine;
        let now = engine.read_clock();
        let from_now = |duration: Duration| now.saturating_add(nanos(duration));
        let start = self.after.map(from_now);
        let end = self.timeout.map(from_now);
        let extras = Extras {
            name: self.name,
            weight: self.weight,
            deadline: self.deadline.map(from_now),
            delayed: start.is_some(),
            ..Extras::default()
        };
        let any = extras.name.is_some() || extras.weight.is_some() || extras.deadline.is_some();
        let timed = start.is_some() || end.is_some();
        let task = spawn_on(engine, self.priority, 0, (any || timed).then_some(extras), self.future);
        if timed {
            engine.set_timers(task.id(), start, end);
        }
        task
    }
}

impl<F> fmt::Debug for TaskBuilder<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskBuilder")
            .field("priority", &self.priority)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A scheduler's figures, before it is built.
#[must_use = "a builder does nothing before `build`"]
pub struct Builder {
    slice: Option<Duration>,
    slice_policy: Option<Box<dyn Fn(Activity) -> Duration>>,
    quantum: Duration,
    upgrade_after: Duration,
    max_tasks: usize,
    always_yield: bool,
    shuffle: Option<u64>,
    clock: Box<dyn Clock>,
    observer: Option<Box<dyn Observer>>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            slice: None,
            slice_policy: None,
            quantum: DEFAULT_QUANTUM,
            upgrade_after: DEFAULT_UPGRADE_AFTER,
            max_tasks: usize::MAX,
            always_yield: false,
            shuffle: None,
            clock: Box::new(SystemClock),
            observer: None,
        }
    }
}

impl Builder {
    /// How long the scheduler may hold the thread, whatever the host does; as [`Activity::slice`] says if nothing is
    /// said, which is [`DEFAULT_SLICE`](crate::DEFAULT_SLICE) at first. In slices of zero length no task runs.
    pub fn slice(mut self, slice: Duration) -> Self {
        self.slice = Some(slice);
        self
    }

    /// How long the scheduler may hold the thread while the host does this or that. It wins over
    /// [`slice`](Builder::slice), and is asked at each [`Scheduler::set_activity`].
    pub fn slice_policy(mut self, policy: impl Fn(Activity) -> Duration + 'static) -> Self {
        self.slice_policy = Some(Box::new(policy));
        self
    }

    /// How long a task may run before an equal gets its turn; [`DEFAULT_QUANTUM`] if nothing is said, at least 1 ns and at
    /// most 4 s.
    pub fn quantum(mut self, quantum: Duration) -> Self {
        self.quantum = quantum;
        self
    }

    /// How long a task may be ready without running before it rises one class; [`DEFAULT_UPGRADE_AFTER`] if nothing is
    /// said, in whole µs, and at most an hour.
    pub fn upgrade_after(mut self, upgrade_after: Duration) -> Self {
        self.upgrade_after = upgrade_after;
        self
    }

    /// How many tasks may live at a time; as many as there is memory for if nothing is said. One more is refused: [`Scheduler::try_spawn`] and
    /// [`Spawner::spawn`](crate::Spawner::spawn) say so at once, the handle of [`Scheduler::spawn`] that it was cancelled.
    pub fn max_tasks(mut self, max_tasks: usize) -> Self {
        self.max_tasks = max_tasks;
        self
    }

    /// Test mode: every check gives way, so that whatever a task does between two of them happens between others' turns.
    pub fn always_yield(mut self, always_yield: bool) -> Self {
        self.always_yield = always_yield;
        self
    }

    /// Test mode: who is next among equals is drawn from `seed`, not taken in turn.
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffle = Some(seed);
        self
    }

    /// The clock; [`SystemClock`] if nothing is said.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Who is told what happens.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Builds the scheduler.
    #[must_use]
    pub fn build(self) -> Scheduler {
        const LONGEST_QUANTUM: Duration = Duration::from_secs(4);
        const LONGEST_WAIT: Duration = Duration::from_secs(3600);
        let slice_policy = self.slice_policy.unwrap_or_else(|| match self.slice {
            Some(slice) => Box::new(move |_| slice),
            None => Box::new(Activity::slice),
        });
        let figures = Figures {
            quantum: nanos(self.quantum.clamp(Duration::from_nanos(1), LONGEST_QUANTUM)),
            // Clamped to an hour just before, which is 3.6e9 µs.
            upgrade_after_micros: self.upgrade_after.min(LONGEST_WAIT).as_micros() as u32,
            max_tasks: self.max_tasks,
            always_yield: self.always_yield,
            shuffle: self.shuffle.map(|seed| seed | 1 << 63),
        };
        let engine = Engine::new(figures, slice_policy, self.clock, Events::new(self.observer));
        let engine = Rc::new(engine);
        Scheduler { owner: Rc::new(Owner { engine }) }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("slice", &self.slice)
            .field("quantum", &self.quantum)
            .field("upgrade_after", &self.upgrade_after)
            .field("max_tasks", &self.max_tasks)
            .finish_non_exhaustive()
    }
}
