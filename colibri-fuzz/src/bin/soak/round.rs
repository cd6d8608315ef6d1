//! One round: a million tasks come, are steered by the host and by other threads at random, and go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use colibri_core::{Priority, Scheduler, Task, TaskError};

use crate::post::{Owner, Post};
use crate::random::Random;
use crate::rival::{self, Deeds, Field};
use crate::subject;
use crate::tally::Tally;

/// Tasks spawned between two slices.
const BATCH: usize = 500;
/// What the host does between two slices: so many tasks paused, resumed, moved, cancelled, forgotten or taken.
const STEERS: usize = 50;
/// A slice.
const SLICE: Duration = Duration::from_micros(500);
/// How many sends a task waits for at most.
const MOST_SENDS: usize = 3;
/// How long nothing may happen at a round's end before what is left counts as lost. The longest timer is 20 ms.
const PATIENCE: Duration = Duration::from_secs(20);

/// A scheduler, and the places of its tasks.
pub(crate) struct Soak {
    scheduler: Scheduler,
    posts: Arc<Vec<Post>>,
    seed: u64,
    rounds: u64,
}

/// What a round did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    pub(crate) spawned: u64,
    pub(crate) refused: u64,
    pub(crate) finished: u64,
    pub(crate) panicked: u64,
    pub(crate) polls: u64,
    pub(crate) most_live: usize,
    pub(crate) deeds: Deeds,
    /// What is wrong, if something is.
    pub(crate) lost: Option<String>,
}

impl Soak {
    pub(crate) fn new(tasks: usize, seed: u64) -> Self {
        // Full now and then: what other threads spawn then is refused.
        let scheduler = Scheduler::builder().max_tasks(tasks).build();
        Soak { scheduler, posts: Arc::new((0..tasks).map(|_| Post::default()).collect()), seed, rounds: 0 }
    }

    /// Runs one, and leaves no task behind.
    pub(crate) fn round(&mut self) -> Round {
        self.rounds += 1;
        let scheduler = &self.scheduler;
        let mut random = Random::new(self.seed.wrapping_add(self.rounds), 0);
        let before = scheduler.stats();
        let field = Field {
            posts: self.posts.clone(),
            tally: Arc::default(),
            over: Arc::new(AtomicBool::new(false)),
        };
        let spawner = scheduler.spawner();
        let rivals = rival::start(&field, &spawner, self.seed, self.rounds);
        drop(spawner);

        let mut tasks: Vec<Option<Task<usize>>> = Vec::with_capacity(self.posts.len());
        let mut most_live = 0;
        while tasks.len() < self.posts.len() {
            for number in tasks.len()..(tasks.len() + BATCH).min(self.posts.len()) {
                let task = subject::start(scheduler, &mut random, &self.posts, number, &field.tally);
                self.posts[number].owner().abort = task.as_ref().map(Task::abort_handle);
                tasks.push(task);
            }
            scheduler.run_for(SLICE);
            most_live = most_live.max(scheduler.live_tasks());
            for _ in 0..STEERS {
                let number = random.below(tasks.len());
                steer(&mut tasks[number], &mut random);
            }
        }

        field.over.store(true, Ordering::Relaxed);
        let mut deeds = Deeds::default();
        for rival in rivals {
            let done = rival.join().expect("a thread that only calls must not panic");
            deeds.wakes += done.wakes;
            deeds.aborts += done.aborts;
            deeds.spawns += done.spawns;
        }
        tasks.iter().flatten().for_each(Task::resume);
        rival::finish(&self.posts, MOST_SENDS);
        let mut lost = self.run_out();

        let stats = scheduler.stats();
        let mut round = Round {
            spawned: stats.spawned - before.spawned,
            refused: stats.refused - before.refused,
            finished: field.tally.finished(),
            panicked: field.tally.panicked(),
            polls: Priority::ALL
                .iter()
                .map(|&class| stats.class(class).runs - before.class(class).runs)
                .sum(),
            most_live,
            deeds,
            lost: None,
        };
        lost = lost.or_else(|| self.contradiction(&mut tasks, &field.tally));
        if stats.ended != stats.spawned {
            lost.get_or_insert_with(|| format!("{} spawned, {} ended", stats.spawned, stats.ended));
        }
        round.lost = lost;
        for post in self.posts.iter() {
            *post.owner() = Owner::default();
        }
        round
    }

    /// Runs until no task lives; says so if some never end.
    fn run_out(&self) -> Option<String> {
        let (mut live, mut since) = (usize::MAX, Instant::now());
        loop {
            let report = self.scheduler.run_slice();
            let left = self.scheduler.live_tasks();
            if left == 0 && !report.work_left {
                return None;
            }
            if left < live {
                (live, since) = (left, Instant::now());
            } else if since.elapsed() > PATIENCE {
                let snapshot = self.scheduler.tasks();
                return Some(format!("{left} tasks never end, the first is {:?}", snapshot.first()));
            }
            if !report.work_left {
                std::thread::sleep(SLICE);
            }
        }
    }

    /// Whether handles and counts agree that all is over.
    fn contradiction(&self, tasks: &mut [Option<Task<usize>>], tally: &Tally) -> Option<String> {
        for (number, task) in tasks.iter_mut().enumerate() {
            match task.as_mut().map(Task::try_take) {
                None | Some(Some(Err(TaskError::Cancelled | TaskError::TimedOut))) => {}
                Some(Some(Ok(output))) if output == number => {}
                Some(Some(Err(TaskError::Panicked(payload)))) if payload.downcast_ref() == Some(&number) => {}
                Some(other) => return Some(format!("task {number} has ended with {other:?}")),
            }
        }
        let (made, dropped) = (tally.made(), tally.dropped());
        if made != dropped {
            return Some(format!("{made} futures were made, {dropped} dropped"));
        }
        (self.scheduler.pending_timers() != 0)
            .then(|| format!("{} timers are left", self.scheduler.pending_timers()))
    }
}

/// The host does something to a task.
fn steer(place: &mut Option<Task<usize>>, random: &mut Random) {
    let Some(task) = place else { return };
    match random.below(8) {
        0 | 1 => task.pause(),
        2 | 3 => task.resume(),
        4 => task.set_priority(Priority::ALL[random.below(3)]),
        5 => task.cancel(),
        // A paused one that nobody can resume would live for ever.
        6 => {
            task.resume();
            *place = None;
        }
        _ => *place = place.take().map(Task::cancel_on_drop).filter(|_| random.below(2) == 0),
    }
}

#[cfg(test)]
mod tests {
    use super::Soak;

    #[test]
    fn a_few_rounds_of_a_few_thousand_lose_nothing() {
        let mut soak = Soak::new(5_000, 7);
        for _ in 0..3 {
            let round = soak.round();
            assert_eq!(round.lost, None, "{round:?}");
            assert!(round.spawned >= 4_000 && round.finished > 0 && round.panicked > 0, "{round:?}");
        }
    }
}
