//! The ways in which a scheduler can be watched.

use std::hint::black_box;
use std::time::Duration;

#[cfg(feature = "observers")]
use colibri_core::observe::{Histograms, Spans};
use colibri_core::{Builder, Priority, Scheduler, StallDetector, yield_now};

use crate::measure::Watch;
use crate::ops::timings::Sample;

/// How a scheduler is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As every scheduler is: by the counts behind `Stats`.
    Counts,
    /// And by a line every second.
    Summary,
    /// And by histograms of one wait and run in a hundred.
    #[cfg(feature = "observers")]
    Sampled,
    /// And by histograms of every wait and run.
    #[cfg(feature = "observers")]
    All,
    /// And by an account for each task.
    Accounts,
    /// And by a span for each task, to which nobody subscribes.
    #[cfg(feature = "observers")]
    Spans,
    /// And by a detector of stalls, on a thread of its own.
    Stalls,
}

impl Way {
    /// All, in the order of the table.
    pub(super) const ALL: &[Way] = &[
        Way::Counts,
        Way::Summary,
        #[cfg(feature = "observers")]
        Way::Sampled,
        #[cfg(feature = "observers")]
        Way::All,
        Way::Accounts,
        #[cfg(feature = "observers")]
        Way::Spans,
        Way::Stalls,
    ];

    /// Its name in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Counts => "Stats, as always",
            Way::Summary => "... and a Summary every second",
            #[cfg(feature = "observers")]
            Way::Sampled => "... and Histograms of 1 %",
            #[cfg(feature = "observers")]
            Way::All => "... and Histograms of 100 %",
            Way::Accounts => "... and TaskStats of each task",
            #[cfg(feature = "observers")]
            Way::Spans => "... and Spans without a subscriber",
            Way::Stalls => "... and a StallDetector",
        }
    }

    fn watch(self, builder: Builder) -> Builder {
        match self {
            Way::Counts => builder,
            Way::Summary => builder.summary(Duration::from_secs(1), |summary| {
                black_box(summary);
            }),
            #[cfg(feature = "observers")]
            Way::Sampled => builder.observer(Histograms::new()),
            #[cfg(feature = "observers")]
            Way::All => builder.observer(Histograms::new().sample_every(1)),
            Way::Accounts => builder.task_stats(true),
            #[cfg(feature = "observers")]
            Way::Spans => builder.observer(Spans::new()),
            Way::Stalls => builder.stall_detector(StallDetector::new(Duration::from_secs(1))),
        }
    }

    /// The thread's own time of a turn in which a task does a `load` and gives way.
    pub(super) fn turn(self, load: Load) -> Sample {
        let scheduler = self.watch(Scheduler::builder()).build();
        let turns = load.turns / TASKS;
        let tasks = scheduler.spawn_all(
            Priority::Normal,
            (0..TASKS).map(|_| async move {
                for _ in 0..turns {
                    load.work();
                    yield_now().await;
                }
            }),
        );
        let watch = Watch::start();
        scheduler.run();
        let used = watch.stop();
        assert!(tasks.iter().all(|task| task.is_finished()), "run returns when all is done");
        Sample { nanos: used.cpu_or_wall().as_nanos() as f64 / (turns * TASKS) as f64, used }
    }
}

/// Tasks that take turns.
pub(super) const TASKS: usize = 100;

/// What a task does in a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Steps of work in a turn.
    steps: u32,
    /// Turns in a round.
    turns: usize,
}

impl Load {
    /// Nothing: what is left is the turn itself.
    pub(super) const NOTHING: Load = Load { steps: 0, turns: 200_000 };
    /// Some 20 µs of work: about as much as a cooperative function does between two looks at the clock, which is the
    /// shortest turn that it takes by itself.
    pub(super) const LOOK: Load = Load { steps: 16_000, turns: 2_000 };

    /// A chain of multiplications, which nothing can be done beside.
    fn work(self) {
        let mut state = black_box(1_u64);
        for _ in 0..self.steps {
            state = (state ^ (state >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        black_box(state);
    }
}
