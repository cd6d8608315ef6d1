//! The ready lists: who runs next.
//!
//! Four lists a level, linked by index through the slots, so that joining, leaving and picking are O(1) and no stale
//! entry is ever in one:
//!
//! - *front*: tasks that were stopped by the slice's end, a higher class or the host, with the rest of their quantum;
//!   the last one stopped is first.
//! - *deadline*: tasks with a deadline, in the order in which they came; a tree beside the list says which is due first.
//! - *ready*: the round robin.
//! - *promoted*: tasks of lower classes that waited too long.
//!
//! A word has one bit a list, in order of level, so that a pick needs no search.

use alloc::collections::BTreeMap;
use core::cell::{Cell, RefCell};

use crate::priority::Priority;
use crate::slot::{NIL, STRAGGLER, Slot, State};
use crate::table::Table;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Front = 0,
    Deadline = 1,
    Ready = 2,
    Promoted = 3,
}

const KINDS: usize = 4;

/// The lists of all levels but the promoted ones.
const OWN: u16 = !(0b1000_1000_1000_1000);

/// The deadline lists of all levels.
const DEADLINES: u16 = 0b0010_0010_0010_0010;

/// Among how many of a list's first entries the shuffle mode draws.
const SHUFFLE_DEPTH: u32 = 64;

struct List {
    head: Cell<u32>,
    tail: Cell<u32>,
    length: Cell<u32>,
}

pub(crate) struct ReadyLists {
    lists: [List; 16],
    /// One bit a list that is not empty.
    occupied: Cell<u16>,
    /// The last task that ran was a promoted one.
    promoted_last: Cell<bool>,
    /// Tasks of the deadline lists, the earliest first. Only who uses deadlines pays for it.
    deadlines: RefCell<BTreeMap<(Priority, Deadline), u32>>,
    /// The lists that are not simply served first in, first out, each in its turn: where one of them is occupied, a pick takes
    /// the long way.
    special: u16,
    /// Draws among equals instead of taking the first: the shuffle test mode.
    shuffle: Cell<Option<u64>>,
}

/// A deadline in nanoseconds, and a number that keeps equal ones in the order of their coming.
pub(crate) type Deadline = (u64, u64);

fn place(level: Priority, kind: Kind) -> u8 {
    (level as usize * KINDS + kind as usize) as u8
}

pub(crate) fn level_of(place: u8) -> Priority {
    Priority::at(u32::from(place) / KINDS as u32)
}

/// Whether a list holds promoted tasks.
pub(crate) fn is_promoted(place: u8) -> bool {
    u32::from(place) % KINDS as u32 == Kind::Promoted as u32
}

impl ReadyLists {
    pub(crate) fn new(shuffle: Option<u64>) -> Self {
        ReadyLists {
            lists: core::array::from_fn(|_| List {
                head: Cell::new(NIL),
                tail: Cell::new(NIL),
                length: Cell::new(0),
            }),
            occupied: Cell::new(0),
            promoted_last: Cell::new(false),
            deadlines: RefCell::default(),
            special: if shuffle.is_some() { u16::MAX } else { !OWN | DEADLINES },
            shuffle: Cell::new(shuffle),
        }
    }

    #[inline(always)]
    fn list(&self, place: u8) -> &List {
        &self.lists[place as usize & 15]
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.occupied.get() == 0
    }

    /// Whether a task of a class above `level` is ready. Promoted ones do not count: they wait for the end of a turn.
    #[inline(always)]
    pub(crate) fn any_above(&self, level: Priority) -> bool {
        self.occupied.get() & OWN & ((1 << (level as usize * KINDS)) - 1) != 0
    }

    /// Whether anything is ready at `level`.
    #[inline(always)]
    pub(crate) fn any_at(&self, level: Priority) -> bool {
        self.occupied.get() >> (level as usize * KINDS) & 0b1111 != 0
    }

    /// Whether tasks with a deadline are ready at `level`, before others.
    pub(crate) fn any_with_deadline(&self, level: Priority) -> bool {
        self.occupied.get() >> place(level, Kind::Deadline) & 1 != 0
    }

