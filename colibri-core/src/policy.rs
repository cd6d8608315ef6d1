//! Who runs next: the rules of picking, apart from what a task is.
//!
//! [`Scheduler`](crate::Scheduler) keeps futures in a table and asks these lists who is next; colibri's package for JavaScript
//! keeps closures and generators, and asks the same lists. Whoever schedules something else by the same rules can, too: a task
//! here is an index, and [`Tasks`] finds the [`Link`] that the lists need of each.
//!
//! A class is a level here, and 0 the highest: `Priority::Normal as u32`, for example. The lists are linked by index through the
//! tasks, four a level, so that joining, leaving and picking are O(1), nothing is
//! allocated, and no stale entry is ever in one:
//!
//! - *front*: tasks that were stopped by the slice's end, a higher class or the host, with the rest of their quantum;
//!   the last one stopped is first.
//! - *deadline*: tasks with a deadline, in the order in which they came.
//! - *ready*: the round robin.
//! - *promoted*: tasks of lower classes that waited too long.
//!
//! A word has one bit a list, in order of class, so that a pick needs no search.
//!
//! ```
//! use colibri_core::Priority;
//! use colibri_core::policy::{Kind, Link, Lists, NIL, Tasks};
//!
//! struct Links([Link; 2]);
//!
//! impl Tasks for Links {
//!     type Task = Link;
//!     fn at(&self, index: u32) -> &Link {
//!         &self.0[index as usize]
//!     }
//! }
//!
//! let (tasks, lists) = (Links([const { Link::new() }; 2]), Lists::<NIL>::new());
//! lists.push_back(&tasks, 0, Priority::Idle as u32, Kind::Ready);
//! lists.push_back(&tasks, 1, Priority::Immediate as u32, Kind::Ready);
//! assert_eq!(lists.pop(&tasks), Some((1, 0)));
//! assert_eq!(lists.pop(&tasks), Some((0, 2)));
//! assert_eq!(lists.pop(&tasks), None);
//! ```

use core::cell::Cell;
use core::fmt;

use crate::priority::Priority;

/// No index: the end of a list, if nothing else is said.
pub const NIL: u32 = u32::MAX;

/// Which of its class's lists a task is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Stopped through no fault of its own, with the rest of its quantum.
    Front = 0,
    /// With a deadline.
    Deadline = 1,
    /// The round robin.
    Ready = 2,
    /// From a lower class, since it waited too long.
    Promoted = 3,
}

impl Kind {
    /// In the order in which equal waits are looked at: the last one is taken.
    const ALL: [Kind; 4] = [Kind::Front, Kind::Deadline, Kind::Promoted, Kind::Ready];
}

const KINDS: u32 = 4;

/// One for each class.
const LEVELS: u32 = 3;

/// The lists of all levels but the promoted ones.
pub(crate) const OWN: u32 = 0b0111_0111_0111_0111;

/// Where a task is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nobody's place.
    Vacant,
    /// It waits for something, or hovers.
    Idle,
    /// It is in a list.
    Ready,
    /// It was picked.
    Running,
    /// It has ended.
    Done,
}

/// What is known of a task, besides what it consists of: 20 bytes.
#[derive(Debug)]
pub struct Link {
    /// The neighbours in its list. The head's `previous` is stale by design: a pick then need not touch the task behind it.
    pub next: Cell<u32>,
    /// See [`next`](Link::next).
    pub previous: Cell<u32>,
    /// When it became ready or was promoted last, in µs that wrap.
    pub since: Cell<u32>,
    /// What it used of the present turn, with what was overdrawn in turns before, in the owner's unit.
    pub used: Cell<u32>,
    /// Its own class.
    pub class: Cell<Priority>,
    /// The list it is in, while it is ready.
    pub place: Cell<u8>,
    /// The owner's to set; the lists do not look at it.
    pub state: Cell<State>,
    /// The owner's.
    pub flags: Cell<u8>,
}

impl Link {
    /// A task that is in no list. All zero, so that a table of them in a program takes no room in its file.
    #[must_use]
    pub const fn new() -> Self {
        Link {
            next: Cell::new(0),
            previous: Cell::new(0),
            since: Cell::new(0),
            used: Cell::new(0),
            class: Cell::new(Priority::Immediate),
            place: Cell::new(0),
            state: Cell::new(State::Vacant),
            flags: Cell::new(0),
        }
    }
}

impl Default for Link {
    fn default() -> Self {
        Link::new()
    }
}

/// So that a task may consist of its link alone.
impl AsRef<Link> for Link {
    fn as_ref(&self) -> &Link {
        self
    }
}

/// Where the lists find a task.
pub trait Tasks {
    /// What the owner keeps of a task.
    type Task: AsRef<Link>;

