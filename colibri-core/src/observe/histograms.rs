//! Waits and runs by class, as histograms.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use core::cell::{Cell, RefCell};

use hdrhistogram::Histogram;

use crate::event::{Observer, TaskEvent, YieldReason};
use crate::instant::Instant;
use crate::priority::Priority;
use crate::task::TaskId;

/// Of how many waits and runs one is looked at, if nobody says otherwise: 1 %.
const DEFAULT_SAMPLING: u32 = 100;

/// Histograms of waits and runs, for each class: a sample of them, 1 % by default.
///
/// A wait is the time from a task's becoming ready to its next poll, a run the time of one poll, both in nanoseconds by the
/// scheduler's looks at its clock, of which there is one after each poll. They are kept to three figures.
///
/// Of each hundred, one is drawn: tasks that take turns are all seen, however their turns fall. The draws are the same in each
/// run.
///
/// A clone stands for the same histograms: give one to the scheduler, and keep one to read.
///
/// ```
/// use colibri_core::observe::Histograms;
/// use colibri_core::{Priority, Scheduler, yield_now};
///
/// let histograms = Histograms::new().sample_every(1);
/// let scheduler = Scheduler::builder().observer(histograms.clone()).build();
/// let task = scheduler.spawn(Priority::Normal, async { yield_now().await });
/// scheduler.block_on(task).unwrap();
/// assert_eq!(histograms.runs(Priority::Normal).len(), 2);
/// println!("p99 of the waits: {} ns", histograms.waits(Priority::Normal).value_at_quantile(0.99));
/// ```
#[derive(Clone, Debug)]
pub struct Histograms {
    kept: Rc<Kept>,
}

#[derive(Debug)]
struct Kept {
    sample: Sample,
    /// Waits of the sample that are going on.
    waiting: RefCell<BTreeMap<TaskId, Instant>>,
    /// The poll that is going on, if it belongs to the sample.
    running: Cell<Option<(TaskId, Instant)>>,
    waits: RefCell<[Histogram<u64>; 3]>,
    runs: RefCell<[Histogram<u64>; 3]>,
}

/// One of each `every`, at a place that is drawn anew each time. A fixed distance would always meet the same one of ten tasks
/// that take turns.
#[derive(Debug)]
struct Sample {
    every: Cell<u32>,
    /// How many of the current ones have passed, and which is in the sample.
    passed: Cell<u32>,
    place: Cell<u32>,
    random: Cell<u64>,
}

impl Sample {
    fn new(every: u32) -> Self {
        let sample = Sample {
            every: Cell::new(every),
            passed: Cell::new(0),
            place: Cell::new(0),
            random: Cell::new(1),
        };
        sample.begin();
        sample
    }

    fn set_every(&self, every: u32) {
        self.every.set(every);
        self.begin();
    }

    fn begin(&self) {
        // A linear congruence, of which the upper half is the more random one.
        let random = self.random.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.random.set(random);
        self.passed.set(0);
        self.place.set((((random >> 32) * u64::from(self.every.get())) >> 32) as u32);
    }

    /// Whether the next one is in the sample.
    fn takes_next(&self) -> bool {
        let passed = self.passed.get();
        let takes = passed == self.place.get();
        self.passed.set(passed + 1);
        if passed + 1 == self.every.get() {
            self.begin();
        }
        takes
    }
}

impl Histograms {
    /// Empty histograms, of one wait and run in a hundred.
    #[must_use]
    pub fn new() -> Self {
        Histograms {
            kept: Rc::new(Kept {
                sample: Sample::new(DEFAULT_SAMPLING),
                waiting: RefCell::default(),
                running: Cell::new(None),
                waits: RefCell::new(empty()),
                runs: RefCell::new(empty()),
            }),
        }
    }

    /// Looks at one wait and run in `every`: at all of them with 1.
    ///
    /// # Panics
    ///
    /// If `every` is 0.
    #[must_use]
    pub fn sample_every(self, every: u32) -> Self {
        assert!(every > 0, "a sample is of one in some number, of all with 1: 0 means nothing");
        self.kept.sample.set_every(every);
        self
    }

    /// The waits of a class so far, in nanoseconds.
    #[must_use]
    pub fn waits(&self, priority: Priority) -> Histogram<u64> {
        self.kept.waits.borrow()[priority as usize].clone()
    }

    /// The runs of a class so far, in nanoseconds.
    #[must_use]
    pub fn runs(&self, priority: Priority) -> Histogram<u64> {
        self.kept.runs.borrow()[priority as usize].clone()
    }

    /// Forgets what was seen so far.
    pub fn clear(&self) {
        *self.kept.waits.borrow_mut() = empty();
        *self.kept.runs.borrow_mut() = empty();
    }

    fn became_ready(&self, task: &TaskEvent) {
        if self.kept.sample.takes_next() {
            self.kept.waiting.borrow_mut().insert(task.id, task.at);
        }
    }

    fn ended_poll(&self, task: &TaskEvent) {
        if let Some((id, since)) = self.kept.running.get()
            && id == task.id
        {
            self.kept.running.set(None);
            record(&self.kept.runs, task.priority, since, task.at);
        }
    }
}

impl Default for Histograms {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer for Histograms {
    fn spawned(&self, task: &TaskEvent) {
        self.became_ready(task);
    }

    fn woken(&self, task: &TaskEvent) {
        // One that was spawned with a delay has not waited for the scheduler till now.
        self.kept.waiting.borrow_mut().remove(&task.id);
        self.became_ready(task);
    }

    fn started(&self, task: &TaskEvent) {
        if let Some(since) = self.kept.waiting.borrow_mut().remove(&task.id) {
            record(&self.kept.waits, task.priority, since, task.at);
            self.kept.running.set(Some((task.id, task.at)));
        }
    }

    fn yielded(&self, task: &TaskEvent, _: YieldReason) {
        self.ended_poll(task);
        self.became_ready(task);
    }

    fn suspended(&self, task: &TaskEvent) {
        self.ended_poll(task);
    }

    fn paused(&self, task: &TaskEvent) {
        // Hovering is not waiting.
        self.kept.waiting.borrow_mut().remove(&task.id);
    }

    fn finished(&self, task: &TaskEvent) {
        self.ended_poll(task);
    }

    fn panicked(&self, task: &TaskEvent) {
        self.ended_poll(task);
    }

    fn cancelled(&self, task: &TaskEvent) {
        self.ended_poll(task);
        self.kept.waiting.borrow_mut().remove(&task.id);
    }
}

fn record(histograms: &RefCell<[Histogram<u64>; 3]>, class: Priority, since: Instant, at: Instant) {
    let nanos = u64::try_from(at.duration_since(since).as_nanos()).unwrap_or(u64::MAX);
    let recorded = histograms.borrow_mut()[class as usize].record(nanos);
    recorded.expect("a histogram that grows has room for every value");
}

fn empty() -> [Histogram<u64>; 3] {
    [(); 3].map(|()| Histogram::new(3).expect("three figures are in range"))
}
