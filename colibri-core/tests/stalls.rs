//! A task that holds the thread is reported while it does. Each test waits for what must happen, however long it takes.

#![cfg(feature = "std")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use colibri_core::{
    Priority, StallAction, StallDetector, StallReport, TaskError, cooperative, sleep, yield_now,
};

const THRESHOLD: Duration = Duration::from_millis(5);

/// Nothing takes so long, on whatever machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The reports so far.
#[derive(Clone, Default)]
struct Reports {
    list: Arc<Mutex<Vec<StallReport>>>,
    count: Arc<AtomicUsize>,
}

impl Reports {
    fn detector(&self) -> StallDetector {
        let reports = self.clone();
        StallDetector::new(THRESHOLD).most_reports_a_minute(1000).on_report(move |report| {
            reports.list.lock().unwrap().push(report.clone());
            reports.count.fetch_add(1, Ordering::SeqCst);
        })
    }

    /// Holds the thread until there are so many.
    fn hold_until(&self, count: usize) {
        let begin = Instant::now();
        while self.count.load(Ordering::SeqCst) < count {
            assert!(begin.elapsed() < PATIENCE, "no report");
            std::hint::spin_loop();
        }
    }

    fn last(&self) -> StallReport {
        self.list.lock().unwrap().last().expect("there is a report").clone()
    }
}

#[test]
fn a_report_comes_while_the_thread_is_held() {
    let reports = Reports::default();
    let scheduler = support::builder().stall_detector(reports.detector()).build();
    let held = reports.clone();
    let task = scheduler.task(async move { held.hold_until(1) }).name("index").spawn();
    let id = task.id();
    scheduler.block_on(task).unwrap();
    let report = reports.last();
    assert_eq!((report.task, report.name.as_deref(), report.last_checkpoint), (id, Some("index"), None));
    assert!(report.held >= THRESHOLD);
    let text = report.to_string();
    assert!(text.starts_with(&format!("task {id} (index) has held the thread for ")), "{text}");
    assert!(text.ends_with("; it has passed no checkpoint"), "{text}");
}

#[cooperative]
fn holds_after(rounds: u64, reports: Reports) -> u64 {
    let mut sum = 0u64;
    for round in 0..rounds {
        sum = sum.wrapping_mul(31).wrapping_add(round);
    }
    reports.hold_until(1);
    sum
}

#[test]
fn the_last_checkpoint_is_named() {
    if support::always_yields()
        && support::says_nothing_in_this_mode("a poll passes no check where each gives way")
    {
        return;
    }
    let reports = Reports::default();
    let scheduler = support::builder().stall_detector(reports.detector()).build();
    // Some checks are looks at the clock, however fast the machine is.
    let task = scheduler.spawn(Priority::Normal, holds_after(3_000_000, reports.clone()));
    scheduler.block_on(task).unwrap();
    let (function, file, line) = reports.last().last_checkpoint.expect("it passed checkpoints");
    assert_eq!((function, line), ("holds_after", line!() - 20));
    assert!(file.ends_with("stalls.rs"), "{file}");
}

#[cooperative]
fn endless(reports: Reports) {
    reports.hold_until(1);
    let mut sum = 0u64;
    loop {
        sum = sum.wrapping_add(1);
    }
}

#[test]
fn a_policy_cancels_at_the_next_checkpoint() {
    let reports = Reports::default();
    let detector = reports.detector().on_stall(|_| StallAction::Cancel);
    let scheduler = support::builder().stall_detector(detector).build();
    let task = scheduler.spawn(Priority::Immediate, async move { endless(reports).await });
    assert!(matches!(scheduler.block_on(task), Err(TaskError::Cancelled)));
}

#[test]
fn a_policy_demotes_at_the_next_checkpoint() {
    let reports = Reports::default();
    let detector = reports.detector().on_stall(|_| StallAction::Demote);
    // Nobody rises by waiting.
    let scheduler =
        support::builder().upgrade_after(Duration::from_secs(3600)).stall_detector(detector).build();
    let hog = scheduler.spawn(Priority::Immediate, async move { endless(reports).await });
    let normal = scheduler.spawn(Priority::Normal, async {
        for _ in 0..3 {
            yield_now().await;
        }
    });
    while !normal.is_finished() {
        scheduler.run_slice();
    }
    assert!(!hog.is_finished());
}

#[test]
fn the_future_of_block_on_is_named_and_goes_on() {
    for action in [StallAction::Cancel, StallAction::Demote] {
        let reports = Reports::default();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let detector = reports.detector().on_stall(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            action
        });
        let scheduler = support::builder().stall_detector(detector).build();
        let output = scheduler.block_on(async {
            reports.hold_until(1);
            let begin = Instant::now();
            while asked.load(Ordering::SeqCst) == 0 {
                assert!(begin.elapsed() < PATIENCE, "the policy is not asked");
                std::hint::spin_loop();
            }
            // Whatever the policy wants has come by the last of these, or comes while the thread is parked.
            for _ in 0..100 {
                yield_now().await;
            }
            sleep(4 * THRESHOLD).await;
            42
        });
        assert_eq!(output, 42);
        assert_eq!(reports.last().name.as_deref(), Some("block_on"));
    }
}

#[test]
fn panics_of_the_task_and_of_the_callback_end_nothing() {
    let reports = Reports::default();
    let noted = reports.clone();
    let detector = StallDetector::new(THRESHOLD).on_report(move |report| {
        noted.list.lock().unwrap().push(report.clone());
        noted.count.fetch_add(1, Ordering::SeqCst);
        panic!("in a callback, on purpose");
    });
    let scheduler = support::builder().stall_detector(detector).build();
    for count in 1..=3 {
        let held = reports.clone();
        let task = scheduler.spawn(Priority::Normal, async move {
            held.hold_until(count);
            panic!("in the task, on purpose");
        });
        let id = task.id();
        assert!(matches!(scheduler.block_on(task), Err(TaskError::Panicked(_))));
        assert_eq!(reports.last().task, id);
    }
}

#[test]
fn reports_beyond_the_limit_are_counted() {
    let reports = Reports::default();
    let stalls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&stalls);
    // Every stall asks the policy, whether it is told or not.
    let detector = reports.detector().most_reports_a_minute(2).on_stall(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        StallAction::None
    });
    let scheduler = support::builder().stall_detector(detector).build();
    for count in 1..=4 {
        let seen = Arc::clone(&stalls);
        let task = scheduler.spawn_fn(Priority::Normal, move || {
            let begin = Instant::now();
            while seen.load(Ordering::SeqCst) < count {
                assert!(begin.elapsed() < PATIENCE, "no stall");
                std::hint::spin_loop();
            }
        });
        scheduler.block_on(task).unwrap();
    }
    assert_eq!(reports.count.load(Ordering::SeqCst), 2);
}

#[test]
fn the_watch_ends_with_the_scheduler() {
    let reports = Reports::default();
    let scheduler = support::builder().stall_detector(reports.detector()).build();
    scheduler.block_on(async {});
    drop(scheduler);
    let begin = Instant::now();
    // The detector's callback holds the other one.
    while Arc::strong_count(&reports.list) > 1 {
        assert!(begin.elapsed() < PATIENCE, "the detector's thread is still there");
        std::thread::yield_now();
    }
}
