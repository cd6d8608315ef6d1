//! The operations, each written once for every executor. A round makes an executor, prepares its tasks, and measures
//! the thread's own time of many operations.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::executors::{Executor, Extra, Latch};
use crate::measure::{Used, Watch};
use crate::ops::timings::Sample;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A task's own yield, with so many tasks in turn.
    Yield(usize),
    /// The same, of tasks that have what most have not.
    YieldWith(usize, Extra),
    /// A wake of another task on the thread, with its poll.
    Wake,
    /// A wake from another thread: the call there.
    RemoteWake,
    /// The same: taking it in here, with its poll.
    RemotePoll,
    /// Spawn, run and join, in batches of so many.
    Spawn(usize),
    /// Spawn a task and await it, one after the other.
    SpawnAndAwait,
    /// Cancel of a task that waits, until its future is dropped.
    Cancel,
    /// Pause and resume of a task that is ready.
    Pause,
    /// Moves of a task that is ready to another class and back, among so many with a name.
    Move(usize),
    /// Setting a timer, and dropping it before it fires.
    TimerCancelled,
    /// Setting a timer in a task of its own, and the task's end when it has fired.
    TimerFired,
}

impl Operation {
    /// All, in the order of the table.
    pub(crate) const ALL: [Operation; 20] = [
        Operation::Yield(1),
        Operation::Yield(100),
        Operation::Yield(10_000),
        Operation::YieldWith(100, Extra::Name),
        Operation::YieldWith(10_000, Extra::Name),
        Operation::YieldWith(100, Extra::Weight),
        Operation::YieldWith(100, Extra::Deadline),
        Operation::YieldWith(100, Extra::Account),
        Operation::Wake,
        Operation::RemoteWake,
        Operation::RemotePoll,
        Operation::Spawn(1_000),
        Operation::Spawn(100_000),
        Operation::SpawnAndAwait,
        Operation::Cancel,
        Operation::Pause,
        Operation::Move(100),
        Operation::Move(100_000),
        Operation::TimerCancelled,
        Operation::TimerFired,
    ];

    /// Its name in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Operation::Yield(1) => "own yield, 1 task".to_owned(),
            Operation::Yield(tasks) => format!("own yield, {} tasks", crate::report::count(tasks as u64)),
            Operation::YieldWith(tasks, extra) => {
                format!("... {} with {} each", crate::report::count(tasks as u64), extra.name())
            }
            Operation::Wake => "wake on the thread, with its poll".to_owned(),
            Operation::RemoteWake => "wake from another thread: the call".to_owned(),
            Operation::RemotePoll => "... taking it in, with its poll".to_owned(),
            Operation::Spawn(batch) => {
                format!("spawn + run + join, {} at once", crate::report::count(batch as u64))
            }
            Operation::SpawnAndAwait => "spawn, await, repeat".to_owned(),
            Operation::Cancel => "cancel, with the drop".to_owned(),
            Operation::Pause => "pause + resume".to_owned(),
            Operation::Move(tasks) => {
                format!("to another class + back, {} named", crate::report::count(tasks as u64))
            }
            Operation::TimerCancelled => "timer: set + cancel".to_owned(),
            Operation::TimerFired => "timer: set + fire, a task each".to_owned(),
        }
    }
}

