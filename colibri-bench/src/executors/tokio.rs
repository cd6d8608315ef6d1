//! tokio: the current-thread runtime with tasks that need not be `Send`, and its `LocalSet`.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions, LocalRuntime, Runtime};
use tokio::task::JoinHandle;

use super::{Class, Executor};

#[derive(Debug, Clone)]
pub(crate) struct CurrentThread(Rc<LocalRuntime>);

#[derive(Debug, Clone)]
pub(crate) struct LocalSet(Rc<(tokio::task::LocalSet, Runtime)>);

/// A task whose output is taken for granted.
#[derive(Debug)]
pub(crate) struct Handle<T>(JoinHandle<T>);

impl<T> Future for Handle<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(context).map(|ended| ended.expect("the task ends by itself"))
    }
}

impl CurrentThread {
    fn of(builder: &mut Builder) -> Self {
        let runtime = builder.build_local(LocalOptions::default());
        Self(Rc::new(runtime.expect("a runtime without IO needs nothing of the system")))
    }
}

impl Executor for CurrentThread {
    type Handle<T: 'static> = Handle<T>;

    const HAS_TIMERS: bool = true;

    fn new() -> Self {
        Self::of(Builder::new_current_thread().enable_time())
    }

    fn without_timers() -> Self {
        // A timer driver would be looked at in turns.
        Self::of(&mut Builder::new_current_thread())
    }

    fn spawn_as<T: 'static>(&self, _: Class, future: impl Future<Output = T> + 'static) -> Handle<T> {
        Handle(self.0.spawn_local(future))
    }

    fn cancel<T: 'static>(Handle(task): Handle<T>) {
        task.abort();
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }

    fn yield_now() -> impl Future<Output = ()> + 'static {
        tokio::task::yield_now()
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + 'static {
        tokio::time::sleep(duration)
    }
}

impl Executor for LocalSet {
    type Handle<T: 'static> = Handle<T>;

    const HAS_TIMERS: bool = true;

    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime without IO needs nothing of the system");
        Self(Rc::new((tokio::task::LocalSet::new(), runtime)))
    }

    fn spawn_as<T: 'static>(&self, _: Class, future: impl Future<Output = T> + 'static) -> Handle<T> {
        Handle(self.0.0.spawn_local(future))
    }

    fn cancel<T: 'static>(Handle(task): Handle<T>) {
        task.abort();
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let (set, runtime) = &*self.0;
        runtime.block_on(set.run_until(future))
    }

    fn yield_now() -> impl Future<Output = ()> + 'static {
        tokio::task::yield_now()
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + 'static {
        tokio::time::sleep(duration)
    }
}
