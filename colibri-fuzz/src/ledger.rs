//! The ledger: what must be true of each task after each event of a trace. The promises read it.
//!
//! It believes the calls that tasks and host noted (pause, cancel, moves) and takes the scheduler's own words only
//! for what nobody else can see: when something became ready, and that it was promoted.

use crate::span::nanos;
use crate::trace::{Event, HOST, Trace, What, Why};
use crate::workload::Class;

/// Where a task is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not spawned yet.
    Unborn,
    /// Sent from another thread, and not taken in yet.
    Sent,
    /// Could run. It hovers if `paused` is set beside it.
    Ready,
    /// Is being polled.
    Running,
    /// Waits for a wake.
    Waiting,
    /// Finished, panicked or cancelled.
    Ended,
}

/// What the ledger knows of one task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) state: State,
    pub(crate) paused: bool,
    /// Cancelled while it ran: this poll is its last.
    pub(crate) doomed: bool,
    /// The class it was given.
    given: Class,
    /// The class it competes in: the one it was given, or that of whoever awaits its end, if that is higher.
    pub(crate) class: Class,
    /// Its class, or a higher one if it was promoted.
    pub(crate) level: Class,
    /// Since when it could run (without a break), in nanoseconds.
    pub(crate) since: u64,
    /// The place in the trace at which it could first run.
    pub(crate) since_place: usize,
    /// What of that time the host was away.
    pub(crate) away_before: u64,
    /// How long it had waited of the host's time when it changed its class last in this wait, in nanoseconds.
    pub(crate) before_move: u64,
    /// When its present or last poll began.
    pub(crate) started: u64,
    /// Whether that poll began a turn of its own, rather than going on with one that the host or a higher class cut.
    pub(crate) fresh: bool,
    /// The next poll goes on with the turn before.
    pub(crate) keeps_turn: bool,
    /// What it used of the present turn in polls before this one, in nanoseconds.
    pub(crate) used: u64,
    /// What it has run beyond its quanta at most, in nanoseconds: that is charged to its next turns. (The scheduler
    /// forgives it when nobody else is there, which a trace does not show; hence at most.)
    pub(crate) owes: u64,
    /// Who awaits its end, and whose end it awaits.
    awaited_by: Option<u32>,
    awaits: Option<u32>,
}

impl Entry {
    /// Whether it may be picked.
    pub(crate) fn can_run(&self) -> bool {
        self.state == State::Ready && !self.paused
    }

    /// Whether it is ready, or runs, as one of this class.
    pub(crate) fn competes_in(&self, class: Class) -> bool {
        let ready = matches!(self.state, State::Ready | State::Running) && !self.paused;
        ready && self.class == class && self.is_at_home()
    }

    /// Whether it competes in its own class, not as a guest of a higher one.
    pub(crate) fn is_at_home(&self) -> bool {
        self.level == self.class
    }
}

/// The state of a whole case. [`Ledger::apply`] moves it past one event.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) tasks: Vec<Entry>,
    /// How many can run, by level, guests included.
    pub(crate) can_run: [usize; 3],
    /// How many of these are at home there.
    pub(crate) at_home: [usize; 3],
    pub(crate) running: Option<u32>,
    /// Who changed its class in the last event: such a task goes to the tail, but keeps its wait.
    pub(crate) moved: Vec<u32>,
    /// The present slice's begin and length.
    pub(crate) slice: Option<(u64, u64)>,
    /// Time outside of all slices so far.
    pub(crate) away: u64,
    /// When the last slice ended.
    last_end: u64,
    place: usize,
    /// How long each task's turn lasts.
    turns: Vec<u64>,
}

impl Ledger {
    pub(crate) fn new(trace: &Trace) -> Self {
        let quantum = nanos(trace.settings.quantum);
        let unborn = Entry {
            state: State::Unborn,
            paused: false,
            doomed: false,
            given: Class::Normal,
            class: Class::Normal,
            level: Class::Normal,
            since: 0,
            since_place: 0,
            away_before: 0,
            before_move: 0,
            started: 0,
            fresh: true,
            keeps_turn: false,
            used: 0,
            owes: 0,
            awaited_by: None,
            awaits: None,
        };
        Ledger {
            tasks: vec![unborn; trace.tasks.len()],
            can_run: [0; 3],
            at_home: [0; 3],
            running: None,
            moved: Vec::new(),
            slice: None,
            away: 0,
            last_end: 0,
            place: 0,
            turns: trace.tasks.iter().map(|facts| facts.turn(quantum)).collect(),
        }
    }

    pub(crate) fn task(&self, number: u32) -> &Entry {
        &self.tasks[number as usize]
    }

    /// How many can run at all.
    pub(crate) fn runnable(&self) -> usize {
        self.can_run.iter().sum()
    }

    /// Whether something of a class above this level can run.
    pub(crate) fn higher_can_run(&self, level: Class) -> bool {
        self.at_home[..level as usize].iter().any(|many| *many > 0)
    }

    /// Whether a guest of a level above this one can run.
    pub(crate) fn higher_guest_can_run(&self, level: Class) -> bool {
        (0..level as usize).any(|level| self.can_run[level] > self.at_home[level])
    }

    /// Time outside of slices until `now`.
    pub(crate) fn away_at(&self, now: u64) -> u64 {
        match self.slice {
            Some(_) => self.away,
            None => self.away + (now - self.last_end),
        }
    }

