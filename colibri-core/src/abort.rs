//! Cancelling a task from other threads.

use alloc::sync::Arc;
use core::fmt;

use crate::local;
use crate::remote::{Message, Remote};
use crate::task::TaskId;

/// Cancels a task from any thread; see [`Task::abort_handle`](crate::Task::abort_handle).
///
/// ```
/// use colibri_core::{Priority, Scheduler, TaskError};
///
/// let scheduler = Scheduler::new();
/// let search = scheduler.spawn(Priority::Normal, std::future::pending::<()>());
/// let stop = search.abort_handle();
/// std::thread::spawn(move || stop.abort());
/// assert!(matches!(scheduler.block_on(search), Err(TaskError::Cancelled)));
/// ```
#[derive(Clone)]
pub struct AbortHandle {
    remote: Arc<Remote>,
    id: TaskId,
}

impl AbortHandle {
    pub(crate) fn new(remote: Arc<Remote>, id: TaskId) -> Self {
        AbortHandle { remote, id }
    }

    /// The task's id.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Ends the task as [`Task::cancel`](crate::Task::cancel) does: at once if one of its scheduler's tasks calls this,
    /// else at the scheduler's next turn, for which the host is woken.
    ///
    /// It never blocks and never runs another thread's code. It does nothing to a task that has ended by then, nor to one
    /// whose scheduler is gone.
    pub fn abort(&self) {
        if let Some(engine) = local::current()
            && engine.address() == Arc::as_ptr(&self.remote).cast()
        {
            return engine.cancel(self.id);
        }
        // The only error is that the scheduler is shut down: then the task has ended.
        let _ = self.remote.send(Message::Cancel(self.id));
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id).finish_non_exhaustive()
    }
}
