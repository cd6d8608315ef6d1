//! What the scheduler shows a stall detector, if there is one.

use super::Engine;
#[cfg(feature = "std")]
use super::id_of;
#[cfg(feature = "std")]
use crate::priority::Priority;
use crate::rt::Site;
#[cfg(feature = "std")]
use crate::slot::HIDDEN;
use crate::slot::Slot;
#[cfg(feature = "std")]
use crate::task::TaskId;

#[cfg(feature = "std")]
impl Engine {
    /// From now on it is watched.
    pub(crate) fn set_watch(&self, watch: alloc::sync::Arc<crate::stall::Watch>) {
        // Once, by the builder.
        let _ = self.watch.set(watch);
    }

    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.get().is_some()
    }

    #[inline(never)]
    pub(super) fn show_poll(&self, index: u32, slot: &Slot) {
        if let Some(watch) = self.watch.get() {
            let id = id_of(index, slot);
            let name = if slot.is(HIDDEN) { Some("block_on".into()) } else { self.name(id) };
            watch.began(id, name);
        }
    }

    #[inline(never)]
    pub(crate) fn show_check(&self, site: Option<&'static Site>) {
        if let Some(watch) = self.watch.get() {
            watch.passed(site);
        }
    }

    #[inline(never)]
    pub(super) fn hide_poll(&self) {
        if let Some(watch) = self.watch.get() {
            watch.ended();
        }
    }

    pub(super) fn end_watch(&self) {
        if let Some(watch) = self.watch.get() {
            watch.close();
        }
    }

    /// Whether it stands in the lists for the future of a `block_on`.
    pub(crate) fn is_stand_in(&self, id: TaskId) -> bool {
        self.find(id).is_some_and(|(_, slot)| slot.is(HIDDEN))
    }

    /// A task that holds the thread falls one class.
    pub(crate) fn demote(&self, id: TaskId) {
        let Some((index, slot)) = self.find(id) else { return };
        let lower = match self.own_class(index, slot) {
            Priority::Immediate => Priority::Normal,
            Priority::Normal | Priority::Idle => Priority::Idle,
        };
        self.set_priority(id, lower);
    }
}

/// Without threads nobody can watch.
#[cfg(not(feature = "std"))]
impl Engine {
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        false
    }

    pub(super) fn show_poll(&self, _: u32, _: &Slot) {}

    pub(crate) fn show_check(&self, _: Option<&'static Site>) {}

    pub(super) fn hide_poll(&self) {}

    pub(super) fn end_watch(&self) {}
}
