//! Life and death: who may run at all, and that everything comes to its end.

use super::{Breach, Judgement};
use crate::ledger::{Ledger, State};
use crate::trace::{HOST, Trace, What};

/// At most one task is being polled at a time, and it is the one that the scheduler named.
///
/// # Errors
///
/// The first poll that began within another, or that the scheduler did not announce.
pub fn one_at_a_time(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    for (place, event) in trace.events.iter().enumerate() {
        let task = event.task;
        match event.what {
            What::Started(_) => {
                if let Some(other) = ledger.running {
                    return Err(Breach::new(
                        place,
                        format!("#{task} begins to run while #{other} still does"),
                    ));
                }
            }
            What::Impostor => {
                let named = ledger.running.map_or("nobody".to_owned(), |other| format!("#{other}"));
                return Err(Breach::new(
                    place,
                    format!("#{task} is being polled; the scheduler named {named}"),
                ));
            }
            What::Yielded(_) | What::Suspended if ledger.running != Some(task) => {
                return Err(Breach::new(place, format!("a poll of #{task} ends that had not begun")));
            }
            What::SliceEnded { .. } if ledger.running.is_some() => {
                return Err(Breach::new(place, "a slice ends within a poll"));
            }
            _ => {}
        }
        ledger.apply(event);
    }
    Ok(trace.dispatches() > 0)
}

/// No task panics but those that are meant to, in the poll in which they are: the scheduler has no panics of its own
/// to offer.
///
/// # Errors
///
/// The first panic that nobody planned.
pub fn no_stray_panic(trace: &Trace) -> Judgement {
    let mut meant = vec![false; trace.tasks.len()];
    for (place, event) in trace.events.iter().enumerate() {
        match event.what {
            What::Panics => meant[event.task as usize] = true,
            What::Panicked if !meant[event.task as usize] => {
                return Err(Breach::new(place, format!("#{} panicked; that was not its plan", event.task)));
            }
            _ => {}
        }
    }
    Ok(meant.contains(&true))
}

/// A task is queued at most once, and polled only when it is ready: spawned, woken, or gave way before.
///
/// # Errors
///
/// The first poll of a task that was not ready, or the first wake of one that was.
pub fn no_needless_poll(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    // A task that was ready when it was paused becomes ready again: that wake is no second one.
    let mut resumed = vec![false; trace.tasks.len()];
    for (place, event) in trace.events.iter().enumerate() {
        let task = event.task;
        if task != HOST {
            let state = ledger.task(task).state;
            match event.what {
                What::Started(_) if state == State::Waiting => {
                    return Err(Breach::new(
                        place,
                        format!("#{task} is polled, though nothing has woken it"),
                    ));
                }
                What::Started(_) if matches!(state, State::Unborn | State::Sent) => {
                    return Err(Breach::new(place, format!("#{task} is polled before it was spawned")));
                }
                What::Woken if state == State::Ready && !resumed[task as usize] => {
                    return Err(Breach::new(
                        place,
                        format!("#{task} becomes ready though it was: it is queued twice"),
                    ));
                }
                What::ResumeCalled => resumed[task as usize] = ledger.task(task).paused,
                What::Started(_) | What::Woken => resumed[task as usize] = false,
                _ => {}
            }
        }
        ledger.apply(event);
    }
    Ok(trace.dispatches() > 0)
}

