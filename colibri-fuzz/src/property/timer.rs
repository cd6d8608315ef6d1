//! Timers: never early, in order, and not held back by work.

use std::collections::BTreeSet;

use super::{Breach, Judgement};
use crate::ledger::Ledger;
use crate::trace::{Event, HOST, Trace, What};

/// No sleep ends before its deadline, no timer wakes its task before it, and nothing times out before its limit: at ≥
/// deadline, exactly.
///
/// # Errors
///
/// The first one that did.
pub fn timers_not_early(trace: &Trace) -> Judgement {
    let mut sleeps = Sleeps::new(trace);
    let mut tested = false;
    for (place, event) in trace.events.iter().enumerate() {
        if let (What::TimedOut, Some(until)) = (event.what, sleeps.limit(event.task))
            && event.at < until
        {
            let early = until - event.at;
            return Err(Breach::new(place, format!("#{} times out {early} ns early", event.task)));
        }
        if let (What::Woken | What::Slept, Some((until, _))) = (event.what, sleeps.of(event.task))
            && event.at < until
            // Somebody else may wake a sleeper early; it must only go on sleeping then.
            && (event.what == What::Slept || !sleeps.is_disturbed(event.task))
        {
            let early = until - event.at;
            return Err(Breach::new(
                place,
                format!("#{} is woken {early} ns before its deadline", event.task),
            ));
        }
        tested |= matches!(event.what, What::TimedOut | What::Slept);
        tested |= event.what == What::Woken && sleeps.of(event.task).is_some();
        sleeps.apply(event);
    }
    Ok(tested)
}

/// Timers fire by deadline; equal ones in the order in which they were made.
///
/// Timers of tasks that hover, or that somebody woke for no reason, are left out: their wakes come at other times.
///
/// # Errors
///
/// The first timer that fired before one that was due earlier.
pub fn timers_in_order(trace: &Trace) -> Judgement {
    let mut sleeps = Sleeps::new(trace);
    let mut tested = false;
    for (place, event) in trace.events.iter().enumerate() {
        if let (What::Woken, Some(mine)) = (event.what, sleeps.of(event.task))
            && let Some((until, order, other)) = sleeps.first()
            && (until, order) < mine
            && !sleeps.is_disturbed(event.task)
        {
            let text = format!(
                "#{}, due at {:.6} ms, fires before #{other}, due at {:.6} ms{}",
                event.task,
                mine.0 as f64 / 1e6,
                until as f64 / 1e6,
                if mine.0 == until { " and made before it" } else { "" }
            );
            return Err(Breach::new(place, text));
        }
        let woken = event.what == What::Woken && sleeps.of(event.task).is_some();
        tested |= woken && sleeps.pending.len() > 1;
        sleeps.apply(event);
    }
    Ok(tested)
}

/// When a poll begins, no timer that is due has not fired; and when a slice ends, the host is told of a time no later
/// than the first deadline.
///
/// # Errors
///
/// The first poll that began, or host that was sent away, in spite of a timer.
pub fn timers_not_held_back(trace: &Trace) -> Judgement {
    let mut sleeps = Sleeps::new(trace);
    let mut tested = false;
    for (place, event) in trace.events.iter().enumerate() {
        if let Some((until, _, other)) = sleeps.first() {
            tested |= matches!(event.what, What::Started(_) | What::SliceEnded { work_left: false, .. });
            match event.what {
                What::Started(_) if until <= event.at && other != event.task => {
                    let late = event.at - until;
                    let text = format!(
                        "#{} begins to run; the timer of #{other} is overdue by {late} ns",
                        event.task
                    );
                    return Err(Breach::new(place, text));
                }
                What::SliceEnded { work_left: false, next_timer } if next_timer > until => {
                    let told =
                        if next_timer == u64::MAX { "none".to_owned() } else { format!("{next_timer} ns") };
                    let text =
                        format!("the next timer is due at {until} ns (#{other}); the host is told {told}");
                    return Err(Breach::new(place, text));
                }
                _ => {}
            }
        }
        sleeps.apply(event);
    }
    Ok(tested)
}

/// Who sleeps until when.
struct Sleeps {
    ledger: Ledger,
    /// Deadline and order of making, while the task sleeps.
    of: Vec<Option<(u64, u64)>>,
    /// Its timer cannot be told from other wakes: somebody nudged it, or it hovered.
    disturbed: Vec<bool>,
    /// Until when the present step may last.
    limits: Vec<Option<u64>>,
    /// Timers that have not fired and are not disturbed.
    pending: BTreeSet<(u64, u64, u32)>,
    made: u64,
}

