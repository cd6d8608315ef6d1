//! Ready tasks that have waited longer than their place in a list says: those that were passed over for what they had
//! overdrawn, and those that were moved to another class while they were ready.
//!
//! Such a task stands at the tail and so leaves the order of waiting that its list is in otherwise. Promotion must find the one
//! that has waited longest wherever it stands: these few are kept in a tree beside the lists.

use alloc::collections::BTreeMap;
use core::cell::{Cell, RefCell};

use crate::priority::Priority;

/// Where one stands: its level, since when it is ready, in µs, and the number of its coming here, so that on a tie who came first
/// is first.
type Place = (Priority, u64, u64);

#[derive(Default)]
pub(crate) struct Stragglers {
    by_wait: RefCell<BTreeMap<Place, u32>>,
    by_task: RefCell<BTreeMap<u32, Place>>,
    came: Cell<u64>,
}

impl Stragglers {
    pub(crate) fn add(&self, index: u32, level: Priority, since_micros: u64) {
        let place = (level, since_micros, self.came.get());
        self.came.set(self.came.get() + 1);
        self.by_wait.borrow_mut().insert(place, index);
        self.by_task.borrow_mut().insert(index, place);
    }

    pub(crate) fn remove(&self, index: u32) {
        if let Some(place) = self.by_task.borrow_mut().remove(&index) {
            self.by_wait.borrow_mut().remove(&place);
        }
    }

    /// Who has waited longest at `level`, and since when.
    pub(crate) fn oldest(&self, level: Priority) -> Option<(u32, u64)> {
        let by_wait = self.by_wait.borrow();
        let (&(found, since, _), &index) = by_wait.range((level, 0, 0)..).next()?;
        (found == level).then_some((index, since))
    }
}