/// The time of one operation; none where the executor has no such thing. `scale` divides the numbers of operations.
pub(crate) fn measure<E: Executor>((operation, scale): (Operation, usize)) -> Option<Sample> {
    match operation {
        Operation::Yield(tasks) => Some(yields::<E>(tasks, (YIELDS / scale / tasks).max(LEAST_YIELDS))),
        Operation::YieldWith(tasks, extra) => {
            let each = (YIELDS / scale / tasks).max(LEAST_YIELDS);
            E::HAS_EXTRAS.then(|| yields_of::<E>(tasks, each, Some(extra)))
        }
        Operation::Wake => Some(wakes::<E>(WAKE_ROUNDS / scale)),
        Operation::RemoteWake => E::HAS_REMOTE_WAKES.then(|| remote_wakes::<E>(scale).call),
        Operation::RemotePoll => E::HAS_REMOTE_WAKES.then(|| remote_wakes::<E>(scale).poll),
        Operation::Spawn(batch) => Some(spawns::<E>((batch / scale).max(1), (SPAWNS / batch).max(1))),
        Operation::SpawnAndAwait => Some(spawn_and_await::<E>(SPAWNS / scale)),
        Operation::Cancel => Some(cancels::<E>(CANCELS / scale)),
        Operation::Pause => E::HAS_PAUSE.then(|| pauses::<E>(PAUSES / scale)),
        Operation::Move(tasks) => {
            (E::HAS_PAUSE && E::HAS_EXTRAS).then(|| moves::<E>((tasks / scale).max(1), MOVES / scale))
        }
        Operation::TimerCancelled => E::HAS_TIMERS.then(|| timers_cancelled::<E>(TIMERS / scale)),
        Operation::TimerFired => E::HAS_TIMERS.then(|| timers_fired::<E>(TIMERS_AT_ONCE / scale)),
    }
}

// Numbers of operations in a round: each takes some 5 to 20 ms, so that 1 % is far above the clock's own cost.
const YIELDS: usize = 200_000;
/// With many tasks: the first poll and the end of each are a small part.
const LEAST_YIELDS: usize = 20;
const WAKE_ROUNDS: usize = 2_000;
const SLEEPERS: usize = 100;
const REMOTE_ROUNDS: usize = 20;
const REMOTE_SLEEPERS: usize = 1_000;
const SPAWNS: usize = 100_000;
const CANCELS: usize = 20_000;
const PAUSES: usize = 200_000;
const MOVES: usize = 200_000;
const TIMERS: usize = 50_000;
const TIMERS_AT_ONCE: usize = 2_000;
/// tokio's timers give way by themselves after 128 polls of one task.
const TIMERS_PER_YIELD: usize = 100;
/// The timers that fire are all set within this.
const TIMER: Duration = Duration::from_millis(10);
/// tokio's timers have steps of 1 ms.
const TIMER_STEP: Duration = Duration::from_millis(2);

fn sample(used: Used, operations: usize) -> Sample {
    Sample { nanos: used.cpu_or_wall().as_nanos() as f64 / operations as f64, used }
}

/// Runs `future` as a task like any other, and tells how long that took. Nobody awaits the task's handle: where the root
/// counts for more than the tasks, it would lift the task above the others.
fn timed<E: Executor>(executor: &E, future: impl Future<Output = ()> + 'static) -> Used {
    let end = Latch::new(1);
    let ended = end.opened();
    E::detach(executor.spawn(async move {
        future.await;
        end.count_down();
    }));
    let watch = Watch::start();
    executor.block_on(ended);
    watch.stop()
}

/// What a task carries: with it, its future has some 48 bytes.
type Load = [u64; 4];

const LOAD: Load = [1, 2, 3, 4];

/// The cost of each pick among `tasks` that yield `each` times, in the order in which they were spawned.
pub(crate) fn yields<E: Executor>(tasks: usize, each: usize) -> Sample {
    yields_of::<E>(tasks, each, None)
}

fn yields_of<E: Executor>(tasks: usize, each: usize, extra: Option<Extra>) -> Sample {
    let executor = E::new();
    let latch = Latch::new(tasks);
    for _ in 0..tasks {
        let latch = latch.clone();
        let task = async move {
            for _ in 0..each {
                E::yield_now().await;
            }
            latch.count_down();
        };
        E::detach(match extra {
            None => executor.spawn(task),
            Some(extra) => executor.spawn_with(extra, task),
        });
    }
    let watch = Watch::start();
    executor.block_on(latch.opened());
    sample(watch.stop(), tasks * each)
}

/// A task that waits until it is woken, again and again.
#[derive(Debug, Default)]
struct Sleeper {
    waker: RefCell<Option<Waker>>,
    polls: Cell<usize>,
}

