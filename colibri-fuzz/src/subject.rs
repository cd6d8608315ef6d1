//! What is tested: a scheduler behind a small trait, so that colibri's own, broken ones and other people's can be
//! put in the same place.

use std::future::Future;
use std::task::{Context, Poll};
use std::time::Duration;

use colibri_core::ManualClock;

use crate::trace::Recorder;
use crate::workload::{Class, Settings};

/// A scheduler under test. Clones are handles on the same one.
///
/// It writes what it does into the [`Recorder`] that it was made with: the first group of
/// [`What`](crate::trace::What). One that cannot ([`Subject::OBSERVED`]) is judged by what its tasks note.
pub trait Subject: Clone + 'static {
    /// A handle on a task. Dropping it must not end the task.
    type Task: 'static;

    /// Whether it notes its events itself. If not, the tasks' own polls are taken for them: promises about
    /// readiness then see nothing, those about life, time and order still hold it to account.
    const OBSERVED: bool = true;

    /// Makes one, on this clock.
    fn new(settings: &Settings, clock: &ManualClock, recorder: &Recorder) -> Self;

    /// Spawns `future` as this task.
    fn spawn<F>(&self, spec: Spec, future: F) -> Self::Task
    where
        F: Future<Output = ()> + 'static;

    /// Runs one slice: of the given length, or of its own.
    fn run_slice(&self, length: Option<Duration>) -> Turn;

    /// A checkpoint, inside a task.
    fn checkpoint(&self) -> impl Future<Output = ()>;

    /// Gives way once, inside a task.
    fn yield_now(&self) -> impl Future<Output = ()>;

    /// Sleeps, inside a task.
    fn sleep(&self, span: Duration) -> impl Future<Output = ()>;

    /// Waits for the end of `task`, however it ends.
    fn poll_join(&self, task: &mut Self::Task, context: &mut Context<'_>) -> Poll<()>;

    /// Ends `task`.
    fn cancel(&self, task: &Self::Task);

    /// Lets `task` hover.
    fn pause(&self, task: &Self::Task);

    /// Lets `task` go on.
    fn resume(&self, task: &Self::Task);

    /// Moves `task` to another class.
    fn set_class(&self, task: &Self::Task, class: Class);

    /// Asks the running task to give way to the host.
    fn request_yield(&self);

    /// Drops every task.
    fn shutdown(&self);
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
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Something is ready.
    pub work_left: bool,
    /// When the next timer is due, in nanoseconds.
    pub next_timer: Option<u64>,
}
