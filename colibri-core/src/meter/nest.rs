//! Budgets nest, and functions: what was outside is put back.

use super::{EVERY_CHECK, LAZY, Meter, OPEN, SCHEDULED, UNINTERRUPTED, UNLIMITED};
use crate::local;
use crate::rt::Site;

/// A meter's contents, while another budget is in force. The learned grant is not among them: the code is the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    fuel: i64,
    granted: i64,
    unmeasured: i64,
    portions: u32,
    last: u64,
    deadline: u64,
    checks: u64,
    quota: u64,
    mode: u8,
    site: Option<&'static Site>,
}

/// The caller's side of a function's scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outer {
    grant: u32,
    fuel: i64,
    looks: u32,
}

impl Meter {
    pub(crate) fn save(&self) -> Saved {
        Saved {
            fuel: self.fuel.get(),
            granted: self.granted.get(),
            unmeasured: self.unmeasured.get(),
            portions: self.portions.get(),
            last: self.last.get(),
            deadline: self.deadline.get(),
            checks: self.checks.get(),
            quota: self.quota.get(),
            mode: self.mode.get(),
            site: self.site.get(),
        }
    }

    pub(crate) fn restore(&self, saved: Saved) {
        self.fuel.set(saved.fuel);
        self.granted.set(saved.granted);
        self.unmeasured.set(saved.unmeasured);
        self.portions.set(saved.portions);
        self.last.set(saved.last);
        self.deadline.set(saved.deadline);
        self.checks.set(saved.checks);
        self.quota.set(saved.quota);
        self.mode.set(saved.mode);
        self.site.set(saved.site);
    }

    /// Opens a budget inside whatever is open: the tighter limit wins. `close` undoes it.
    pub(crate) fn open(&self, time: Option<u64>, checks: u64) -> Saved {
        let saved = self.save();
        let outer = self.mode.get();
        let mut mode = (outer & (SCHEDULED | EVERY_CHECK | UNINTERRUPTED)) | OPEN;
        if outer & OPEN == 0 {
            self.deadline.set(UNLIMITED);
            self.checks.set(UNLIMITED);
        } else if outer & LAZY != 0 {
            mode |= LAZY;
        }
        if let Some(time) = time {
            let deadline = self.read_clock(outer).saturating_add(time);
            if mode & LAZY != 0 {
                // The outer time has not begun: it ends `quota` from now at the earliest, so compare lengths.
                self.quota.set(self.quota.get().min(time));
            } else {
                self.deadline.set(self.deadline.get().min(deadline));
            }
        }
        self.checks.set(self.checks.get().min(checks));
        self.fuel.set(0);
        self.granted.set(0);
        self.portions.set(0);
        self.mode.set(mode);
        saved
    }

    /// Opens the budget of one poll on an executor that has none: `quota` from the first look on.
    #[inline]
    pub(crate) fn open_foreign(&self, quota: u64, checks: u64) -> Saved {
        let saved = self.save();
        self.fuel.set(0);
        self.granted.set(0);
        self.portions.set(0);
        self.passed.set(0);
        self.deadline.set(UNLIMITED);
        self.quota.set(quota);
        self.checks.set(checks);
        self.mode.set(OPEN | LAZY);
        saved
    }

    /// Ends what `open` began. What was counted inside counts outside as well.
    pub(crate) fn close(&self, saved: Saved, opened_with: u64) {
        let left = self.checks.get();
        self.restore(saved);
        self.touch();
        if saved.mode & OPEN != 0 && saved.checks != UNLIMITED {
            // `opened_with` is the tighter of the two, so that the difference is what passed inside.
            let passed = opened_with.min(saved.checks) - left;
            self.checks.set(saved.checks - passed);
        }
    }

    /// Enters a function that has learned the grant `grant`: the caller's fuel was measured in the caller's
    /// iterations, which may be far lighter.
    #[inline(always)]
    pub(crate) fn enter_function(&self, grant: u32) -> Outer {
        // Blind, only whole polls are timed, and one grant is learned for all.
        let grant = if local::KNOWS_SCHEDULER { grant } else { self.grant.get() };
        let outer =
            Outer { grant: self.grant.replace(grant), fuel: self.fuel.get(), looks: self.looks.get() };
        self.fuel.set(outer.fuel.min(i64::from(grant)));
        outer
    }

    /// Leaves it, and says what it has learned.
    #[inline(always)]
    pub(crate) fn leave_function(&self, outer: Outer, entered_with: u32) -> u32 {
        let learned = self.grant.replace(outer.grant);
        let left = self.fuel.get();
        if self.looks.get() == outer.looks {
            self.fuel.set(outer.fuel - (outer.fuel.min(i64::from(entered_with)) - left));
        } else if left > i64::from(outer.grant) {
            self.granted.set(self.granted.get() - (left - i64::from(outer.grant)));
            self.fuel.set(i64::from(outer.grant));
        }
        learned
    }
}
