//! Whose turn it is: the scheduler's rules over tasks that are numbers.
//!
//! The lists, their order, and the choice among them are [`colibri_core::policy`], which the scheduler for Rust asks as well; what is
//! here is what the scheduler does around them, for tasks that neither wait nor wake: turns are charged for what they took, debts are
//! paid, who waits too long rises, and a slice ends. `tests/same_decisions.rs` runs both on generated loads, and their decisions must
//! be the same.
//!
//! Times are in µs, in words that wrap after 71 minutes; the first argument of each call is what the clock shows.

use core::cell::Cell;
use core::fmt;

use colibri_core::policy::{Kind, Link, Lists, State, Tasks};

/// How long a task may run before an equal gets its turn, in µs.
pub const QUANTUM_MICROS: u32 = 2_000;

/// How long a task may be ready without running before it rises one class, in µs.
pub const UPGRADE_AFTER_MICROS: u32 = 500_000;

/// A stretch between two looks that is longer than this, 1 s, or that leads back, is a clock that jumped: a suspended machine, a
/// corrected time.
const LONGEST_CREDIBLE_MICROS: u32 = 1_000_000;

/// Looks in a row that must find the clock standing before its next step says how long a look takes: a long step of a task alone
/// makes a long step of the clock, too.
const LOOKS_THAT_SEE_IT_STAND: u32 = 8;

/// In the place of a class: the task leaves its list, and what it used of its turn is forgotten.
pub const FORGOTTEN: u32 = 3;
/// In the place of a class: the task leaves its list, and what it overdrew is kept.
pub const KEPT: u32 = 4;

/// Nothing blocks a task whose step is over: it is ready again.
pub const UNBLOCKED: u32 = 0;

/// No task's number: nothing is ready.
pub const NOBODY: u32 = 0;
/// What [`next`](Turns::next) says when the slice is over. Something may be ready.
pub const OVER: u32 = u32::MAX;

struct Links<const N: usize>([Link; N]);

impl<const N: usize> Tasks for Links<N> {
    type Task = Link;

    #[inline(always)]
    fn at(&self, index: u32) -> &Link {
        &self.0[index as usize % N]
    }
}

/// The counts of a class: tasks that are ready.
pub const READY: usize = 0;
/// The counts of a class: steps of its tasks.
pub const STEPS: usize = 1;
/// The counts of a class: the longest wait of one for its step, since it became ready or rose, in µs.
pub const LONGEST_WAIT: usize = 2;

/// Time between the steps of a clock, estimated from looks at the rate of the step before; the next step corrects it.
///
/// It is what the core's own does, in a third of its bytes: it estimates between short steps, too, believes the first long one, and
/// does not stop at the length of a step. All three err on the side of giving way.
struct CoarseClock {
    /// Looks since the last step.
    looks: Cell<u32>,
    /// How long a look takes, in µs; 0 while the clock is fine.
    look_takes: Cell<u32>,
    /// What was estimated since the last step.
    ahead: Cell<u32>,
}

impl CoarseClock {
    const fn new() -> Self {
        CoarseClock { looks: Cell::new(0), look_takes: Cell::new(0), ahead: Cell::new(0) }
    }

    /// The clock has moved on by `step`, which may be nothing: by how much time has.
    fn look(&self, step: u32) -> u32 {
        let looks = self.looks.get().wrapping_add(1);
        if step == 0 {
            self.looks.set(looks);
            let takes = self.look_takes.get();
            self.ahead.set(self.ahead.get().wrapping_add(takes));
            return takes;
        }
        self.looks.set(0);
        self.look_takes.set(if looks > LOOKS_THAT_SEE_IT_STAND { step / looks } else { 0 });
        step.saturating_sub(self.ahead.replace(0))
    }
}

/// Decides who runs next, among tasks whose numbers are from 1 to `N - 1`.
///
/// The host calls [`next`](Turns::next) until it names nobody, and has each task that it names make a step: that is a slice.
#[repr(C)] // The table comes last: what lies before it is near the beginning of the memory, where addresses are short.
pub struct Turns<const N: usize> {
    /// Three of each class, and a spare one: a class is found by a shift.
    counts: [Cell<u32>; 16],
    /// What the clock showed last, and the time, which never goes back.
    reading: Cell<u32>,
    now: Cell<u32>,
    coarse: CoarseClock,
    /// What is left of the slice.
    left: Cell<i32>,
    running: Cell<u32>,
    /// The class that the running task runs in, above its own if it rose.
    level: Cell<u32>,
    lists: Lists<NOBODY>,
    links: Links<N>,
}

impl<const N: usize> Turns<N> {
    /// Nobody is there.
    #[must_use]
    pub const fn new() -> Self {
        Turns {
            counts: [const { Cell::new(0) }; 16],
            reading: Cell::new(0),
            now: Cell::new(0),
            coarse: CoarseClock::new(),
            left: Cell::new(0),
            running: Cell::new(NOBODY),
            level: Cell::new(0),
            lists: Lists::new(),
            links: Links([const { Link::new() }; N]),
        }
    }

