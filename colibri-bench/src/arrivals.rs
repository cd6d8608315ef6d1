//! Queries from outside: a thread of its own sends each at its planned time, whatever the measured thread does.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::executors::Latch;
use crate::loads::Lookup;
use crate::measure::{Disturbed, Slices};
use crate::plan::Query;

/// The sender sleeps until this long before a query is due and spins from then on. A sleep ends late: by 50 µs of timer
/// slack on Linux, and by as much again or more where an idle core of a virtual machine has to be woken first. At 1000
/// queries in a second the spin takes 22 % of the *other* core.
const SPIN: Duration = Duration::from_micros(250);

/// The thread's time is cut into slices of at least this length, to see which of them other programs disturbed.
const SLICE: Duration = Duration::from_millis(1);

/// The sender's thread, before, during and after a round.
#[derive(Debug)]
pub(crate) struct Arrivals {
    shared: Arc<Shared>,
    sender: JoinHandle<Sent>,
}

/// The receiving end, and what is needed to understand what comes out of it.
#[derive(Debug)]
pub(crate) struct Queue {
    shared: Arc<Shared>,
    plan: Arc<Vec<Query>>,
    arrived: UnboundedReceiver<Arrival>,
}

/// A query on its way.
#[derive(Debug)]
struct Arrival {
    /// Its place in the plan.
    number: usize,
    /// When it was sent, ns after the round's start.
    sent_nanos: u64,
}

/// How long the queries of a round waited, ns.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// From each planned arrival to the answer's end.
    pub(crate) planned: Vec<u64>,
    /// From each sending to the answer's end: without the sender's own lateness.
    pub(crate) sent: Vec<u64>,
    /// Slices of the thread's time up to the round's end, cut where queries were answered.
    pub(crate) disturbed: Disturbed,
}

/// What the sender did in a round.
#[derive(Debug)]
pub(crate) struct Sent {
    /// By how much each query was sent after its planned time, ns. It is part of every subject's waits.
    pub(crate) late_nanos: Vec<u64>,
    /// The plan was over before the round was.
    pub(crate) exhausted: bool,
}

#[derive(Debug)]
struct Shared {
    start: OnceLock<Instant>,
    /// When the round ended, ns after its start; `u64::MAX` before.
    end_nanos: AtomicU64,
}

impl Arrivals {
    /// Starts the sender's thread, which waits for [`start`](Arrivals::start).
    pub(crate) fn prepare(plan: &Arc<Vec<Query>>) -> (Self, Queue) {
        let shared = Arc::new(Shared { start: OnceLock::new(), end_nanos: AtomicU64::new(u64::MAX) });
        let (to, arrived) = mpsc::unbounded_channel();
        let queue = Queue { shared: Arc::clone(&shared), plan: Arc::clone(plan), arrived };
        let sender = thread::Builder::new()
            .name("arrivals".to_owned())
            .spawn({
                let (shared, plan) = (Arc::clone(&shared), Arc::clone(plan));
                move || send(&shared, &plan, &to)
            })
            .expect("the system gives one more thread");
        (Self { shared, sender }, queue)
    }

    /// From now on the planned times count.
    pub(crate) fn start(&self) {
        self.shared.start.set(Instant::now()).expect("a round starts once");
        self.sender.thread().unpark();
    }

    /// The bulk job is over: queries planned for before this moment are still sent, none after it.
    pub(crate) fn end(&self) {
        let start = self.shared.start.get().expect("a round starts before it ends");
        self.shared.end_nanos.store(nanos(start.elapsed()), Ordering::Release);
        self.sender.thread().unpark();
    }

    /// Waits for the sender's thread, after [`end`](Arrivals::end).
    pub(crate) fn join(self) -> Sent {
        self.sender.join().expect("the sender does not panic")
    }
}

/// What every query needs to be answered.
#[derive(Debug)]
struct Answering<I> {
    shared: Arc<Shared>,
    plan: Arc<Vec<Query>>,
    index: I,
    waits: RefCell<Waits>,
    slices: RefCell<Option<Slices>>,
}

impl<I: Lookup> Answering<I> {
    fn of(shared: Arc<Shared>, plan: Arc<Vec<Query>>, index: I) -> Self {
        let room = || Vec::with_capacity(plan.len());
        let waits = Waits { planned: room(), sent: room(), disturbed: Disturbed::default() };
        Self { shared, plan, index, waits: RefCell::new(waits), slices: RefCell::new(None) }
    }

    fn answer(&self, Arrival { number, sent_nanos }: Arrival) {
        let query = &self.plan[number];
        std::hint::black_box(self.index.query(&query.word));
        let start = self.shared.start.get().expect("queries arrive after the start");
        let now_nanos = nanos(start.elapsed());
        let mut waits = self.waits.borrow_mut();
        waits.planned.push(now_nanos.saturating_sub(nanos(query.at)));
        waits.sent.push(now_nanos.saturating_sub(sent_nanos));
        // Behind the round's end the thread may sleep, which nobody disturbed.
        if self.shared.end_nanos.load(Ordering::Relaxed) == u64::MAX {
            self.slices.borrow_mut().get_or_insert_with(|| Slices::start(SLICE)).cut();
        }
    }

