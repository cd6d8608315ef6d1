//! The table: its axes, which rows cannot be, and what is to come of the others.

use colibri_core::TaskState;

use crate::support::always_yields;

/// How the task ends if nobody cancels it: at its second poll, or not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Finishes,
    Panics,
    Never,
}

/// What a destructor does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dropping {
    Quietly,
    Panicking,
}

/// Who ends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Who {
    Nobody,
    /// The code that holds the scheduler.
    Outside,
    /// Another task.
    Task,
    /// Another thread, by an abort handle.
    Thread,
    /// The destructor of another task's future.
    Destructor,
    /// Its own poll.
    Itself,
    /// The destructor of its own future.
    OwnDestructor,
    Timeout,
    Shutdown,
    /// The drop of its handle.
    CancelOnDrop,
}

/// What it is doing then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum When {
    /// Ready for its first poll.
    New,
    /// Not to be started yet.
    Delayed,
    /// Ready for its second poll.
    Ready,
    /// It waits for a wake.
    Idle,
    Paused,
    /// In its second poll.
    Running,
    /// Its poll is over, and its future is being dropped.
    Dropping,
    Ended,
}

/// What becomes of its handle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Handle {
    /// Polled from the start, with a waker that counts.
    Joined,
    /// `block_on` waits for it from the start.
    BlockedOn,
    /// `block_on` comes after the end.
    BlockedOnLate,
    AwaitedInATask,
    Taken,
    DroppedBefore,
    /// In its own second poll.
    DroppedWhileItRuns,
    DroppedAfter,
}

const ENDS: [End; 3] = [End::Finishes, End::Panics, End::Never];
const DROPPINGS: [Dropping; 2] = [Dropping::Quietly, Dropping::Panicking];
pub(crate) const WHO: [Who; 10] = [
    Who::Nobody,
    Who::Outside,
    Who::Task,
    Who::Thread,
    Who::Destructor,
    Who::Itself,
    Who::OwnDestructor,
    Who::Timeout,
    Who::Shutdown,
    Who::CancelOnDrop,
];
pub(crate) const WHEN: [When; 8] = [
    When::New,
    When::Delayed,
    When::Ready,
    When::Idle,
    When::Paused,
    When::Running,
    When::Dropping,
    When::Ended,
];
const HANDLES: [Handle; 8] = [
    Handle::Joined,
    Handle::BlockedOn,
    Handle::BlockedOnLate,
    Handle::AwaitedInATask,
    Handle::Taken,
    Handle::DroppedBefore,
    Handle::DroppedWhileItRuns,
    Handle::DroppedAfter,
];

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) end: End,
    pub(crate) future: Dropping,
    /// Of the output, or of the panic's payload.
    pub(crate) output: Dropping,
    pub(crate) who: Who,
    pub(crate) when: When,
    pub(crate) handle: Handle,
}

/// What is to come of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Finished,
    Panicked,
    Cancelled,
    TimedOut,
    /// It lives until its scheduler is dropped.
    Lives,
}

/// Why nobody of that kind can act then, if nobody can.
pub(crate) fn no_such_pair(who: Who, when: When) -> Option<&'static str> {
    match (who, when) {
        (Who::Outside | Who::Task, When::Running | When::Dropping) => {
            Some("the thread is the task's then: no other code of it runs but what the task calls")
        }
        (Who::Itself, when) if when != When::Running => Some("its own poll acts while it runs"),
        (Who::OwnDestructor, when) if when != When::Dropping => Some("it acts when the future is dropped"),
        _ => None,
    }
}

impl When {
    /// What the scheduler says of the task.
    pub(crate) fn state(self) -> TaskState {
        match self {
            When::New | When::Ready => TaskState::Ready,
            When::Delayed | When::Idle => TaskState::Waiting,
            When::Paused => TaskState::Paused,
            When::Running | When::Dropping => TaskState::Running,
            When::Ended => TaskState::Finished,
        }
    }

    fn is_before_its_end(self) -> bool {
        matches!(self, When::New | When::Delayed | When::Ready | When::Idle | When::Paused)
    }
}

impl Case {
    /// The whole product.
    pub(crate) fn all() -> impl Iterator<Item = Case> {
        let rows = WHO.into_iter().flat_map(|who| WHEN.map(|when| (who, when)));
        let rows = rows.flat_map(|row| ENDS.map(|end| (row, end)));
        let rows = rows.flat_map(|row| DROPPINGS.map(|future| (row, future)));
        let rows = rows.flat_map(|row| DROPPINGS.map(|output| (row, output)));
        rows.flat_map(|((((who, when), end), future), output)| {
            HANDLES.map(|handle| Case { end, future, output, who, when, handle })
        })
    }