    /// The task of this index, which was put into a list.
    fn at(&self, index: u32) -> &Self::Task;
}

struct List {
    head: Cell<u32>,
    tail: Cell<u32>,
}

/// The ready lists of all levels. They hold indices, of which `NONE` stands for no task; each call is
/// handed where the tasks are.
pub struct Lists<const NONE: u32 = NIL> {
    lists: [List; 16],
    /// One bit a list that is not empty.
    occupied: Cell<u32>,
    /// The last task that ran was a promoted one.
    promoted_last: Cell<bool>,
}

#[inline(always)]
fn place(level: u32, kind: Kind) -> u32 {
    level * KINDS + kind as u32
}

/// The level whose lists `place` is one of.
#[inline(always)]
pub(crate) fn level_of(place: u32) -> u32 {
    place / KINDS
}

/// Whether the list at `place` is of this kind.
#[inline(always)]
pub(crate) fn is_kind(place: u32, kind: Kind) -> bool {
    place % KINDS == kind as u32
}

impl<const NONE: u32> Lists<NONE> {
    /// Empty lists.
    #[must_use]
    pub const fn new() -> Self {
        Lists {
            lists: [const { List { head: Cell::new(NONE), tail: Cell::new(NONE) } }; 16],
            occupied: Cell::new(0),
            promoted_last: Cell::new(false),
        }
    }

    #[inline(always)]
    fn list(&self, place: u32) -> &List {
        &self.lists[place as usize & 15]
    }

    /// One bit a list that is not empty.
    #[inline(always)]
    pub(crate) fn occupied(&self) -> u32 {
        self.occupied.get()
    }

    /// The first of the list at `place`, which is not empty.
    pub(crate) fn first(&self, place: u32) -> u32 {
        self.list(place).head.get()
    }

