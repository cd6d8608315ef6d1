//! A host of one's own in thirty lines: a queue of events, one of which is the scheduler's turn.

use std::sync::mpsc;
use std::time::Duration;

use colibri_core::{Priority, Scheduler, sleep};

/// What the loop waits for.
enum Event {
    Key(char),
    /// The scheduler has something to do.
    Turn,
    Quit,
}

pub(crate) fn main() {
    let (events, queue) = mpsc::channel();
    let scheduler = Scheduler::new();
    // Asked at most once until the next turn, from whatever thread.
    let turn = events.clone();
    scheduler.on_ready(move || turn.send(Event::Turn).unwrap_or_default());

    let quit = events.clone();
    drop(scheduler.spawn(Priority::Idle, async move {
        sleep(Duration::from_millis(5)).await;
        quit.send(Event::Quit).unwrap_or_default();
    }));
    events.send(Event::Key('x')).expect("the queue is read below");

    let (mut timer, mut keys) = (None, 0);
    loop {
        let event = match timer {
            None => queue.recv().unwrap_or(Event::Quit),
            Some(length) => queue.recv_timeout(length).unwrap_or(Event::Turn),
        };
        match event {
            Event::Key(key) => {
                keys += 1;
                println!("key {key}");
                continue;
            }
            Event::Turn => {}
            Event::Quit => break,
        }
        let report = scheduler.run_slice();
        if report.work_left {
            events.send(Event::Turn).expect("the queue is read here");
        }
        timer = report.next_timer.map(|due| due.duration_since(scheduler.now()));
    }
    assert_eq!(keys, 1);
    assert_eq!(scheduler.live_tasks(), 0);
    println!("bye");
}
