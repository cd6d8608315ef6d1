//! The promises: what a trace must show, whatever the workload. Each is a pure function over a trace, and each bound
//! is a formula with units in its doc.
//!
//! Read [`PROMISES`] from top to bottom: it is the contract of a fair cooperative scheduler.

mod host;
mod life;
mod order;
mod service;
mod share;
mod timer;

use std::fmt;

use crate::subject::Skill;
use crate::trace::Trace;

pub use host::{asked_once, overload, time_goes_on};
pub use life::{
    cancelled_never_runs, dropped_once, ends, no_lost_task, no_needless_poll, no_stray_panic, one_at_a_time,
    paused_never_runs,
};
pub use order::{WAIT_RESOLUTION_NANOS, class_order, preemption, promotion, round_robin};
pub use service::{LAG_TASKS, lag, never_idle, quantum, slice, starvation};
pub use share::{LEAST_JAIN, MEAN_IN_BOUNDS, deadlines, equal_service};
pub use timer::{timers_in_order, timers_not_early, timers_not_held_back};

/// A promise: its name, its rule in one line, and the function that looks for a breach.
#[derive(Clone, Copy)]
pub struct Promise {
    /// What it is called in reports.
    pub name: &'static str,
    /// The rule, with its bound as a formula.
    pub rule: &'static str,
    /// What a scheduler must offer for it to mean anything.
    pub needs: Option<Skill>,
    /// Looks for the first breach in a trace.
    pub check: fn(&Trace) -> Judgement,
}

/// What a promise says of a trace: whether that put it to the test at all, if it was kept; else the first breach. A trace
/// without cancels, for example, says nothing of them.
pub type Judgement = Result<bool, Breach>;

/// All promises about one trace, from the plainest to the subtlest. The first that breaks is the one that is
/// reported, so that a lost wake is not called starvation.
///
/// In the rules: q is the quantum (times the task's weight), d a longest gap between checkpoints, A the time after which a task is promoted,
/// o what a task ran beyond its quanta and owes, N the number of ready tasks, c the cost of a switch (nothing, on a virtual clock).
pub const PROMISES: &[Promise] = &[
    // First of all, since the others measure by it.
    Promise {
        name: "time goes on",
        rule: "time never goes back, whatever the clock does: at(n + 1) >= at(n)",
        needs: Some(Skill::Clock),
        check: time_goes_on,
    },
    // Life and death.
    Promise {
        name: "one at a time",
        rule: "at most one task is being polled, and it is the one the scheduler named",
        needs: None,
        check: one_at_a_time,
    },
    Promise {
        name: "no stray panic",
        rule: "nothing panics but what is meant to, and such a panic ends its task alone",
        needs: None,
        check: no_stray_panic,
    },
    Promise {
        name: "no needless poll",
        rule: "a task is queued at most once and polled only when it is ready",
        needs: None,
        check: no_needless_poll,
    },
    Promise {
        name: "cancelled never runs",
        rule: "after cancel returned: no poll, and the future is dropped (by the next turn, if it ran)",
        needs: Some(Skill::Cancel),
        check: cancelled_never_runs,
    },
    Promise {
        name: "paused never runs",
        rule: "between pause and resume: no poll begins",
        needs: Some(Skill::Pause),
        check: paused_never_runs,
    },
    Promise {
        name: "dropped once",
        rule: "each future is dropped exactly once, and before its joiner goes on",
        needs: None,
        check: dropped_once,
    },
    Promise {
        name: "never idle",
        rule: "a slice ends early, or without telling of work, only if nothing is ready",
        needs: None,
        check: never_idle,
    },
    Promise {
        name: "no lost task",
        rule: "at the end each task is done or waits for what has not happened: no task, wake, timer or join is lost",
        needs: None,
        check: no_lost_task,
    },
    Promise { name: "ends", rule: "a finite workload comes to an end", needs: None, check: ends },
    // The host.
    Promise {
        name: "overload",
        rule: "at most max_tasks tasks live, and one is refused only when so many do",
        needs: Some(Skill::Limit),
        check: overload,
    },
    Promise {
        name: "asked once",
        rule: "the host is asked for a turn at most once until it comes, and asked when something becomes ready",
        needs: Some(Skill::Asks),
        check: asked_once,
    },
    // Time.
    Promise {
        name: "timers not early",
        rule: "no sleep ends, and nothing times out, before its deadline: at >= deadline",
        needs: None,
        check: timers_not_early,
    },
    Promise {
        name: "timers in order",
        rule: "timers fire by deadline, equal ones in the order of their making",
        needs: None,
        check: timers_in_order,
    },
    Promise {
        name: "timers not held back",
        rule: "no poll begins while a due timer has not fired; the host is told of the next one",
        needs: None,
        check: timers_not_held_back,
    },
    // Order.
    Promise {
        name: "class order",
        rule: "no task is picked while one of a class above its level is ready",
        needs: Some(Skill::Classes),
        check: class_order,
    },
    Promise {
        name: "preemption",
        rule: "a running task gives way to a higher class within d",
        needs: Some(Skill::Classes),
        check: preemption,
    },
    Promise {
        name: "promotion",
        rule: "a task rises one class after A of waiting, not before; guests take at most every second pick",
        needs: Some(Skill::Classes),
        check: promotion,
    },
    Promise {
        name: "quantum",
        rule: "beside a ready equal, a turn lasts at most q + d, and at least q - d if the quantum ends it",
        needs: None,
        check: quantum,
    },
    Promise {
        name: "round robin",
        rule: "no task begins two turns while an equal waits (more only by floor(o / q) turns that the equal owes)",
        needs: None,
        check: round_robin,
    },
    Promise {
        name: "deadlines",
        rule: "of equals that are ready, the one with the earliest deadline begins the next turn",
        needs: Some(Skill::Deadlines),
        check: deadlines,
    },
    // Bounds.
    Promise {
        name: "slice",
        rule: "a slice lasts at most its length + d, and no poll begins after its length",
        needs: None,
        check: slice,
    },
    Promise {
        name: "lag",
        rule: "while two equals are both ready, their services differ by at most q + max(d1, d2) + max(o1, o2), o being what each owed before",
        needs: None,
        check: lag,
    },
    Promise {
        name: "equal service",
        rule: "Jain's index of equal tasks (Sum x)^2 / (n Sum x^2) >= 0.99, once each got 5 (q + d + o) on average",
        needs: None,
        check: equal_service,
    },
    Promise {
        name: "starvation",
        rule: "no ready task waits longer than 2 (A + q + d) + 2 N (q + d + c) of the host's time",
        needs: None,
        check: starvation,
    },
];