    /// Moves past `event`.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.place += 1;
        self.moved.clear();
        if event.task == HOST {
            return self.apply_host(event);
        }
        let Event { at, task, what } = *event;
        let before = self.tasks[task as usize];
        let mut entry = before;
        match what {
            What::Sent => entry.state = State::Sent,
            What::Spawned(class) | What::Admitted(class) => {
                entry.given = class;
                entry.class = class;
                entry.level = class;
                entry.state = State::Ready;
            }
            What::Woken if entry.state == State::Waiting => entry.state = State::Ready,
            What::Started(_) => {
                entry.fresh = !entry.keeps_turn;
                if entry.fresh {
                    entry.used = 0;
                }
                if entry.is_at_home() {
                    // It was passed over until it owed less than a turn. Guests are not.
                    entry.owes = entry.owes.min(self.turns[task as usize] - 1);
                }
                entry.started = at;
                entry.state = State::Running;
                self.running = Some(task);
            }
            What::Yielded(_) | What::Suspended | What::Finished | What::Panicked
                if entry.state == State::Running =>
            {
                self.running = None;
                entry.used += at - entry.started;
                // A guest goes home after it ran, whatever cut it short.
                let guest = !entry.is_at_home();
                entry.level = entry.class;
                entry.keeps_turn = matches!(what, What::Yielded(Why::Slice | Why::Preempted | Why::Host));
                if !entry.keeps_turn {
                    let owes = (entry.owes + entry.used).saturating_sub(self.turns[task as usize]);
                    // A guest has paid with its waiting.
                    entry.owes = if guest { 0 } else { owes };
                }
                entry.state = match what {
                    _ if entry.doomed => State::Ended,
                    What::Yielded(_) => State::Ready,
                    What::Suspended => State::Waiting,
                    _ => State::Ended,
                };
            }
            What::Refused => entry.state = State::Ended,
            What::Cancelled if entry.doomed && entry.state == State::Running => {
                entry.state = State::Ended;
                self.running = None;
            }
            What::CancelCalled if entry.state == State::Running => entry.doomed = true,
            What::CancelReturned if entry.state != State::Running => entry.state = State::Ended,
            What::Promoted(level) => {
                // It has paid with its waiting.
                (entry.level, entry.owes, entry.used) = (level, 0, 0);
                entry.keeps_turn = false;
            }
            What::Moved(class) if entry.state != State::Ended && class != entry.given => {
                // Its waiter may lift it back at once; it has been to the other class all the same, if it is not lifted.
                let goes = entry.class == entry.given;
                entry.given = class;
                self.tasks[task as usize] = entry;
                return self.settle_class(task, at, goes);
            }
            What::Joins(of) if self.tasks[of as usize].state != State::Ended => {
                self.tasks[task as usize].awaits = Some(of);
                self.tasks[of as usize].awaited_by = Some(task);
                return self.settle_class(of, at, false);
            }
            What::PauseCalled if entry.state != State::Ended => entry.paused = true,
            What::ResumeCalled if entry.paused => {
                // Its wait begins anew, at home.
                entry.paused = false;
                entry.level = entry.class;
            }
            _ => return,
        }
        self.place_again(&before, &mut entry, at);
        self.tasks[task as usize] = entry;
        if entry.state == State::Ended && before.state != State::Ended {
            self.end_waits(task, at);
        }
    }

    /// Nobody awaits an ended task any more, and it awaits nobody: whom it lifted falls back.
    fn end_waits(&mut self, task: u32, at: u64) {
        let Entry { awaited_by, awaits, .. } = self.tasks[task as usize];
        if let Some(other) = awaited_by {
            self.tasks[other as usize].awaits = None;
            self.tasks[task as usize].awaited_by = None;
        }
        if let Some(other) = awaits {
            self.tasks[task as usize].awaits = None;
            self.tasks[other as usize].awaited_by = None;
            self.settle_class(other, at, false);
        }
    }

    /// Puts a task, and down the chain whom it awaits, into the class it was given or its waiter's, the higher one.
    fn settle_class(&mut self, first: u32, at: u64, goes: bool) {
        let mut next = Some(first);
        while let Some(task) = next {
            let before = self.tasks[task as usize];
            let mut entry = before;
            let waiter = entry.awaited_by.map(|other| self.tasks[other as usize].class);
            entry.class = waiter.map_or(entry.given, |waiter| waiter.min(entry.given));
            if entry.state == State::Ended || (entry.class == before.class && !(goes && task == first)) {
                return;
            }
            // One that runs goes on at its new level: as one of the class, not as a guest.
            entry.level = entry.class;
            self.moved.push(task);
            entry.before_move = self.waited(&entry, at);
            self.place_again(&before, &mut entry, at);
            self.tasks[task as usize] = entry;
            next = entry.awaits;
        }
    }

    /// How long a task has waited of the host's time.
    pub(crate) fn waited(&self, entry: &Entry, at: u64) -> u64 {
        (at - entry.since) - (self.away_at(at) - entry.away_before)
    }

    fn place_again(&mut self, before: &Entry, entry: &mut Entry, at: u64) {
        if before.can_run() {
            self.can_run[before.level as usize] -= 1;
            self.at_home[before.level as usize] -= usize::from(before.is_at_home());
        }
        if entry.can_run() {
            self.can_run[entry.level as usize] += 1;
            self.at_home[entry.level as usize] += usize::from(entry.is_at_home());
            if !before.can_run() {
                entry.since = at;
                entry.before_move = 0;
                entry.since_place = self.place - 1;
                entry.away_before = self.away_at(at);
            }
        }
    }

    fn apply_host(&mut self, event: &Event) {
        match event.what {
            What::SliceStarted(length) => {
                self.away += event.at - self.last_end;
                self.slice = Some((event.at, length));
            }
            What::SliceEnded { .. } => {
                self.slice = None;
                self.last_end = event.at;
            }
            _ => {}
        }
    }
}
