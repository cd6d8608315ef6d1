//! The ready-made observers see what happens.

#![cfg(feature = "std")]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use colibri_core::{ManualClock, Observer, Priority, TaskEvent, YieldReason, yield_now};

/// Notes events under a name.
struct Notes(&'static str, Rc<RefCell<Vec<String>>>);

impl Observer for Notes {
    fn started(&self, _: &TaskEvent) {
        self.1.borrow_mut().push(format!("{} started", self.0));
    }

    fn yielded(&self, _: &TaskEvent, reason: YieldReason) {
        self.1.borrow_mut().push(format!("{} yielded: {reason:?}", self.0));
    }

    fn finished(&self, _: &TaskEvent) {
        self.1.borrow_mut().push(format!("{} finished", self.0));
    }
}

#[test]
fn a_pair_of_observers_is_told_in_order() {
    let notes = Rc::new(RefCell::new(Vec::new()));
    let pair = (Notes("first", Rc::clone(&notes)), Notes("second", Rc::clone(&notes)));
    let scheduler = support::builder().clock(ManualClock::new()).observer(pair).build();
    let task = scheduler.spawn(Priority::Normal, async { yield_now().await });
    while scheduler.run_slice().work_left {}
    assert!(task.is_finished());
    assert_eq!(
        *notes.borrow(),
        [
            "first started",
            "second started",
            "first yielded: Own",
            "second yielded: Own",
            "first started",
            "second started",
            "first finished",
            "second finished",
        ]
    );
}

/// Panics at the start of each poll.
struct Panics;

impl Observer for Panics {
    fn started(&self, _: &TaskEvent) {
        support::quiet_panic("an observer");
    }
}

#[test]
fn a_panic_of_one_of_a_pair_keeps_nothing_from_the_other() {
    let notes = Rc::new(RefCell::new(Vec::new()));
    let note = || Notes("it", Rc::clone(&notes));
    let scheduler =
        support::builder().clock(ManualClock::new()).observer((note(), (Panics, (note(), Panics)))).build();
    let task = scheduler.spawn(Priority::Normal, async {});
    scheduler.run_slice();
    assert!(task.is_finished());
    assert_eq!(*notes.borrow(), ["it started", "it started", "it finished", "it finished"]);
    // One event, one panic that gets out of it.
    assert_eq!(scheduler.stats().contained_panics, 1);
}

#[cfg(feature = "histogram")]
mod histograms {
    use colibri_core::observe::Histograms;
    use colibri_core::{Scheduler, sleep};

    use super::*;

    fn observed(histograms: &Histograms) -> (Scheduler, ManualClock) {
        let clock = ManualClock::new();
        (support::builder().clock(clock.clone()).observer(histograms.clone()).build(), clock)
    }

    #[test]
    fn waits_and_runs_are_seen_by_class() {
        let histograms = Histograms::new().sample_every(1);
        let (scheduler, clock) = observed(&histograms);
        let work = clock.clone();
        let task = scheduler.spawn(Priority::Idle, async move {
            work.advance(Duration::from_millis(3));
            sleep(Duration::from_millis(10)).await;
            work.advance(Duration::from_millis(1));
        });
        clock.advance(Duration::from_millis(2));
        scheduler.run_slice();
        clock.advance(Duration::from_millis(10));
        scheduler.run_slice();
        assert!(task.is_finished());
        let (waits, runs) = (histograms.waits(Priority::Idle), histograms.runs(Priority::Idle));
        assert_eq!((waits.len(), runs.len()), (2, 2));
        // To three figures.
        assert!(waits.equivalent(waits.max(), 2_000_000), "{}", waits.max());
        assert!(runs.equivalent(runs.max(), 3_000_000), "{}", runs.max());
        assert!(runs.equivalent(runs.min(), 1_000_000), "{}", runs.min());
        assert_eq!(histograms.runs(Priority::Normal).len(), 0);
        histograms.clear();
        assert_eq!(histograms.runs(Priority::Idle).len(), 0);
    }

    #[test]
    fn a_sample_is_one_in_so_many() {
        let histograms = Histograms::new().sample_every(10);
        let (scheduler, _) = observed(&histograms);
        let task = scheduler.spawn(Priority::Normal, async {
            for _ in 0..99 {
                yield_now().await;
            }
        });
        while scheduler.run_slice().work_left {}
        assert!(task.is_finished());
        assert_eq!(histograms.waits(Priority::Normal).len(), 10);
        assert_eq!(histograms.runs(Priority::Normal).len(), 10);
    }

    #[test]
    fn a_sample_has_all_of_those_who_take_turns() {
        // One in a hundred of ten tasks, each of which comes in each tenth poll.
        let histograms = Histograms::new();
        let (scheduler, clock) = observed(&histograms);
        for task in 1..=10 {
            let clock = clock.clone();
            drop(scheduler.spawn(Priority::Normal, async move {
                for _ in 0..1000 {
                    clock.advance(task * Duration::from_micros(1));
                    yield_now().await;
                }
            }));
        }
        while scheduler.run_slice().work_left {}
        let runs = histograms.runs(Priority::Normal);
        // Of 10 010 polls, ten of which found the end.
        assert_eq!(runs.len(), 100);
        // Each is expected ten times. That one is missing has a probability of 0.0003.
        assert!((1..=10).all(|task| runs.count_between(task * 1000, task * 1000) > 0), "{runs:?}");
    }

    #[test]
    fn a_delay_is_no_wait() {
        for every in [1, 3] {
            let histograms = Histograms::new().sample_every(every);
            let (scheduler, clock) = observed(&histograms);
            for _ in 0..30 {
                drop(scheduler.task(async {}).after(Duration::from_millis(100)).spawn());
            }
            clock.advance(Duration::from_millis(100));
            scheduler.run_slice();
            let waits = histograms.waits(Priority::Normal);
            assert_eq!((waits.len(), waits.max()), (u64::from(30 / every), 0));
        }
    }
}

#[cfg(feature = "tracing")]
mod spans {
    use std::sync::{Arc, Mutex};

    use colibri_core::observe::Spans;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// Notes what a subscriber hears.
    struct Heard(Arc<Mutex<Vec<String>>>);

    impl Heard {
        fn note(&self, text: String) {
            self.0.lock().unwrap().push(text);
        }
    }

    impl Subscriber for Heard {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            self.note(format!("span {}", span.metadata().name()));
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, values: &Record<'_>) {
            self.note(format!("record {values:?}"));
        }

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut message = String::new();
            event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                if field.name() == "message" {
                    message = format!("{value:?}");
                }
            });
            self.note(format!("event {message}"));
        }

        fn enter(&self, _: &Id) {
            self.note("enter".into());
        }

        fn exit(&self, _: &Id) {
            self.note("exit".into());
        }

        fn try_close(&self, _: Id) -> bool {
            true
        }
    }

    #[test]
    fn a_task_is_a_span_that_is_entered_while_it_runs() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        tracing::subscriber::with_default(Heard(Arc::clone(&heard)), || {
            let scheduler = support::builder().clock(ManualClock::new()).observer(Spans::new()).build();
            let task = scheduler
                .task(async {
                    tracing::info!("inside");
                    yield_now().await;
                })
                .name("index")
                .spawn();
            while scheduler.run_slice().work_left {}
            assert!(task.is_finished());
        });
        let heard = heard.lock().unwrap();
        let plain: Vec<&str> =
            heard.iter().map(|text| if text.starts_with("record") { "record" } else { text }).collect();
        assert_eq!(
            plain,
            [
                "span task",
                "record",
                "enter",
                "event inside",
                "exit",
                "event yielded",
                // Its name is not said again: it would be printed once more with each poll.
                "enter",
                "exit",
                "event finished",
            ]
        );
    }
}

