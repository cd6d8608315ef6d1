//! Tasks as spans of the `tracing` crate.

use alloc::collections::BTreeMap;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::mem;

use tracing::field::{Empty, display};
use tracing::{Span, debug_span, trace};

use crate::event::{Observer, TaskEvent, YieldReason};
use crate::scheduler::current;
use crate::task::TaskId;

/// A span for each task, entered while it is polled, and an event for each time it gives way, rises, hovers, or ends.
///
/// The span is called `task`, at the level DEBUG, with the fields `id`, `class`, and `name` if the task has one. The events
/// are at the level TRACE. What a task says itself through `tracing` is said inside its span.
///
/// ```
/// use colibri_core::observe::Spans;
/// use colibri_core::{Priority, Scheduler};
///
/// let scheduler = Scheduler::builder().observer(Spans::new()).build();
/// let task = scheduler.task(async { tracing::info!("half way") }).priority(Priority::Idle).name("index").spawn();
/// scheduler.block_on(task).unwrap();
/// ```
#[derive(Default)]
pub struct Spans {
    tasks: RefCell<BTreeMap<TaskId, Known>>,
    /// Whose span is entered.
    entered: Cell<Option<TaskId>>,
}

struct Known {
    span: Span,
    /// Its name, which is known while it runs, was recorded: subscribers that print keep each record beside those before.
    has_started: bool,
}

impl Spans {
    /// No span yet: tasks that were spawned before get none.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn with(&self, task: &TaskEvent, tell: impl FnOnce(&Span)) {
        let span = self.tasks.borrow().get(&task.id).map(|known| known.span.clone());
        if let Some(span) = span {
            tell(&span);
        }
    }

    fn leave(&self, task: &TaskEvent) {
        if self.entered.get() != Some(task.id) {
            return;
        }
        self.entered.set(None);
        self.with(task, |span| {
            span.with_subscriber(|(id, subscriber)| subscriber.exit(id));
        });
    }

    fn end(&self, task: &TaskEvent) {
        let known = self.tasks.borrow_mut().remove(&task.id);
        drop(known);
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spans").field("tasks", &self.tasks.borrow().len()).finish()
    }
}

impl Observer for Spans {
    fn spawned(&self, task: &TaskEvent) {
        let span = debug_span!("task", id = %task.id, class = ?task.priority, name = Empty);
        self.tasks.borrow_mut().insert(task.id, Known { span, has_started: false });
    }

    fn started(&self, task: &TaskEvent) {
        let had_started =
            self.tasks.borrow_mut().get_mut(&task.id).map(|known| mem::replace(&mut known.has_started, true));
        self.with(task, |span| {
            if had_started == Some(false)
                && let Some(name) = current().and_then(|info| info.name)
            {
                span.record("name", display(name));
            }
            // Entered without a guard: the poll begins after this call and ends before the next.
            span.with_subscriber(|(id, subscriber)| subscriber.enter(id));
            self.entered.set(Some(task.id));
        });
    }

    fn yielded(&self, task: &TaskEvent, reason: YieldReason) {
        self.leave(task);
        self.with(task, |span| trace!(parent: span, ?reason, "yielded"));
    }

    fn suspended(&self, task: &TaskEvent) {
        self.leave(task);
        self.with(task, |span| trace!(parent: span, "suspended"));
    }

    fn promoted(&self, task: &TaskEvent) {
        self.with(task, |span| trace!(parent: span, level = ?task.level, "promoted"));
    }

    fn paused(&self, task: &TaskEvent) {
        self.with(task, |span| trace!(parent: span, "paused"));
    }

    fn resumed(&self, task: &TaskEvent) {
        self.with(task, |span| trace!(parent: span, "resumed"));
    }

    fn cancelled(&self, task: &TaskEvent) {
        self.leave(task);
        self.with(task, |span| trace!(parent: span, "cancelled"));
        self.end(task);
    }

    fn finished(&self, task: &TaskEvent) {
        self.leave(task);
        self.with(task, |span| trace!(parent: span, "finished"));
        self.end(task);
    }

    fn panicked(&self, task: &TaskEvent) {
        self.leave(task);
        self.with(task, |span| trace!(parent: span, "panicked"));
        self.end(task);
    }
}