    /// Tasks ready at `level`.
    pub(crate) fn length(&self, level: Priority) -> usize {
        let first = level as usize * KINDS;
        self.lists[first..first + KINDS].iter().map(|list| list.length.get() as usize).sum()
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
        let place = place(level, kind);
        let list = self.list(place);
        let tail = list.tail.replace(index);
        slot.state.set(State::Ready);
        slot.place.set(place);
        slot.next.set(NIL);
        slot.previous.set(tail);
        list.length.set(list.length.get() + 1);
        if tail == NIL {
            list.head.set(index);
            self.occupied.set(self.occupied.get() | 1 << place);
        } else {
            slots.at(tail).next.set(index);
        }
    }

    /// To the head, with the rest of its quantum: it was stopped through no fault of its own.
    pub(crate) fn push_front(&self, slots: &Table<Slot>, index: u32, slot: &Slot) {
        let place = place(slot.class.get(), Kind::Front);
        let list = self.list(place);
        let head = list.head.replace(index);
        slot.state.set(State::Ready);
        slot.place.set(place);
        slot.next.set(head);
        slot.previous.set(NIL);
        list.length.set(list.length.get() + 1);
        if head == NIL {
            list.tail.set(index);
            self.occupied.set(self.occupied.get() | 1 << place);
        } else {
            slots.at(head).previous.set(index);
        }
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
        if u32::from(place) % KINDS as u32 == Kind::Deadline as u32 {
            self.deadlines.borrow_mut().remove(&(level_of(place), deadline()));
        }
        self.take_out(slots, index, slot);
    }

    fn take_out(&self, slots: &Table<Slot>, index: u32, slot: &Slot) {
        let place = slot.place.get();
        let list = self.list(place);
        let next = slot.next.get();
        // The head's `previous` is stale by design: a pick then need not touch the slot behind it.
        let first = list.head.get() == index;
        let previous = if first { NIL } else { slot.previous.get() };
        if first {
            list.head.set(next);
        } else {
            slots.at(previous).next.set(next);
        }
        if next == NIL {
            list.tail.set(previous);
        } else {
            slots.at(next).previous.set(previous);
        }
        self.shrink(list, place);
        slot.state.set(State::Idle);
    }

    #[inline(always)]
    fn shrink(&self, list: &List, place: u8) {
        let length = list.length.get() - 1;
        list.length.set(length);
        if length == 0 {
            self.occupied.set(self.occupied.get() & !(1 << place));
        }
    }