impl Sleeper {
    /// Ready at the poll with this number.
    fn until(self: Rc<Self>, polls: usize, polled: impl Fn()) -> impl Future<Output = ()> {
        poll_fn(move |context| {
            self.polls.set(self.polls.get() + 1);
            polled();
            if self.polls.get() >= polls {
                return Poll::Ready(());
            }
            let mut waker = self.waker.borrow_mut();
            if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                *waker = Some(context.waker().clone());
            }
            Poll::Pending
        })
    }
}

fn wakes<E: Executor>(rounds: usize) -> Sample {
    let executor = E::new();
    let sleepers: Rc<Vec<Rc<Sleeper>>> = Rc::new((0..SLEEPERS).map(|_| Rc::default()).collect());
    let first_polls = Latch::new(SLEEPERS);
    for sleeper in sleepers.iter() {
        let first = first_polls.clone();
        let own = Rc::clone(sleeper);
        let polled = move || {
            if own.polls.get() == 1 {
                first.count_down();
            }
        };
        // The last round's wakes may find it done.
        E::detach(executor.spawn(Rc::clone(sleeper).until(rounds, polled)));
    }
    executor.block_on(first_polls.opened());
    let time = timed(&executor, {
        let sleepers = Rc::clone(&sleepers);
        async move {
            for _ in 0..rounds {
                for sleeper in sleepers.iter() {
                    if let Some(waker) = &*sleeper.waker.borrow() {
                        waker.wake_by_ref();
                    }
                }
                E::yield_now().await;
            }
        }
    });
    let polls: usize = sleepers.iter().map(|sleeper| sleeper.polls.get()).sum();
    sample(time, polls - SLEEPERS)
}

/// A wake on both sides.
struct Remote {
    call: Sample,
    poll: Sample,
}

fn remote_wakes<E: Executor>(scale: usize) -> Remote {
    let (rounds, count) = ((REMOTE_ROUNDS / scale).max(1), REMOTE_SLEEPERS / scale);
    let executor = E::new();
    let sleepers: Vec<Rc<Sleeper>> = (0..count).map(|_| Rc::default()).collect();
    let latch = Latch::new(count);
    for sleeper in &sleepers {
        let latch = latch.clone();
        E::detach(executor.spawn(Rc::clone(sleeper).until(rounds + 1, move || latch.count_down())));
    }
    executor.block_on(latch.opened());
    let wakers: Vec<Waker> =
        sleepers.iter().map(|sleeper| sleeper.waker.borrow().clone().expect("it was polled")).collect();

    let (go, turns) = mpsc::channel::<()>();
    let (done, ended) = mpsc::channel::<Used>();
    let waking = thread::spawn(move || {
        for () in turns {
            let watch = Watch::start();
            wakers.iter().for_each(Waker::wake_by_ref);
            done.send(watch.stop()).expect("the measuring thread waits for it");
        }
    });
    let (mut call, mut poll) = (Used::none(), Used::none());
    for _ in 0..rounds {
        latch.set(count);
        go.send(()).expect("the waking thread waits for it");
        call = call.and(ended.recv().expect("the waking thread does not panic"));
        let watch = Watch::start();
        executor.block_on(latch.opened());
        poll = poll.and(watch.stop());
    }
    drop(go);
    waking.join().expect("the waking thread does not panic");
    Remote { call: sample(call, rounds * count), poll: sample(poll, rounds * count) }
}

/// A task with something to do, for a moment.
async fn work(number: u64, load: Load) -> u64 {
    black_box(load)[number as usize % load.len()] + number
}

fn spawns<E: Executor>(batch: usize, batches: usize) -> Sample {
    let executor = E::new();
    let watch = Watch::start();
    for _ in 0..batches {
        let tasks: Vec<_> = (0..batch).map(|number| executor.spawn(work(number as u64, LOAD))).collect();
        // A task behind the others: it finds them done.
        timed(&executor, async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await;
            }
            black_box(sum);
        });
    }
    sample(watch.stop(), batch * batches)
}

