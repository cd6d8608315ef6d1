//! What the host and its clock can count on.

use super::{Breach, Judgement};
use crate::ledger::{Entry, Ledger, State};
use crate::trace::{HOST, Trace, What};

/// The scheduler's time never goes back, whatever its clock does: at(n + 1) ≥ at(n), in nanoseconds.
///
/// # Errors
///
/// The first event that lies before the one before it.
pub fn time_goes_on(trace: &Trace) -> Judgement {
    let backwards = trace.events.windows(2).position(|pair| pair[1].at < pair[0].at);
    match backwards {
        Some(place) => {
            let by = trace.events[place].at - trace.events[place + 1].at;
            Err(Breach::new(place + 1, format!("this happens {by} ns before the event before it")))
        }
        // An honest clock does not tempt it.
        None => Ok(!trace.true_clock),
    }
}

/// The host is asked for a turn at most once until it comes; and it is asked if it was told that nothing is ready and
/// something is when it comes.
///
/// # Errors
///
/// The first time that the host was asked once more, or came by itself.
pub fn asked_once(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    let (mut asked, mut told_of_none, mut tested) = (0, false, false);
    for (place, event) in trace.events.iter().enumerate() {
        match event.what {
            What::Asked => {
                asked += 1;
                tested = true;
                if asked > 1 {
                    return Err(Breach::new(place, "the host was asked already and has not come yet"));
                }
            }
            What::SliceStarted(_) => {
                let news = |entry: &Entry| entry.can_run() || entry.state == State::Sent;
                if told_of_none
                    && asked == 0
                    && let Some(ready) = ledger.tasks.iter().position(news)
                {
                    let text =
                        format!("#{ready} became ready while nothing else was; the host was not asked");
                    return Err(Breach::new(place, text));
                }
                asked = 0;
            }
            What::SliceEnded { work_left, .. } => told_of_none = !work_left,
            _ => {}
        }
        ledger.apply(event);
    }
    Ok(tested)
}

/// At most `max_tasks` tasks live at a time, and a task is refused only if so many do; nothing that was accepted is lost.
///
/// # Errors
///
/// The first task too many, or the first one that was refused without need.
pub fn overload(trace: &Trace) -> Judgement {
    let Some(most) = trace.settings.max_tasks else {
        let refused = trace.events.iter().position(|event| event.what == What::Refused);
        return refused.map_or(Ok(false), |place| {
            Err(Breach::new(place, "a task was refused; there is no limit to their number"))
        });
    };
    let mut ledger = Ledger::new(trace);
    let is_alive = |state: State| !matches!(state, State::Unborn | State::Ended);
    let (mut alive, mut tested) = (0, false);
    for (place, event) in trace.events.iter().enumerate() {
        let was = event.task != HOST && is_alive(ledger.task(event.task).state);
        ledger.apply(event);
        if event.task == HOST {
            continue;
        }
        let is = is_alive(ledger.task(event.task).state);
        alive = alive + usize::from(is) - usize::from(was);
        tested |= alive >= most;
        match event.what {
            What::Refused if alive < most => {
                let text = format!("#{} is refused while {alive} tasks live; {most} may", event.task);
                return Err(Breach::new(place, text));
            }
            What::Started(_) if alive > most => {
                return Err(Breach::new(place, format!("{alive} tasks live; at most {most} may")));
            }
            _ => {}
        }
    }
    Ok(tested)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn time_that_goes_back_is_seen() {
        let honest = trace(&[(1, H, OPEN), (1, H, IDLE)]);
        assert_eq!(time_goes_on(&honest), Ok(false), "an honest clock tests nothing");
        assert_eq!(time_goes_on(&Trace { true_clock: false, ..honest }), Ok(true));
        assert!(time_goes_on(&trace(&[(2, H, OPEN), (1, H, IDLE)])).unwrap_err().text.contains("1000000 ns"));
    }

    #[test]
    fn a_host_that_is_asked_too_often_or_not_at_all_is_seen() {
        let asked = (0, H, What::Asked);
        let start = [(0, 0, SPAWN), asked, (0, H, OPEN), (0, 0, RUN), (1, 0, What::Finished), (1, H, IDLE)];
        let then = |more: &[(u64, u32, What)]| asked_once(&trace(&[&start, more].concat()));
        assert_eq!(then(&[(2, 1, SPAWN), (2, H, What::Asked), (2, H, OPEN)]), Ok(true));
        assert!(then(&[(2, 1, SPAWN), (2, H, What::Asked), (2, H, What::Asked)]).is_err());
        assert!(then(&[(2, 1, SPAWN), (2, H, OPEN)]).is_err());
    }

    #[test]
    fn a_task_too_many_and_one_refused_without_need_are_seen() {
        let judge = |events: &[(u64, u32, What)]| {
            let mut trace = trace(events);
            trace.settings.max_tasks = Some(1);
            overload(&trace)
        };
        assert_eq!(judge(&[(0, 0, SPAWN), (0, 1, SPAWN), (0, 1, What::Refused), (0, 0, RUN)]), Ok(true));
        assert!(judge(&[(0, 0, SPAWN), (0, 1, SPAWN), (0, 0, RUN)]).is_err());
        assert!(judge(&[(0, 0, SPAWN), (0, 0, What::Refused)]).is_err());
        assert!(overload(&trace(&[(0, 0, SPAWN), (0, 0, What::Refused)])).is_err());
    }
}
