//! Models of what wakes, the parked host and the inbox consist of.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use super::explore;
use crate::fault::Fault;
use crate::remote::{Hook, Message, Remote};
use crate::slot::NIL;
use crate::waker::{Link, drain, take_first};

/// Two tasks' links and the stack they go on.
struct Stack {
    head: AtomicU32,
    links: [Link; 2],
    /// What a waker writes before it wakes, and the poll reads: relaxed, so that only the wake orders it.
    data: [AtomicU32; 2],
}

impl Stack {
    fn new() -> Self {
        Stack {
            head: AtomicU32::new(NIL),
            links: [Link::new(), Link::new()],
            data: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    /// Writes, then wakes.
    fn write_and_wake(&self, number: usize, value: u32) -> bool {
        self.data[number].fetch_or(value, Ordering::Relaxed);
        self.links[number].push(&self.head, number as u32)
    }

    /// One turn of the scheduler: drains, and polls whom it drained. Returns what the polls saw, per task.
    fn turn(&self) -> [Option<u32>; 2] {
        let mut seen = [None; 2];
        let mut first = drain(&self.head, |number| &self.links[number as usize]);
        while first != NIL {
            first = take_first(first, &self.links[first as usize], |number| {
                let number = number as usize;
                seen[number] = Some(self.data[number].load(Ordering::Relaxed));
            });
        }
        seen
    }
}

/// Two threads that wake one task, against turns: whether the first turn found one.
fn two_wakes_of_one_task() -> bool {
    let stack = Arc::new(Stack::new());
    let wakers = [1, 2].map(|value| {
        let stack = stack.clone();
        thread::spawn(move || {
            stack.write_and_wake(0, value);
        })
    });
    let early = stack.turn()[0];
    for waker in wakers {
        waker.join().unwrap();
    }
    let late = stack.turn()[0];
    // Whichever poll came last saw both writes: a wake that was folded into another is not lost.
    assert_eq!(late.or(early), Some(3));
    early.is_some()
}

#[test]
fn model_wakes_of_one_task_are_never_lost() {
    let name = "two wakes of one task against a drain and its poll";
    explore(name, Fault::DedupesByExchange, two_wakes_of_one_task);
}

#[test]
fn model_two_wakes_against_the_poll_that_the_first_brings() {
    let name = "a wake against the poll that the one before brings";
    explore(name, Fault::PollsBeforeItUnqueues, || {
        let stack = Arc::new(Stack::new());
        stack.write_and_wake(0, 1);
        let waker = {
            let stack = stack.clone();
            thread::spawn(move || {
                stack.write_and_wake(0, 2);
            })
        };
        let early = stack.turn()[0];
        waker.join().unwrap();
        let late = stack.turn()[0];
        assert_eq!(late.or(early), Some(3));
        late.is_some()
    });
}

#[test]
fn model_two_pushes_against_a_drain() {
    explore("wakes of two tasks against a drain", Fault::PushesWithoutALook, || {
        let stack = Arc::new(Stack::new());
        let wakers = [0, 1].map(|number| {
            let stack = stack.clone();
            thread::spawn(move || stack.write_and_wake(number, 1))
        });
        let early = stack.turn();
        let first = wakers.map(|waker| waker.join().unwrap());
        let late = stack.turn();
        for number in 0..2 {
            assert_eq!(early[number].or(late[number]), Some(1), "each task is polled");
            assert!(early[number].is_none() || late[number].is_none(), "and only once");
        }
        // Whoever found the stack empty tells the host, so that one does at least.
        assert!(first.contains(&true));
        early.iter().any(Option::is_some)
    });
}

/// A stack of wakes with a host that is told of them.
fn with_host(hook: Option<Hook>) -> Arc<(Stack, Remote)> {
    Arc::new((Stack::new(), Remote::new(usize::MAX, hook)))
}

/// Another thread wakes the first task and tells the host, if that is its part.
fn wake_and_notify(shared: &Arc<(Stack, Remote)>) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || {
        let (stack, remote) = &*shared;
        if stack.write_and_wake(0, 1) {
            remote.notify();
        }
    })
}

#[test]
fn model_push_against_park() {
    explore("a wake against a host that parks", Fault::ParksUnannounced, || {
        let shared = with_host(None);
        let waker = wake_and_notify(&shared);
        let (stack, remote) = &*shared;
        let mut parks = 0;
        // A wake that is lost leaves the host parked for ever, which loom reports as a deadlock.
        while stack.turn()[0].is_none() {
            parks += 1;
            remote.park(None);
        }
        waker.join().unwrap();
        parks > 0
    });
}

#[test]
fn model_wake_against_the_turn_of_a_host_that_was_asked() {
    explore("a wake against the turn that an earlier one asked for", Fault::ComesUnannounced, || {
        let asks = Arc::new(AtomicU32::new(0));
        let hook: Hook = {
            let asks = asks.clone();
            std::sync::Arc::new(move || {
                asks.fetch_add(1, Ordering::Relaxed);
            })
        };
        let shared = with_host(Some(hook));
        shared.1.ask_host();
        let waker = wake_and_notify(&shared);
        let (stack, remote) = &*shared;
        remote.host_came();
        // It looks before it drains, as the engine does.
        let polled = stack.head.load(Ordering::Relaxed) != NIL && stack.turn()[0].is_some();
        waker.join().unwrap();
        // Else it would be asked by nobody.
        assert!(polled || asks.load(Ordering::Relaxed) == 2, "the host does not come for a wake");
        polled
    });
}

#[test]
fn model_spawn_from_outside_against_shutdown() {
    explore("a spawn from another thread against shutdown", Fault::ClosesTooLate, || {
        let remote = Arc::new(Remote::new(usize::MAX, None));
        let sender = {
            let remote = remote.clone();
            thread::spawn(move || remote.send(Message::Spawn(Box::new(|_| ()))).is_ok())
        };
        let received = remote.inbox.receive().len() + remote.close().0.len();
        let accepted = sender.join().unwrap();
        // What is accepted arrives, to be run or to be dropped; what is refused does not.
        assert_eq!(received, usize::from(accepted));
        assert!(remote.inbox.receive().is_empty());
        accepted
    });
}

#[test]
fn model_last_waker_against_reuse_of_its_header() {
    explore("the last clone of a waker against the reuse of its header", Fault::TrustsTheCount, || {
        let stack = Arc::new(Stack::new());
        // The count of the header's clones, as `Arc` keeps it: released by a drop, read relaxed by `strong_count`.
        let count = Arc::new(AtomicU32::new(2));
        let waker = {
            let (stack, count) = (stack.clone(), count.clone());
            thread::spawn(move || {
                stack.write_and_wake(0, 1);
                count.fetch_sub(1, Ordering::Release);
            })
        };
        let polled = stack.turn()[0].is_some();
        let unshared = count.load(Ordering::Relaxed) == 1 && stack.links[0].is_settled();
        // If the scheduler may lend the header to another task, then this task's wake was delivered.
        assert!(!unshared || polled, "a wake that is still queued would go to another task");
        waker.join().unwrap();
        let late = stack.turn()[0].is_some();
        assert!(polled != late, "one wake, one poll");
        unshared
    });
}
