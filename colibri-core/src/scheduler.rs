//! The scheduler: what users hold.

use alloc::boxed::Box;
use alloc::rc::Rc;
#[cfg(feature = "std")]
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::future::Future;
use core::time::Duration;

use crate::activity::Activity;
#[cfg(feature = "std")]
use crate::builder::Builder;
use crate::builder::TaskBuilder;
use crate::checkpoint::checkpoint;
use crate::engine::{Engine, Extras, Owner};
use crate::instant::{Instant, nanos};
#[cfg(feature = "std")]
use crate::local;
use crate::priority::Priority;
use crate::slice::SliceReport;
#[cfg(feature = "std")]
use crate::spawner::Spawner;
use crate::stats::Stats;
#[cfg(feature = "std")]
use crate::task::TaskId;
use crate::task::{SpawnError, Task, TaskSnapshot};
use crate::timer::Sleep;

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
    pub(crate) fn of(engine: Rc<Engine>) -> Self {
        Scheduler { owner: Rc::new(Owner { engine }) }
    }

    /// A scheduler with the default figures and the system's clock.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Sets figures, clock and observer first.
    #[cfg(feature = "std")]
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

    /// Describes a task before it is started, with [`TaskBuilder::spawn`] or [`TaskBuilder::try_spawn`].
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
        self.engine().run_slice(self.engine().slice.get(), None)
    }

    /// Runs tasks for at most `length`, for example what is left of a frame. With no time left no task runs; wakes and
    /// timers are still taken in.
    ///
    /// # Panics
    ///
    /// When a task calls it on its own scheduler.
    pub fn run_for(&self, length: Duration) -> SliceReport {
        self.engine().run_slice(nanos(length), None)
    }

    /// Says what the host is doing: slices are as long as its policy says from the next one on.
    pub fn set_activity(&self, activity: Activity) {
        let engine = self.engine();
        engine.slice.set(nanos((engine.slice_policy)(activity)));
    }

    /// Makes the running task give way at its next look (about 20 µs) and the slice end, so that the host has the
    /// thread, on input for example. Outside of a slice, the next one ends before it begins. Other threads ask with
    /// `Spawner::request_yield`.
    pub fn request_yield(&self) {
        self.engine().remote.request_yield();
    }

    /// A handle with which other threads spawn tasks here.
    #[cfg(feature = "std")]
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
        self.engine().stats()
    }

    /// How many timers are set.
    #[must_use]
    pub fn pending_timers(&self) -> usize {
        self.engine().timer_count()
    }

    /// Waits until `duration` from now, in whatever task, of this scheduler, another one or another executor; see
    /// [`Sleep`]. Without the feature `std` this is the way for the scheduler's own tasks, too.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_until(self.now() + duration)
    }

    /// Waits until the scheduler's clock shows `deadline`; see [`Scheduler::sleep`].
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        Sleep::on(self.engine().clone(), deadline)
    }

    /// Sets whom to ask for a turn when something becomes ready outside of a slice, from whatever thread. It is called
    /// at most once until the host's next turn; once more if another thread wakes a task while the hook is being set. It
    /// must not block; it may be called on any thread.
    ///
    /// The wake that asks pays for the call: it takes a lock, for as long as copying an `Arc` takes, and calls the hook.
    /// Wakes that find the host asked, or at its turn, pay nothing.
    #[cfg(feature = "std")]
    pub fn on_ready(&self, hook: impl Fn() + Send + Sync + 'static) {
        self.engine().remote.set_hook(alloc::sync::Arc::new(hook));
        self.engine().ask_host();
    }

    /// Cancels all tasks, drops them, and takes no more; later wakes do nothing. A task that runs just now ends at its
    /// next checkpoint. Outside of a slice the host is asked for a turn once more, so that it learns of it.
    pub fn shutdown(&self) {
        self.engine().ask_host_to_part();
        self.engine().shutdown();
    }

    /// Whether it was shut down: a host need not come back.
    #[must_use]
    pub fn is_shut_down(&self) -> bool {
        self.engine().is_closed()
    }
}

#[cfg(feature = "std")]
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
#[cfg(feature = "std")]
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
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// Its id.
    pub id: TaskId,
    /// The name it was given.
    pub name: Option<String>,
}

/// The running task, or `None` outside of a scheduler's task.
#[cfg(feature = "std")]
#[must_use]
pub fn current() -> Option<TaskInfo> {
    let engine = local::current()?;
    let id = engine.running_id()?;
    Some(TaskInfo { id, name: engine.name(id) })
}

/// Notes how far the running task is, for [`Task::progress`] and [`Scheduler::tasks`]: `done`, of `total`, in whatever
/// unit. Outside of a scheduler's task it does nothing. It costs some 20 ns: call it once a ms, not in each iteration.
#[cfg(feature = "std")]
pub fn set_progress(done: u64, total: u64) {
    local::with_current(|engine| engine.set_progress((done, total)));
}

pub(crate) fn spawn_on<F>(
    engine: &Rc<Engine>,
    priority: Priority,
    flags: u8,
    extras: Option<Box<Extras>>,
    future: F,
) -> Task<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    try_spawn_on(engine, priority, flags, extras, future).unwrap_or_else(|_| Task::refused(engine))
}

pub(crate) fn try_spawn_on<F>(
    engine: &Rc<Engine>,
    priority: Priority,
    flags: u8,
    extras: Option<Box<Extras>>,
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