    /// Takes out who runs next: its index, its slot and the level it runs at.
    #[inline(always)]
    pub(crate) fn pop<'t>(&self, slots: &'t Table<Slot>) -> Option<(u32, &'t Slot, Priority)> {
        let occupied = self.occupied.get();
        if occupied == 0 {
            return None;
        }
        if occupied & self.special != 0 {
            return self.pop_specially(slots, occupied);
        }
        let (index, slot) = self.pop_first(slots, occupied.trailing_zeros() as u8);
        // None is promoted: all are at their own class's level, which is at hand.
        Some((index, slot, slot.class.get()))
    }

    /// Takes out the first of a list.
    #[inline(always)]
    fn pop_first<'t>(&self, slots: &'t Table<Slot>, chosen: u8) -> (u32, &'t Slot) {
        let list = self.list(chosen);
        let index = list.head.get();
        let slot = slots.at(index);
        let next = slot.next.get();
        list.head.set(next);
        if next == NIL {
            list.tail.set(NIL);
        }
        self.shrink(list, chosen);
        (index, slot)
    }

    /// The same where tasks are promoted, have deadlines, or are drawn.
    #[cold]
    fn pop_specially<'t>(&self, slots: &'t Table<Slot>, occupied: u16) -> Option<(u32, &'t Slot, Priority)> {
        let chosen = if occupied & !OWN != 0 {
            self.choose_with_promoted(slots, occupied)
        } else {
            occupied.trailing_zeros() as u8
        };
        if 1 << chosen & DEADLINES != 0 || self.shuffle.get().is_some() {
            return self.pop_chosen(slots, chosen);
        }
        let (index, slot) = self.pop_first(slots, chosen);
        Some((index, slot, level_of(chosen)))
    }

    /// Takes one out of a list that is not simply first in, first out.
    fn pop_chosen<'t>(&self, slots: &'t Table<Slot>, chosen: u8) -> Option<(u32, &'t Slot, Priority)> {
        let level = level_of(chosen);
        let index = if chosen % KINDS as u8 == Kind::Deadline as u8 {
            let mut deadlines = self.deadlines.borrow_mut();
            let (&key, &index) = deadlines.range((level, (0, 0))..).next()?;
            deadlines.remove(&key);
            index
        } else {
            self.draw(slots, self.list(chosen))
        };
        let slot = slots.at(index);
        self.take_out(slots, index, slot);
        Some((index, slot, level))
    }

    /// Any of a list's first entries. A test mode: it walks.
    fn draw(&self, slots: &Table<Slot>, list: &List) -> u32 {
        let Some(mut state) = self.shuffle.get() else { return list.head.get() };
        // xorshift64*, seeded above zero.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.shuffle.set(Some(state));
        let drawn = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        let steps = drawn % u64::from(list.length.get().min(SHUFFLE_DEPTH));
        (0..steps).fold(list.head.get(), |index, _| slots.at(index).next.get())
    }

    /// Some tasks are promoted. They take their turn by the time they came to their level, but never two picks in a row
    /// while others are ready: a storm of promotions leaves the classes' own tasks at least every second pick.
    fn choose_with_promoted(&self, slots: &Table<Slot>, occupied: u16) -> u8 {
        if self.promoted_last.get() && occupied & OWN != 0 {
            return (occupied & OWN).trailing_zeros() as u8;
        }
        let first = occupied.trailing_zeros() as u8;
        let promoted = first / KINDS as u8 * KINDS as u8 + Kind::Promoted as u8;
        // Who was stopped in its turn goes on.
        if first == promoted || occupied >> promoted & 1 == 0 || first % KINDS as u8 == Kind::Front as u8 {
            return first;
        }
        let came = slots.at(self.list(promoted).head.get()).since.get();
        let own_came = slots.at(self.list(first).head.get()).since.get();
        // Earlier, in time that wraps.
        let promoted_first = own_came.wrapping_sub(came) < 1 << 31 && own_came != came;
        if promoted_first { promoted } else { first }
    }

    /// Notes that a task runs, and whether it does so by promotion. A task that is only passed over is none.
    #[inline(always)]
    pub(crate) fn note_run(&self, promoted: bool) {
        self.promoted_last.set(promoted);
    }

    /// Moves on the stamps of tasks that became ready since the last look, at `before`: during a long stretch without a
    /// look nobody knows when. They are the last of their lists.
    #[cold]
    pub(crate) fn restamp(&self, slots: &Table<Slot>, before: u32, now: u32) {
        for level in Priority::ALL {
            let list = self.list(place(level, Kind::Ready));
            let mut index = list.tail.get();
            for _ in 0..list.length.get() {
                let slot = slots.at(index);
                if !slot.is(STRAGGLER) {
                    if slot.since.get() != before {
                        break;
                    }
                    // A µs before the look: the next one must not take it for a task that came after this one.
                    slot.since.set(now.wrapping_sub(1));
                }
                index = slot.previous.get();
            }
        }
    }

    /// The task of `level` that has been ready longest, as far as lists are in order of that: how long, and who.
    pub(crate) fn longest_waiting(
        &self,
        slots: &Table<Slot>,
        level: Priority,
        now_micros: u32,
    ) -> Option<(u32, u32)> {
        if !self.any_at(level) {
            return None;
        }
        let ready = self.list(place(level, Kind::Ready)).head.get();
        let deadline = self.list(place(level, Kind::Deadline)).head.get();
        // The front list is newest first, the others oldest first.
        let oldest = [
            self.list(place(level, Kind::Front)).tail.get(),
            deadline,
            self.list(place(level, Kind::Promoted)).head.get(),
            ready,
        ];
        // Above Immediate there is nothing; but there who waits behind an earlier deadline can wait too long.
        let candidates = if level == Priority::Immediate { [NIL, deadline, NIL, ready] } else { oldest };
        candidates
            .into_iter()
            .filter(|&index| index != NIL)
            .map(|index| (now_micros.wrapping_sub(slots.at(index).since.get()), index))
            .max_by_key(|&(waited, _)| waited)
    }
}
