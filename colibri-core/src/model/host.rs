//! What the host waits for: its last spawner, and a hook that is set while somebody wakes.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use super::explore;
use crate::fault::Fault;
use crate::remote::{Hook, Message, Remote};

/// A host whose only spawner is another thread's, which does `first` and lets go of it.
fn with_last_spawner(first: fn(&Remote)) -> (Arc<Remote>, thread::JoinHandle<()>) {
    let remote = Arc::new(Remote::new(usize::MAX, None));
    remote.add_spawner();
    let other = {
        let remote = remote.clone();
        thread::spawn(move || {
            first(&remote);
            remote.remove_spawner();
        })
    };
    (remote, other)
}

#[test]
fn model_last_spawner_against_park() {
    explore("the last spawner's drop against a host that parks", Fault::LeavesSilently, || {
        let (remote, other) = with_last_spawner(|_| ());
        let mut parks = 0;
        // A host that is not told stays parked for ever, which loom reports as a deadlock.
        while !remote.is_alone() {
            parks += 1;
            remote.park(None);
        }
        other.join().unwrap();
        parks > 0
    });
}

#[test]
fn model_last_spawn_against_a_host_that_leaves() {
    let name = "a spawn and the last spawner's drop against a host that leaves";
    explore(name, Fault::LooksForMailFirst, || {
        let (remote, other) = with_last_spawner(|remote| {
            remote.send(Message::Spawn(Box::new(|_| ()))).unwrap();
        });
        let early = remote.inbox.receive().len();
        let mut received = early;
        while !remote.is_alone() {
            remote.park(None);
            received += remote.inbox.receive().len();
        }
        assert_eq!(received, 1, "the host left while there was mail");
        other.join().unwrap();
        early == 1
    });
}

#[test]
fn model_new_hook_against_wake() {
    explore("a hook that is set against a wake", Fault::AsksBeforeTheHookIsThere, || {
        let remote = Arc::new(Remote::new(usize::MAX, None));
        let asks = Arc::new(AtomicU32::new(0));
        let hook: Hook = {
            let asks = asks.clone();
            std::sync::Arc::new(move || {
                asks.fetch_add(1, Ordering::Relaxed);
            })
        };
        let other = {
            let remote = remote.clone();
            thread::spawn(move || remote.notify())
        };
        // As `Scheduler::on_ready` does where there is work.
        remote.set_hook(hook);
        remote.ask_host_from_home();
        other.join().unwrap();
        let asks = asks.load(Ordering::Relaxed);
        // Who wakes just then may find the new hook, and it be called for what is there already as well.
        assert!((1..=2).contains(&asks), "the new hook was called {asks} times");
        asks == 1
    });
}
