//! The ready lists of a scheduler: those of [`policy`](crate::policy), with an order of deadlines and a draw among equals beside
//! them.

use alloc::collections::BTreeMap;
use core::cell::{Cell, RefCell};

pub(crate) use crate::policy::Kind;
use crate::policy::{self, Lists, NIL, OWN, State};
use crate::priority::Priority;
use crate::slot::{STRAGGLER, Slot};
use crate::table::Table;

/// The deadline lists of all levels.
const DEADLINES: u32 = 0b0010_0010_0010_0010;

/// Among how many of a list's first entries the shuffle mode draws. It walks to the one that is drawn: 64 are more equals than a
/// test has as a rule, and still a walk of less than a µs.
const SHUFFLE_DEPTH: usize = 64;

impl policy::Tasks for Table<Slot> {
    type Task = Slot;

    #[inline(always)]
    fn at(&self, index: u32) -> &Slot {
        Table::at(self, index)
    }
}

pub(crate) struct ReadyLists {
    lists: Lists,
    /// Tasks ready at each level.
    lengths: [Cell<u32>; 3],
    /// Tasks of the deadline lists, the earliest first. Only who uses deadlines pays for it.
    deadlines: RefCell<BTreeMap<(Priority, Deadline), u32>>,
    /// The lists that are not simply served first in, first out, each in its turn: where one of them is occupied, a pick takes
    /// the long way.
    special: u32,
    /// Draws among equals instead of taking the first: the shuffle test mode.
    shuffle: Cell<Option<u64>>,
}

/// A deadline in nanoseconds, and a number that keeps equal ones in the order of their coming.
pub(crate) type Deadline = (u64, u64);

pub(crate) fn level_of(place: u8) -> Priority {
    Priority::at(policy::level_of(u32::from(place)))
}

/// Whether a list holds promoted tasks.
pub(crate) fn is_promoted(place: u8) -> bool {
    policy::is_kind(u32::from(place), Kind::Promoted)
}

impl ReadyLists {
    pub(crate) fn new(shuffle: Option<u64>) -> Self {
        ReadyLists {
            lists: Lists::new(),
            lengths: Default::default(),
            deadlines: RefCell::default(),
            special: if shuffle.is_some() { u32::MAX } else { !OWN | DEADLINES },
            shuffle: Cell::new(shuffle),
        }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// One more is ready at `level`, or, by `u32::MAX`, one less.
    #[inline(always)]
    fn count(&self, level: Priority, more: u32) {
        let length = &self.lengths[level as usize];
        length.set(length.get().wrapping_add(more));
    }

    /// See [`Lists::any_above`].
    #[inline(always)]
    pub(crate) fn any_above(&self, level: Priority) -> bool {
        self.lists.any_above(level as u32)
    }

    /// Whether anything is ready at `level`.
    #[inline(always)]
    pub(crate) fn any_at(&self, level: Priority) -> bool {
        self.lists.any_at(level as u32)
    }

    /// Whether tasks with a deadline are ready at `level`, before others.
    pub(crate) fn any_with_deadline(&self, level: Priority) -> bool {
        self.lists.any_with_deadline(level as u32)
    }

    /// Tasks ready at `level`.
    pub(crate) fn length(&self, level: Priority) -> usize {
        self.lengths[level as usize].get() as usize
    }

    #[inline(always)]
    pub(crate) fn push_back(
        &self,
        slots: &Table<Slot>,
        index: u32,
        slot: &Slot,
        level: Priority,
        kind: Kind,
    ) {
        slot.state.set(State::Ready);
        self.count(level, 1);
        self.lists.join_tail(slots, index, slot, level as u32, kind);
    }

    /// To the head, with the rest of its quantum: it was stopped through no fault of its own.
    pub(crate) fn push_front(&self, slots: &Table<Slot>, index: u32, slot: &Slot) {
        slot.state.set(State::Ready);
        self.count(slot.class.get(), 1);
        self.lists.push_front(slots, index, slot.class.get() as u32);
    }

    /// Into the order of deadlines of its class.
    pub(crate) fn push_deadline(&self, slots: &Table<Slot>, index: u32, slot: &Slot, deadline: Deadline) {
        let level = slot.class.get();
        self.push_back(slots, index, slot, level, Kind::Deadline);
        self.deadlines.borrow_mut().insert((level, deadline), index);
    }

    /// Takes a ready task out of its list, wherever it stands there. `deadline` is asked for if it is in the order of
    /// deadlines.
    pub(crate) fn unlink(
        &self,
        slots: &Table<Slot>,
        index: u32,
        slot: &Slot,
        deadline: impl FnOnce() -> Deadline,
    ) {
        let place = slot.place.get();
        if policy::is_kind(u32::from(place), Kind::Deadline) {
            self.deadlines.borrow_mut().remove(&(level_of(place), deadline()));
        }
        self.take_out(slots, index, slot);
    }

    fn take_out(&self, slots: &Table<Slot>, index: u32, slot: &Slot) {
        self.count(level_of(slot.place.get()), u32::MAX);
        self.lists.take_out(slots, index);
        slot.state.set(State::Idle);
    }

    /// Takes out who runs next: its index, its slot and the level it runs at.
    #[inline(always)]
    pub(crate) fn pop<'t>(&self, slots: &'t Table<Slot>) -> Option<(u32, &'t Slot, Priority)> {
        let occupied = self.lists.occupied();
        if occupied == 0 {
            return None;
        }
        if occupied & self.special != 0 {
            return self.pop_specially(slots, occupied);
        }
        let (index, slot) = self.lists.pop_first(slots, occupied.trailing_zeros());
        // None is promoted: all are at their own class's level, which is at hand.
        let level = slot.class.get();
        self.count(level, u32::MAX);
        Some((index, slot, level))
    }

