//! For code of one's own: does my function check often enough, is my slice policy fair, is my scheduler?
//!
//! ```
//! use colibri_fuzz::own;
//! use std::time::Duration;
//!
//! #[colibri_core::cooperative]
//! fn squares(limit: u64) -> u64 {
//!     let mut sum = 0u64;
//!     for n in 0..limit {
//!         sum = sum.wrapping_add(n * n);
//!     }
//!     sum
//! }
//!
//! // Between two checks of `squares` lies one addition: never 10 ms.
//! let gaps = own::assert_yields_within(Duration::from_millis(10), || squares(1_000));
//! assert!(gaps.checks >= 900);
//! ```

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use colibri_core::{Activity, Priority, Scheduler};

use crate::case::{Case, Extra, judge};
use crate::colibri::{ACTIVITIES, Colibri};
use crate::report;
use crate::run::reduce;
use crate::span::{nanos, short};
use crate::subject::Subject;
use crate::workload::{Action, Outside, Workload};

/// So many runs are compared: a machine that does something else makes a gap longer, never shorter, and seldom the same one
/// in each run.
const RUNS: usize = 5;

/// How far apart a function's checkpoints are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// The longest time between two checkpoints, or from the start to the first, or from the last to the end.
    pub longest: Duration,
    /// After how many checkpoints it began.
    pub place: usize,
    /// How many checkpoints there were, or places at which it waited.
    pub checks: usize,
}

impl fmt::Display for Gaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gaps { longest, place, checks } = self;
        write!(f, "longest gap {} after {place} of {checks} checkpoints", short(nanos(*longest)))
    }
}

/// Measures how far the checkpoints of what `make` returns are apart, by the system's clock.
///
/// The task runs five times on a scheduler of its own, in which every checkpoint gives way; of each gap the shortest of the
/// five counts, so that what the machine did meanwhile does not. A task that takes other ways each time counts with its
/// best run. It may sleep, spawn and join; what it spawns is not measured.
///
/// What the scheduler may overdraw is this gap, plus the 20 µs between two looks at the clock.
pub fn gaps<F, T>(make: F) -> Gaps
where
    F: FnMut() -> T,
    T: Future + 'static,
    T::Output: 'static,
{
    let began = Instant::now();
    gaps_by(move || nanos(began.elapsed()), make)
}

