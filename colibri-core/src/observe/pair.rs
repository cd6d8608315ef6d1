//! Two observers as one.

use crate::event::{Observer, TaskEvent, YieldReason};
use crate::instant::Instant;
use crate::slice::SliceReport;
use crate::unwind;

macro_rules! both {
    ($($event:ident($($argument:ident: $type:ty),*);)*) => {
        /// Tells both, the first one first. The second one is told also if the first one panics.
        impl<A: Observer, B: Observer> Observer for (A, B) {
            $(
                fn $event(&self, $($argument: $type),*) {
                    unwind::both(|| self.0.$event($($argument),*), || self.1.$event($($argument),*));
                }
            )*
        }
    };
}

both! {
    spawned(task: &TaskEvent);
    woken(task: &TaskEvent);
    started(task: &TaskEvent);
    yielded(task: &TaskEvent, reason: YieldReason);
    suspended(task: &TaskEvent);
    promoted(task: &TaskEvent);
    paused(task: &TaskEvent);
    resumed(task: &TaskEvent);
    reprioritised(task: &TaskEvent);
    cancelled(task: &TaskEvent);
    finished(task: &TaskEvent);
    panicked(task: &TaskEvent);
    slice_started(at: Instant);
    overran(report: &SliceReport, at: Instant);
    slice_ended(report: &SliceReport, at: Instant);
}
