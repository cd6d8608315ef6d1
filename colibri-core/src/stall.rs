//! A watchdog that tells while the thread is held.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::fault::{self, Fault};
use crate::remote::{Message, Remote};
use crate::rt::Site;
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait};
use crate::task::TaskId;

/// A minute, in which so many reports are told.
const MINUTE: Duration = Duration::from_secs(60);

/// The shortest pause between two looks at a poll that was reported already. With a threshold of zero the detector would look
/// without a pause; 1 ms costs a thousandth of a core.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// Tells while a task holds the thread, from a thread of its own.
///
/// A task that passes checkpoints gives the thread back within a slice. One that holds it for longer than `threshold` in one
/// poll is reported, once, while it still does: which task, how long already, and the last checkpoint that it passed. An idle
/// scheduler is never reported, nor are many short polls in a row.
///
/// It costs its scheduler some 50 ns a poll, a read of the clock a poll, and 50 ns a look (each 20 µs); nothing without it. Time is the
/// system's, whatever clock the scheduler has.
///
/// ```
/// use std::time::Duration;
/// use colibri_core::{Priority, Scheduler, StallDetector};
///
/// let detector = StallDetector::new(Duration::from_millis(20)).most_reports_a_minute(6);
/// let scheduler = Scheduler::builder().stall_detector(detector).build();
/// // On stderr: "task 0 (report) has held the thread for 20 ms; it has passed no checkpoint"
/// let task = scheduler.task(async { std::thread::sleep(Duration::from_millis(40)) }).name("report").spawn();
/// scheduler.block_on(task).unwrap();
/// ```
#[must_use = "a detector watches nothing before it is given to a builder"]
pub struct StallDetector {
    threshold: Duration,
    most_a_minute: u32,
    tell: Box<dyn Fn(&StallReport) + Send>,
    policy: Box<dyn Fn(&StallReport) -> StallAction + Send>,
}

/// A task holds the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StallReport {
    /// The task.
    pub task: TaskId,
    /// Its name, if it has one. The future that [`Scheduler::block_on`](crate::Scheduler::block_on) runs goes by the name of
    /// `block_on`.
    pub name: Option<String>,
    /// How long its poll has lasted so far.
    pub held: Duration,
    /// The loop whose checkpoint it passed last in this poll: its function, file and line. Checkpoints that come within 20 µs
    /// after one another are not told apart.
    pub last_checkpoint: Option<(&'static str, &'static str, u32)>,
    /// How many reports were kept back since the last one that was told.
    pub kept_back: u64,
}

/// What becomes of a task that holds the thread, at its next checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StallAction {
    /// It goes on.
    #[default]
    None,
    /// It falls one class: an Immediate task becomes Normal, a Normal one Idle.
    Demote,
    /// It is cancelled. Not the future that [`Scheduler::block_on`](crate::Scheduler::block_on) runs: that has to hand back an
    /// output, and goes on.
    Cancel,
}

impl fmt::Display for StallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.task)?;
        if let Some(name) = &self.name {
            write!(f, " ({name})")?;
        }
        write!(f, " has held the thread for {} ms; ", self.held.as_millis())?;
        match self.last_checkpoint {
            Some((function, file, line)) => {
                write!(f, "its last checkpoint was in `{function}`, {file}:{line}")?;
            }
            None => write!(f, "it has passed no checkpoint")?,
        }
        match self.kept_back {
            0 => Ok(()),
            1 => write!(f, " (1 report before was kept back)"),
            count => write!(f, " ({count} reports before were kept back)"),
        }
    }
}

impl StallDetector {
    /// Reports polls that take longer than `threshold`: on stderr, at most ten times a minute. Several slices are a good
    /// threshold, 50 ms for example: the system itself takes the thread away for some ms now and then.
    pub fn new(threshold: Duration) -> Self {
        StallDetector {
            threshold,
            most_a_minute: 10,
            tell: Box::new(|report| std::eprintln!("colibri: {report}")),
            policy: Box::new(|_| StallAction::None),
        }
    }

