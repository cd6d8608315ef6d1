//! colibri's own scheduler as a [`Subject`]: the real one, with nothing in between but an observer.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasherDefault, Hasher};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use colibri_core::{ManualClock, Observer, Priority, Scheduler, Task, TaskEvent, TaskId, YieldReason};

use crate::subject::{Spec, Subject, Turn};
use crate::trace::{Recorder, What, Why};
use crate::workload::{Class, Settings};

/// colibri's scheduler.
#[derive(Clone, Debug)]
pub struct Colibri {
    scheduler: Scheduler,
    numbers: Rc<Numbers>,
}

/// Which task of the workload has which id.
#[derive(Debug, Default)]
struct Numbers {
    /// The task that is being spawned.
    spawning: Cell<u32>,
    known: RefCell<HashMap<TaskId, u32, BuildHasherDefault<Mix>>>,
}

impl Subject for Colibri {
    type Task = Task<()>;

    fn new(settings: &Settings, clock: &ManualClock, recorder: &Recorder) -> Self {
        let numbers = Rc::new(Numbers::default());
        let witness = Witness { recorder: recorder.clone(), numbers: numbers.clone() };
        let scheduler = Scheduler::builder()
            .slice(settings.slice)
            .quantum(settings.quantum)
            .upgrade_after(settings.upgrade_after)
            .clock(clock.clone())
            .observer(witness)
            .build();
        Colibri { scheduler, numbers }
    }

    fn spawn<F>(&self, spec: Spec, future: F) -> Task<()>
    where
        F: Future<Output = ()> + 'static,
    {
        // The observer may hear of the task before its handle, and with it its id, is here.
        self.numbers.spawning.set(spec.number);
        let priority = priority(spec.class);
        let task = match spec.weight {
            1 => self.scheduler.spawn(priority, future),
            weight => self.scheduler.task(future).priority(priority).weight(weight).spawn(),
        };
        self.numbers.known.borrow_mut().insert(task.id(), spec.number);
        task
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        let report = match length {
            None => self.scheduler.run_slice(),
            Some(length) => self.scheduler.run_for(length),
        };
        Turn { work_left: report.work_left, next_timer: report.next_timer.map(|at| at.as_nanos()) }
    }

    fn checkpoint(&self) -> impl Future<Output = ()> {
        colibri_core::checkpoint()
    }

    fn yield_now(&self) -> impl Future<Output = ()> {
        colibri_core::yield_now()
    }

    fn sleep(&self, span: Duration) -> impl Future<Output = ()> {
        colibri_core::sleep(span)
    }

    fn poll_join(&self, task: &mut Task<()>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(task).poll(context).map(|_ended_somehow| ())
    }

    fn cancel(&self, task: &Task<()>) {
        task.cancel();
    }

    fn pause(&self, task: &Task<()>) {
        task.pause();
    }

    fn resume(&self, task: &Task<()>) {
        task.resume();
    }

    fn set_class(&self, task: &Task<()>, class: Class) {
        task.set_priority(priority(class));
    }

    fn request_yield(&self) {
        self.scheduler.request_yield();
    }

    fn shutdown(&self) {
        self.scheduler.shutdown();
    }
}

/// Writes what the scheduler says of itself into the trace.
struct Witness {
    recorder: Recorder,
    numbers: Rc<Numbers>,
}

impl Witness {
    fn note(&self, task: &TaskEvent, what: What) {
        let number = self.numbers.known.borrow().get(&task.id).copied();
        // An event of a task that nobody spawned would be a fault of the scheduler: it shows as one of nobody.
        self.recorder.insert(task.at.as_nanos(), number.unwrap_or(crate::trace::HOST), what);
    }
}

impl Observer for Witness {
    fn spawned(&self, task: &TaskEvent) {
        self.numbers.known.borrow_mut().entry(task.id).or_insert(self.numbers.spawning.get());
    }

    fn woken(&self, task: &TaskEvent) {
        self.note(task, What::Woken);
    }

    fn started(&self, task: &TaskEvent) {
        self.note(task, What::Started(class(task.level)));
    }

    fn yielded(&self, task: &TaskEvent, reason: YieldReason) {
        let why = match reason {
            YieldReason::Quantum => Why::Quantum,
            YieldReason::Slice => Why::Slice,
            YieldReason::Preempted => Why::Preempted,
            YieldReason::Host => Why::Host,
            _ => Why::Own,
        };
        self.note(task, What::Yielded(why));
    }

    fn suspended(&self, task: &TaskEvent) {
        self.note(task, What::Suspended);
    }

    fn promoted(&self, task: &TaskEvent) {
        self.note(task, What::Promoted(class(task.level)));
    }

    fn paused(&self, task: &TaskEvent) {
        self.note(task, What::Paused);
    }

    fn resumed(&self, task: &TaskEvent) {
        self.note(task, What::Resumed);
    }

    fn cancelled(&self, task: &TaskEvent) {
        self.note(task, What::Cancelled);
    }

    fn finished(&self, task: &TaskEvent) {
        self.note(task, What::Finished);
    }

    fn panicked(&self, task: &TaskEvent) {
        self.note(task, What::Panicked);
    }
}

fn priority(class: Class) -> Priority {
    match class {
        Class::Immediate => Priority::Immediate,
        Class::Normal => Priority::Normal,
        Class::Idle => Priority::Idle,
    }
}

fn class(priority: Priority) -> Class {
    match priority {
        Priority::Immediate => Class::Immediate,
        Priority::Normal => Class::Normal,
        Priority::Idle => Class::Idle,
    }
}

/// Ids are numbers already: one multiplication spreads them, where SipHash would take a tenth of a case's time.
#[derive(Debug, Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        // 2^64 divided by the golden ratio: the usual multiplier of Fibonacci hashing.
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}
