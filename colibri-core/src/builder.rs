//! What is said of a task before it starts, and of a scheduler before it is built.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;
use core::time::Duration;

use crate::activity::Activity;
use crate::clock::Clock;
use crate::engine::{Engine, Extras, Figures};
use crate::event::{Events, Observer};
use crate::instant::nanos;
use crate::priority::Priority;
use crate::remote::Hook;
use crate::scheduler::{Scheduler, try_spawn_on};
use crate::slice::{DEFAULT_QUANTUM, DEFAULT_UPGRADE_AFTER};
#[cfg(feature = "std")]
use crate::stall::StallDetector;
use crate::stats::TaskStats;
use crate::summary::{Summaries, Summary};
use crate::task::{SpawnError, Task};

/// The longest quantum, and the longest turn of a weighted task, 4 s: what a task used of it is kept in nanoseconds in 32 bits,
/// which hold 4.29 s. Of a longer one no task would ever have used all.
pub(crate) const LONGEST_QUANTUM: Duration = Duration::from_secs(4);

/// The longest wait after which a task may rise, an hour: times of becoming ready are kept in µs in 32 bits, which wrap after 71
/// minutes.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// A task that is not started yet.
///
/// What few tasks have (a name, a weight, a delay, a deadline, a timeout, an account of their own) lies in an allocation beside
/// the others, found in O(1). What is in order of time, timers and the deadlines of ready tasks, is O(log n) in their number.
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
    stats: bool,
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
            stats: false,
        }
    }

    /// Its class; Normal if nothing is said.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// A name for reports. A task with a name, or with anything else that few have, takes some 200 bytes more.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Its share among the equals of its class: the quantum is multiplied by it, up to turns of 4 s. 0 counts as 1. Shares are of
    /// tasks, not of groups: ten tasks that one user has started get ten shares. Equals wait for its longer turns, and so does
    /// whoever is promoted beside it: a bound on waits is one of the longest turn.
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
    /// after [`Builder::upgrade_after`]. It costs O(log n)
    /// a turn in the number of ready tasks with a deadline.
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

    /// Keeps an account of what it uses, for [`Task::stats`](crate::Task::stats). It costs two reads of the clock a poll,
    /// and some 200 bytes.
    pub fn with_stats(mut self) -> Self {
        self.stats = true;
        self
    }

    /// Starts it.
    ///
    /// As with [`Scheduler::spawn`], the task is cancelled at once if the scheduler is shut down or full.
    pub fn spawn(self) -> Task<F::Output> {
        let engine = self.engine;
        self.try_spawn().unwrap_or_else(|_| Task::refused(engine))
    }

    /// Starts it, or says why it cannot.
    ///
    /// ```
    /// use colibri_core::{Priority, Scheduler, SpawnError};
    ///
    /// let scheduler = Scheduler::builder().max_tasks(1).build();
    /// let first = scheduler.task(async { 1 }).name("first").try_spawn().unwrap();
    /// let second = scheduler.task(async { 2 }).name("second").try_spawn();
    /// assert_eq!(second.unwrap_err(), SpawnError::Full);
    /// assert_eq!(scheduler.run_slice().tasks_run, 1);
    /// drop(first);
    /// ```
    ///
    /// # Errors
    ///
    /// [`SpawnError`] if the scheduler is full or shut down. The future is dropped then, and no timer is set.
    pub fn try_spawn(self) -> Result<Task<F::Output>, SpawnError> {
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
            account: self.stats.then(TaskStats::default),
            ..Extras::default()
        };
        let any = self.stats || extras.name.is_some() || extras.weight.is_some() || extras.deadline.is_some();
        let timed = start.is_some() || end.is_some();
        let extras = (any || timed).then(|| Box::new(extras));
        let task = try_spawn_on(engine, self.priority, 0, extras, self.future)?;
        if timed {
            engine.set_timers(task.id(), start, end);
        }
        Ok(task)
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
    task_stats: bool,
    always_yield: bool,
    shuffle: Option<u64>,
    clock: Box<dyn Clock>,
    observer: Option<Box<dyn Observer>>,
    summaries: Option<Summaries>,
    #[cfg(feature = "std")]
    stall_detector: Option<StallDetector>,
    hook: Option<Hook>,
}

#[cfg(feature = "std")]
impl Default for Builder {
    fn default() -> Self {
        Builder::with_clock(crate::clock::SystemClock)
    }
}