fn spawn_and_await<E: Executor>(count: usize) -> Sample {
    let executor = E::new();
    let time = timed(&executor, {
        let executor = executor.clone();
        async move {
            let mut sum = 0;
            for number in 0..count {
                sum += executor.spawn(work(number as u64, LOAD)).await;
            }
            black_box(sum);
        }
    });
    sample(time, count)
}

/// Counts down when it is dropped.
struct CountsItsEnd(Latch);

impl Drop for CountsItsEnd {
    fn drop(&mut self) {
        self.0.count_down();
    }
}

fn cancels<E: Executor>(count: usize) -> Sample {
    let executor = E::new();
    let (polled, dropped) = (Latch::new(count), Latch::new(count));
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let (polled, end) = (polled.clone(), CountsItsEnd(dropped.clone()));
            executor.spawn(poll_fn(move |_| -> Poll<()> {
                let _owned = &end;
                polled.count_down();
                Poll::Pending
            }))
        })
        .collect();
    executor.block_on(polled.opened());
    let watch = Watch::start();
    tasks.into_iter().for_each(E::cancel);
    executor.block_on(dropped.opened());
    sample(watch.stop(), count)
}

fn pauses<E: Executor>(count: usize) -> Sample {
    let executor = E::new();
    let tasks: Vec<_> = (0..SLEEPERS).map(|_| executor.spawn(std::future::pending::<()>())).collect();
    let watch = Watch::start();
    for number in 0..count {
        E::pause_and_resume(&tasks[number % SLEEPERS]);
    }
    let time = watch.stop();
    tasks.into_iter().for_each(E::cancel);
    sample(time, count)
}

fn moves<E: Executor>(tasks: usize, count: usize) -> Sample {
    let executor = E::new();
    let tasks: Vec<_> =
        (0..tasks).map(|_| executor.spawn_with(Extra::Name, std::future::pending())).collect();
    let mut place = 0;
    let watch = Watch::start();
    for _ in 0..count {
        // A step that visits all in no order that a cache knows.
        place = (place + 7_919) % tasks.len();
        E::move_and_return(&tasks[place]);
    }
    let time = watch.stop();
    tasks.into_iter().for_each(E::cancel);
    sample(time, count)
}

fn timers_cancelled<E: Executor>(count: usize) -> Sample {
    const LONG: Duration = Duration::from_secs(3600);
    let executor = E::new();
    let time = timed(&executor, async move {
        for number in 0..count {
            let mut timer = pin!(E::sleep(LONG));
            poll_fn(|context| {
                assert!(timer.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
            if number % TIMERS_PER_YIELD == 0 {
                E::yield_now().await;
            }
        }
    });
    sample(time, count)
}

fn timers_fired<E: Executor>(count: usize) -> Sample {
    let executor = E::new();
    let (set, fired) = (Latch::new(count), Latch::new(count));
    for _ in 0..count {
        let (set, fired) = (set.clone(), fired.clone());
        E::detach(executor.spawn(async move {
            let mut timer = pin!(E::sleep(TIMER));
            let mut is_set = false;
            poll_fn(|context| {
                let polled = timer.as_mut().poll(context);
                if !std::mem::replace(&mut is_set, true) {
                    set.count_down();
                }
                polled
            })
            .await;
            fired.count_down();
        }));
    }
    let begin = Instant::now();
    let watch = Watch::start();
    executor.block_on(set.opened());
    let setting = watch.stop();
    thread::sleep((TIMER + TIMER_STEP).saturating_sub(begin.elapsed()) + TIMER);
    let watch = Watch::start();
    executor.block_on(fired.opened());
    sample(setting.and(watch.stop()), count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executors::each_executor;

    /// Each operation on each executor, a few times: it ends, and its time is a time.
    #[test]
    fn every_executor_does_what_it_has() {
        for (name, measure) in each_executor!(measure) {
            for operation in Operation::ALL {
                match measure((operation, 100)) {
                    Some(Sample { nanos, used }) => assert!(
                        nanos > 0.0 && nanos < 1e7 && !used.wall.is_zero(),
                        "{name}: {operation:?} {nanos}"
                    ),
                    None => assert!(name != "colibri", "{operation:?}"),
                }
            }
        }
    }
}
