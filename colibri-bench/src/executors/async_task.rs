//! The smallest executor that people write themselves: async-task with a `VecDeque` of this thread's.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use async_task::{Runnable, Task};

use super::{Class, Executor};

thread_local! {
    static READY: RefCell<VecDeque<Runnable>> = const { RefCell::new(VecDeque::new()) };
}

/// It stands for the thread's queue.
#[derive(Debug, Clone)]
pub(crate) struct Deque;

/// Whether the root is to be polled.
struct Root(AtomicBool);

impl Wake for Root {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Executor for Deque {
    type Handle<T: 'static> = Task<T>;

    // A wake puts the task into the queue of the thread that wakes.
    const HAS_REMOTE_WAKES: bool = false;

    fn new() -> Self {
        Self
    }

    fn spawn_as<T: 'static>(&self, _: Class, future: impl Future<Output = T> + 'static) -> Task<T> {
        let schedule = |runnable| READY.with_borrow_mut(|ready| ready.push_back(runnable));
        let (runnable, task) = async_task::spawn_local(future, schedule);
        runnable.schedule();
        task
    }

    fn detach<T: 'static>(task: Task<T>) {
        task.detach();
    }

    fn cancel<T: 'static>(task: Task<T>) {
        drop(task);
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let root = Arc::new(Root(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&root));
        let mut context = Context::from_waker(&waker);
        loop {
            if root.0.load(Ordering::Relaxed) {
                root.0.store(false, Ordering::Relaxed);
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return output;
                }
            }
            match READY.with_borrow_mut(VecDeque::pop_front) {
                Some(runnable) => _ = runnable.run(),
                None => assert!(root.0.load(Ordering::Relaxed), "nobody is left who could wake the root"),
            }
        }
    }
}
