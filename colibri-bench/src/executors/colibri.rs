//! colibri's scheduler.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use colibri_core::{Priority, Scheduler, Task};

use super::{Class, Executor, Extra};

#[derive(Debug, Clone)]
pub(crate) struct Colibri(Scheduler);

/// A task whose output is taken for granted.
#[derive(Debug)]
pub(crate) struct Handle<T>(Task<T>);

impl<T: 'static> Future for Handle<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(context).map(|ended| ended.expect("the task ends by itself"))
    }
}

/// colibri's name for a class.
pub(crate) fn priority(class: Class) -> Priority {
    match class {
        Class::Immediate => Priority::Immediate,
        Class::Normal => Priority::Normal,
        Class::Idle => Priority::Idle,
    }
}

impl Executor for Colibri {
    type Handle<T: 'static> = Handle<T>;

    const HAS_TIMERS: bool = true;
    const HAS_PAUSE: bool = true;
    const HAS_EXTRAS: bool = true;

    fn new() -> Self {
        Self(Scheduler::new())
    }

    fn spawn_as<T: 'static>(&self, class: Class, future: impl Future<Output = T> + 'static) -> Handle<T> {
        Handle(self.0.spawn(priority(class), future))
    }

    fn spawn_with(&self, extra: Extra, future: impl Future<Output = ()> + 'static) -> Handle<()> {
        let task = self.0.task(future);
        let task = match extra {
            Extra::Name => task.name("a task with a name"),
            Extra::Weight => task.weight(2),
            Extra::Deadline => task.deadline(Duration::from_secs(1)),
            Extra::Account => task.with_stats(),
        };
        Handle(task.spawn())
    }

    fn cancel<T: 'static>(Handle(task): Handle<T>) {
        task.cancel();
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }

    fn yield_now() -> impl Future<Output = ()> + 'static {
        colibri_core::yield_now()
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + 'static {
        colibri_core::sleep(duration)
    }

    fn pause_and_resume<T: 'static>(Handle(task): &Handle<T>) {
        task.pause();
        task.resume();
    }

    fn move_and_return<T: 'static>(Handle(task): &Handle<T>) {
        task.set_priority(Priority::Idle);
        task.set_priority(Priority::Normal);
    }
}
