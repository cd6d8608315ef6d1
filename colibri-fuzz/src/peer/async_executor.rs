//! async-executor's `LocalExecutor`, ticked by hand, as a loop around it does that must come back in time.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_executor::{LocalExecutor, Task};
use colibri_core::ManualClock;

use crate::subject::{Skill, Spec, Subject, Turn};
use crate::trace::Recorder;
use crate::workload::Settings;

/// async-executor's `LocalExecutor`. Each checkpoint gives way, since it has no budgets.
#[derive(Clone)]
pub struct AsyncExecutor(Rc<Inner>);

struct Inner {
    slice: Duration,
    clock: ManualClock,
    /// `None` after the shutdown.
    executor: RefCell<Option<Rc<LocalExecutor<'static>>>>,
}

/// A task's handle.
pub enum Handle {
    /// As it was spawned.
    Lives(Task<()>),
    /// It was cancelled, and this waits for its end.
    Ends(Pin<Box<dyn Future<Output = Option<()>>>>),
    /// There is none.
    Gone,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl fmt::Debug for AsyncExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncExecutor").finish_non_exhaustive()
    }
}

impl AsyncExecutor {
    fn executor(&self) -> Option<Rc<LocalExecutor<'static>>> {
        self.0.executor.borrow().clone()
    }
}

impl Subject for AsyncExecutor {
    type Task = Handle;

    const NAME: &'static str = "async-executor";
    const SKILLS: &'static [Skill] = &[Skill::Cancel];

    fn new(settings: &Settings, clock: &ManualClock, _recorder: &Recorder) -> Self {
        let executor = RefCell::new(Some(Rc::new(LocalExecutor::new())));
        AsyncExecutor(Rc::new(Inner { slice: settings.slice, clock: clock.clone(), executor }))
    }

    fn spawn<F>(&self, _spec: Spec, future: F) -> Handle
    where
        F: Future<Output = ()> + 'static,
    {
        self.executor().map_or(Handle::Gone, |executor| Handle::Lives(executor.spawn(future)))
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        let end = self.0.clock.now() + length.unwrap_or(self.0.slice);
        let mut work_left = true;
        while work_left && self.0.clock.now() < end {
            work_left = self.executor().is_some_and(|executor| executor.try_tick());
        }
        Turn { work_left, next_timer: None }
    }

    fn poll_join(&self, task: &mut Handle, context: &mut Context<'_>) -> Poll<()> {
        // A task's panic goes on in whoever awaits it.
        let poll = catch_unwind(AssertUnwindSafe(|| match task {
            Handle::Lives(task) => Pin::new(task).poll(context),
            Handle::Ends(end) => end.as_mut().poll(context).map(drop),
            Handle::Gone => Poll::Ready(()),
        }));
        poll.unwrap_or(Poll::Ready(()))
    }

    fn cancel(&self, task: &mut Handle) {
        *task = match std::mem::replace(task, Handle::Gone) {
            Handle::Lives(task) => {
                // Its first poll asks for the end, later ones wait for it. The panic of a task that has ended by one would
                // go on in whoever cancels it.
                let mut end = Box::pin(task.cancel());
                let poll = catch_unwind(AssertUnwindSafe(|| {
                    end.as_mut().poll(&mut Context::from_waker(Waker::noop()))
                }));
                if let Ok(Poll::Pending) = poll { Handle::Ends(end) } else { Handle::Gone }
            }
            other => other,
        };
    }

    fn shutdown(&self) {
        let executor = self.0.executor.borrow_mut().take();
        drop(executor);
    }
}