impl Builder {
    /// The default figures, and the clock that the scheduler goes by. Without the feature `std` this is where every
    /// scheduler begins.
    pub fn with_clock(clock: impl Clock) -> Self {
        Builder {
            slice: None,
            slice_policy: None,
            quantum: DEFAULT_QUANTUM,
            upgrade_after: DEFAULT_UPGRADE_AFTER,
            max_tasks: usize::MAX,
            task_stats: false,
            always_yield: false,
            shuffle: None,
            clock: Box::new(clock),
            observer: None,
            summaries: None,
            #[cfg(feature = "std")]
            stall_detector: None,
            hook: None,
        }
    }

    /// How long the scheduler may hold the thread, whatever the host does; as [`Activity::slice`] says if nothing is
    /// said, which is [`DEFAULT_SLICE`](crate::DEFAULT_SLICE) at first. In slices of zero length no task runs, and
    /// `run` and `block_on` wait for ever.
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

    /// How many tasks may live at a time; as many as there is memory for if nothing is said. One more is refused: [`Scheduler::try_spawn`], [`TaskBuilder::try_spawn`] and
    /// [`Spawner::spawn`](crate::Spawner::spawn) say so at once, the handle of [`Scheduler::spawn`] that it was cancelled.
    pub fn max_tasks(mut self, max_tasks: usize) -> Self {
        self.max_tasks = max_tasks;
        self
    }

    /// Keeps an account of every task, as [`TaskBuilder::with_stats`] does of one.
    pub fn task_stats(mut self, task_stats: bool) -> Self {
        self.task_stats = task_stats;
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

    /// The clock; [`SystemClock`](crate::SystemClock) if nothing is said.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Who is told what happens. There is one observer, the last that was given; a pair of observers is one, too:
    ///
    /// ```
    /// use colibri_core::{Observer, Scheduler, TaskEvent};
    ///
    /// struct Counts;
    /// impl Observer for Counts {}
    /// struct Prints;
    /// impl Observer for Prints {
    ///     fn panicked(&self, task: &TaskEvent) {
    ///         eprintln!("task {} panicked", task.id);
    ///     }
    /// }
    ///
    /// let scheduler = Scheduler::builder().observer((Counts, Prints)).build();
    /// # drop(scheduler);
    /// ```
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Whom to tell every so often what was done since the last time: a [`Summary`] is one line when it is displayed. It comes at
    /// the end of the first slice after so much time, so that an idle scheduler says nothing. It costs a comparison a slice.
    pub fn summary(mut self, every: Duration, tell: impl Fn(&Summary) + 'static) -> Self {
        self.summaries = Some(Summaries::new(every, Box::new(tell)));
        self
    }

    /// Who watches for tasks that hold the thread, from a thread of its own.
    #[cfg(feature = "std")]
    pub fn stall_detector(mut self, detector: StallDetector) -> Self {
        self.stall_detector = Some(detector);
        self
    }

    /// Whom to ask for a turn when something becomes ready outside of a slice; see
    /// [`Scheduler::on_ready`], which sets it later.
    pub fn on_ready(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Builds the scheduler.
    #[must_use]
    pub fn build(self) -> Scheduler {
        let slice_policy = self.slice_policy.unwrap_or_else(|| match self.slice {
            Some(slice) => Box::new(move |_| slice),
            None => Box::new(Activity::slice),
        });
        let figures = Figures {
            quantum: nanos(self.quantum.clamp(Duration::from_nanos(1), LONGEST_QUANTUM)),
            // Clamped to an hour just before, which is 3.6e9 µs.
            upgrade_after_micros: self.upgrade_after.min(LONGEST_WAIT).as_micros() as u32,
            max_tasks: self.max_tasks,
            task_stats: self.task_stats,
            always_yield: self.always_yield,
            shuffle: self.shuffle.map(|seed| seed | 1 << 63),
        };
        let engine = Engine::new(figures, slice_policy, self.clock, Events::new(self.observer), self.hook);
        if let Some(summaries) = self.summaries {
            engine.set_summaries(summaries);
        }
        #[cfg(feature = "std")]
        if let Some(detector) = self.stall_detector {
            engine.set_watch(detector.watch(engine.remote.clone()));
        }
        Scheduler::of(Rc::new(engine))
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