    fn waits(&self) -> Waits {
        let mut waits = self.waits.take();
        if let Some(slices) = self.slices.take() {
            waits.disturbed = slices.disturbed();
        }
        waits
    }
}

/// Makes a task of each query as it comes out of `queue`, as a server does, until the sender has ended. `start` hands a
/// query to the executor.
pub(crate) async fn answer<I: Lookup>(
    queue: Queue,
    index: I,
    start: impl Fn(Pin<Box<dyn Future<Output = ()>>>),
) -> Waits {
    let Queue { shared, plan, mut arrived } = queue;
    let answering = Rc::new(Answering::of(shared, plan, index));
    let running = Latch::new(1);
    while let Some(arrival) = arrived.recv().await {
        running.add(1);
        let (answering, running) = (Rc::clone(&answering), running.clone());
        start(Box::pin(async move {
            answering.answer(arrival);
            running.count_down();
        }));
    }
    running.count_down();
    running.opened().await;
    answering.waits()
}

/// A host that answers in its own turns, without any executor.
#[derive(Debug)]
pub(crate) struct Desk<I> {
    arrived: UnboundedReceiver<Arrival>,
    answering: Answering<I>,
}

impl<I: Lookup> Desk<I> {
    /// The host's end of `queue`.
    pub(crate) fn new(queue: Queue, index: I) -> Self {
        Self { arrived: queue.arrived, answering: Answering::of(queue.shared, queue.plan, index) }
    }

    /// Answers what has arrived so far.
    pub(crate) fn answer(&mut self) {
        while let Ok(arrival) = self.arrived.try_recv() {
            self.answering.answer(arrival);
        }
    }

    /// Answers what is still to arrive, once the round has ended.
    pub(crate) fn close(mut self) -> Waits {
        while let Some(arrival) = self.arrived.blocking_recv() {
            self.answering.answer(arrival);
        }
        self.answering.waits()
    }
}

fn send(shared: &Shared, plan: &[Query], to: &UnboundedSender<Arrival>) -> Sent {
    let mut late_nanos = Vec::with_capacity(plan.len());
    let start = loop {
        match shared.start.get() {
            Some(start) => break start,
            None => thread::park(),
        }
    };
    for (number, query) in plan.iter().enumerate() {
        let due = start.checked_add(query.at).expect("a plan is minutes long");
        if !wait_until(due, || shared.end_nanos.load(Ordering::Acquire) <= nanos(query.at)) {
            return Sent { late_nanos, exhausted: false };
        }
        let sent_nanos = nanos(start.elapsed());
        late_nanos.push(sent_nanos.saturating_sub(nanos(query.at)));
        // The receiver is gone only if the subject panicked, which its own thread reports.
        let _ = to.send(Arrival { number, sent_nanos });
    }
    Sent { late_nanos, exhausted: true }
}

/// Returns true at `due`, or false as soon as `ended` says so.
fn wait_until(due: Instant, ended: impl Fn() -> bool) -> bool {
    loop {
        if ended() {
            return false;
        }
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        } else if left > SPIN {
            thread::park_timeout(left - SPIN); // `end` unparks it
        } else {
            std::hint::spin_loop();
        }
    }
}

/// A duration in ns; 584 years fit.
fn nanos(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::LocalIndex;

    fn plan(at_millis: &[u64]) -> Arc<Vec<Query>> {
        let query =
            |&millis: &u64| Query { at: Duration::from_millis(millis), word: b"word".as_slice().into() };
        Arc::new(at_millis.iter().map(query).collect())
    }

    fn answers(queue: Queue) -> Waits {
        tokio::runtime::Builder::new_current_thread()
            .build_local(tokio::runtime::LocalOptions::default())
            .unwrap()
            .block_on(answer(queue, Rc::new(LocalIndex::new()), |query| {
                drop(tokio::task::spawn_local(query))
            }))
    }

    #[test]
    fn all_queries_before_the_end_are_sent_and_none_after_it() {
        let (arrivals, queue) = Arrivals::prepare(&plan(&[0, 1, 2, 3_600_000]));
        arrivals.start();
        while arrivals.shared.start.get().unwrap().elapsed() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        arrivals.end();
        let waits = answers(queue);
        let sent = arrivals.join();
        assert_eq!((waits.planned.len(), sent.late_nanos.len(), sent.exhausted), (3, 3, false));
    }

    #[test]
    fn waits_count_from_the_planned_time() {
        let (arrivals, queue) = Arrivals::prepare(&plan(&[0]));
        arrivals.start();
        while arrivals.shared.start.get().unwrap().elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop(); // the queue is not looked at
        }
        arrivals.end();
        let waits = answers(queue);
        assert!(waits.planned[0] >= waits.sent[0], "{waits:?}");
        assert!(waits.planned[0] >= 20_000_000, "{waits:?}");
        assert!(arrivals.join().exhausted);
    }
}
