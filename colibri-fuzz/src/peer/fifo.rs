//! A plain queue: what is woken goes to its end, what is in front runs. Also the shortest complete scheduler that the
//! harness can test.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use colibri_core::ManualClock;

use crate::subject::{Spec, Subject, Turn};
use crate::trace::Recorder;
use crate::workload::Settings;

/// First in, first out. Each checkpoint gives way.
#[derive(Clone, Debug)]
pub struct Fifo(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    slice: Duration,
    clock: ManualClock,
    queue: Arc<Queue>,
    tasks: RefCell<BTreeMap<u32, Task>>,
}

#[derive(Debug, Default)]
struct Queue(Mutex<VecDeque<Arc<Ticket>>>);

impl Queue {
    fn push(&self, ticket: Arc<Ticket>) {
        if !ticket.queued.swap(true, Ordering::AcqRel) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(ticket);
        }
    }

    fn pop(&self) -> Option<Arc<Ticket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// A task's place in the queue, and its waker.
#[derive(Debug)]
struct Ticket {
    task: u32,
    queued: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for Ticket {
    fn wake(self: Arc<Self>) {
        self.queue.clone().push(self);
    }
}

struct Task {
    future: Pin<Box<dyn Future<Output = ()>>>,
    joiner: Option<Waker>,
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

impl Subject for Fifo {
    type Task = u32;

    const NAME: &'static str = "plain FIFO";

    fn new(settings: &Settings, clock: &ManualClock, _recorder: &Recorder) -> Self {
        let slice = settings.slice;
        Fifo(Rc::new(Inner { slice, clock: clock.clone(), queue: Arc::default(), tasks: RefCell::default() }))
    }

    fn spawn<F>(&self, spec: Spec, future: F) -> u32
    where
        F: Future<Output = ()> + 'static,
    {
        let Inner { queue, tasks, .. } = &*self.0;
        tasks.borrow_mut().insert(spec.number, Task { future: Box::pin(future), joiner: None });
        queue.push(Arc::new(Ticket {
            task: spec.number,
            queued: AtomicBool::new(false),
            queue: queue.clone(),
        }));
        spec.number
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        let Inner { clock, queue, tasks, slice } = &*self.0;
        let end = clock.now() + length.unwrap_or(*slice);
        while clock.now() < end {
            let Some(ticket) = queue.pop() else { break };
            ticket.queued.store(false, Ordering::Release);
            // Taken out while it runs: it may spawn, and look at its neighbours.
            let Some(mut task) = tasks.borrow_mut().remove(&ticket.task) else { continue };
            let waker = Waker::from(ticket.clone());
            let poll = catch_unwind(AssertUnwindSafe(|| {
                task.future.as_mut().poll(&mut Context::from_waker(&waker))
            }));
            if let Ok(Poll::Pending) = poll {
                tasks.borrow_mut().insert(ticket.task, task);
            } else {
                let Task { future, joiner } = task;
                drop(future);
                joiner.into_iter().for_each(Waker::wake);
            }
        }
        Turn { work_left: !queue.is_empty(), next_timer: None }
    }

    fn poll_join(&self, task: &mut u32, context: &mut Context<'_>) -> Poll<()> {
        match self.0.tasks.borrow_mut().get_mut(task) {
            Some(task) => {
                task.joiner = Some(context.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }

    fn shutdown(&self) {
        let tasks = self.0.tasks.take();
        drop(tasks);
    }
}
