//! colibri's own scheduler as a [`Subject`]: the real one, with nothing in between but an observer.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use colibri_core::{
    Activity, Latest, ManualClock, Observer, Priority, Scheduler, Spawner, Task, TaskEvent, TaskId,
    YieldReason,
};

use crate::subject::{Skill, Spec, Subject, Turn};
use crate::trace::{Recorder, What, Why};
use crate::workload::{Class, Settings};

/// Each so many-th event is one that a bad observer panics at.
const BAD_EVENTS: u64 = 7;

/// What the host may be doing, in the order of [`Settings::policy`].
pub(crate) const ACTIVITIES: [Activity; 4] =
    [Activity::Foreground, Activity::Interacting, Activity::Background, Activity::LowPower];

/// colibri's scheduler.
#[derive(Clone)]
pub struct Colibri(Rc<Parts>);

struct Parts {
    scheduler: Scheduler,
    numbers: Rc<Numbers>,
    /// One a class; made when first used.
    latest: [RefCell<Option<Latest>>; 3],
    asked: Arc<AtomicU64>,
    /// Kept until the end: the last one tells the host when it goes. Made when first used.
    spawner: OnceCell<Spawner>,
}

impl fmt::Debug for Colibri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Colibri").field(&self.0.scheduler).finish()
    }
}

/// Which task of the workload has which id.
#[derive(Debug, Default)]
struct Numbers {
    /// The task that is being spawned here.
    spawning: Cell<Option<u32>>,
    /// So many that were sent had been taken in before that, and the observer has not heard of them.
    unheard: Cell<usize>,
    /// Those that were sent from other threads and are not taken in yet, in order.
    sent: RefCell<VecDeque<u32>>,
    known: RefCell<HashMap<TaskId, u32, BuildHasherDefault<Mix>>>,
}

impl Subject for Colibri {
    type Task = Task<()>;

    const NAME: &'static str = "colibri";
    const SKILLS: &'static [Skill] = &Skill::ALL;
    const OBSERVED: bool = true;

    fn new(settings: &Settings, clock: &ManualClock, recorder: &Recorder) -> Self {
        let numbers = Rc::new(Numbers::default());
        let bad = settings.bad_observer.then(|| Cell::new(0));
        let witness = Witness { recorder: recorder.clone(), numbers: numbers.clone(), bad };
        let asked = Arc::new(AtomicU64::new(0));
        let hook = asked.clone();
        let mut builder = Scheduler::builder()
            .slice(settings.slice)
            .quantum(settings.quantum)
            .upgrade_after(settings.upgrade_after)
            .clock(clock.clone())
            .on_ready(move || {
                hook.fetch_add(1, Ordering::Relaxed);
            })
            .observer(witness);
        if let Some(most) = settings.max_tasks {
            builder = builder.max_tasks(most);
        }
        if !settings.policy.is_empty() {
            let settings = settings.clone();
            builder = builder.slice_policy(move |activity| {
                let place = ACTIVITIES.iter().position(|other| *other == activity);
                settings.slice_while(place.unwrap_or(0))
            });
        }
        Colibri(Rc::new(Parts {
            scheduler: builder.build(),
            numbers,
            latest: Default::default(),
            asked,
            spawner: OnceCell::new(),
        }))
    }

    fn spawn<F>(&self, spec: Spec, future: F) -> Task<()>
    where
        F: Future<Output = ()> + 'static,
    {
        let Parts { scheduler, numbers, .. } = &*self.0;
        // The observer may hear of the task before its handle, and with it its id, is here.
        self.begins_to_spawn(spec.number);
        let priority = priority(spec.class);
        let task = match (spec.weight, spec.deadline) {
            (1, None) => scheduler.spawn(priority, future),
            (weight, deadline) => {
                let task = scheduler.task(future).priority(priority).weight(weight);
                deadline.into_iter().fold(task, |task, deadline| task.deadline(deadline)).spawn()
            }
        };
        numbers.spawning.set(None);
        numbers.known.borrow_mut().insert(task.id(), spec.number);
        task
    }

    fn submit<F>(&self, spec: Spec, future: F, _before: Option<Task<()>>) -> Option<Task<()>>
    where
        F: Future<Output = ()> + 'static,
    {
        let Parts { scheduler, numbers, latest, .. } = &*self.0;
        self.begins_to_spawn(spec.number);
        let mut latest = latest[spec.class as usize].borrow_mut();
        latest.get_or_insert_with(|| Latest::new(scheduler, priority(spec.class))).submit(future);
        numbers.spawning.set(None);
        None
    }

