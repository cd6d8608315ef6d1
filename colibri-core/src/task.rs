//! A task's handle, id and errors.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use core::any::Any;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};

#[cfg(feature = "std")]
use crate::abort::AbortHandle;
use crate::engine::Engine;
use crate::priority::Priority;
use crate::stats::TaskStats;

/// A task's id, unique for the scheduler's life.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u64);

impl TaskId {
    pub(crate) fn new(index: u32, generation: u32) -> Self {
        TaskId(u64::from(generation) << 32 | u64::from(index))
    }

    /// The id of a task that was refused.
    const REFUSED: TaskId = TaskId(u64::MAX);

    /// The same, once its handle has said so.
    const KNOWN_AS_REFUSED: TaskId = TaskId(u64::MAX - 1);

    /// Index and generation.
    pub(crate) fn parts(self) -> (u32, u32) {
        (self.0 as u32, (self.0 >> 32) as u32)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (index, generation) = self.parts();
        if generation == 0 { write!(f, "{index}") } else { write!(f, "{index}.{generation}") }
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({self})")
    }
}

/// Why a task has no output.
#[non_exhaustive]
pub enum TaskError {
    /// It was cancelled, or its scheduler was shut down or had no room.
    Cancelled,
    /// It panicked, with this payload; `std::panic::resume_unwind` passes it on.
    Panicked(Box<dyn Any + Send>),
    /// Its time was over.
    TimedOut,
}

impl TaskError {
    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, TaskError::Cancelled)
    }

    /// What the panic said, if it was a panic with a text.
    #[must_use]
    pub fn panic_message(&self) -> Option<&str> {
        let TaskError::Panicked(payload) = self else { return None };
        payload
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Cancelled => f.write_str("the task was cancelled"),
            TaskError::TimedOut => f.write_str("the task's time was over"),
            TaskError::Panicked(_) => match self.panic_message() {
                Some(message) => write!(f, "the task panicked: {message}"),
                None => f.write_str("the task panicked"),
            },
        }
    }
}

impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Cancelled => f.write_str("Cancelled"),
            TaskError::TimedOut => f.write_str("TimedOut"),
            TaskError::Panicked(_) => f.debug_tuple("Panicked").field(&self.panic_message()).finish(),
        }
    }
}

impl core::error::Error for TaskError {}

/// Why a task was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpawnError {
    /// As many tasks live as [`Builder::max_tasks`](crate::Builder::max_tasks) allows.
    Full,
    /// The scheduler is shut down, or gone.
    ShutDown,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SpawnError::Full => "the scheduler has as many tasks as its max_tasks allows",
            SpawnError::ShutDown => "the scheduler is shut down and takes no more tasks",
        })
    }
}

impl core::error::Error for SpawnError {}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// Waits for a wake.
    Waiting,
    /// Could run now.
    Ready,
    /// Runs.
    Running,
    /// Hovers: keeps its state, costs nothing, and goes on when it is resumed.
    Paused,
    /// Has ended, in whatever way.
    Finished,
}

/// A task as [`Scheduler::tasks`](crate::Scheduler::tasks) saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskSnapshot {
    /// Its id.
    pub id: TaskId,
    /// The name it was given.
    pub name: Option<String>,
    /// Its own class.
    pub priority: Priority,
    /// What it is doing.
    pub state: TaskState,
    /// How far it said it is: what is done, of how much.
    pub progress: Option<(u64, u64)>,
    /// What it used so far, if that is kept; see [`Task::stats`].
    pub stats: Option<TaskStats>,
}

/// A handle to a task: a future of its output, and what steers it.
///
/// Dropping the handle detaches the task, which runs on; see [`Task::cancel_on_drop`].
///
/// As a future it is ready when the task has ended and everything that the task captured is dropped. Its output is a
/// [`TaskError`] if the task was cancelled, panicked, or ran out of its time. It never panics: awaited again after it was
/// ready, or after [`try_take`](Task::try_take) took the output, it returns [`TaskError::Cancelled`].
///
/// While a task awaits it, the awaited one runs in the waiter's class, if that is the higher one, and so do those that it
/// awaits itself: else tasks in between could keep a low one from running for which a high one waits. That ends when the waiter
/// is polled and does not poll the handle again; under a combinator that polls its parts by wakers of its own
/// (`FuturesUnordered`), when the handle is dropped or either task ends.
#[must_use = "dropping the handle detaches the task; to mean that, say drop(task)"]
pub struct Task<T> {
    engine: Rc<Engine>,
    id: TaskId,
    cancel_on_drop: bool,
    output: PhantomData<fn() -> T>,
}

