//! A run: many cases on all cores, each drawn from the run's seed and its own number.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use crate::case::{AS_THE_MODEL, Case, Extra, HARNESS, REPEATABLE, judge};
use crate::metamorphic::RELATIONS;
use crate::property::Breach;
use crate::shrink::shrink;
use crate::subject::Subject;
use crate::tally::Tally;
use crate::trace::Trace;
use crate::workload::Workload;

/// Simulations that shrinking may take: enough for the largest drawn case.
pub const SHRINK_TRIES: u32 = 4_000;

/// Time that shrinking may take. Few cases need a tenth of it; some simulate for 100 ms.
pub const SHRINK_TIME: Duration = Duration::from_secs(30);

/// Each so many-th case runs twice, to see that it leaves the same trace.
const TWICE_EVERY: u64 = 8;

/// Each so many-th case runs in other forms that must lead to the same.
const RELATED_EVERY: u64 = 16;

/// Runs `task` on this thread, and calls `hangs` on another one if that takes longer than `most`.
pub fn watched<T>(most: Duration, hangs: impl FnOnce() + Send, task: impl FnOnce() -> T) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(most) == Err(mpsc::RecvTimeoutError::Timeout) {
                hangs();
            }
        });
        // Dropped at the end of the task, also by a panic.
        let _done = done;
        task()
    })
}

/// A case that takes longer than this hangs: the largest take some seconds, and ten times as long beside other programs.
pub const HANG_AFTER: Duration = Duration::from_secs(300);

/// How much to run.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The run's seed.
    pub seed: u64,
    /// The first case.
    pub first: u64,
    /// How many cases at most.
    pub cases: u64,
    /// How long at most.
    pub time: Option<Duration>,
    /// On how many threads.
    pub threads: usize,
    /// Whether each case is held against the model.
    pub model: bool,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Sums over all cases.
    pub tally: Tally,
    /// For each promise that broke: the lowest case that broke it.
    pub failures: BTreeMap<&'static str, Case>,
    /// How many cases put each promise to the test, and kept all.
    pub tested: BTreeMap<&'static str, u64>,
    /// Cases that broke a promise.
    pub unfair: u64,
    /// How long it took.
    pub took: Duration,
}

/// Runs cases on a scheduler of kind `S`. `progress` is called now and then with the number of cases done;
/// `hangs` if one does not come back.
pub fn run<S: Subject>(
    extent: Extent,
    progress: impl Fn(u64) + Sync,
    hangs: impl Fn(Case) + Sync,
) -> Outcome {
    let began = Instant::now();
    let next = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    let outcome = Mutex::new(Outcome::default());
    // For each thread: its case (plus one) and when that began, in milliseconds of the run.
    let posts =
        (0..extent.threads.max(1)).map(|_| (AtomicU64::new(0), AtomicU64::new(0))).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let workers = posts.iter().map(|post| {
            let work = || {
                let mut mine = Outcome::default();
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= extent.cases || extent.time.is_some_and(|time| began.elapsed() >= time) {
                        break;
                    }
                    let case = Case { seed: extent.seed, number: extent.first + place };
                    post.1.store(began.elapsed().as_millis() as u64, Ordering::Relaxed);
                    post.0.store(case.number + 1, Ordering::Relaxed);
                    mine.take(
                        case,
                        judge::<S>(
                            &case.workload(),
                            Extra {
                                twice: place.is_multiple_of(TWICE_EVERY),
                                related: place.is_multiple_of(RELATED_EVERY),
                                model: extent.model,
                            },
                        ),
                    );
                    post.0.store(0, Ordering::Relaxed);
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
                outcome.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).merge(mine);
            };
            scope.spawn(work)
        });
        let workers = workers.collect::<Vec<_>>();
        scope.spawn(|| watch(&posts, began, &over, |number| hangs(Case { seed: extent.seed, number })));
        for worker in workers {
            // A panic of the harness itself must not look like a fair run.
            if let Err(panic) = worker.join() {
                over.store(true, Ordering::Relaxed);
                std::panic::resume_unwind(panic);
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    let mut outcome = outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    outcome.took = began.elapsed();
    outcome
}

fn watch(posts: &[(AtomicU64, AtomicU64)], began: Instant, over: &AtomicBool, hangs: impl Fn(u64)) {
    while !over.load(Ordering::Relaxed) {
        // A short nap: the end of the run waits for it.
        std::thread::sleep(Duration::from_millis(20));
        for (case, since) in posts {
            let case = case.load(Ordering::Relaxed);
            let since = Duration::from_millis(since.load(Ordering::Relaxed));
            if case > 0 && began.elapsed().saturating_sub(since) > HANG_AFTER {
                hangs(case - 1);
                return;
            }
        }
    }
}

impl Outcome {
    fn take(&mut self, case: Case, judged: crate::case::Judged) {
        self.tally.add(&judged.trace);
        for promise in judged.tested {
            *self.tested.entry(promise).or_default() += 1;
        }
        if let Some(breach) = judged.breach {
            self.unfair += 1;
            let first = self.failures.entry(breach.promise).or_insert(case);
            *first = case.min(*first);
        }
    }

    fn merge(&mut self, other: Outcome) {
        self.tally.merge(&other.tally);
        self.unfair += other.unfair;
        for (promise, cases) in other.tested {
            *self.tested.entry(promise).or_default() += cases;
        }
        for (promise, case) in other.failures {
            let first = self.failures.entry(promise).or_insert(case);
            *first = case.min(*first);
        }
    }
}

/// A failure, as small as it gets.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which promise broke and how, in the smallest workload.
    pub breach: Breach,
    /// The smallest workload found.
    pub workload: Workload,
    /// What happens in it.
    pub trace: Trace,
}

/// Shrinks a workload that breaks `promise` on a scheduler of kind `S`. `None`: it does not break it.
pub fn reduce<S: Subject>(workload: &Workload, promise: &str) -> Option<Failure> {
    let extra = Extra {
        twice: promise == REPEATABLE,
        related: RELATIONS.iter().any(|relation| relation.name == promise),
        model: [AS_THE_MODEL, HARNESS].contains(&promise),
    };
    let breaks = |workload: &Workload| {
        let judged = judge::<S>(workload, extra);
        judged.breach.is_some_and(|breach| breach.promise == promise)
    };
    if !breaks(workload) {
        return None;
    }
    let workload = shrink(workload, SHRINK_TRIES, SHRINK_TIME, breaks);
    let judged = judge::<S>(&workload, extra);
    judged.breach.map(|breach| Failure { breach, workload, trace: judged.trace })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colibri::Colibri;

    #[test]
    fn what_does_not_come_back_is_told_while_it_lasts() {
        let (told, is_told) = mpsc::channel();
        let came = watched(Duration::from_millis(1), || told.send(()).unwrap(), || is_told.recv());
        assert_eq!(came, Ok(()));
        assert_eq!(watched(HANG_AFTER, || panic!("it did come back"), || 7), 7);
    }

    #[test]
    fn the_outcome_does_not_depend_on_the_number_of_threads() {
        let run = |threads| {
            let extent = Extent { seed: 5, first: 0, cases: 120, time: None, threads, model: false };
            run::<Colibri>(extent, |_| {}, |_| {})
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one.tally.dispatches, three.tally.dispatches);
        assert_eq!(one.tally.waits, three.tally.waits);
        assert_eq!(one.failures, three.failures);
        assert_eq!(one.tested, three.tested);
        assert_eq!(one.tested["ends"], 120);
        assert_eq!(one.tally.cases, 120);
    }
}