    /// How many reports are told within a minute; the next one that is told says how many were kept back.
    pub fn most_reports_a_minute(mut self, most: u32) -> Self {
        self.most_a_minute = most;
        self
    }

    /// Whom to tell instead of stderr. It is called on the detector's thread; a panic in it is contained.
    pub fn on_report(mut self, tell: impl Fn(&StallReport) + Send + 'static) -> Self {
        self.tell = Box::new(tell);
        self
    }

    /// What becomes of a task that holds the thread. It is asked for every stall, told or kept back, on the detector's thread;
    /// a panic in it is contained, and leaves the task alone.
    pub fn on_stall(mut self, policy: impl Fn(&StallReport) -> StallAction + Send + 'static) -> Self {
        self.policy = Box::new(policy);
        self
    }

    /// Starts to watch.
    pub(crate) fn watch(self, remote: Arc<Remote>) -> Arc<Watch> {
        let watch = Arc::new(Watch::new());
        let shared = Arc::clone(&watch);
        let run = move || shared.run(&self, &remote);
        // Without the thread nothing is reported; the work itself does not depend on it.
        if thread::Builder::new().name("colibri-stalls".into()).spawn(run).is_err() {
            std::eprintln!("colibri: no thread could be started to watch for stalls");
        }
        watch
    }
}

impl fmt::Debug for StallDetector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StallDetector")
            .field("threshold", &self.threshold)
            .field("most_a_minute", &self.most_a_minute)
            .finish_non_exhaustive()
    }
}

/// What the scheduler's thread shows the detector's.
pub(crate) struct Watch {
    seen: Mutex<Seen>,
    changed: Condvar,
}

#[derive(Default)]
struct Seen {
    poll: Option<Poll>,
    /// The detector sleeps until a poll begins.
    is_asleep: bool,
    is_closed: bool,
}

/// A poll that goes on.
struct Poll {
    task: TaskId,
    name: Option<String>,
    began: Instant,
    last: Option<&'static Site>,
    is_reported: bool,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Watch { seen: Mutex::new(Seen::default()), changed: Condvar::new() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    /// A poll begins. Returns whether the detector slept.
    pub(crate) fn began(&self, task: TaskId, name: Option<String>) -> bool {
        let mut seen = self.seen();
        seen.poll = Some(Poll { task, name, began: Instant::now(), last: None, is_reported: false });
        let slept = core::mem::take(&mut seen.is_asleep);
        if slept {
            self.changed.notify_one();
        }
        slept
    }

    /// The task looked at its budget.
    pub(crate) fn passed(&self, site: Option<&'static Site>) {
        if let (Some(poll), Some(site)) = (&mut self.seen().poll, site) {
            poll.last = Some(site);
        }
    }

    /// The poll is over.
    pub(crate) fn ended(&self) {
        self.seen().poll = None;
    }

    /// The scheduler is gone.
    pub(crate) fn close(&self) {
        self.seen().is_closed = true;
        self.changed.notify_one();
    }

    /// The detector's thread: until it is closed.
    pub(crate) fn run(&self, detector: &StallDetector, remote: &Remote) {
        let mut limit = Limit::new(detector.most_a_minute);
        let mut seen = self.seen();
        while !seen.is_closed {
            let now = Instant::now();
            match seen.look(now, detector.threshold) {
                Look::Idle => {
                    seen.is_asleep = !fault::seeded(Fault::SleepsUnannounced);
                    seen = wait(&self.changed, seen, None);
                }
                Look::Again(length) => {
                    seen = wait(&self.changed, seen, Some(length));
                }
                Look::Stall(mut report) => {
                    drop(seen);
                    report.kept_back = limit.kept_back;
                    if limit.allows(now) {
                        // A panic in a callback does not end the watch.
                        remote.contained.contain(|| (detector.tell)(&report));
                    }
                    let mut action = StallAction::default();
                    remote.contained.contain(|| action = (detector.policy)(&report));
                    let message = match action {
                        StallAction::None => None,
                        StallAction::Demote => Some(Message::Demote(report.task)),
                        StallAction::Cancel => Some(Message::Cancel(report.task)),
                    };
                    // The only error is that the scheduler is shut down: then the task has ended.
                    message.map(|message| remote.send(message));
                    seen = self.seen();
                }
            }
        }
    }
}

/// What a look at the scheduler's thread brings.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// No task runs.
    Idle,
    /// Nothing yet: look again after so long.
    Again(Duration),
    /// A poll takes too long.
    Stall(StallReport),
}