#[test]
fn a_summary_comes_every_so_often_and_counts_what_was_done_since_the_last() {
    let (clock, lines) = (ManualClock::new(), Rc::new(RefCell::new(Vec::new())));
    let told = Rc::clone(&lines);
    let scheduler = support::builder()
        .clock(clock.clone())
        .summary(Duration::from_secs(1), move |summary| {
            told.borrow_mut().push(summary.to_string());
            // It may call in, and harms nobody by a panic.
            support::quiet_panic("a teller");
        })
        .build();
    for _ in 0..7 {
        let held = clock.clone();
        drop(scheduler.spawn_fn(Priority::Normal, move || held.advance(Duration::from_millis(9))));
        scheduler.run_slice();
        clock.advance(Duration::from_millis(391));
    }
    let expected = [
        "1.209s: 3.0 % busy in 4 slices, 4 overran (worst ever 1.0ms); ready 0, 0, 0; Normal: 4 runs, \
         waited 0.0ns (longest ever 0.0ns)",
        "1.200s: 2.3 % busy in 3 slices, 3 overran (worst ever 1.0ms); ready 0, 0, 0; Normal: 3 runs, \
         waited 0.0ns (longest ever 0.0ns)",
    ];
    assert_eq!(*lines.borrow(), expected);
    assert_eq!(scheduler.stats().contained_panics, 2);
}
