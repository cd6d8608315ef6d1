//! tokio's current-thread runtime, with its own timers on its paused clock, which follows the virtual one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use colibri_core::ManualClock;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::span::nanos;
use crate::subject::{Skill, Spec, Subject, Turn};
use crate::trace::Recorder;
use crate::workload::Settings;

/// tokio's current-thread runtime. Checkpoints are its `consume_budget`.
#[derive(Clone)]
pub struct Tokio(Rc<Inner>);

struct Inner {
    slice: Duration,
    clock: ManualClock,
    /// `None` after the shutdown.
    runtime: RefCell<Option<Rc<LocalRuntime>>>,
    /// tokio's time at the beginning.
    start: Instant,
    /// A task was polled since the root future was.
    polled: Cell<bool>,
    /// When sleeps are due, in nanoseconds, and the order of their making.
    sleeps: RefCell<BTreeSet<(u64, u64)>>,
    made: Cell<u64>,
}

/// Rounds of the runtime in which no task is polled before it counts as idle: in the first, what was deferred is woken, in
/// the second timers fire.
const IDLE_ROUNDS: u32 = 3;

/// The resolution of tokio's timers: they fire at whole milliseconds, rounded up.
const TICK_NANOS: u64 = 1_000_000;

impl fmt::Debug for Tokio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokio").finish_non_exhaustive()
    }
}

impl Inner {
    /// Moves tokio's clock to the virtual one's time. Inside the runtime.
    fn follow_clock(&self) {
        let behind = Duration::from_nanos(self.clock.now().as_nanos()).saturating_sub(self.start.elapsed());
        if !behind.is_zero() {
            // It moves the clock at its first poll; what it waits for then is its caller's turn.
            let _ = pin!(tokio::time::advance(behind)).poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

/// A sleep that the runtime has not ended. Dropping it takes it out.
struct Sleeping {
    inner: Rc<Inner>,
    key: (u64, u64),
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        self.inner.sleeps.borrow_mut().remove(&self.key);
    }
}

impl Subject for Tokio {
    /// `None` after the shutdown.
    type Task = Option<JoinHandle<()>>;

    const NAME: &'static str = "tokio";
    const SKILLS: &'static [Skill] = &[Skill::Timers, Skill::Cancel];

    fn new(settings: &Settings, clock: &ManualClock, _recorder: &Recorder) -> Self {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build_local(LocalOptions::default())
            .expect("a runtime without I/O needs nothing that could be missing");
        let start = runtime.block_on(async { Instant::now() });
        Tokio(Rc::new(Inner {
            slice: settings.slice,
            clock: clock.clone(),
            runtime: RefCell::new(Some(Rc::new(runtime))),
            start,
            polled: Cell::new(false),
            sleeps: RefCell::default(),
            made: Cell::new(0),
        }))
    }

    fn spawn<F>(&self, _spec: Spec, future: F) -> Option<JoinHandle<()>>
    where
        F: Future<Output = ()> + 'static,
    {
        let inner = Rc::downgrade(&self.0);
        let mut future = Box::pin(future);
        let watched = poll_fn(move |context| {
            if let Some(inner) = inner.upgrade() {
                inner.polled.set(true);
                inner.follow_clock();
            }
            future.as_mut().poll(context)
        });
        let runtime = self.0.runtime.borrow().clone();
        runtime.map(|runtime| runtime.spawn_local(watched))
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        let inner = &*self.0;
        let end = inner.clock.now() + length.unwrap_or(inner.slice);
        let mut idle = 0;
        let root = poll_fn(|context| {
            inner.follow_clock();
            idle = if inner.polled.replace(false) { 0 } else { idle + 1 };
            if idle > IDLE_ROUNDS || inner.clock.now() >= end {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        });
        let runtime = inner.runtime.borrow().clone();
        if let Some(runtime) = runtime {
            runtime.block_on(root);
        }
        let next_timer = inner.sleeps.borrow().first().map(|(due, _)| due.next_multiple_of(TICK_NANOS));
        Turn { work_left: idle <= IDLE_ROUNDS, next_timer }
    }

    fn poll_join(&self, task: &mut Option<JoinHandle<()>>, context: &mut Context<'_>) -> Poll<()> {
        match task {
            Some(task) => Pin::new(task).poll(context).map(drop),
            None => Poll::Ready(()),
        }
    }

    fn checkpoint(&self) -> impl Future<Output = ()> {
        tokio::task::consume_budget()
    }

    fn yield_now(&self) -> impl Future<Output = ()> {
        tokio::task::yield_now()
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> {
        let inner = self.0.clone();
        inner.follow_clock();
        inner.made.set(inner.made.get() + 1);
        let key = (inner.clock.now().as_nanos().saturating_add(nanos(span)), inner.made.get());
        inner.sleeps.borrow_mut().insert(key);
        let sleep = tokio::time::sleep(span);
        async move {
            let _sleeping = Sleeping { inner, key };
            sleep.await;
        }
    }

    fn cancel(&self, task: &mut Option<JoinHandle<()>>) {
        task.iter().for_each(JoinHandle::abort);
    }

    fn shutdown(&self) {
        let runtime = self.0.runtime.borrow_mut().take();
        drop(runtime);
    }
}