/// The same by another clock, which tells nanoseconds: a virtual one that the task moves, for example.
pub fn gaps_by<F, T>(clock: impl Fn() -> u64 + Clone + 'static, mut make: F) -> Gaps
where
    F: FnMut() -> T,
    T: Future + 'static,
    T::Output: 'static,
{
    let runs = (0..RUNS).map(|_| polls(clock.clone(), make())).collect::<Vec<_>>();
    let alike = runs.iter().all(|run| run.len() == runs[0].len());
    let best = if alike {
        let shortest = |place: usize| runs.iter().map(|run| run[place]).min().unwrap_or(0);
        (0..runs[0].len()).map(shortest).collect()
    } else {
        let longest = |run: &&Vec<u64>| run.iter().max().copied().unwrap_or(0);
        runs.iter().min_by_key(longest).cloned().unwrap_or_default()
    };
    let (place, longest) = best.iter().copied().enumerate().max_by_key(|(_, gap)| *gap).unwrap_or_default();
    Gaps { longest: Duration::from_nanos(longest), place, checks: best.len().saturating_sub(1) }
}

/// How long each poll of a task took, where every checkpoint gives way.
fn polls<T>(clock: impl Fn() -> u64 + 'static, task: T) -> Vec<u64>
where
    T: Future + 'static,
    T::Output: 'static,
{
    let polls = Rc::new(RefCell::new(Vec::new()));
    let timed = Timed { task: Box::pin(task), clock, polls: polls.clone() };
    let scheduler = Scheduler::builder().always_yield(true).build();
    let task = scheduler.spawn(Priority::Normal, timed);
    // A panic of the task is its caller's to see.
    if let Err(colibri_core::TaskError::Panicked(payload)) = scheduler.block_on(task) {
        std::panic::resume_unwind(payload);
    }
    polls.take()
}

struct Timed<T, C> {
    task: Pin<Box<T>>,
    clock: C,
    polls: Rc<RefCell<Vec<u64>>>,
}

impl<T: Future, C: Fn() -> u64> Future for Timed<T, C> {
    type Output = T::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        let Timed { task, clock, polls } = self.get_mut();
        let began = clock();
        let poll = task.as_mut().poll(context);
        polls.borrow_mut().push(clock() - began);
        poll
    }
}

// Nothing in it is pinned by its place: the task has a box.
impl<T, C> Unpin for Timed<T, C> {}

/// Fails unless every gap between two checkpoints of what `make` returns is at most `limit`; see [`gaps`].
///
/// # Panics
///
/// With the longest gap, and where it is, if that is longer than `limit`.
#[track_caller]
pub fn assert_yields_within<F, T>(limit: Duration, make: F) -> Gaps
where
    F: FnMut() -> T,
    T: Future + 'static,
    T::Output: 'static,
{
    let gaps = gaps(make);
    assert!(gaps.longest <= limit, "it must check within {}: {gaps}", short(nanos(limit)));
    gaps
}

/// Runs so many generated workloads on a scheduler of one's own, and judges it by every promise that it can give
/// ([`Subject::SKILLS`]).
///
/// # Errors
///
/// The first failure, told in full: the promise, the smallest workload that breaks it, what happens.
pub fn try_fair<S: Subject>(seed: u64, cases: u64) -> Result<(), String> {
    (0..cases).map(|number| Case { seed, number }).try_for_each(|case| try_case::<S>(case, case.workload()))
}

/// The same with a slice policy of one's own, on colibri's scheduler: the host changes what it does again and again.
///
/// # Errors
///
/// The first failure, told in full.
pub fn try_policy(policy: impl Fn(Activity) -> Duration, seed: u64, cases: u64) -> Result<(), String> {
    let lengths = ACTIVITIES.map(policy).to_vec();
    (0..cases).map(|number| Case { seed, number }).try_for_each(|case| {
        let mut workload = case.workload();
        workload.settings.policy.clone_from(&lengths);
        workload.host.turns.clear();
        let last = workload.tasks.iter().filter_map(|plan| plan.arrives).max().unwrap_or_default();
        // While tasks come, and as long again.
        let changes = (0..16u32).map(|change| Outside {
            at: last * change / 8 + Duration::from_micros(1),
            action: Action::SetActivity(change as usize % ACTIVITIES.len()),
        });
        workload.outside.extend(changes);
        workload.outside.sort_by_key(|outside| outside.at);
        try_case::<Colibri>(case, workload)
    })
}

fn try_case<S: Subject>(case: Case, workload: Workload) -> Result<(), String> {
    let extra = Extra { twice: true, ..Extra::default() };
    match judge::<S>(&workload, extra).breach {
        None => Ok(()),
        Some(breach) => Err(match reduce::<S>(&workload, breach.promise) {
            Some(failure) => report::failure(&failure, None, None),
            None => format!("unfair: {breach} in {case}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use colibri_core::{ManualClock, checkpoint};

    use super::*;
    use crate::peer::Fifo;

    /// Work of so many milliseconds before each checkpoint, on a virtual clock.
    fn gaps_of(lengths: &'static [u64]) -> Gaps {
        let clock = ManualClock::new();
        let now = clock.clone();
        gaps_by(
            move || now.now().as_nanos(),
            || {
                let clock = clock.clone();
                async move {
                    for length in lengths {
                        clock.advance(Duration::from_millis(*length));
                        checkpoint().await;
                    }
                }
            },
        )
    }

    #[test]
    fn the_longest_gap_is_found_and_where_it_is() {
        let gaps = gaps_of(&[1, 2, 7, 3]);
        assert_eq!(gaps, Gaps { longest: Duration::from_millis(7), place: 2, checks: 4 });
        assert_eq!(gaps.to_string(), "longest gap 7.00 ms after 2 of 4 checkpoints");
        assert_eq!(gaps_of(&[]).checks, 0);
    }

    #[test]
    fn a_gap_that_is_too_long_is_told_with_its_place() {
        // Whatever the machine does meanwhile, adding takes some time.
        let adds = || async { std::hint::black_box((0..100_000u64).map(std::hint::black_box).sum::<u64>()) };
        let fails = || assert_yields_within(Duration::ZERO, adds);
        let told = *std::panic::catch_unwind(fails).unwrap_err().downcast::<String>().unwrap();
        assert!(told.starts_with("it must check within 0: longest gap "), "{told}");
        assert!(told.ends_with(" after 0 of 0 checkpoints"), "{told}");
        assert_eq!(assert_yields_within(Duration::MAX, adds).checks, 0);
    }

    #[test]
    fn a_panic_of_the_task_is_the_callers() {
        let panics = || gaps(|| async { std::panic::resume_unwind(Box::new(7u8)) });
        assert_eq!(std::panic::catch_unwind(panics).unwrap_err().downcast_ref::<u8>(), Some(&7));
    }

    #[test]
    fn a_policy_is_tried_and_a_scheduler_is_told_what_it_breaks() {
        assert_eq!(try_policy(|activity| activity.slice() * 2, 1, 40), Ok(()));
        // In a slice of no length nobody gets on.
        let told = try_policy(|_| Duration::ZERO, 1, 40).unwrap_err();
        assert!(told.contains("\"ends\" is broken") && told.contains("slices by activity: 0s"), "{told}");
        let told = try_fair::<Fifo>(1, 200).unwrap_err();
        assert!(told.contains("is broken") && told.contains("smallest workload"), "{told}");
    }
}