/// Checks all promises and returns the first breach.
///
/// # Errors
///
/// The breach.
pub fn check_all(trace: &Trace) -> Result<(), Breach> {
    check_for(trace, &Skill::ALL).map(|_| ())
}

/// Checks all promises that mean something for a scheduler of these skills: the names of those that were put to the test, or the
/// first breach.
///
/// # Errors
///
/// The breach.
pub fn check_for(trace: &Trace, skills: &[Skill]) -> Result<Vec<&'static str>, Breach> {
    let mut tested = Vec::new();
    for promise in PROMISES.iter().filter(|promise| promise.holds_for(skills)) {
        if promise.check_named(trace)? {
            tested.push(promise.name);
        }
    }
    Ok(tested)
}

impl Promise {
    /// Whether it means something for a scheduler of these skills.
    pub fn holds_for(&self, skills: &[Skill]) -> bool {
        self.needs.is_none_or(|skill| skills.contains(&skill))
    }

    /// Checks this promise.
    ///
    /// # Errors
    ///
    /// The breach, with the promise's name.
    pub fn check_named(&self, trace: &Trace) -> Judgement {
        (self.check)(trace).map_err(|breach| Breach { promise: self.name, ..breach })
    }

    /// The promise of this name.
    pub fn named(name: &str) -> Option<&'static Promise> {
        PROMISES.iter().find(|promise| promise.name == name)
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Promise({})", self.name)
    }
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which promise.
    pub promise: &'static str,
    /// At which place in the trace it was seen.
    pub place: usize,
    /// What was seen and what was promised, with numbers.
    pub text: String,
}

impl Breach {
    pub(crate) fn new(place: usize, text: impl Into<String>) -> Self {
        Breach { promise: "", place, text: text.into() }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.text)
    }
}

/// What the unit tests of the promises share: traces written by hand.
#[cfg(test)]
mod by_hand {
    use crate::trace::{Event, Facts, HOST, Trace, What};
    use crate::workload::{Class, Settings};

    pub(super) const H: u32 = HOST;
    pub(super) const MS: u64 = 1_000_000;
    /// A slice of the default length begins.
    pub(super) const OPEN: What = What::SliceStarted(8 * MS);
    /// A slice ends, nothing is left.
    pub(super) const IDLE: What = What::SliceEnded { work_left: false, next_timer: u64::MAX };
    /// A slice ends, work is left.
    pub(super) const BUSY: What = What::SliceEnded { work_left: true, next_timer: u64::MAX };
    pub(super) const SPAWN: What = What::Spawned(Class::Normal);
    pub(super) const RUN: What = What::Started(Class::Normal);

    /// A trace from (milliseconds, task, what), with the default settings and a gap of 0.1 ms for each task.
    pub(super) fn trace(events: &[(u64, u32, What)]) -> Trace {
        let many = events
            .iter()
            .map(|(_, task, _)| *task)
            .filter(|task| *task != HOST)
            .max()
            .map_or(0, |most| most + 1);
        Trace {
            settings: Settings::default(),
            tasks: vec![Facts { longest_gap: MS / 10, weight: 1 }; many as usize],
            events: events
                .iter()
                .map(|(at, task, what)| Event { at: at * MS, task: *task, what: *what })
                .collect(),
            true_clock: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::by_hand::*;
    use super::*;
    use crate::trace::What;

    #[test]
    fn names_are_unique_and_rules_are_stated() {
        for promise in PROMISES {
            assert_eq!(PROMISES.iter().filter(|other| other.name == promise.name).count(), 1);
            assert!(promise.rule.len() > 20);
            assert_eq!(Promise::named(promise.name).map(|found| found.name), Some(promise.name));
        }
    }

    #[test]
    fn a_plain_trace_keeps_all_of_them() {
        let plain = trace(&[
            (0, 0, SPAWN),
            (0, H, OPEN),
            (0, 0, RUN),
            (1, 0, What::Dropped),
            (1, 0, What::Finished),
            (1, H, IDLE),
            (1, H, What::ShutDown),
        ]);
        assert_eq!(check_all(&plain), Ok(()));
    }
}
