//! A scope that owns tasks.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt;
use core::future::Future;

use crate::engine::Engine;
use crate::priority::Priority;
use crate::scheduler::{Scheduler, spawn_on};
use crate::task::{Task, TaskId};

/// Owns the tasks it spawns: when it is dropped or cancelled, those that have not ended are cancelled.
///
/// ```
/// use colibri_core::{Priority, Scheduler, TaskError, TaskScope};
///
/// let scheduler = Scheduler::new();
/// let scope = TaskScope::new(&scheduler);
/// let child = scope.spawn(Priority::Normal, std::future::pending::<()>());
/// drop(scope);
/// assert!(matches!(scheduler.block_on(child), Err(TaskError::Cancelled)));
/// ```
pub struct TaskScope {
    engine: Rc<Engine>,
    children: RefCell<Vec<TaskId>>,
}

/// Children known before ended ones are looked for: then their number doubles at most before the next search, so that
/// spawning stays O(1) on average and the list is never longer than twice the living.
const SEARCH_FROM: usize = 32;

impl TaskScope {
    /// A scope without tasks.
    #[must_use]
    pub fn new(scheduler: &Scheduler) -> Self {
        TaskScope { engine: scheduler.engine().clone(), children: RefCell::default() }
    }

    /// Starts a task that ends with the scope at the latest. Its handle may be dropped: the scope still owns it.
    ///
    /// As with [`Scheduler::spawn`], the task is cancelled at once if the scheduler is shut down or full.
    pub fn spawn<F>(&self, priority: Priority, future: F) -> Task<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let task = spawn_on(&self.engine, priority, 0, None, future);
        let mut children = self.children.borrow_mut();
        if children.len() >= SEARCH_FROM && children.len() == children.capacity() {
            children.retain(|&id| self.engine.is_live(id));
        }
        children.push(task.id());
        task
    }

    /// How many of its tasks have not ended.
    #[must_use]
    pub fn live_tasks(&self) -> usize {
        self.children.borrow().iter().filter(|&&id| self.engine.is_live(id)).count()
    }

    /// Cancels all of its tasks, the last spawned first. It can be used on.
    pub fn cancel(&self) {
        loop {
            // No borrow while a destructor runs: it may spawn here.
            let next = self.children.borrow_mut().pop();
            let Some(id) = next else { return };
            self.engine.cancel(id);
        }
    }
}

impl Drop for TaskScope {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for TaskScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskScope").field("live_tasks", &self.live_tasks()).finish_non_exhaustive()
    }
}
