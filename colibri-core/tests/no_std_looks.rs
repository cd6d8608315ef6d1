//! Without the feature `std`: how long a poll lasts whose checks can ask nobody.

#![cfg(not(feature = "std"))]

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use colibri_core::{Builder, Clock, Instant, ManualClock, Observer, Priority, TaskEvent, cooperative};

/// A clock like a firmware's: looked at after a grant, not at each check.
struct Lazy(ManualClock);

impl Clock for Lazy {
    fn now(&self) -> Instant {
        self.0.now()
    }
}

#[cooperative]
fn work(rounds: u32, clock: ManualClock) {
    for _ in 0..rounds {
        clock.advance(Duration::from_micros(1));
    }
}

/// Counts polls.
struct Polls(Rc<Cell<u64>>);

impl Observer for Polls {
    fn started(&self, _: &TaskEvent) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_poll_lasts_about_as_long_as_a_look_is_apart() {
    const ROUNDS: u32 = 10_000;
    for is_watched in [false, true] {
        let (clock, told) = (ManualClock::new(), Rc::new(Cell::new(0)));
        let mut builder = Builder::with_clock(Lazy(clock.clone())).slice(Duration::from_secs(1));
        if is_watched {
            builder = builder.observer(Polls(Rc::clone(&told)));
        }
        let scheduler = builder.build();
        let task = scheduler.spawn(Priority::Normal, work(ROUNDS, clock));
        let polls = scheduler.run_slice().tasks_run;
        assert!(task.is_finished());
        // 10 ms of work, of which 20 µs are 500.
        assert!((400..1000).contains(&polls), "{polls} polls");
        assert_eq!(told.get(), if is_watched { polls } else { 0 });
    }
}
