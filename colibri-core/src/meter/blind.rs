//! Checks that can ask neither the scheduler nor a clock: without the feature `std`.

use super::{EVERY_CHECK, LAZY, LOOK_INTERVAL_NANOS, Meter, OPEN, OVER, SCHEDULED, UNLIMITED};
use crate::event::YieldReason;
use crate::local::Local;

/// How many checks pass per poll where there is neither a scheduler nor a clock to ask, without the feature `std`: at
/// 300 ns an iteration 0.3 ms, of the order of [`FOREIGN_BUDGET_NANOS`].
const FOREIGN_BUDGET_CHECKS: u32 = 1024;

impl Meter {
    /// How many checks pass in a poll where neither the scheduler nor a clock can be asked; none if only checks are limited.
    pub(super) fn blind_limit(&self, mode: u8) -> Option<u32> {
        match mode & (OPEN | SCHEDULED | EVERY_CHECK | LAZY) {
            mode if mode & SCHEDULED != 0 => Some(if mode & EVERY_CHECK != 0 { 0 } else { self.grant.get() }),
            OPEN => None,
            _ => Some(FOREIGN_BUDGET_CHECKS),
        }
    }

    /// A poll ends when its grant is used up: the scheduler then looks at its clock, and polls again at once if it finds
    /// nothing against that.
    pub(super) fn check_blindly(&self, local: &Local, mode: u8, limit: u32) -> Option<i64> {
        let passed = self.passed.get();
        if passed >= limit {
            if mode & OPEN == 0 {
                self.passed.set(0);
            } else {
                self.mode.set(mode | OVER);
            }
            if mode & SCHEDULED != 0 {
                local.reason.set(Some(YieldReason::Look));
            }
            return None;
        }
        let next = if self.checks.get() == UNLIMITED { limit - passed } else { 1 };
        self.passed.set(passed + next);
        Some(self.grant_of(i64::from(next)))
    }

    /// Fits the grant of polls that were ended blindly: this one took `elapsed` nanoseconds.
    pub(crate) fn learn(&self, elapsed: u64) {
        let used = u64::from(self.passed.get());
        if elapsed > 0 && used > 0 {
            self.fit(used.saturating_mul(LOOK_INTERVAL_NANOS) / elapsed);
        }
    }
}