/// A cancelled task never runs again, and its future is dropped by the time `cancel` returns; if it was the running
/// one, before the next poll of anybody and before the slice ends. The same holds for one that ended otherwise.
///
/// # Errors
///
/// The first poll of an ended task, or the first future that outlives its cancellation.
pub fn cancelled_never_runs(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    let mut dropped = vec![false; trace.tasks.len()];
    // Tasks that were cancelled while they ran, and are not dropped yet.
    let mut doomed = Vec::<u32>::new();
    for (place, event) in trace.events.iter().enumerate() {
        let task = event.task;
        if let (What::Started(_) | What::SliceEnded { .. }, Some(late)) = (event.what, doomed.first()) {
            return Err(Breach::new(
                place,
                format!("#{late} was cancelled while it ran; its future is still there"),
            ));
        }
        match event.what {
            What::Started(_) if ledger.task(task).state == State::Ended => {
                return Err(Breach::new(place, format!("#{task} runs after its end")));
            }
            What::Dropped => {
                dropped[task as usize] = true;
                doomed.retain(|other| *other != task);
            }
            What::CancelCalled
                if ledger.task(task).state == State::Running
                    && !dropped[task as usize]
                    && !doomed.contains(&task) =>
            {
                doomed.push(task);
            }
            What::CancelReturned if ledger.task(task).state != State::Running && !dropped[task as usize] => {
                return Err(Breach::new(
                    place,
                    format!("cancel of #{task} returns and its future is still there"),
                ));
            }
            _ => {}
        }
        ledger.apply(event);
    }
    Ok(trace.has(|what| what == What::CancelCalled))
}

/// Between `pause` and `resume` no poll of the task begins. (One that pauses itself ends its present poll.)
///
/// # Errors
///
/// The first such poll.
pub fn paused_never_runs(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    for (place, event) in trace.events.iter().enumerate() {
        if let What::Started(_) = event.what
            && ledger.task(event.task).paused
        {
            return Err(Breach::new(place, format!("#{} runs though it is paused", event.task)));
        }
        ledger.apply(event);
    }
    Ok(trace.has(|what| what == What::PauseCalled))
}

/// Each future is dropped exactly once, and before whoever awaits its end goes on.
///
/// # Errors
///
/// The first second drop, the first early joiner, or a future that is still there after the shutdown.
pub fn dropped_once(trace: &Trace) -> Judgement {
    let mut spawned = vec![false; trace.tasks.len()];
    let mut dropped = vec![false; trace.tasks.len()];
    let end = trace.events.len().saturating_sub(1);
    for (place, event) in trace.events.iter().enumerate() {
        match event.what {
            What::Spawned(_) | What::Sent => spawned[event.task as usize] = true,
            What::Dropped if std::mem::replace(&mut dropped[event.task as usize], true) => {
                return Err(Breach::new(place, format!("#{} is dropped twice", event.task)));
            }
            What::Joined(of) if !dropped[of as usize] => {
                let text =
                    format!("#{} is told of the end of #{of}, whose future is still there", event.task);
                return Err(Breach::new(place, text));
            }
            _ => {}
        }
    }
    match (0..spawned.len()).find(|task| spawned[*task] && !dropped[*task]) {
        Some(task) => Err(Breach::new(end, format!("#{task} is never dropped, not even by the shutdown"))),
        None => Ok(dropped.contains(&true)),
    }
}

/// A finite workload comes to an end: it is not cut short after 2 million steps or 10 000 turns without an event.
///
/// # Errors
///
/// The place where the case was cut short.
pub fn ends(trace: &Trace) -> Judgement {
    match trace.events.iter().position(|event| event.what == What::CutShort) {
        Some(place) => Err(Breach::new(place, "the workload is finite, its run is not")),
        None => Ok(trace.has(|what| matches!(what, What::SliceEnded { .. }))),
    }
}

/// What a task waits for, by its own notes.
#[derive(Clone, Copy, PartialEq)]
enum Awaits {
    Nothing,
    Mail,
    Time(u64),
    EndOf(u32),
}

