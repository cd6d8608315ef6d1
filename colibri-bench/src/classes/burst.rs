//! A burst: which tasks there are, what each does, and what came of it.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::executors::Class;
use crate::measure::{Disturbed, Watch};
use crate::random::SplitMix64;

/// How many tasks there are.
pub(super) const TASKS: usize = 1000;
/// How long each works.
pub(super) const TASK: Duration = Duration::from_micros(500);
/// Tasks without work, by which the time of a decision is told: some ms of them.
pub(super) const EMPTIES: usize = 20_000;
/// Of ten tasks, this many are Immediate, Normal, Idle.
const OF_TEN: [usize; 3] = [1, 3, 6];
/// Steps of the work between two looks at the clock: about a µs.
const STEPS: u64 = 500;

/// The classes of the tasks, in the order in which they come.
#[derive(Debug)]
pub(super) struct Mix {
    pub(super) name: &'static str,
    pub(super) classes: Vec<Class>,
}

impl Mix {
    /// All the same.
    pub(super) fn equal() -> Self {
        Self { name: "equal", classes: vec![Class::Normal; TASKS] }
    }

    /// 10, 30 and 60 %, in an order that `seed` draws.
    pub(super) fn of_classes(seed: u64) -> Self {
        let mut classes: Vec<Class> = Class::ALL
            .into_iter()
            .zip(OF_TEN)
            .flat_map(|(class, of_ten)| std::iter::repeat_n(class, TASKS * of_ten / 10))
            .collect();
        let mut random = SplitMix64::new(seed);
        for place in (1..classes.len()).rev() {
            classes.swap(place, random.below(place + 1));
        }
        Self { name: "10/30/60 %", classes }
    }
}

/// What a burst came to.
#[derive(Debug, Default)]
pub(super) struct Burst {
    /// From the first spawn to the last end.
    pub(super) total: Duration,
    /// In the tasks.
    pub(super) work: Duration,
    /// From the burst's start to each task's, ns, by class.
    pub(super) waits_nanos: [Vec<u64>; 3],
    /// The longest time in which nobody beside the scheduler had a turn.
    pub(super) hold: Duration,
    /// Of tasks without work: the time of each.
    pub(super) decision_nanos: f64,
    /// Tasks that other programs disturbed.
    pub(super) disturbed: Disturbed,
}

/// A burst that runs.
#[derive(Debug, Clone)]
pub(super) struct Recorder {
    start: Instant,
    burst: Rc<RefCell<Burst>>,
}

impl Recorder {
    /// The burst starts.
    pub(super) fn start() -> Self {
        Self { start: Instant::now(), burst: Rc::default() }
    }

    /// Does the work of a task.
    pub(super) fn work(&self, class: Class) {
        let begin = Instant::now();
        let watch = Watch::start();
        let mut value = 1_u64;
        while begin.elapsed() < TASK {
            for step in 0..STEPS {
                value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step));
            }
        }
        let used = watch.stop();
        let mut burst = self.burst.borrow_mut();
        burst.disturbed.add(&used);
        burst.waits_nanos[class as usize].push((begin - self.start).as_nanos() as u64);
        burst.work += begin.elapsed();
    }

    /// The burst is over: what came of it, with this longest hold.
    pub(super) fn end(self, hold: Duration, decision_nanos: f64) -> Burst {
        Burst { hold, decision_nanos, ..self.burst.take() }
    }

    /// The last task has ended.
    pub(super) fn stop(&self) {
        self.burst.borrow_mut().total = self.start.elapsed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_has_the_shares_that_it_is_named_for() {
        let mix = Mix::of_classes(1);
        let counts = Class::ALL.map(|class| mix.classes.iter().filter(|&&of| of == class).count());
        assert_eq!(counts, [100, 300, 600]);
        assert_eq!(Mix::of_classes(1).classes, mix.classes);
        assert_ne!(Mix::of_classes(2).classes, mix.classes);
        assert_eq!(Mix::equal().classes.len(), TASKS);
    }

    #[test]
    fn a_task_works_for_its_time() {
        let recorder = Recorder::start();
        recorder.work(Class::Idle);
        recorder.stop();
        let burst = recorder.end(Duration::ZERO, 0.0);
        assert!(burst.work >= TASK && burst.total >= burst.work, "{burst:?}");
        assert_eq!((burst.waits_nanos[2].len(), burst.disturbed.all), (1, 1));
    }
}
