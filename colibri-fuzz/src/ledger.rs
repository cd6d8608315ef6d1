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
    /// Its own class.
    pub(crate) class: Class,
    /// Its class, or a higher one if it was promoted.
    pub(crate) level: Class,
    /// Since when it could run (without a break), in nanoseconds.
    pub(crate) since: u64,
    /// The place in the trace at which it could first run.
    pub(crate) since_place: usize,
    /// What of that time the host was away.
    pub(crate) away_before: u64,
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
    /// How many polls it has had.
    pub(crate) polls: u64,
}

impl Entry {
    /// Whether it may be picked.
    pub(crate) fn can_run(&self) -> bool {
        self.state == State::Ready && !self.paused
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
    /// How many can run, by level.
    pub(crate) can_run: [usize; 3],
    pub(crate) running: Option<u32>,
    /// The present slice's begin and length.
    pub(crate) slice: Option<(u64, u64)>,
    /// Time outside of all slices so far.
    pub(crate) away: u64,
    /// When the last slice ended.
    last_end: u64,
    place: usize,
    quantum: u64,
}

impl Ledger {
    pub(crate) fn new(trace: &Trace) -> Self {
        let unborn = Entry {
            state: State::Unborn,
            paused: false,
            doomed: false,
            class: Class::Normal,
            level: Class::Normal,
            since: 0,
            since_place: 0,
            away_before: 0,
            started: 0,
            fresh: true,
            keeps_turn: false,
            used: 0,
            owes: 0,
            polls: 0,
        };
        Ledger {
            tasks: vec![unborn; trace.tasks.len()],
            can_run: [0; 3],
            running: None,
            slice: None,
            away: 0,
            last_end: 0,
            place: 0,
            quantum: nanos(trace.settings.quantum).max(1),
        }
    }

    pub(crate) fn task(&self, number: u32) -> &Entry {
        &self.tasks[number as usize]
    }

    /// How many can run at all.
    pub(crate) fn runnable(&self) -> usize {
        self.can_run.iter().sum()
    }

    /// Whether something can run at a level above this one.
    pub(crate) fn higher_can_run(&self, level: Class) -> bool {
        self.can_run[..level as usize].iter().any(|many| *many > 0)
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
        if event.task == HOST {
            return self.apply_host(event);
        }
        let Event { at, task, what } = *event;
        let before = self.tasks[task as usize];
        let mut entry = before;
        match what {
            What::Spawned(class) => {
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
                    entry.owes = entry.owes.min(self.quantum - 1);
                }
                entry.started = at;
                entry.state = State::Running;
                entry.polls += 1;
                self.running = Some(task);
            }
            What::Yielded(_) | What::Suspended | What::Finished | What::Panicked if entry.state == State::Running => {
                self.running = None;
                entry.used += at - entry.started;
                // A guest goes home after it ran, whatever cut it short.
                entry.level = entry.class;
                entry.keeps_turn = matches!(what, What::Yielded(Why::Slice | Why::Preempted | Why::Host));
                if !entry.keeps_turn {
                    entry.owes = (entry.owes + entry.used).saturating_sub(self.quantum);
                }
                entry.state = match what {
                    _ if entry.doomed => State::Ended,
                    What::Yielded(_) => State::Ready,
                    What::Suspended => State::Waiting,
                    _ => State::Ended,
                };
            }
            What::Cancelled if entry.doomed && entry.state == State::Running => {
                entry.state = State::Ended;
                self.running = None;
            }
            What::CancelCalled if entry.state == State::Running => entry.doomed = true,
            What::CancelReturned if entry.state != State::Running => entry.state = State::Ended,
            What::Promoted(level) => entry.level = level,
            What::Moved(class) if entry.state != State::Ended && class != entry.class => {
                entry.class = class;
                if entry.state != State::Running {
                    entry.level = class;
                }
            }
            What::PauseCalled if entry.state != State::Ended => entry.paused = true,
            What::ResumeCalled if entry.paused => {
                // Its wait begins anew, at home.
                entry.paused = false;
                entry.level = entry.class;
            }
            _ => return,
        }
        self.place_again(&before, &mut entry, at, matches!(what, What::Moved(_)));
        self.tasks[task as usize] = entry;
    }

    fn place_again(&mut self, before: &Entry, entry: &mut Entry, at: u64, restart: bool) {
        if before.can_run() {
            self.can_run[before.level as usize] -= 1;
        }
        if entry.can_run() {
            self.can_run[entry.level as usize] += 1;
            if !before.can_run() || restart {
                entry.since = at;
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