impl<T: 'static> Task<T> {
    pub(crate) fn new(engine: Rc<Engine>, id: TaskId) -> Self {
        Task { engine, id, cancel_on_drop: false, output: PhantomData }
    }

    /// The handle of a task that was not accepted: it says that it was cancelled.
    pub(crate) fn refused(engine: &Rc<Engine>) -> Self {
        Task::new(engine.clone(), TaskId::REFUSED)
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// The name it was given, while it lives.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        self.engine.name(self.id)
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.engine.state(self.id)
    }

    /// How far it said it is, with [`set_progress`](crate::set_progress), while it lives: what is done, of how much.
    #[must_use]
    pub fn progress(&self) -> Option<(u64, u64)> {
        self.engine.progress(self.id)
    }

    /// What it used so far, also after it has ended, until its output is taken.
    ///
    /// `None` if nobody asked for an account: only tasks of
    /// [`TaskBuilder::with_stats`](crate::TaskBuilder::with_stats) or
    /// [`Builder::task_stats`](crate::Builder::task_stats) pay for one.
    #[must_use]
    pub fn stats(&self) -> Option<TaskStats> {
        self.engine.task_stats(self.id)
    }

    /// Its own class, or `None` when it has ended and its output was taken.
    #[must_use]
    pub fn priority(&self) -> Option<Priority> {
        self.engine.priority(self.id)
    }

    /// Whether it has ended: finished, panicked, or was cancelled.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.state() == TaskState::Finished
    }

    /// Its output, or why it has none, if it has ended and this was not taken before; `None` otherwise.
    pub fn try_take(&mut self) -> Option<Result<T, TaskError>> {
        if self.id == TaskId::REFUSED {
            self.id = TaskId::KNOWN_AS_REFUSED;
            return Some(Err(TaskError::Cancelled));
        }
        self.engine.take(self.id)
    }

    /// Ends it: it never runs again, and its future, with all it captured, is dropped when this returns. If it is the
    /// running task, that happens when its poll ends, at the next checkpoint at the latest. It is O(1) (but see
    /// [`TaskBuilder`](crate::TaskBuilder)), does nothing to a task that has ended, and may be called from anywhere, the
    /// task itself included.
    ///
    /// Where destructors cancel tasks whose destructors cancel tasks, more than 64 of them one in the other, those below
    /// are dropped by the outermost call, before that returns but after the `cancel` inside of it that ended them has
    /// returned: a longer chain would overflow the stack.
    pub fn cancel(&self) {
        self.engine.cancel(self.id);
    }

    /// A handle with which any thread can cancel it. It keeps neither the task nor the scheduler alive.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle::new(self.engine.remote.clone(), self.id)
    }

    /// Makes it hover: it keeps its whole state, does not run, and costs nothing until it is resumed. Wakes and timers
    /// that come meanwhile are remembered. It is O(1) (but see [`TaskBuilder`](crate::TaskBuilder)) and idempotent. The running task stops at its next checkpoint.
    pub fn pause(&self) {
        self.engine.pause(self.id);
    }

    /// Lets it go on, at the tail of its class, if it was ready or woken. It is O(1) (but see [`TaskBuilder`](crate::TaskBuilder)) and idempotent.
    pub fn resume(&self) {
        self.engine.resume(self.id);
    }

    /// Moves it to another class, to that class's tail if it is ready. What it has waited there counts towards its rise
    /// ([`Builder::upgrade_after`](crate::Builder::upgrade_after)) in the new class as well. A move to the class that it has
    /// changes nothing.
    ///
    /// It is O(1) in the number of tasks; of one that has waited, O(log m) in the number m of those that were moved while they
    /// waited and have not run since. Where the task awaits another one's handle, which awaits a third, it is O(1) for each of
    /// these, since their lift changes as well.
    pub fn set_priority(&self, priority: Priority) {
        self.engine.set_priority(self.id, priority);
    }

    /// Makes the drop of this handle cancel the task.
    pub fn cancel_on_drop(mut self) -> Self {
        self.cancel_on_drop = true;
        self
    }
}

impl<T: 'static> Future for Task<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(output) = self.engine.take(self.id) {
            return Poll::Ready(output);
        }
        if self.engine.set_joiner(self.id, context.waker()) {
            return Poll::Pending;
        }
        Poll::Ready(self.engine.take(self.id).unwrap_or(Err(TaskError::Cancelled)))
    }
}

impl<T> Unpin for Task<T> {}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if self.cancel_on_drop {
            self.engine.cancel(self.id);
        }
        self.engine.detach(self.id);
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id).finish_non_exhaustive()
    }
}