    fn spawn_from_afar<F>(&self, spec: Spec, future: F) -> bool
    where
        F: Future<Output = ()> + 'static,
    {
        let Parts { scheduler, numbers, spawner, .. } = &*self.0;
        let spawner = spawner.get_or_init(|| scheduler.spawner()).clone();
        let parcel = parcel(future);
        let address = parcel.0;
        numbers.sent.borrow_mut().push_back(spec.number);
        let priority = priority(spec.class);
        let send = move || spawner.spawn(priority, parcel).is_ok();
        let accepted = std::thread::spawn(send).join().unwrap_or(false);
        if !accepted {
            numbers.sent.borrow_mut().pop_back();
            // What the other thread dropped was the address alone.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(Parcel(address))));
        }
        accepted
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        let report = match length {
            None => self.0.scheduler.run_slice(),
            Some(length) => self.0.scheduler.run_for(length),
        };
        Turn { work_left: report.work_left, next_timer: report.next_timer.map(|at| at.as_nanos()) }
    }

    async fn within<F>(&self, limit: Duration, future: F) -> bool
    where
        F: Future<Output = ()>,
    {
        colibri_core::timeout(limit, future).await.is_ok()
    }

    fn now(&self, _clock: &ManualClock) -> u64 {
        self.0.scheduler.now().as_nanos()
    }

    fn asked(&self) -> u64 {
        self.0.asked.load(Ordering::Relaxed)
    }

    fn set_activity(&self, activity: usize) {
        self.0.scheduler.set_activity(ACTIVITIES[activity % ACTIVITIES.len()]);
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

    fn cancel(&self, task: &mut Task<()>) {
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
        self.0.scheduler.request_yield();
    }

    fn shutdown(&self) {
        self.0.scheduler.shutdown();
    }
}

impl Colibri {
    /// The next task of which the observer hears is this one, after those that were sent and are taken in by now.
    fn begins_to_spawn(&self, number: u32) {
        let Parts { scheduler, numbers, .. } = &*self.0;
        let news = || {
            let known = numbers.known.borrow();
            scheduler.tasks().iter().filter(|task| !known.contains_key(&task.id)).count()
        };
        numbers.unheard.set(if numbers.sent.borrow().is_empty() { 0 } else { news() });
        numbers.spawning.set(Some(number));
    }
}

type Content = Pin<Box<dyn Future<Output = ()>>>;

/// A task on its way through another thread: that gets the address only, since tasks of a case share what no other thread may
/// touch.
struct Parcel(u64);

thread_local! {
    /// What was sent from this thread and is not done, by its address.
    static PARCELS: RefCell<BTreeMap<u64, Content>> = const { RefCell::new(BTreeMap::new()) };
    static ADDRESSES: Cell<u64> = const { Cell::new(0) };
}

fn parcel(future: impl Future<Output = ()> + 'static) -> Parcel {
    let address = ADDRESSES.get();
    ADDRESSES.set(address + 1);
    PARCELS.with(|parcels| parcels.borrow_mut().insert(address, Box::pin(future)));
    Parcel(address)
}

impl Parcel {
    /// Takes it out. On any other thread, and at that one's end, there is none.
    fn take(&self) -> Option<Content> {
        PARCELS.try_with(|parcels| parcels.borrow_mut().remove(&self.0)).ok().flatten()
    }
}

impl Future for Parcel {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Out of the table, since it may send others meanwhile; a panic drops it.
        let Some(mut future) = self.take() else { return Poll::Ready(()) };
        let poll = future.as_mut().poll(context);
        PARCELS.with(|parcels| parcels.borrow_mut().insert(self.0, future));
        poll
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Writes what the scheduler says of itself into the trace.
struct Witness {
    recorder: Recorder,
    numbers: Rc<Numbers>,
    /// How many events it has told of, if it is one that panics now and then.
    bad: Option<Cell<u64>>,
}

impl Witness {
    fn note(&self, task: &TaskEvent, what: What) {
        let number = self.numbers.known.borrow().get(&task.id).copied();
        // An event of a task that nobody spawned would be a fault of the scheduler: it shows as one of nobody.
        self.recorder.insert(task.at.as_nanos(), number.unwrap_or(crate::trace::HOST), what);
        if let Some(told) = &self.bad {
            told.set(told.get() + 1);
            if told.get().is_multiple_of(BAD_EVENTS) {
                resume_unwind(Box::new("a planned panic in the observer"));
            }
        }
    }
}

impl Observer for Witness {
    fn spawned(&self, task: &TaskEvent) {
        let Numbers { spawning, unheard, sent, known } = &*self.numbers;
        if let Entry::Vacant(entry) = known.borrow_mut().entry(task.id) {
            let here = spawning.get().filter(|_| unheard.get() == 0);
            unheard.set(unheard.get().saturating_sub(1));
            let Some(number) = here.or_else(|| sent.borrow_mut().pop_front()) else { return };
            entry.insert(number);
            if here.is_none() {
                self.recorder.insert(task.at.as_nanos(), number, What::Admitted(class(task.level)));
            }
        }
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