/// At the end each task is done, or waits for something that has not happened: a wake that was not sent, the end of a
/// task that has not ended, or a resume. No task, wake, timer or join is lost.
///
/// # Errors
///
/// The first task (by number) that was left behind.
pub fn no_lost_task(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    let mut awaits = vec![Awaits::Nothing; trace.tasks.len()];
    let mut mail = vec![0i64; trace.tasks.len()];
    let mut last = vec![0; trace.tasks.len()];
    for (place, event) in trace.events.iter().enumerate() {
        match event.what {
            What::ShutDown => break,
            // There was no end: that is another promise's matter.
            What::CutShort => return Ok(false),
            _ => {}
        }
        if event.task != HOST {
            let task = event.task as usize;
            last[task] = place;
            match event.what {
                What::Waits => awaits[task] = Awaits::Mail,
                What::Sleeps(until) => awaits[task] = Awaits::Time(until),
                What::Joins(of) => awaits[task] = Awaits::EndOf(of),
                What::Received => (awaits[task], mail[task]) = (Awaits::Nothing, mail[task] - 1),
                What::Slept | What::Joined(_) | What::TimedOut => awaits[task] = Awaits::Nothing,
                What::Signalled => mail[task] += 1,
                _ => {}
            }
        }
        ledger.apply(event);
    }
    for (number, entry) in ledger.tasks.iter().enumerate() {
        let lost = match (entry.state, awaits[number]) {
            (State::Unborn | State::Ended, _) => continue,
            // It paused itself again after the host's last resume.
            _ if entry.paused => continue,
            (State::Sent, _) => {
                "was sent from another thread and never taken in: the task is lost".to_owned()
            }
            (State::Ready, _) => "is ready and was never run again: the task is lost".to_owned(),
            (State::Running, _) => "never came back from its poll".to_owned(),
            (State::Waiting, Awaits::Mail) if mail[number] > 0 => {
                "was sent a wake and still waits: the wake is lost".to_owned()
            }
            (State::Waiting, Awaits::Time(until)) => {
                format!("sleeps until {:.6} ms and was never woken: the timer is lost", until as f64 / 1e6)
            }
            (State::Waiting, Awaits::EndOf(of)) if ledger.task(of).state == State::Ended => {
                format!("still waits for the end of #{of}, which has ended: the join is lost")
            }
            (State::Waiting, Awaits::Nothing) => {
                "suspended and waits for nothing: its own yield is lost".to_owned()
            }
            (State::Waiting, _) => continue,
        };
        return Err(Breach::new(last[number], format!("#{number} {lost}")));
    }
    Ok(last.iter().any(|place| *place > 0))
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;
    use crate::trace::Why;

    #[test]
    fn two_polls_at_once_are_seen() {
        let events = [(0, 0, SPAWN), (0, 1, SPAWN), (0, 0, RUN), (1, 0, What::Suspended), (1, 1, RUN)];
        assert_eq!(one_at_a_time(&trace(&events)), Ok(true));
        assert!(one_at_a_time(&trace(&[(0, 0, SPAWN), (0, 1, SPAWN), (0, 0, RUN), (1, 1, RUN)])).is_err());
        assert!(one_at_a_time(&trace(&[(0, 0, SPAWN), (0, 0, What::Impostor)])).is_err());
        assert!(one_at_a_time(&trace(&[(0, 0, SPAWN), (0, 0, What::Suspended)])).is_err());
        assert!(one_at_a_time(&trace(&[(0, H, OPEN), (0, 0, SPAWN), (0, 0, RUN), (1, H, IDLE)])).is_err());
    }

    #[test]
    fn a_panic_that_nobody_planned_is_seen() {
        assert_eq!(
            no_stray_panic(&trace(&[(0, 0, SPAWN), (0, 0, What::Panics), (0, 0, What::Panicked)])),
            Ok(true)
        );
        assert!(no_stray_panic(&trace(&[(0, 0, SPAWN), (0, 0, What::Panicked)])).is_err());
    }

    #[test]
    fn a_poll_or_a_wake_too_many_is_seen() {
        let start = [(0, 0, SPAWN), (0, 0, RUN), (1, 0, What::Suspended)];
        let then = |more: &[(u64, u32, What)]| no_needless_poll(&trace(&[&start, more].concat()));
        assert_eq!(then(&[(2, 0, What::Woken), (3, 0, RUN)]), Ok(true));
        assert!(then(&[(3, 0, RUN)]).is_err());
        assert!(then(&[(2, 0, What::Woken), (2, 0, What::Woken)]).is_err());
        // Ready, paused, resumed: ready once more.
        let hover =
            [(2, 0, What::Woken), (2, 0, What::PauseCalled), (3, 0, What::ResumeCalled), (3, 0, What::Woken)];
        assert_eq!(then(&hover), Ok(true));
        assert!(no_needless_poll(&trace(&[(0, 0, RUN)])).is_err());
    }

    #[test]
    fn a_cancelled_task_that_runs_or_stays_is_seen() {
        let cancel = [(0, 0, SPAWN), (1, 0, What::CancelCalled)];
        let then = |more: &[(u64, u32, What)]| cancelled_never_runs(&trace(&[&cancel, more].concat()));
        assert_eq!(then(&[(1, 0, What::Dropped), (1, 0, What::CancelReturned)]), Ok(true));
        assert!(then(&[(1, 0, What::CancelReturned)]).is_err());
        assert!(then(&[(1, 0, What::Dropped), (1, 0, What::CancelReturned), (2, 0, RUN)]).is_err());
    }

    #[test]
    fn one_that_cancels_itself_is_gone_by_the_next_turn() {
        let own = [
            (0, 1, SPAWN),
            (0, 0, SPAWN),
            (0, 0, RUN),
            (1, 0, What::CancelCalled),
            (1, 0, What::CancelReturned),
        ];
        let then = |more: &[(u64, u32, What)]| cancelled_never_runs(&trace(&[&own, more].concat()));
        assert_eq!(then(&[(2, 0, What::Dropped), (2, 0, What::Cancelled), (2, 1, RUN)]), Ok(true));
        assert!(then(&[(2, 0, What::Suspended), (2, 1, RUN)]).is_err());
        assert!(then(&[(2, 0, What::Suspended), (2, H, IDLE)]).is_err());
    }

    #[test]
    fn a_paused_task_that_runs_is_seen() {
        let pause = [(0, 0, SPAWN), (0, 0, What::PauseCalled)];
        let then = |more: &[(u64, u32, What)]| paused_never_runs(&trace(&[&pause, more].concat()));
        assert_eq!(then(&[(1, 0, What::ResumeCalled), (1, 0, RUN)]), Ok(true));
        assert!(then(&[(1, 0, RUN)]).is_err());
    }

    #[test]
    fn drops_too_many_too_few_or_too_late_are_seen() {
        assert_eq!(
            dropped_once(&trace(&[(0, 0, SPAWN), (1, 0, What::Dropped), (1, 1, What::Joined(0))])),
            Ok(true)
        );
        assert!(dropped_once(&trace(&[(0, 0, SPAWN)])).is_err());
        assert!(
            dropped_once(&trace(&[(0, 0, SPAWN), (1, 0, What::Dropped), (1, 0, What::Dropped)])).is_err()
        );
        assert!(
            dropped_once(&trace(&[(0, 0, SPAWN), (1, 1, What::Joined(0)), (1, 0, What::Dropped)])).is_err()
        );
    }

    #[test]
    fn a_run_that_was_cut_short_is_seen() {
        assert_eq!(ends(&trace(&[(0, H, OPEN), (0, H, IDLE)])), Ok(true));
        assert!(ends(&trace(&[(0, H, OPEN), (0, H, What::CutShort)])).is_err());
    }

    #[test]
    fn whatever_is_lost_is_seen() {
        let left = |more: &[(u64, u32, What)]| {
            let start = [(0, 0, SPAWN), (0, 1, SPAWN), (0, 1, RUN), (0, 1, What::Finished), (0, 0, RUN)];
            no_lost_task(&trace(&[&start, more, &[(9, H, What::ShutDown)]].concat()))
        };
        let ok = [(1, 0, What::Waits), (1, 0, What::Suspended)];
        assert_eq!(left(&ok), Ok(true), "nobody sent the wake that it waits for");
        let text = |more: &[(u64, u32, What)]| left(more).unwrap_err().text;
        assert!(
            text(&[(1, 0, What::Waits), (1, 0, What::Suspended), (2, 0, What::Signalled)])
                .contains("wake is lost")
        );
        assert!(text(&[(1, 0, What::Sleeps(5)), (1, 0, What::Suspended)]).contains("timer is lost"));
        assert!(text(&[(1, 0, What::Joins(1)), (1, 0, What::Suspended)]).contains("join is lost"));
        assert!(text(&[(1, 0, What::Yielded(Why::Own))]).contains("task is lost"));
        assert!(text(&[(1, 0, What::Suspended)]).contains("yield is lost"));
        assert!(text(&[]).contains("never came back"));
    }
}
