//! What is tested: a scheduler behind a small trait, so that colibri's own, broken ones and other people's can be
//! put in the same place.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use colibri_core::ManualClock;

use crate::trace::Recorder;
use crate::workload::{Class, Settings};

/// A scheduler under test. Clones are handles on the same one.
///
/// Five methods are enough: how to make one, spawn, run, join, and how to end it. The rest has a default for schedulers that do not
/// offer it; what one offers it lists in [`Subject::SKILLS`], and workloads are drawn without the rest. Readiness, polls
/// and ends are seen from outside, through the tasks' wakers; a scheduler that tells of them itself writes the first group
/// of [`What`](crate::trace::What) into the [`Recorder`] and says so ([`Subject::OBSERVED`]).
pub trait Subject: Clone + 'static {
    /// A handle on a task. Dropping it must not end the task.
    type Task: 'static;

    /// What it is called in tables.
    const NAME: &'static str;

    /// What it offers beside spawning, waking, yielding and joining.
    const SKILLS: &'static [Skill] = &[];

    /// Whether it notes its events itself, more exactly than they can be seen from outside.
    const OBSERVED: bool = false;

    /// Makes one, on this clock.
    fn new(settings: &Settings, clock: &ManualClock, recorder: &Recorder) -> Self;

    /// Spawns `future` as this task. One that is full drops the future, and what it returns is not used.
    fn spawn<F>(&self, spec: Spec, future: F) -> Self::Task
    where
        F: Future<Output = ()> + 'static;

    /// Runs what is ready, for the given length, or for one of its own; not longer than there is something ready.
    fn run_slice(&self, length: Option<Duration>) -> Turn;

    /// Waits for the end of `task`, however it ends.
    fn poll_join(&self, task: &mut Self::Task, context: &mut Context<'_>) -> Poll<()>;

    /// Drops every task.
    fn shutdown(&self);

    /// A checkpoint, inside a task: by default each gives way.
    fn checkpoint(&self) -> impl Future<Output = ()> {
        self.yield_now()
    }

    /// Gives way once, inside a task: by default it wakes its own task.
    fn yield_now(&self) -> impl Future<Output = ()> {
        let mut gave_way = false;
        poll_fn(move |context| {
            if std::mem::replace(&mut gave_way, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }

    /// Sleeps, inside a task. Only for who has [`Skill::Timers`]: for others the harness wakes sleepers, as a reactor on
    /// another thread would.
    fn sleep(&self, _span: Duration) -> impl Future<Output = ()> {
        pending()
    }

    /// Ends `task`, for [`Skill::Cancel`].
    fn cancel(&self, _task: &mut Self::Task) {}

    /// Lets `task` hover, for [`Skill::Pause`].
    fn pause(&self, _task: &Self::Task) {}

    /// Lets `task` go on, for [`Skill::Pause`].
    fn resume(&self, _task: &Self::Task) {}

    /// Moves `task` to another class, for [`Skill::Classes`].
    fn set_class(&self, _task: &Self::Task, _class: Class) {}

    /// Asks the running task to give way to the host, for [`Skill::Requests`].
    fn request_yield(&self) {}

    /// Says what the host is doing (one of [`Settings::policy`]), for [`Skill::Activity`].
    fn set_activity(&self, _activity: usize) {}

    /// Spawns `future` in the place of what was submitted before in this class, which is cancelled: for
    /// [`Skill::Cancel`]. One that keeps the handle itself returns none and is given none.
    fn submit<F>(&self, spec: Spec, future: F, before: Option<Self::Task>) -> Option<Self::Task>
    where
        F: Future<Output = ()> + 'static,
    {
        if let Some(mut before) = before {
            self.cancel(&mut before);
        }
        Some(self.spawn(spec, future))
    }

    /// Spawns `future` from another thread, and returns when that has happened: whether it was accepted. For [`Skill::Afar`]: who
    /// has it notes [`What::Admitted`](crate::trace::What::Admitted) when the task is taken in. Nobody keeps a handle.
    fn spawn_from_afar<F>(&self, _spec: Spec, _future: F) -> bool
    where
        F: Future<Output = ()> + 'static,
    {
        false
    }

    /// Wakes a task from another thread, and returns when that has happened.
    fn wake_from_afar(&self, waker: Waker) {
        // A waker that panics has done so on the other thread.
        let _ = std::thread::spawn(move || waker.wake()).join();
    }

    /// Runs `future` for at most `limit`: whether it was done by then. For [`Skill::Timers`], by default with `sleep`.
    fn within<F>(&self, limit: Duration, future: F) -> impl Future<Output = bool>
    where
        F: Future<Output = ()>,
    {
        race(self.sleep(limit), future)
    }

    /// The time that it goes by, in nanoseconds.
    fn now(&self, clock: &ManualClock) -> u64 {
        clock.now().as_nanos()
    }

    /// How often it has asked the host for a turn so far, for [`Skill::Asks`].
    fn asked(&self) -> u64 {
        0
    }
}

/// Whether `future` is done before `limit`, which is looked at first.
pub(crate) async fn race(limit: impl Future<Output = ()>, future: impl Future<Output = ()>) -> bool {
    let (mut limit, mut future) = (pin!(limit), pin!(future));
    poll_fn(|context| {
        if limit.as_mut().poll(context).is_ready() {
            return Poll::Ready(false);
        }
        future.as_mut().poll(context).map(|()| true)
    })
    .await
}

/// What a scheduler may offer, and need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skill {
    /// Classes, one before the other.
    Classes,
    /// Weights among equals.
    Weights,
    /// Timers of its own.
    Timers,
    /// Tasks can be cancelled.
    Cancel,
    /// Tasks can be paused and resumed.
    Pause,
    /// The host can ask for the thread.
    Requests,
    /// Deadlines among equals.
    Deadlines,
    /// A limit on how many tasks live.
    Limit,
    /// Slices that follow what the host is doing.
    Activity,
    /// It goes by the clock that it is given, whatever that does.
    Clock,
    /// It outlives destructors that panic.
    BadDrops,
    /// It outlives wakers that panic.
    BadWakers,
    /// It asks the host for a turn.
    Asks,
    /// It takes tasks from other threads, and notes when.
    Afar,
}

impl Skill {
    /// All of them.
    pub const ALL: [Skill; 14] = [
        Skill::Classes,
        Skill::Weights,
        Skill::Timers,
        Skill::Cancel,
        Skill::Pause,
        Skill::Requests,
        Skill::Deadlines,
        Skill::Limit,
        Skill::Activity,
        Skill::Clock,
        Skill::BadDrops,
        Skill::BadWakers,
        Skill::Asks,
        Skill::Afar,
    ];

    /// What a scheduler has none of that does not offer this.
    pub fn noun(self) -> &'static str {
        match self {
            Skill::Classes => "classes",
            Skill::Weights => "weights",
            Skill::Timers => "timers",
            Skill::Cancel => "cancel",
            Skill::Pause => "pause",
            Skill::Requests => "requests",
            Skill::Deadlines => "deadlines",
            Skill::Limit => "limit",
            Skill::Activity => "activity",
            Skill::Clock => "clock of its own",
            Skill::BadDrops => "shield from destructors",
            Skill::BadWakers => "shield from wakers",
            Skill::Asks => "questions to the host",
            Skill::Afar => "spawns from other threads",
        }
    }
}

/// The task that is spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spec {
    /// Its number in the workload.
    pub number: u32,
    /// Its class.
    pub class: Class,
    /// How many quanta its turn lasts: at least 1.
    pub weight: u32,
    /// By when it should be done, from now.
    pub deadline: Option<Duration>,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Something is ready. (Of one that does not note its events the harness sees that itself.)
    pub work_left: bool,
    /// When the next timer is due, in nanoseconds. `None`: there is none, or the timers are the harness's.
    pub next_timer: Option<u64>,
}
