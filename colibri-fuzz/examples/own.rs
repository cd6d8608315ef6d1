//! A fairness test of one's own: a task, a slice policy, a scheduler.
//!
//! `cargo run --release -p colibri-fuzz --example own`

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use colibri_core::{Activity, ManualClock, cooperative};
use colibri_fuzz::own;
use colibri_fuzz::subject::{Spec, Subject, Turn};
use colibri_fuzz::trace::Recorder;
use colibri_fuzz::workload::Settings;

/// A task of one's own. Does it check often enough?
#[cooperative]
fn longest_line(text: &'static str) -> usize {
    let mut longest = 0;
    for line in text.lines() {
        longest = longest.max(line.len());
    }
    longest
}

/// A slice policy of one's own: short while the user does something, else a whole frame.
fn policy(activity: Activity) -> Duration {
    match activity {
        Activity::Interacting => Duration::from_millis(2),
        _ => Duration::from_millis(16),
    }
}

/// A scheduler of one's own: whoever was woken last runs first. Is that fair?
#[derive(Clone)]
struct NewestFirst(Rc<Inner>);

type Body = Pin<Box<dyn Future<Output = ()>>>;

struct Inner {
    slice: Duration,
    clock: ManualClock,
    stack: Arc<Mutex<Vec<u32>>>,
    tasks: RefCell<BTreeMap<u32, Body>>,
    joiners: RefCell<BTreeMap<u32, Waker>>,
}

struct Push {
    task: u32,
    stack: Arc<Mutex<Vec<u32>>>,
}

impl Wake for Push {
    fn wake(self: Arc<Self>) {
        let mut stack = self.stack.lock().unwrap_or_else(PoisonError::into_inner);
        if !stack.contains(&self.task) {
            stack.push(self.task);
        }
    }
}

impl Inner {
    fn waker(&self, task: u32) -> Waker {
        Waker::from(Arc::new(Push { task, stack: self.stack.clone() }))
    }

    fn pop(&self) -> Option<u32> {
        self.stack.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl Subject for NewestFirst {
    type Task = u32;

    const NAME: &'static str = "newest first";

    fn new(settings: &Settings, clock: &ManualClock, _recorder: &Recorder) -> Self {
        NewestFirst(Rc::new(Inner {
            slice: settings.slice,
            clock: clock.clone(),
            stack: Arc::default(),
            tasks: RefCell::default(),
            joiners: RefCell::default(),
        }))
    }

    fn spawn<F: Future<Output = ()> + 'static>(&self, spec: Spec, future: F) -> u32 {
        self.0.tasks.borrow_mut().insert(spec.number, Box::pin(future));
        self.0.waker(spec.number).wake();
        spec.number
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        let end = self.0.clock.now() + length.unwrap_or(self.0.slice);
        while self.0.clock.now() < end {
            let Some(number) = self.0.pop() else { break };
            // Taken out while it runs: it may spawn.
            let Some(mut task) = self.0.tasks.borrow_mut().remove(&number) else { continue };
            let waker = self.0.waker(number);
            let poll = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                task.as_mut().poll(&mut Context::from_waker(&waker))
            }));
            if let Ok(Poll::Pending) = poll {
                self.0.tasks.borrow_mut().insert(number, task);
            } else {
                drop(task);
                let joiner = self.0.joiners.borrow_mut().remove(&number);
                joiner.into_iter().for_each(Waker::wake);
            }
        }
        // What is ready the harness sees itself.
        Turn { work_left: false, next_timer: None }
    }

    fn poll_join(&self, task: &mut u32, context: &mut Context<'_>) -> Poll<()> {
        if !self.0.tasks.borrow().contains_key(task) {
            return Poll::Ready(());
        }
        self.0.joiners.borrow_mut().insert(*task, context.waker().clone());
        Poll::Pending
    }

    fn shutdown(&self) {
        let tasks = self.0.tasks.take();
        drop(tasks);
    }
}

/// Cases of each test: a second or two.
const CASES: u64 = 300;

pub(crate) fn main() {
    // The panics that workloads plan are theirs.
    std::panic::set_hook(Box::new(|_| {}));

    let text = include_str!("own.rs");
    let gaps = own::assert_yields_within(Duration::from_millis(5), || longest_line(text));
    println!("longest_line: {gaps}");

    own::try_policy(policy, 1, CASES).expect("the policy keeps all promises");
    println!("policy: all promises kept in {CASES} cases");

    let told = own::try_fair::<NewestFirst>(1, CASES).expect_err("whoever spins starves all others");
    println!("newest first: {told}");
}
