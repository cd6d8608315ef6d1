//! What a transition leaves to be done by user code.

use core::task::Waker;

use super::Extras;
use crate::slot::Object;
use crate::unwind;

/// What a transition leaves to be dropped and woken, once nothing is borrowed.
#[must_use]
#[derive(Default)]
pub(crate) struct Leftovers {
    pub(super) object: Option<Object>,
    pub(super) joiner: Option<Waker>,
    pub(super) extras: Option<Extras>,
}

impl Leftovers {
    /// Drops first, wakes then: who sees the end sees everything gone. Each may panic without harm to the other.
    #[inline(always)]
    pub(crate) fn settle(self) {
        if self.object.is_some() || self.joiner.is_some() || self.extras.is_some() {
            self.settle_all();
        }
    }

    fn settle_all(self) {
        let Leftovers { object, joiner, extras } = self;
        unwind::contain(|| drop(object));
        unwind::contain(|| drop(extras));
        unwind::contain(|| {
            if let Some(waker) = joiner {
                waker.wake();
            }
        });
    }
}