    /// What passed is charged to the running task and to the slice. A stretch that nobody can believe counts as a quantum, and ends
    /// the slice: after a night in a closed laptop nobody has waited for a night.
    fn look(&self, reading: u32) {
        let mut passed = reading.wrapping_sub(self.reading.replace(reading));
        if passed > LONGEST_CREDIBLE_MICROS {
            passed = QUANTUM_MICROS;
            self.left.set(0);
        }
        let passed = self.coarse.look(passed);
        self.now.set(self.now.get().wrapping_add(passed));
        self.left.set(self.left.get().wrapping_sub(passed as i32));
        let running = self.running.get();
        if running != NOBODY {
            let used = &self.links.at(running).used;
            used.set(used.get() + passed);
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_over() || self.lists.any_above(self.level.get())
    }

    fn is_over(&self) -> bool {
        self.left.get() <= 0
    }

    /// One of the counts, by four times the class and what is counted: [`READY`], [`STEPS`], [`LONGEST_WAIT`].
    pub fn count(&self, place: u32) -> u32 {
        self.counts[place as usize % 16].get()
    }

    /// Puts a task into a class, 0 to 2, and to its tail, wherever it is; or out of the lists, by [`FORGOTTEN`] or [`KEPT`]. Of the
    /// running task it only notes the class: its step goes on.
    pub fn put(&self, reading: u32, task: u32, class: u32) {
        self.look(reading);
        let link = self.links.at(task);
        if link.state.replace(State::Idle) == State::Ready {
            self.lists.take_out(&self.links, task);
            self.add(link, READY, u32::MAX);
        }
        if class < FORGOTTEN {
            link.flags.set(class as u8);
            if task != self.running.get() {
                self.enqueue(task, link);
            } else {
                self.level.set(class);
            }
        } else if class == FORGOTTEN {
            link.used.set(0);
        }
    }

    fn enqueue(&self, task: u32, link: &Link) {
        self.stamp(link);
        self.lists.push_back(&self.links, task, link.flags.get().into(), Kind::Ready);
    }

    fn count_of(&self, link: &Link, what: usize) -> &Cell<u32> {
        &self.counts[link.flags.get() as usize % 4 * 4 + what]
    }

    fn add(&self, link: &Link, what: usize, more: u32) {
        let count = self.count_of(link, what);
        count.set(count.get().wrapping_add(more));
    }

    fn stamp(&self, link: &Link) {
        self.add(link, READY, 1);
        link.since.set(self.now.get());
        link.state.set(State::Ready);
    }

    /// Whether the running task must give way: its quantum is used up, the slice is over, or a higher class is ready. Outside of a
    /// slice, too: then it is over.
    pub fn check(&self, reading: u32) -> bool {
        self.look(reading);
        let running = self.running.get();
        running != NOBODY && self.links.at(running).used.get() >= QUANTUM_MICROS || self.is_stopped()
    }

    /// Ends the step of the running task, if there is one, and picks who is next; or says [`NOBODY`] or [`OVER`], which end the slice.
    /// `length` is the slice's, or 0 to end it; `blocked` says whether the task that ran is ready again ([`UNBLOCKED`]).
    pub fn next(&self, reading: u32, length: u32, blocked: u32) -> u32 {
        self.look(reading);
        let before = self.running.replace(NOBODY);
        if before == NOBODY {
            self.left.set(length as i32);
        } else {
            self.settle(before, blocked);
        }
        // The lists of the two lower classes.
        for place in 4..12 {
            self.promote(place);
        }
        while length != 0 && !self.is_over() {
            let Some((task, level)) = self.lists.pop(&self.links) else { return NOBODY };
            let link = self.links.at(task);
            let guest = level != u32::from(link.flags.get());
            let used = link.used.get();
            if used >= QUANTUM_MICROS && !guest {
                // The turn goes to paying off what was overdrawn, unless nobody else would have it.
                if self.lists.any_at(level) {
                    link.used.set(used - QUANTUM_MICROS);
                    self.lists.push_back(&self.links, task, level, Kind::Ready);
                    continue;
                }
                link.used.set(0);
            }
            self.lists.note_run(guest);
            self.add(link, READY, u32::MAX);
            self.add(link, STEPS, 1);
            let waited = self.now.get().wrapping_sub(link.since.get());
            let longest = self.count_of(link, LONGEST_WAIT);
            if waited > longest.get() {
                longest.set(waited);
            }
            link.state.set(State::Running);
            self.running.set(task);
            self.level.set(level);
            return task;
        }
        OVER
    }

    /// Who was stopped by the slice's end or by a higher class keeps the rest of its quantum, at the head; all others go to the tail.
    fn settle(&self, task: u32, blocked: u32) {
        let link = self.links.at(task);
        let used = link.used.get();
        if blocked == UNBLOCKED && used < QUANTUM_MICROS && self.is_stopped() {
            self.stamp(link);
            self.lists.push_front(&self.links, task, link.flags.get().into());
            return;
        }
        #[expect(clippy::implicit_saturating_sub, reason = "compiled for wasm32, that is 8 bytes longer")]
        let overdrawn = if used < QUANTUM_MICROS { 0 } else { used - QUANTUM_MICROS };
        link.used.set(overdrawn);
        if blocked == UNBLOCKED {
            self.enqueue(task, link);
        }
    }

    /// Raises the oldest of a list by one class, if it has waited too long.
    fn promote(&self, place: u32) {
        let now = self.now.get();
        if let Some((waited, task)) = self.lists.oldest(&self.links, place, now)
            && waited >= UPGRADE_AFTER_MICROS
        {
            let link = self.links.at(task);
            self.lists.take_out(&self.links, task);
            link.since.set(now);
            link.used.set(0);
            self.lists.push_back(&self.links, task, place / 4 - 1, Kind::Promoted);
        }
    }
}

impl<const N: usize> Default for Turns<N> {
    fn default() -> Self {
        Turns::new()
    }
}

impl<const N: usize> fmt::Debug for Turns<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns")
            .field("running", &self.running)
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}