    /// Why there is no such row, if there is none.
    pub(crate) fn is_impossible(self) -> Option<&'static str> {
        let Case { end, who, when, handle, .. } = self;
        if let Some(why) = no_such_pair(who, when) {
            return Some(why);
        }
        if end == End::Never && matches!(when, When::Dropping | When::Ended) {
            return Some("it does not come to an end that somebody else has not brought about");
        }
        if who == Who::CancelOnDrop && !matches!(handle, Handle::Joined | Handle::DroppedAfter) {
            return Some("the handle is dropped by who acts, and by nobody before");
        }
        if handle == Handle::DroppedWhileItRuns && who != Who::Nobody && when.is_before_its_end() {
            return Some("it is ended before it runs");
        }
        let cancels_by_handle = matches!(who, Who::Outside | Who::Task | Who::Destructor);
        if when == When::Delayed && cancels_by_handle && handle == Handle::DroppedBefore {
            return Some("nobody can reach it: it has no handle, and a scope's tasks are not delayed");
        }
        if handle == Handle::BlockedOn && who == Who::Outside {
            return Some("the code that holds the scheduler is in block_on");
        }
        if handle == Handle::BlockedOn && when == When::Ended {
            return Some("block_on has returned, and nothing is left of the task");
        }
        let blocks = matches!(handle, Handle::BlockedOn | Handle::BlockedOnLate);
        (blocks && self.outcome() == Outcome::Lives).then_some("block_on would not return")
    }

    /// How it ends.
    pub(crate) fn outcome(self) -> Outcome {
        let Case { end, who, when, .. } = self;
        let by_itself = match end {
            _ if self.hovers_for_ever() => Outcome::Lives,
            End::Finishes => Outcome::Finished,
            End::Panics => Outcome::Panicked,
            End::Never => Outcome::Lives,
        };
        let by_who = match who {
            Who::Nobody => by_itself,
            Who::Timeout => Outcome::TimedOut,
            _ => Outcome::Cancelled,
        };
        match (when, end) {
            // Too late: its end is what its poll said.
            (When::Dropping | When::Ended, _) => by_itself,
            // What a panic says is worth more than that somebody did not want it.
            (When::Running, End::Panics) => Outcome::Panicked,
            // It takes effect in the scheduler's next turn, when the task has ended.
            (When::Running, End::Finishes) if who == Who::Thread => Outcome::Finished,
            // So is its timeout where a check gives way before it looks at the clock.
            (When::Running, End::Finishes) if who == Who::Timeout && always_yields() => Outcome::Finished,
            _ => by_who,
        }
    }

    /// Paused before its first poll, and its handle dropped: nobody can resume it.
    fn hovers_for_ever(self) -> bool {
        self.is_paused_at_once() && self.who == Who::Nobody
    }

    /// Without a handle it can be paused only before that is dropped.
    pub(crate) fn is_paused_at_once(self) -> bool {
        self.when == When::Paused && self.handle == Handle::DroppedBefore
    }

    pub(crate) fn polls(self) -> u32 {
        match self.when {
            _ if self.is_paused_at_once() => 0,
            // It has had its second one when it is woken late, and lives.
            When::Ready | When::Running if self.outcome() == Outcome::Lives => 3,
            _ if self.who == Who::Nobody => 2,
            When::New | When::Delayed => 0,
            When::Ready | When::Idle | When::Paused => 1,
            When::Running | When::Dropping | When::Ended => 2,
        }
    }

    /// How many outputs or payloads it makes, each of which must be dropped once.
    pub(crate) fn values(self) -> usize {
        usize::from(self.polls() == 2 && self.end != End::Never)
    }

    /// How often the waker is woken with which the handle was polled.
    pub(crate) fn wakes_of_the_joiner(self) -> usize {
        // A handle that is dropped while its task still runs takes it along.
        let is_gone =
            self.who == Who::CancelOnDrop && !self.when.is_before_its_end() && self.when != When::Ended;
        usize::from(self.outcome() != Outcome::Lives && !is_gone)
    }

    /// Whether the scheduler is shut down before anybody who waits for the handle has been told.
    pub(crate) fn shuts_waiters_down(self) -> bool {
        self.who == Who::Shutdown && self.when != When::Ended
    }
}
