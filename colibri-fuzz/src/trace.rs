//! A trace: everything that happened in one case, in order. It is all that the promises look at.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::span::short;
use crate::workload::{Class, Settings};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// When, in nanoseconds of virtual time.
    pub at: u64,
    /// To which task: its number in the workload, or [`HOST`].
    pub task: u32,
    /// What.
    pub what: What,
}

/// The "task" of events that belong to the host or to the outside.
pub const HOST: u32 = u32::MAX;

/// What happened. The first group is what a scheduler says of itself, the second what tasks and host note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// It became ready: by a wake, a timer, a resume.
    Woken,
    /// A poll begins, at this level: its class, or a higher one if it was promoted.
    Started(Class),
    /// The poll ended at a point where the task could go on.
    Yielded(Why),
    /// The poll ended; the task waits for a wake.
    Suspended,
    /// Its future is done.
    Finished,
    /// Its future panicked.
    Panicked,
    /// It was cancelled.
    Cancelled,
    /// It rose to this level.
    Promoted(Class),
    /// It was paused.
    Paused,
    /// It was resumed.
    Resumed,
    /// One that was sent was taken in, and is ready.
    Admitted(Class),
    /// A turn of the host begins that may last so many nanoseconds.
    SliceStarted(u64),
    /// The turn ended. The scheduler says whether something is ready, and when its next timer is due
    /// (`u64::MAX`: it has none).
    SliceEnded {
        /// Something is ready.
        work_left: bool,
        /// When the next timer is due.
        next_timer: u64,
    },

    /// The task was handed over, and is ready.
    Spawned(Class),
    /// Another thread sends it to the scheduler.
    Sent,
    /// It was not accepted: the scheduler is full.
    Refused,
    /// Its deadline.
    Due(u64),
    /// Its class was changed to this one.
    Moved(Class),
    /// The task itself is being polled; the scheduler had said something else, or nothing.
    Impostor,
    /// It begins to wait for a wake meant for it.
    Waits,
    /// It went past such a wait.
    Received,
    /// It is about to panic, as planned.
    Panics,
    /// Somebody sent it such a wake.
    Signalled,
    /// Somebody woke it for no reason.
    Nudged,
    /// It begins to sleep until then.
    Sleeps(u64),
    /// Its sleep ended.
    Slept,
    /// Its next step may last until then.
    Limits(u64),
    /// That step was done in time.
    InTime,
    /// That step was given up.
    TimedOut,
    /// It begins to wait for the end of this task.
    Joins(u32),
    /// It was told of this task's end.
    Joined(u32),
    /// `pause` was called on it.
    PauseCalled,
    /// `resume` was called on it.
    ResumeCalled,
    /// `cancel` was called on it.
    CancelCalled,
    /// That call came back.
    CancelReturned,
    /// Its future, with all that it held, was dropped.
    Dropped,
    /// The running task was asked to give way to the host.
    YieldRequested,
    /// The scheduler asks the host for a turn.
    Asked,
    /// It would have gone past a checkpoint more often than a case may: the case was cut short.
    CutShort,
    /// The case is over; whoever still hovers is resumed, so that what it kept meanwhile shows.
    LastResumes,
    /// The scheduler was shut down.
    ShutDown,
}

/// Why a task that could go on gave way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// It wanted to.
    Own,
    /// At a checkpoint, for a reason that cannot be seen from outside.
    Checkpoint,
    /// Its quantum was used up.
    Quantum,
    /// The slice was over.
    Slice,
    /// A higher class became ready.
    Preempted,
    /// The host asked for it.
    Host,
}

/// One case's events, with what is needed to judge them.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The scheduler's lengths of time.
    pub settings: Settings,
    /// What is known of each task, by its number.
    pub tasks: Vec<Facts>,
    /// Everything that happened.
    pub events: Vec<Event>,
    /// Whether the clock showed the time, without steps and not coarse.
    pub true_clock: bool,
}

/// What is known of a task when a case is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The longest it ran without a checkpoint, in nanoseconds: measured, not planned.
    pub longest_gap: u64,
    /// How many quanta its turn lasts: at least 1.
    pub weight: u32,
}

impl Facts {
    /// How long the task's turn lasts: q times its weight, in nanoseconds.
    pub(crate) fn turn(&self, quantum: u64) -> u64 {
        quantum.max(1).saturating_mul(u64::from(self.weight))
    }
}

