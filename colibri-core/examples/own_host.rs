//! A host of one's own in thirty lines: a queue of events, one of which is the scheduler's turn.

use std::sync::mpsc;
use std::time::Duration;

use colibri_core::{Instant, Priority, Scheduler, sleep};

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

    // What the program does: a key is pressed, a task ends it later.
    let user = events.clone();
    drop(scheduler.spawn(Priority::Idle, async move {
        user.send(Event::Key('x')).unwrap_or_default();
        sleep(Duration::from_millis(5)).await;
        user.send(Event::Quit).unwrap_or_default();
    }));

    let mut due = None;
    loop {
        // How long until the next timer, from now: events that come meanwhile do not put it off.
        let event = match due.map(|due: Instant| due.duration_since(scheduler.now())) {
            None => queue.recv().unwrap_or(Event::Quit),
            Some(length) => queue.recv_timeout(length).unwrap_or(Event::Turn),
        };
        match event {
            Event::Key(key) => {
                println!("key {key}");
                continue;
            }
            Event::Turn => {}
            Event::Quit => break,
        }
        let report = scheduler.run_slice();
        if report.work_left {
            events.send(Event::Turn).unwrap_or_default();
        }
        due = report.next_timer;
    }
    assert_eq!(scheduler.live_tasks(), 0);
}
