//! Checkpoints and ways to give way or not to.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use crate::local;

/// A checkpoint: ready at once while the budget lasts, else it gives way once.
///
/// `#[cooperative]` writes these into loops, in a faster form; call it yourself in hand-written async code, once an
/// iteration. While the budget lasts it costs a few ns, since it counts and looks at the clock seldom.
///
/// On an executor that sets no budget it gives way every 0.5 ms.
#[must_use = "a checkpoint does nothing unless it is awaited"]
pub fn checkpoint() -> Checkpoint {
    Checkpoint { gave_way: false }
}

/// The future of [`checkpoint`].
#[derive(Debug)]
#[must_use = "a checkpoint does nothing unless it is awaited"]
pub struct Checkpoint {
    gave_way: bool,
}

impl Future for Checkpoint {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        local::with(|local| {
            let meter = &local.meter;
            let fuel = meter.fuel.get();
            if fuel > 0 && !self.gave_way {
                meter.fuel.set(fuel - 1);
                return Poll::Ready(());
            }
            let is_first = meter.is_fresh();
            let fuel = if core::mem::take(&mut self.gave_way) {
                meter.resume()
            } else if let Some(fuel) = meter.check(local, fuel, None) {
                fuel
            } else {
                self.gave_way = true;
                local.give_way(context.waker());
                return Poll::Pending;
            };
            let fuel = if is_first { meter.probe(fuel) } else { fuel };
            meter.fuel.set(fuel - 1);
            Poll::Ready(())
        })
    }
}

/// Gives way once, whatever is left of the budget: others that are ready run before the caller does again.
///
/// On colibri's scheduler the task goes to the tail of its class, at the cost of a flag (about 10 ns in all); on any
/// other executor it wakes itself.
#[must_use = "yield_now does nothing unless it is awaited"]
pub fn yield_now() -> YieldNow {
    YieldNow { gave_way: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "yield_now does nothing unless it is awaited"]
pub struct YieldNow {
    gave_way: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if core::mem::replace(&mut self.gave_way, true) {
            return Poll::Ready(());
        }
        local::with(|local| local.give_way(context.waker()));
        Poll::Pending
    }
}

/// Runs `future` as a section in which no checkpoint gives way: the visible opt-out.
///
/// What it uses is still charged to the task. Awaiting something that is not ready suspends as ever.
pub async fn uninterrupted<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(move |context| {
        let _section = Section { outer: local::with(|local| local.meter.set_uninterrupted(true)) };
        future.as_mut().poll(context)
    })
    .await
}

/// Puts the outer setting back when dropped, so that a panic cannot leak it.
struct Section {
    outer: bool,
}

impl Drop for Section {
    fn drop(&mut self) {
        local::with(|local| local.meter.set_uninterrupted(self.outer));
    }
}
