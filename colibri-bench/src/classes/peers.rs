//! The subjects of `classes` in this process.

use std::cell::Cell;
use std::fmt::Debug;
use std::hint::black_box;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::{Duration, Instant};

use colibri_core::Scheduler;

use super::burst::{Burst, EMPTIES, Mix, Recorder};
use crate::executors::{CurrentThread, Executor, Latch, LocalExecutor, Pool, priority};
use crate::failure::Failure;
use crate::measure::Watch;

/// One way to run a burst.
pub(super) trait Peer: Debug {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// Its name in file names.
    fn slug(&self) -> &'static str;

    /// Runs one.
    ///
    /// # Errors
    ///
    /// [`Failure::Run`] if it cannot.
    fn burst(&self, mix: &Mix) -> Result<Burst, Failure>;
}

/// All in this process, colibri last.
pub(super) fn all() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(PlainLoop),
        Box::new(OnExecutor::<CurrentThread>::new("tokio current_thread", "tokio")),
        Box::new(OnExecutor::<LocalExecutor>::new("async-executor", "async-executor")),
        Box::new(OnExecutor::<Pool>::new("futures LocalPool", "local-pool")),
        Box::new(Colibri),
    ]
}

/// The tasks as boxed functions, called one after the other.
#[derive(Debug)]
struct PlainLoop;

impl Peer for PlainLoop {
    fn name(&self) -> &'static str {
        "a plain loop"
    }

    fn slug(&self) -> &'static str {
        "loop"
    }

    fn burst(&self, mix: &Mix) -> Result<Burst, Failure> {
        let recorder = Recorder::start();
        let tasks: Vec<Box<dyn FnOnce()>> = mix
            .classes
            .iter()
            .map(|&class| {
                let recorder = recorder.clone();
                Box::new(move || recorder.work(class)) as _
            })
            .collect();
        let begin = Instant::now();
        tasks.into_iter().for_each(|task| task());
        let hold = begin.elapsed();
        recorder.stop();

        let empties: Vec<Box<dyn FnOnce()>> =
            (0..EMPTIES).map(|number| Box::new(move || _ = black_box(number)) as _).collect();
        let decision = nanos_each(|| empties.into_iter().for_each(|task| task()));
        Ok(recorder.end(hold, decision))
    }
}

/// colibri: a callback for each task, and a host that calls for slices until nothing is left.
#[derive(Debug)]
struct Colibri;

impl Peer for Colibri {
    fn name(&self) -> &'static str {
        "colibri"
    }

    fn slug(&self) -> &'static str {
        "colibri"
    }

    fn burst(&self, mix: &Mix) -> Result<Burst, Failure> {
        let scheduler = Scheduler::new();
        let recorder = Recorder::start();
        for &class in &mix.classes {
            let recorder = recorder.clone();
            drop(scheduler.spawn_fn(priority(class), move || recorder.work(class)));
        }
        let hold = run(&scheduler);
        recorder.stop();

        for number in 0..EMPTIES {
            let class = mix.classes[number % mix.classes.len()];
            drop(scheduler.spawn_fn(priority(class), move || _ = black_box(number)));
        }
        let decision = nanos_each(|| _ = run(&scheduler));
        Ok(recorder.end(hold, decision))
    }
}

/// Gives `scheduler` slices until nothing is left, and tells the longest.
fn run(scheduler: &Scheduler) -> Duration {
    let mut longest = Duration::ZERO;
    loop {
        let begin = Instant::now();
        let report = scheduler.run_slice();
        longest = longest.max(begin.elapsed());
        if !report.work_left {
            return longest;
        }
    }
}

/// An executor without slices: who lives beside the burst is a task that yields all the time.
#[derive(Debug)]
struct OnExecutor<E> {
    name: &'static str,
    slug: &'static str,
    kind: PhantomData<fn() -> E>,
}

impl<E> OnExecutor<E> {
    fn new(name: &'static str, slug: &'static str) -> Self {
        Self { name, slug, kind: PhantomData }
    }
}

impl<E: Executor> Peer for OnExecutor<E> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn slug(&self) -> &'static str {
        self.slug
    }

    fn burst(&self, mix: &Mix) -> Result<Burst, Failure> {
        let executor = E::without_timers();
        let turns = Rc::new(Turns { last: Cell::new(Instant::now()), longest: Cell::default() });
        let ended = Latch::new(mix.classes.len());
        E::detach(executor.spawn({
            let (turns, ended) = (Rc::clone(&turns), ended.clone());
            async move {
                while !ended.is_open() {
                    turns.take();
                    E::yield_now().await;
                }
            }
        }));
        let recorder = Recorder::start();
        for &class in &mix.classes {
            let (recorder, ended) = (recorder.clone(), ended.clone());
            E::detach(executor.spawn_as(class, async move {
                recorder.work(class);
                ended.count_down();
            }));
        }
        executor.block_on(ended.opened());
        recorder.stop();
        turns.take();

        let ended = Latch::new(EMPTIES);
        for number in 0..EMPTIES {
            let ended = ended.clone();
            E::detach(executor.spawn(async move {
                black_box(number);
                ended.count_down();
            }));
        }
        let decision = nanos_each(|| executor.block_on(ended.opened()));
        Ok(recorder.end(turns.longest.get(), decision))
    }
}

/// When somebody last had a turn, and the longest time without one.
#[derive(Debug)]
struct Turns {
    last: Cell<Instant>,
    longest: Cell<Duration>,
}

impl Turns {
    fn take(&self) {
        let now = Instant::now();
        self.longest.set(self.longest.get().max(now - self.last.replace(now)));
    }
}

/// The thread's own time of each of the tasks without work.
fn nanos_each(run: impl FnOnce()) -> f64 {
    let watch = Watch::start();
    run();
    watch.stop().cpu_or_wall().as_nanos() as f64 / EMPTIES as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::burst::TASK;
    use crate::executors::Class;

    #[test]
    fn every_way_runs_every_task_once() {
        let mix =
            Mix { name: "few", classes: vec![Class::Idle, Class::Immediate, Class::Idle, Class::Normal] };
        for peer in all() {
            let burst = peer.burst(&mix).unwrap();
            let counts = burst.waits_nanos.map(|waits| waits.len());
            assert_eq!(counts, [1, 1, 2], "{}", peer.name());
            assert!(burst.work >= 4 * TASK && burst.total >= burst.work, "{}", peer.name());
            assert!(burst.hold >= TASK && burst.decision_nanos > 0.0, "{}", peer.name());
        }
    }

    #[test]
    fn colibri_runs_urgent_ones_first() {
        let mix = Mix { name: "few", classes: vec![Class::Idle, Class::Normal, Class::Immediate] };
        let [immediate, normal, idle] = Colibri.burst(&mix).unwrap().waits_nanos;
        assert!(immediate < normal && normal < idle);
    }
}
