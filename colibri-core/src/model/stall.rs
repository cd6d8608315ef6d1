//! The stall detector's thread, which sleeps until a poll begins.

use std::sync::Arc;
use std::time::Duration;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::explore;
use crate::StallDetector;
use crate::fault::Fault;
use crate::remote::Remote;
use crate::stall::Watch;
use crate::task::TaskId;

fn poll_against_sleep() -> bool {
    // std's: loom cannot drop its own after a deadlock, by which this model fails.
    let watch = Arc::new(Watch::new());
    let told = Arc::new(AtomicBool::new(false));
    let detector = {
        let (watch, told, home) = (watch.clone(), told.clone(), thread::current());
        thread::spawn(move || {
            // Each poll is too long.
            let detector = StallDetector::new(Duration::ZERO).on_report(move |_| {
                told.store(true, Ordering::Release);
                home.unpark();
            });
            watch.run(&detector, &Remote::new(usize::MAX, None));
        })
    };
    let slept = watch.began(TaskId::new(0, 0), None);
    // Who sleeps through the poll leaves this thread parked for ever, which loom reports as a deadlock.
    while !told.load(Ordering::Acquire) {
        thread::park();
    }
    watch.ended();
    watch.close();
    detector.join().unwrap();
    slept
}

#[test]
fn model_poll_against_a_detector_that_falls_asleep() {
    explore("a poll against a detector that falls asleep", Fault::SleepsUnannounced, poll_against_sleep);
}
