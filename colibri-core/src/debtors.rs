//! Ready tasks that were passed over for what they had overdrawn.
//!
//! Each time, such a task goes to the tail and so leaves the order of waiting that its list is in otherwise. Promotion
//! must find the one that has waited longest, debt or not: these few are kept in a tree beside the lists.

use alloc::collections::{BTreeMap, BTreeSet};
use core::cell::RefCell;

use crate::priority::Priority;

#[derive(Default)]
pub(crate) struct Debtors {
    /// By level and the time since when it is ready, in µs.
    by_wait: RefCell<BTreeSet<(Priority, u64, u32)>>,
    by_task: RefCell<BTreeMap<u32, (Priority, u64)>>,
}

impl Debtors {
    pub(crate) fn add(&self, index: u32, level: Priority, since_micros: u64) {
        self.by_wait.borrow_mut().insert((level, since_micros, index));
        self.by_task.borrow_mut().insert(index, (level, since_micros));
    }

    pub(crate) fn remove(&self, index: u32) {
        if let Some((level, since)) = self.by_task.borrow_mut().remove(&index) {
            self.by_wait.borrow_mut().remove(&(level, since, index));
        }
    }

    /// Who has waited longest at `level`, and since when.
    pub(crate) fn oldest(&self, level: Priority) -> Option<(u32, u64)> {
        let by_wait = self.by_wait.borrow();
        let &(found, since, index) = by_wait.range((level, 0, 0)..).next()?;
        (found == level).then_some((index, since))
    }
}