impl Seen {
    fn look(&mut self, now: Instant, threshold: Duration) -> Look {
        let Some(poll) = &mut self.poll else { return Look::Idle };
        let held = now.saturating_duration_since(poll.began);
        if poll.is_reported {
            return Look::Again(threshold.max(SHORTEST_PAUSE));
        }
        if held < threshold {
            return Look::Again(threshold - held);
        }
        poll.is_reported = true;
        Look::Stall(StallReport {
            task: poll.task,
            name: poll.name.clone(),
            held,
            last_checkpoint: poll.last.map(Site::place),
            kept_back: 0,
        })
    }
}

/// So many reports a minute.
struct Limit {
    most: u32,
    told: VecDeque<Instant>,
    kept_back: u64,
}

impl Limit {
    fn new(most: u32) -> Self {
        Limit { most, told: VecDeque::new(), kept_back: 0 }
    }

    fn allows(&mut self, now: Instant) -> bool {
        while self.told.front().is_some_and(|told| now.saturating_duration_since(*told) >= MINUTE) {
            self.told.pop_front();
        }
        if self.told.len() >= self.most as usize {
            self.kept_back += 1;
            return false;
        }
        self.told.push_back(now);
        self.kept_back = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: Duration = Duration::from_millis(50);
    const MS: Duration = Duration::from_millis(1);

    static SITE: Site = Site::new("f", "src/f.rs", 7);

    fn polled(began: Instant) -> Seen {
        let poll = Poll {
            task: TaskId::new(0, 0),
            name: Some("f".into()),
            began,
            last: Some(&SITE),
            is_reported: false,
        };
        Seen { poll: Some(poll), ..Seen::default() }
    }

    #[test]
    fn a_long_poll_is_reported_once() {
        let began = Instant::now();
        let mut seen = polled(began);
        assert_eq!(seen.look(began + 20 * MS, THRESHOLD), Look::Again(30 * MS));
        let Look::Stall(report) = seen.look(began + 51 * MS, THRESHOLD) else { panic!("no report") };
        assert_eq!((report.held, report.last_checkpoint), (51 * MS, Some(("f", "src/f.rs", 7))));
        assert_eq!(seen.look(began + 120 * MS, THRESHOLD), Look::Again(THRESHOLD));
    }

    #[test]
    fn without_a_threshold_it_pauses_all_the_same() {
        let began = Instant::now();
        let mut seen = polled(began);
        let Look::Stall(report) = seen.look(began, Duration::ZERO) else { panic!("no report") };
        assert_eq!(report.held, Duration::ZERO);
        assert_eq!(seen.look(began, Duration::ZERO), Look::Again(SHORTEST_PAUSE));
    }

    #[test]
    fn short_polls_in_a_row_and_idle_time_are_no_stall() {
        let start = Instant::now();
        for poll in 0..100 {
            let began = start + 10 * poll * MS;
            assert_eq!(polled(began).look(began + 9 * MS, THRESHOLD), Look::Again(41 * MS));
        }
        assert_eq!(Seen::default().look(start + 60 * THRESHOLD, THRESHOLD), Look::Idle);
    }

    #[test]
    fn so_many_reports_a_minute() {
        let start = Instant::now();
        let mut limit = Limit::new(2);
        assert!(limit.allows(start));
        assert!(limit.allows(start + 10 * MS));
        assert!(!limit.allows(start + 20 * MS));
        assert!(!limit.allows(start + 30 * MS));
        assert_eq!(limit.kept_back, 2);
        assert!(limit.allows(start + MINUTE));
        assert_eq!(limit.kept_back, 0);
        assert!(!limit.allows(start + MINUTE));
    }
}