impl Sleeps {
    fn new(trace: &Trace) -> Self {
        let many = trace.tasks.len();
        Sleeps {
            ledger: Ledger::new(trace),
            of: vec![None; many],
            disturbed: vec![false; many],
            limits: vec![None; many],
            pending: BTreeSet::new(),
            made: 0,
        }
    }

    fn of(&self, task: u32) -> Option<(u64, u64)> {
        if task == HOST { None } else { self.of[task as usize] }
    }

    fn limit(&self, task: u32) -> Option<u64> {
        self.limits.get(task as usize).copied().flatten()
    }

    fn is_disturbed(&self, task: u32) -> bool {
        self.disturbed[task as usize]
    }

    fn first(&self) -> Option<(u64, u64, u32)> {
        self.pending.first().copied()
    }

    fn apply(&mut self, event: &Event) {
        self.ledger.apply(event);
        if event.task == HOST {
            return;
        }
        let task = event.task as usize;
        match event.what {
            What::Sleeps(until) => {
                self.made += 1;
                self.of[task] = Some((until, self.made));
                // A limit is a timer as well, and wakes it, too.
                self.disturbed[task] = self.ledger.tasks[task].paused || self.limits[task].is_some();
                if !self.disturbed[task] {
                    self.pending.insert((until, self.made, event.task));
                }
            }
            What::Limits(until) => self.limits[task] = Some(until),
            What::InTime => self.limits[task] = None,
            What::Slept | What::Dropped | What::Cancelled | What::TimedOut => {
                self.limits[task] = self.limits[task].filter(|_| event.what == What::Slept);
                self.forget(event.task);
                self.of[task] = None;
            }
            What::Woken => self.forget(event.task),
            // One that gave way while it sleeps was woken during its poll: it is ready, and its timer has nothing to do.
            What::Nudged | What::PauseCalled | What::Yielded(_) => {
                self.forget(event.task);
                self.disturbed[task] = true;
            }
            _ => {}
        }
    }

    fn forget(&mut self, task: u32) {
        if let Some((until, order)) = self.of[task as usize] {
            self.pending.remove(&(until, order, task));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    /// Two tasks sleep until 5 ms and `second` ms.
    fn asleep(second: u64) -> Vec<(u64, u32, What)> {
        let sleep = |task, until| {
            [
                (0, task, SPAWN),
                (0, task, RUN),
                (0, task, What::Sleeps(until * MS)),
                (0, task, What::Suspended),
            ]
        };
        [sleep(0, 5), sleep(1, second)].concat()
    }

    fn then(second: u64, more: &[(u64, u32, What)]) -> Trace {
        trace(&[&asleep(second), more].concat())
    }

    #[test]
    fn an_early_timer_is_seen() {
        assert_eq!(
            timers_not_early(&then(6, &[(5, 0, What::Woken), (5, 0, RUN), (5, 0, What::Slept)])),
            Ok(true)
        );
        assert!(timers_not_early(&then(6, &[(4, 0, What::Woken)])).is_err());
        let nudged = [(3, 0, What::Nudged), (3, 0, What::Woken), (3, 0, RUN)];
        assert_eq!(timers_not_early(&then(6, &nudged)), Ok(true), "only nudged");
        assert!(timers_not_early(&then(6, &[&nudged[..], &[(3, 0, What::Slept)]].concat())).is_err());
    }

    #[test]
    fn timers_out_of_order_are_seen() {
        assert_eq!(timers_in_order(&then(5, &[(7, 0, What::Woken), (7, 1, What::Woken)])), Ok(true));
        assert!(
            timers_in_order(&then(5, &[(7, 1, What::Woken), (7, 0, What::Woken)])).is_err(),
            "equal ones"
        );
        assert!(timers_in_order(&then(6, &[(7, 1, What::Woken), (7, 0, What::Woken)])).is_err());
        let paused = [(1, 0, What::PauseCalled), (7, 1, What::Woken)];
        assert_eq!(timers_in_order(&then(6, &paused)), Ok(false), "the first one hovers");
    }

    #[test]
    fn a_timer_that_waits_for_work_is_seen() {
        let fired = [(6, 2, SPAWN), (6, 0, What::Woken), (6, 2, RUN)];
        assert_eq!(timers_not_held_back(&then(9, &fired)), Ok(true));
        assert!(timers_not_held_back(&then(9, &[(6, 2, SPAWN), (6, 2, RUN)])).is_err());
        let told = |at| [(1, H, What::SliceEnded { work_left: false, next_timer: at })];
        assert_eq!(timers_not_held_back(&then(9, &told(5 * MS))), Ok(true));
        assert!(timers_not_held_back(&then(9, &told(9 * MS))).is_err());
        assert!(timers_not_held_back(&then(9, &told(u64::MAX))).is_err());
    }
}