    /// Whether no task is ready.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.occupied.get() == 0
    }

    /// Whether a task of a level above `level` is ready. Promoted ones do not count: they wait for the end of a turn.
    #[inline(always)]
    pub fn any_above(&self, level: u32) -> bool {
        self.occupied.get() & OWN & ((1 << (level * KINDS)) - 1) != 0
    }

    /// Whether anything is ready at `level`.
    #[inline(always)]
    pub fn any_at(&self, level: u32) -> bool {
        self.occupied.get() >> (level * KINDS) & 0b1111 != 0
    }

    /// Whether tasks with a deadline are ready at `level`, before others.
    pub(crate) fn any_with_deadline(&self, level: u32) -> bool {
        self.occupied.get() >> place(level, Kind::Deadline) & 1 != 0
    }

    /// Puts a task that is in no list at the tail of one.
    pub fn push_back<T: Tasks>(&self, tasks: &T, index: u32, level: u32, kind: Kind) {
        self.join_tail(tasks, index, tasks.at(index).as_ref(), level, kind);
    }

    #[inline(always)]
    pub(crate) fn join_tail<T: Tasks>(&self, tasks: &T, index: u32, link: &Link, level: u32, kind: Kind) {
        let place = place(level, kind);
        let list = self.list(place);
        let tail = list.tail.replace(index);
        link.place.set(place as u8);
        link.next.set(NONE);
        link.previous.set(tail);
        if tail == NONE {
            list.head.set(index);
            self.occupied.set(self.occupied.get() | 1 << place);
        } else {
            tasks.at(tail).as_ref().next.set(index);
        }
    }

    /// Puts a task that is in no list at the head of its level, with the rest of its quantum: it was stopped through no fault of
    /// its own.
    pub fn push_front<T: Tasks>(&self, tasks: &T, index: u32, level: u32) {
        let link = tasks.at(index).as_ref();
        let place = place(level, Kind::Front);
        let list = self.list(place);
        let head = list.head.replace(index);
        link.place.set(place as u8);
        link.next.set(head);
        link.previous.set(NONE);
        if head == NONE {
            list.tail.set(index);
            self.occupied.set(self.occupied.get() | 1 << place);
        } else {
            tasks.at(head).as_ref().previous.set(index);
        }
    }

    /// Takes a ready task out of its list, wherever it stands there.
    pub fn take_out<T: Tasks>(&self, tasks: &T, index: u32) {
        let link = tasks.at(index).as_ref();
        let place = u32::from(link.place.get());
        let list = self.list(place);
        if list.head.get() == index {
            // Its `previous` is stale by design.
            self.pop_first(tasks, place);
            return;
        }
        let (next, previous) = (link.next.get(), link.previous.get());
        tasks.at(previous).as_ref().next.set(next);
        if next == NONE {
            list.tail.set(previous);
        } else {
            tasks.at(next).as_ref().previous.set(previous);
        }
    }

    /// Takes out who runs next: its index and the level it runs at, which is above its own if it was promoted. Whoever has
    /// it run says so with [`note_run`](Lists::note_run).
    pub fn pop<T: Tasks>(&self, tasks: &T) -> Option<(u32, u32)> {
        let occupied = self.occupied.get();
        if occupied == 0 {
            return None;
        }
        let chosen = self.choose(tasks, occupied);
        Some((self.pop_first(tasks, chosen).0, level_of(chosen)))
    }

    /// Takes out the first of a list.
    #[inline(always)]
    pub(crate) fn pop_first<'t, T: Tasks>(&self, tasks: &'t T, chosen: u32) -> (u32, &'t T::Task) {
        let list = self.list(chosen);
        let index = list.head.get();
        let task = tasks.at(index);
        let next = task.as_ref().next.get();
        list.head.set(next);
        if next == NONE {
            list.tail.set(NONE);
            self.occupied.set(self.occupied.get() & !(1 << chosen));
        }
        (index, task)
    }

    /// Which list is next. Promoted tasks take their turn by the time they came to their level, but never two picks in a row
    /// while others are ready: a storm of promotions leaves the levels' own tasks at least every second pick.
    pub(crate) fn choose<T: Tasks>(&self, tasks: &T, occupied: u32) -> u32 {
        if self.promoted_last.get() && occupied & OWN != 0 {
            return (occupied & OWN).trailing_zeros();
        }
        let first = occupied.trailing_zeros();
        let promoted = first | Kind::Promoted as u32;
        // Who was stopped in its turn goes on.
        if first == promoted || occupied >> promoted & 1 == 0 || is_kind(first, Kind::Front) {
            return first;
        }
        let came = tasks.at(self.first(promoted)).as_ref().since.get();
        let own_came = tasks.at(self.first(first)).as_ref().since.get();
        // Earlier, in time that wraps.
        let promoted_first = own_came.wrapping_sub(came) < 1 << 31 && own_came != came;
        if promoted_first { promoted } else { first }
    }

    /// Notes that a task runs, and whether it does so by promotion. A task that is only passed over is none.
    #[inline(always)]
    pub fn note_run(&self, promoted: bool) {
        self.promoted_last.set(promoted);
    }

    /// Moves on the stamps of tasks that became ready since the last look, at `before`: during a long stretch without a
    /// look nobody knows when. They are the last of their lists. Those that `keeps` says it of keep theirs.
    #[cold]
    pub(crate) fn restamp<T: Tasks>(
        &self,
        tasks: &T,
        keeps: impl Fn(&T::Task) -> bool,
        before: u32,
        now: u32,
    ) {
        for level in 0..LEVELS {
            let list = self.list(place(level, Kind::Ready));
            let (head, mut index) = (list.head.get(), list.tail.get());
            while index != NONE {
                let task = tasks.at(index);
                let link = task.as_ref();
                if keeps(task) || link.since.get() != before {
                    break;
                }
                // A µs before the look: the next one must not take it for a task that came after this one.
                link.since.set(now.wrapping_sub(1));
                index = if index == head { NONE } else { link.previous.get() };
            }
        }
    }

    /// The task of `level` that has been ready longest, as far as lists are in order of that: for how many µs, and who.
    pub(crate) fn longest_waiting<T: Tasks>(
        &self,
        tasks: &T,
        level: u32,
        now_micros: u32,
    ) -> Option<(u32, u32)> {
        // Above the highest level there is nothing; but there who waits behind an earlier deadline can wait too long.
        let kinds: &[Kind] = if level == 0 { &[Kind::Deadline, Kind::Ready] } else { &Kind::ALL };
        let oldest = kinds.iter().filter_map(|&kind| self.oldest(tasks, place(level, kind), now_micros));
        oldest.max_by_key(|&(waited, _)| waited)
    }

    /// The task that has been ready longest of those in one list, by the list's number: four times the level, and the kind. For
    /// how many µs, and who.
    pub fn oldest<T: Tasks>(&self, tasks: &T, place: u32, now_micros: u32) -> Option<(u32, u32)> {
        let list = self.list(place);
        // The front list is newest first, the others oldest first.
        let oldest = if is_kind(place, Kind::Front) { &list.tail } else { &list.head }.get();
        if oldest == NONE {
            return None;
        }
        Some((now_micros.wrapping_sub(tasks.at(oldest).as_ref().since.get()), oldest))
    }
}

impl<const NONE: u32> Default for Lists<NONE> {
    fn default() -> Self {
        Lists::new()
    }
}

impl<const NONE: u32> fmt::Debug for Lists<NONE> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let any = [0, 1, 2].map(|level| self.any_at(level));
        f.debug_struct("Lists").field("any_ready", &any).finish_non_exhaustive()
    }
}
