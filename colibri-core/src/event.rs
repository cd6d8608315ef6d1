//! What happens in a scheduler, told to whoever observes it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::cell::{Cell, RefCell};
use core::time::Duration;

use crate::instant::Instant;
use crate::priority::Priority;
use crate::slice::SliceReport;
use crate::stats::SLIGHT_OVERRUN_NANOS;
use crate::task::TaskId;
use crate::unwind::Containment;

/// The task an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskEvent {
    /// Which task.
    pub id: TaskId,
    /// Its own class.
    pub priority: Priority,
    /// The level it runs or waits at: above its class when it was promoted.
    pub level: Priority,
    /// When, by the scheduler's last look at its clock.
    pub at: Instant,
}

/// Why a task gave way although it could have gone on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum YieldReason {
    /// Of its own accord: `yield_now`, a budget of its own, or a wake of itself. It goes to the tail of its class.
    Own,
    /// Its quantum was used up. It goes to the tail of its class.
    Quantum,
    /// The slice ended. It keeps the rest of its quantum and goes to the head of its class.
    Slice,
    /// A higher class became ready. It keeps the rest of its quantum and goes to the head of its class.
    Preempted,
    /// The host asked for the thread. It keeps the rest of its quantum and goes to the head of its class.
    Host,
    /// Without the feature `std`, the scheduler cannot be asked inside a poll: it looked at its clock, found nothing against
    /// it, and lets the task go on. It keeps the rest of its quantum and goes to the head of its class.
    Look,
}

/// Is told what happens in a scheduler. Every method does nothing by default.
///
/// Events come in order, on the scheduler's thread, when no part of the scheduler is borrowed: an observer may call
/// everything. A panic in an observer is contained, and counted in
/// [`Stats::contained_panics`](crate::Stats::contained_panics). Without an observer an event costs nothing but a test. With one
/// the clock is read after each poll, so that times and overruns are those of the task that is named.
pub trait Observer: 'static {
    /// A task was accepted.
    fn spawned(&self, _task: &TaskEvent) {}
    /// A task became ready through a wake, a timer, or its resumption.
    fn woken(&self, _task: &TaskEvent) {}
    /// A poll of a task begins.
    fn started(&self, _task: &TaskEvent) {}
    /// A poll ended; the task stays ready.
    fn yielded(&self, _task: &TaskEvent, _reason: YieldReason) {}
    /// A poll ended; the task waits for a wake.
    fn suspended(&self, _task: &TaskEvent) {}
    /// A task was ready for too long and rose to `task.level`.
    fn promoted(&self, _task: &TaskEvent) {}
    /// A task hovers from now on.
    fn paused(&self, _task: &TaskEvent) {}
    /// A task does not hover any more.
    fn resumed(&self, _task: &TaskEvent) {}
    /// A task changed its class to `task.priority`.
    fn reprioritised(&self, _task: &TaskEvent) {}
    /// A task was cancelled, and its future dropped.
    fn cancelled(&self, _task: &TaskEvent) {}
    /// A task finished.
    fn finished(&self, _task: &TaskEvent) {}
    /// A task panicked, and was dropped.
    fn panicked(&self, _task: &TaskEvent) {}
    /// A slice begins.
    fn slice_started(&self, _at: Instant) {}
    /// A slice took longer than its length by more than 100 µs, which are in order, as [`Stats::overruns`](crate::Stats::overruns)
    /// says: by which task, and where, says the report. Told before its end.
    fn overran(&self, _report: &SliceReport, _at: Instant) {}
    /// A slice ended.
    fn slice_ended(&self, _report: &SliceReport, _at: Instant) {}
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Spawned,
    Woken,
    Started,
    Yielded(YieldReason),
    Suspended,
    Promoted,
    Paused,
    Resumed,
    Reprioritised,
    Cancelled,
    Finished,
    Panicked,
}

enum Event {
    Task(Kind, TaskEvent),
    SliceStarted(Instant),
    SliceEnded(SliceReport, Instant),
}

/// Events on their way to the observer. They are noted where they happen and told where user code may run: a wake,
/// for one, must not call anybody.
pub(crate) struct Events {
    observer: Option<Box<dyn Observer>>,
    waiting: RefCell<VecDeque<Event>>,
    telling: Cell<bool>,
}

impl Events {
    pub(crate) fn new(observer: Option<Box<dyn Observer>>) -> Self {
        Events { observer, waiting: RefCell::new(VecDeque::new()), telling: Cell::new(false) }
    }

    #[inline(always)]
    pub(crate) fn wanted(&self) -> bool {
        self.observer.is_some()
    }

    #[cold]
    pub(crate) fn note(&self, kind: Kind, task: TaskEvent) {
        self.waiting.borrow_mut().push_back(Event::Task(kind, task));
    }

    #[cold]
    pub(crate) fn note_slice_start(&self, at: Instant) {
        self.waiting.borrow_mut().push_back(Event::SliceStarted(at));
    }

    #[cold]
    pub(crate) fn note_slice_end(&self, report: SliceReport, at: Instant) {
        self.waiting.borrow_mut().push_back(Event::SliceEnded(report, at));
    }

    /// Tells the observer everything that waits. What its callbacks cause is told after it, by the outermost call.
    #[cold]
    pub(crate) fn tell(&self, contained: &Containment) {
        let Some(observer) = &self.observer else { return };
        if self.telling.replace(true) {
            return;
        }
        loop {
            let next = self.waiting.borrow_mut().pop_front();
            let Some(event) = next else { break };
            contained.contain(|| tell(&**observer, &event));
        }
        self.telling.set(false);
    }
}

fn tell(observer: &dyn Observer, event: &Event) {
    match event {
        Event::SliceStarted(at) => observer.slice_started(*at),
        Event::SliceEnded(report, at) => {
            if report.overrun > Duration::from_nanos(SLIGHT_OVERRUN_NANOS) {
                observer.overran(report, *at);
            }
            observer.slice_ended(report, *at);
        }
        Event::Task(kind, task) => match kind {
            Kind::Spawned => observer.spawned(task),
            Kind::Woken => observer.woken(task),
            Kind::Started => observer.started(task),
            Kind::Yielded(reason) => observer.yielded(task, *reason),
            Kind::Suspended => observer.suspended(task),
            Kind::Promoted => observer.promoted(task),
            Kind::Paused => observer.paused(task),
            Kind::Resumed => observer.resumed(task),
            Kind::Reprioritised => observer.reprioritised(task),
            Kind::Cancelled => observer.cancelled(task),
            Kind::Finished => observer.finished(task),
            Kind::Panicked => observer.panicked(task),
        },
    }
}