impl Trace {
    /// One in which nothing happened.
    pub(crate) fn empty(settings: &Settings) -> Self {
        Trace { settings: settings.clone(), tasks: Vec::new(), events: Vec::new(), true_clock: true }
    }

    /// How many times a task was polled.
    pub fn dispatches(&self) -> u64 {
        self.events.iter().filter(|event| matches!(event.what, What::Started(_))).count() as u64
    }

    /// Whether anything of this kind happened.
    pub(crate) fn has(&self, kind: impl Fn(What) -> bool) -> bool {
        self.events.iter().any(|event| kind(event.what))
    }

    /// Whether any task has a deadline.
    pub fn has_deadlines(&self) -> bool {
        self.has(|what| matches!(what, What::Due(_)))
    }

    /// A fingerprint of all events, in order.
    pub fn fingerprint(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        // DefaultHasher::new() has fixed keys: equal traces have equal fingerprints in one build of the program.
        let mut hasher = DefaultHasher::new();
        self.events.hash(&mut hasher);
        hasher.finish()
    }

    /// The events around `place` as a table: `before` of them, that one (marked), and a few after.
    pub fn timeline(&self, place: usize, before: usize) -> String {
        let (from, to) = (place.saturating_sub(before), (place + 4).min(self.events.len()));
        let mut text = String::new();
        if from > 0 {
            text += &format!("       … {from} events before\n");
        }
        for (index, event) in self.events[from..to].iter().enumerate() {
            let mark = if from + index == place { "→" } else { " " };
            text += &format!("  {mark} {event}\n");
        }
        if to < self.events.len() {
            text += &format!("       … {} events after\n", self.events.len() - to);
        }
        text
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Millions of a millisecond are nanoseconds: exact, and in columns.
        write!(f, "{:>6}.{:06} ms  ", self.at / 1_000_000, self.at % 1_000_000)?;
        match self.task {
            HOST => write!(f, "host  ")?,
            task => write!(f, "#{task:<4} ")?,
        }
        self.what.fmt(f)
    }
}

impl What {
    /// Whether it is a decision of the scheduler: who becomes ready, runs, stops, rises, hovers, ends; what the host is told.
    /// Of these it tells itself; the others are noted by tasks and host, when they happen.
    pub(crate) fn is_decision(self) -> bool {
        self.is_of_a_poll()
            || matches!(
                self,
                What::Woken
                    | What::Cancelled
                    | What::Promoted(_)
                    | What::Paused
                    | What::Resumed
                    | What::Admitted(_)
                    | What::SliceStarted(_)
                    | What::SliceEnded { .. }
            )
    }

    /// Whether it is the beginning or the end of a poll.
    pub(crate) fn is_of_a_poll(self) -> bool {
        let ends = matches!(self, What::Yielded(_) | What::Suspended | What::Finished | What::Panicked);
        ends || matches!(self, What::Started(_))
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Spawned(class) => write!(f, "spawned {class:?}"),
            What::Sent => write!(f, "is sent from another thread"),
            What::Admitted(class) => write!(f, "is taken in as {class:?}"),
            What::Started(level) => write!(f, "runs as {level:?}"),
            What::Yielded(why) => write!(f, "yields ({why:?})"),
            What::Promoted(level) => write!(f, "promoted to {level:?}"),
            What::SliceStarted(length) => write!(f, "slice of {} begins", short(*length)),
            What::SliceEnded { work_left, next_timer } => {
                write!(f, "slice ends, {}", if *work_left { "work left" } else { "nothing ready" })?;
                match next_timer {
                    &u64::MAX => Ok(()),
                    at => write!(f, ", next timer at {:.6} ms", *at as f64 / 1e6),
                }
            }
            What::Moved(class) => write!(f, "moved to {class:?}"),
            What::Sleeps(until) => write!(f, "sleeps until {:.6} ms", *until as f64 / 1e6),
            What::Limits(until) => write!(f, "may take until {:.6} ms", *until as f64 / 1e6),
            What::Due(at) => write!(f, "is due at {:.6} ms", *at as f64 / 1e6),
            What::InTime => write!(f, "was in time"),
            What::TimedOut => write!(f, "timed out"),
            What::Refused => write!(f, "is refused"),
            What::Asked => write!(f, "the host is asked for a turn"),
            What::Joins(of) => write!(f, "joins #{of}"),
            What::Joined(of) => write!(f, "joined #{of}"),
            What::Woken => write!(f, "woken"),
            What::Suspended => write!(f, "suspends"),
            What::Finished => write!(f, "finished"),
            What::Panicked => write!(f, "panicked"),
            What::Cancelled => write!(f, "cancelled"),
            What::Paused => write!(f, "paused"),
            What::Resumed => write!(f, "resumed"),
            What::Impostor => write!(f, "is polled, though the scheduler did not say so"),
            What::Waits => write!(f, "waits for a wake"),
            What::Received => write!(f, "goes past its wait"),
            What::Signalled => write!(f, "is sent a wake"),
            What::Panics => write!(f, "is about to panic"),
            What::Nudged => write!(f, "is nudged"),
            What::Slept => write!(f, "slept"),
            What::PauseCalled => write!(f, "pause is called"),
            What::ResumeCalled => write!(f, "resume is called"),
            What::CancelCalled => write!(f, "cancel is called"),
            What::CancelReturned => write!(f, "cancel returned"),
            What::Dropped => write!(f, "dropped"),
            What::YieldRequested => write!(f, "a yield is requested"),
            What::CutShort => write!(f, "the case is cut short"),
            What::LastResumes => write!(f, "resumes all who hover"),
            What::ShutDown => write!(f, "shuts down"),
        }
    }
}

