//! What single tasks use, for those that have an account.
//!
//! It costs its task two reads of the clock a poll, and others a test of a flag that is at hand anyway.

use alloc::boxed::Box;

use super::{Engine, Extras};
use crate::slot::{EXTRAS, Slot};
use crate::stats::TaskStats;
use crate::task::TaskId;

impl Engine {
    /// A poll of a task with extras begins; it waited so long for it.
    #[cold]
    pub(super) fn open_account(&self, index: u32, wait_micros: u32) {
        let kept = self.with_account(index, |account| account.began(wait_micros));
        if kept.is_some() {
            // The look after this poll is where its time ends.
            self.until_look.set(1);
            self.poll_began.set(self.read_clock());
        }
    }

    /// A poll of a task with extras was over at the last look.
    #[cold]
    pub(super) fn close_account(&self, index: u32) {
        let ran = self.now.get().saturating_sub(self.poll_began.get());
        self.with_account(index, |account| account.ran(ran));
    }

    /// After a poll of a task with extras, it stayed ready.
    #[cold]
    pub(super) fn count_yield(&self, index: u32) {
        self.with_account(index, |account| account.yields += 1);
    }

    fn with_account(&self, index: u32, f: impl FnOnce(&mut TaskStats)) -> Option<()> {
        self.extras.borrow_mut().get_mut(index)?.account.as_mut().map(f)
    }

    /// What is kept of a task's extras when it has ended: the account, until nobody can ask any more.
    pub(super) fn keep_account(&self, index: u32, slot: &Slot, extras: Option<&Extras>) {
        if let Some(account) = extras.and_then(|extras| extras.account) {
            slot.set(EXTRAS);
            self.extras
                .borrow_mut()
                .insert(index, Box::new(Extras { account: Some(account), ..Extras::default() }));
        }
    }

    pub(crate) fn task_stats(&self, id: TaskId) -> Option<TaskStats> {
        let (index, slot) = self.find(id)?;
        if slot.is(EXTRAS) { self.extras.borrow().get(index)?.account } else { None }
    }
}
