//! Only the latest counts: for events that come faster than their work is done.

use alloc::rc::Rc;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::future::Future;
use core::time::Duration;

use crate::engine::Engine;
use crate::priority::Priority;
use crate::scheduler::{Scheduler, TaskBuilder};
use crate::task::Task;

/// Runs the latest of what was submitted: each submission cancels the one before, wherever it is.
///
/// For search-as-you-type, resizing, dragging: what the user asked for before is no longer of interest. Dropping it
/// cancels what is left.
///
/// ```
/// use colibri_core::{Latest, Priority, Scheduler};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// let scheduler = Scheduler::new();
/// let search = Latest::new(&scheduler, Priority::Normal);
/// let shown = Rc::new(Cell::new(""));
/// for text in ["c", "co", "col"] {
///     let shown = shown.clone();
///     search.submit(async move { shown.set(text) });
/// }
/// scheduler.run_slice();
/// assert_eq!(shown.get(), "col");
/// ```
pub struct Latest {
    engine: Rc<Engine>,
    priority: Priority,
    current: RefCell<Option<Task<()>>>,
    replaced: Rc<Cell<u64>>,
}

impl Latest {
    /// Runs what is submitted on `scheduler`, in the class `priority`.
    #[must_use]
    pub fn new(scheduler: &Scheduler, priority: Priority) -> Self {
        Latest {
            engine: scheduler.engine().clone(),
            priority,
            current: RefCell::new(None),
            replaced: Rc::default(),
        }
    }

    /// Cancels what was submitted before, if it has not ended, and starts `future`. If the scheduler is shut down or full,
    /// `future` is dropped.
    pub fn submit(&self, future: impl Future<Output = ()> + 'static) {
        self.submit_after(Duration::ZERO, future);
    }

    /// The same, but `future` starts only when `debounce` has gone by without another submission.
    pub fn submit_after(&self, debounce: Duration, future: impl Future<Output = ()> + 'static) {
        self.cancel();
        let task = TaskBuilder::new(&self.engine, future).priority(self.priority);
        let task = if debounce.is_zero() { task } else { task.after(debounce) };
        let task = task.spawn().cancel_on_drop();
        // Dropped outside of the borrow: a destructor may submit, too.
        let before = self.current.borrow_mut().replace(task);
        drop(before);
    }

    /// Cancels what was submitted, if it has not ended.
    pub fn cancel(&self) {
        let before = self.current.borrow_mut().take();
        if let Some(task) = before
            && !task.is_finished()
        {
            self.replaced.set(self.replaced.get() + 1);
            task.cancel();
        }
    }

    /// Whether the latest submission has not ended.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.current.borrow().as_ref().is_some_and(|task| !task.is_finished())
    }

    /// How many submissions were cancelled before they ended.
    #[must_use]
    pub fn cancelled(&self) -> u64 {
        self.replaced.get()
    }
}

impl Drop for Latest {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for Latest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latest").field("pending", &self.is_pending()).finish_non_exhaustive()
    }
}
