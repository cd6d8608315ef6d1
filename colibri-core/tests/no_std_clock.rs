//! Without the feature `std`: a clock of the firmware's that calls into its scheduler.
//!
//! `cargo test -p colibri-core --no-default-features --features macros --test no_std_clock`

#![cfg(not(feature = "std"))]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use colibri_core::{Builder, Clock, Instant, Priority, Task, checkpoint, yield_now};

/// A counter whose reading, at one time, ends a task.
#[derive(Default)]
struct Ends {
    nanos: Cell<u64>,
    reads_before: Cell<Option<u32>>,
    task: RefCell<Option<Task<()>>>,
}

impl Clock for Ends {
    fn now(&self) -> Instant {
        self.nanos.set(self.nanos.get() + 30_000);
        if let Some(before) = self.reads_before.take() {
            self.reads_before.set(before.checked_sub(1));
            if let (0, Some(task)) = (before, &*self.task.borrow()) {
                task.cancel();
            }
        }
        Instant::from_nanos(self.nanos.get())
    }
}

/// Here a check cannot ask its scheduler, which looks after the poll: the task must not end in the middle of that.
#[test]
fn a_clock_may_end_the_task_that_gave_way() {
    for reads_before in 0..60 {
        let clock = Rc::new(Ends::default());
        let scheduler = Builder::with_clock(clock.clone()).build();
        let task = scheduler.spawn(Priority::Normal, async {
            loop {
                checkpoint().await;
            }
        });
        clock.task.replace(Some(task));
        let other = scheduler.spawn(Priority::Normal, async {
            for _ in 0..5 {
                yield_now().await;
            }
        });
        clock.reads_before.set(Some(reads_before));
        for _ in 0..100 {
            scheduler.run_slice();
        }
        assert!(clock.reads_before.get().is_none(), "read {reads_before} does not come");
        assert!(other.is_finished(), "another was harmed by read {reads_before}");
        assert_eq!((scheduler.live_tasks(), scheduler.tasks().len()), (0, 0), "read {reads_before}");
        clock.task.take();
    }
}
