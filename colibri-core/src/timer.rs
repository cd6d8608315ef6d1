//! Timers: sleeps, deadlines and what they wake.
//!
//! They stand in a B-tree by due time and making, so that a cancelled timer leaves at once and its memory with it:
//! half a million cancelled timeouts leave nothing behind.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use core::fmt;
use core::future::Future;
#[cfg(feature = "std")]
use core::future::poll_fn;
use core::pin::Pin;
#[cfg(feature = "std")]
use core::pin::pin;
use core::task::{Context, Poll, Waker};
#[cfg(feature = "std")]
use core::time::Duration;

use crate::engine::Engine;
use crate::instant::Instant;
#[cfg(feature = "std")]
use crate::instant::nanos;
use crate::local;
#[cfg(feature = "std")]
use crate::task::TaskError;

/// Whom a timer wakes.
pub(crate) enum Target {
    /// A task of this scheduler, by index and generation: no waker is needed.
    Task(u32, u32),
    /// A task of this scheduler whose time is then over.
    End(u32, u32),
    Waker(Waker),
}

/// A timer's place: when it is due, then the order of making, so that equal ones fire in that order.
pub(crate) type Key = (u64, u64);

/// All timers of a scheduler. Making, firing and cancelling one is O(log n).
pub(crate) struct Timers {
    due: BTreeMap<Key, Target>,
    made: u64,
}

impl Timers {
    pub(crate) const fn new() -> Self {
        Timers { due: BTreeMap::new(), made: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.due.len()
    }

    /// When the next one is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.due.first_key_value().map(|(&(due, _), _)| due)
    }

    pub(crate) fn add(&mut self, due: u64, target: Target) -> Key {
        self.made += 1;
        let key = (due, self.made);
        self.due.insert(key, target);
        key
    }

    /// Sets whom it wakes and returns the target before; a timer that has fired hands `target` back.
    pub(crate) fn set_target(&mut self, key: Key, target: Target) -> Result<Target, Target> {
        match self.due.get_mut(&key) {
            Some(current) => Ok(core::mem::replace(current, target)),
            None => Err(target),
        }
    }

    /// Takes out the first timer that is due.
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<Target> {
        if self.next_due()? > now {
            return None;
        }
        self.due.pop_first().map(|(_, target)| target)
    }

    /// Takes a timer out, if it has not fired. The target is to be dropped outside of any borrow.
    pub(crate) fn remove(&mut self, key: Key) -> Option<Target> {
        self.due.remove(&key)
    }

    /// Takes all out.
    pub(crate) fn take(&mut self) -> BTreeMap<Key, Target> {
        core::mem::take(&mut self.due)
    }
}

/// Waits until `duration` from now: the call, inside a scheduler's task; else the first poll.
///
/// It is never early. It is late by what the thread's slice or the running task takes to its next checkpoint, and
/// only by that: a ready queue that never empties cannot hold it back.
///
/// # Panics
///
/// When it is polled outside of a scheduler's task: the timer would have nobody to run it.
#[cfg(feature = "std")]
pub fn sleep(duration: Duration) -> Sleep {
    match local::current() {
        Some(engine) => Sleep::new(When::At(Instant::from_nanos(engine.read_clock()) + duration)),
        None => Sleep::new(When::After(duration)),
    }
}

/// Waits until the scheduler's clock shows `deadline`; see [`sleep`].
///
/// # Panics
///
/// When it is polled outside of a scheduler's task.
#[cfg(feature = "std")]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::new(When::At(deadline))
}

#[derive(Clone, Copy)]
enum When {
    At(Instant),
    #[cfg(feature = "std")]
    After(Duration),
}

/// The future of [`Scheduler::sleep`](crate::Scheduler::sleep) and of what else waits for a time. Dropping it takes its
/// timer out.
///
/// It is never early.
#[must_use = "a sleep does nothing unless it is awaited"]
pub struct Sleep {
    when: When,
    /// Whose clock and timers it uses; else those of the scheduler that polls it.
    engine: Option<Rc<Engine>>,
    timer: Option<Timer>,
}

/// A timer that is in a scheduler's tree, or was until it fired. Dropping it takes it out.
struct Timer {
    engine: Rc<Engine>,
    key: Key,
}

impl Sleep {
    #[cfg(feature = "std")]
    fn new(when: When) -> Self {
        Sleep { when, engine: None, timer: None }
    }

    pub(crate) fn on(engine: Rc<Engine>, deadline: Instant) -> Self {
        Sleep { when: When::At(deadline), engine: Some(engine), timer: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(engine) = self.engine.clone().or_else(local::current) else {
            panic!(
                "colibri_core::sleep was polled outside of a colibri scheduler, which has the clock and the timers: \
                 spawn the task on a Scheduler, or use the timer of the executor at hand"
            );
        };
        let now = engine.read_clock();
        let due = match self.when {
            When::At(at) => at.as_nanos(),
            #[cfg(feature = "std")]
            When::After(duration) => now.saturating_add(nanos(duration)),
        };
        self.when = When::At(Instant::from_nanos(due));
        if now >= due {
            self.timer = None;
            return Poll::Ready(());
        }
        // The scheduler's own waker says no more than the task's number does, and costs a header.
        let target = local::with(|local| {
            local.scheduler.get() == engine.address() && local.is_own_waker(context.waker())
        })
        .then(|| engine.running_task())
        .flatten()
        .unwrap_or_else(|| Target::Waker(context.waker().clone()));
        let target = match &self.timer {
            Some(timer) if Rc::ptr_eq(&timer.engine, &engine) => {
                match engine.retarget_timer(timer.key, target) {
                    Ok(_before) => return Poll::Pending,
                    Err(target) => target,
                }
            }
            _ => target,
        };
        let key = engine.add_timer(due, target);
        self.timer = Some(Timer { engine, key });
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // The target, perhaps a foreign waker, is dropped after the borrow in here has ended.
        let _target = self.engine.remove_timer(self.key);
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("registered", &self.timer.is_some()).finish_non_exhaustive()
    }
}

/// Runs `future` for at most `duration`; then drops it and returns [`TaskError::TimedOut`].
///
/// The time is looked at before each poll of `future`, so that it ends on time even around a loop that is always
/// ready, given that the loop has checkpoints.
///
/// # Errors
///
/// [`TaskError::TimedOut`] when the time was over first.
///
/// # Panics
///
/// When it is polled outside of a scheduler's task.
#[cfg(feature = "std")]
pub async fn timeout<F: Future>(duration: Duration, future: F) -> Result<F::Output, TaskError> {
    let mut sleep = sleep(duration);
    let mut future = pin!(future);
    poll_fn(move |context| {
        if Pin::new(&mut sleep).poll(context).is_ready() {
            return Poll::Ready(Err(TaskError::TimedOut));
        }
        future.as_mut().poll(context).map(Ok)
    })
    .await
}