    /// The same where tasks are promoted, have deadlines, or are drawn.
    #[cold]
    fn pop_specially<'t>(&self, slots: &'t Table<Slot>, occupied: u32) -> Option<(u32, &'t Slot, Priority)> {
        let chosen = self.lists.choose(slots, occupied);
        if 1 << chosen & DEADLINES != 0 || self.shuffle.get().is_some() {
            return self.pop_chosen(slots, chosen);
        }
        let (index, slot) = self.lists.pop_first(slots, chosen);
        let level = level_of(chosen as u8);
        self.count(level, u32::MAX);
        Some((index, slot, level))
    }

    /// Takes one out of a list that is not simply first in, first out.
    fn pop_chosen<'t>(&self, slots: &'t Table<Slot>, chosen: u32) -> Option<(u32, &'t Slot, Priority)> {
        let level = level_of(chosen as u8);
        let index = if policy::is_kind(chosen, Kind::Deadline) {
            let mut deadlines = self.deadlines.borrow_mut();
            let (&key, &index) = deadlines.range((level, (0, 0))..).next()?;
            deadlines.remove(&key);
            index
        } else {
            self.draw(slots, chosen)
        };
        let slot = slots.at(index);
        self.take_out(slots, index, slot);
        Some((index, slot, level))
    }

    /// Any of a list's first entries. A test mode: it walks.
    fn draw(&self, slots: &Table<Slot>, chosen: u32) -> u32 {
        let head = self.lists.first(chosen);
        let Some(mut state) = self.shuffle.get() else { return head };
        let next = |&index: &u32| Some(slots.at(index).next.get()).filter(|&next| next != NIL);
        let entries = || core::iter::successors(Some(head), next).take(SHUFFLE_DEPTH);
        // xorshift64*, seeded above zero.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.shuffle.set(Some(state));
        let drawn = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        let place = drawn % entries().count() as u64;
        entries().nth(place as usize).unwrap_or(head)
    }

    /// See [`Lists::note_run`].
    #[inline(always)]
    pub(crate) fn note_run(&self, promoted: bool) {
        self.lists.note_run(promoted);
    }

    /// See [`Lists::restamp`].
    pub(crate) fn restamp(&self, slots: &Table<Slot>, before: u32, now: u32) {
        self.lists.restamp(slots, |slot| slot.is(STRAGGLER), before, now);
    }

    /// See [`Lists::longest_waiting`].
    pub(crate) fn longest_waiting(
        &self,
        slots: &Table<Slot>,
        level: Priority,
        now_micros: u32,
    ) -> Option<(u32, u32)> {
        self.lists.longest_waiting(slots, level as u32, now_micros)
    }
}
