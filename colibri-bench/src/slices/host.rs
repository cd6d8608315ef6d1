//! The host: slices and turns until the bulk work is done.

use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use colibri_core::{Priority, Scheduler};

use crate::arrivals::{Arrivals, Desk, Sent, Waits};
use crate::failure::Failure;
use crate::input::Corpus;
use crate::loads::{Bulk, Done, Index, LocalIndex};
use crate::measure::{Used, Watch};
use crate::plan::Query;

/// Points of the picture: 640 × 360.
const POINTS: usize = 640 * 360;

/// What a round came to.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) done: Done,
    /// The index's fingerprint.
    pub(super) index: u64,
    /// From the first slice to the last, the host's turns included.
    pub(super) used: Used,
    /// Each slice.
    pub(super) slices: Vec<Used>,
    pub(super) waits: Waits,
    /// What the sender did.
    pub(super) sent: Sent,
}

/// Builds the index in slices of this length.
pub(super) fn round(
    length: Duration,
    corpus: &Arc<Corpus>,
    plan: &Arc<Vec<Query>>,
) -> Result<Round, Failure> {
    let scheduler = Scheduler::builder().slice(length).build();
    let index = Rc::new(LocalIndex::new());
    let (arrivals, queue) = Arrivals::prepare(plan);
    let mut desk = Desk::new(queue, Rc::clone(&index));
    let mut picture = vec![0_u32; POINTS];
    let mut slices = Vec::new();
    let mut task =
        scheduler.spawn(Priority::Normal, Index::cooperative(Arc::clone(corpus), Rc::clone(&index)));

    arrivals.start();
    let watch = Watch::start();
    loop {
        let slice = Watch::start();
        let report = scheduler.run_slice();
        slices.push(slice.stop());
        desk.answer();
        paint(&mut picture, slices.len() as u32);
        if !report.work_left {
            break;
        }
    }
    let used = watch.stop();
    arrivals.end();
    let waits = desk.close();
    let sent = arrivals.join();
    let done = match task.try_take() {
        Some(Ok(done)) => done,
        _ => return Err(Failure::Run("a task on colibri did not end well. Please report this.".to_owned())),
    };
    Ok(Round { done, index: index.fingerprint(), used, slices, waits, sent })
}

/// Paints a picture that moves with `time`.
fn paint(picture: &mut [u32], time: u32) {
    for (place, point) in (0..).zip(picture.iter_mut()) {
        *point = (time + place) ^ (place >> 7);
    }
    black_box(picture);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;

    #[test]
    fn the_work_is_done_and_every_query_answered() {
        let corpus = Arc::new(Corpus::of(&[include_str!("host.rs"), include_str!("mod.rs")]));
        let plan = Arc::new(plan::poisson(1, 5_000, Duration::from_millis(200), &corpus));
        let index = Rc::new(LocalIndex::new());
        let expected = Index::plain(Arc::clone(&corpus), Rc::clone(&index));
        let round = round(Duration::from_micros(50), &corpus, &plan).unwrap();
        assert_eq!((round.done, round.index), (expected, index.fingerprint()));
        assert_eq!(round.sent.late_nanos.len(), round.waits.planned.len());
        assert!(!round.slices.is_empty() && round.used.wall > round.slices[0].wall);
    }
}