/// Takes down events while a case runs. Clones write into one trace.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Rc<RefCell<Tape>>);

#[derive(Debug, Default)]
struct Tape {
    events: Vec<Event>,
    tasks: Vec<Facts>,
    /// Whom the scheduler said it polls.
    running: Option<u32>,
    /// It is being shut down: how it tells of that is its own affair.
    closed: bool,
}

impl Tape {
    fn write(&mut self, event: Event, by_time: bool) {
        if self.closed && event.what.is_decision() {
            return;
        }
        match event.what {
            What::Started(_) => self.running = Some(event.task),
            What::Yielded(_) | What::Suspended | What::Finished | What::Panicked => self.running = None,
            _ => {}
        }
        self.events.push(event);
        if by_time {
            let mut place = self.events.len() - 1;
            while place > 0 && self.events[place - 1].at > event.at {
                self.events.swap(place - 1, place);
                place -= 1;
            }
        }
    }
}

impl Recorder {
    /// An empty recorder for tasks of these weights.
    pub fn new(weights: impl Iterator<Item = u32>) -> Self {
        let recorder = Recorder::default();
        let facts = weights.map(|weight| Facts { longest_gap: 0, weight: weight.max(1) });
        recorder.0.borrow_mut().tasks.extend(facts);
        recorder
    }

    /// Notes `what` at time `at`, in nanoseconds, after everything that was noted before.
    #[inline]
    pub fn note(&self, at: u64, task: u32, what: What) {
        self.0.borrow_mut().write(Event { at, task, what }, false);
    }

    /// Notes `what` in its place by time: some schedulers tell of an event only when it is safe to call an observer.
    #[inline]
    pub fn insert(&self, at: u64, task: u32, what: What) {
        self.0.borrow_mut().write(Event { at, task, what }, true);
    }

    /// From here on nothing is a decision: the scheduler is being shut down.
    pub(crate) fn stop_decisions(&self) {
        self.0.borrow_mut().closed = true;
    }

    /// Whom the scheduler said it polls now.
    pub(crate) fn running(&self) -> Option<u32> {
        self.0.borrow().running
    }

    /// How many events there are.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().events.len()
    }

    /// Notes that `task` ran for `gap` nanoseconds since its last checkpoint.
    #[inline]
    pub(crate) fn gap(&self, task: u32, gap: u64) {
        let facts = &mut self.0.borrow_mut().tasks[task as usize];
        facts.longest_gap = facts.longest_gap.max(gap);
    }

    /// The trace, out of the recorder.
    pub(crate) fn take(&self, settings: &Settings) -> Trace {
        let tape = std::mem::take(&mut *self.0.borrow_mut());
        Trace { settings: settings.clone(), tasks: tape.tasks, events: tape.events, true_clock: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_small() {
        assert!(size_of::<Event>() <= 32, "ten million of them must fit into memory");
    }

    #[test]
    fn a_timeline_marks_the_place() {
        let recorder = Recorder::new([1].into_iter());
        for at in 0..20 {
            recorder.note(at * 1_500_000, 0, What::Woken);
        }
        let trace = recorder.take(&Settings::default());
        let text = trace.timeline(10, 3);
        assert!(text.contains("→     15.000000 ms  #0    woken"), "{text}");
        assert!(text.contains("… 7 events before") && text.contains("… 6 events after"), "{text}");
    }
}
