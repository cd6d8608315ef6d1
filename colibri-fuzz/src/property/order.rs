//! Order: who goes before whom.

use std::collections::VecDeque;

use super::{Breach, Judgement};
use crate::ledger::{Entry, Ledger, State};
use crate::span::{nanos, short};
use crate::trace::{Event, HOST, Trace, What};
use crate::workload::Class;

/// Waits are kept in whole microseconds, so that a promotion may seem early by less than one: 1 000 ns.
pub const WAIT_RESOLUTION_NANOS: u64 = 1_000;

/// No task is picked while one of a class above its level is ready. A promoted task runs as a guest at the level to
/// which it rose; a guest that waits above is passed by only after another guest ran, since guests take at most every
/// second pick.
///
/// # Errors
///
/// The first pick over the head of a higher level.
pub fn class_order(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    let (mut guest_before, mut tested) = (false, false);
    for (place, event) in trace.events.iter().enumerate() {
        if rises_at_home(&ledger, event) {
            return Ok(tested);
        }
        if let What::Started(level) = event.what {
            let entry = ledger.task(event.task);
            if entry.level != level {
                let text = format!("#{} runs as {level:?}, its level is {:?}", event.task, entry.level);
                return Err(Breach::new(place, text));
            }
            tested |= ledger.runnable() > ledger.can_run[level as usize];
            let guest = !entry.is_at_home();
            let must_be_own = guest_before && !guest;
            if ledger.higher_can_run(level) || (ledger.higher_guest_can_run(level) && !must_be_own) {
                let above = |other: &u32| {
                    let other = ledger.task(*other);
                    other.can_run() && other.level < level && (other.is_at_home() || !must_be_own)
                };
                let other = (0..trace.tasks.len() as u32).find(above).unwrap_or_default();
                let level_above = ledger.task(other).level;
                let text =
                    format!("#{} runs as {level:?} while #{other} is ready as {level_above:?}", event.task);
                return Err(Breach::new(place, text));
            }
            guest_before = guest;
        }
        ledger.apply(event);
    }
    Ok(tested)
}

/// When a task of a class above its level becomes ready, the running task gives way within d, its longest gap between checkpoints:
/// (end of its poll) - (when the higher one became ready) ≤ d.
///
/// A task whose class changes while it runs is left out for that poll.
///
/// # Errors
///
/// The first poll that went on for longer.
pub fn preemption(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    // Since when somebody above the running task has been ready without a break, and who it was.
    let mut above: Option<(u64, u32)> = None;
    let mut level = Some(Class::Immediate);
    let mut tested = false;
    for (place, event) in trace.events.iter().enumerate() {
        if rises_at_home(&ledger, event) {
            return Ok(tested);
        }
        let running = ledger.running;
        ledger.apply(event);
        if let What::Started(started) = event.what {
            (above, level) = (None, Some(started));
        }
        if running.is_some_and(|task| ledger.moved.contains(&task)) {
            (level, above) = (None, None);
        }
        match (running, ledger.running, level) {
            (Some(_), Some(_), Some(level)) => match (ledger.higher_can_run(level), above) {
                (true, None) => above = Some((event.at, event.task)),
                (false, _) => above = None,
                _ => {}
            },
            (Some(task), None, _) => {
                if let Some((since, other)) = above.take() {
                    tested = true;
                    let (held, most) = (event.at - since, trace.tasks[task as usize].longest_gap);
                    if held > most {
                        let text = format!(
                            "#{task} ran on for {} after #{other} became ready above it; its longest gap is d = {}",
                            short(held),
                            short(most)
                        );
                        return Err(Breach::new(place, text));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(tested)
}

/// Whether a task of the highest class rises above the deadlines there. It is a guest in its own class from then on, which the
/// ledger does not tell apart.
fn rises_at_home(ledger: &Ledger, event: &Event) -> bool {
    matches!(event.what, What::Promoted(level) if level == ledger.task(event.task).class)
}

/// A task that has been ready for A without running rises one class, not before: wait ≥ A (less the resolution of
/// [`WAIT_RESOLUTION_NANOS`]). Guests, which is what promoted tasks are, take at most every second pick: of two picks
/// in a row at most one is a guest's, while any other task is ready.
///
/// # Errors
///
/// The first promotion that came too early or went too far, or the first guest out of turn.
pub fn promotion(trace: &Trace) -> Judgement {
    // Who waits behind deadlines rises above them in its own class, which is another matter.
    if trace.has_deadlines() {
        return Ok(false);
    }
    let wait = nanos(trace.settings.upgrade_after);
    let mut ledger = Ledger::new(trace);
    let mut risen = vec![0; trace.tasks.len()];
    let mut guest_before = false;
    for (place, event) in trace.events.iter().enumerate() {
        let task = event.task;
        match event.what {
            What::Promoted(level) => {
                let entry = ledger.task(task);
                if !entry.can_run() {
                    return Err(Breach::new(place, format!("#{task} is promoted though it is not ready")));
                }
                if level as usize + 1 != entry.level as usize {
                    let text =
                        format!("#{task} rises from {:?} to {level:?}: that is not one class", entry.level);
                    return Err(Breach::new(place, text));
                }
                let waited = event.at - entry.since.max(risen[task as usize]);
                if waited + WAIT_RESOLUTION_NANOS <= wait {
                    let text =
                        format!("#{task} rises after {} of waiting; A = {}", short(waited), short(wait));
                    return Err(Breach::new(place, text));
                }
                risen[task as usize] = event.at;
            }
            What::Started(_) => {
                let guest = !ledger.task(task).is_at_home();
                if guest && guest_before && ledger.at_home.iter().any(|many| *many > 0) {
                    let waits = |entry: &Entry| entry.can_run() && entry.is_at_home();
                    let other = ledger.tasks.iter().position(waits).unwrap_or_default();
                    let text = format!("two guests run in a row, #{task} the second, while #{other} waits");
                    return Err(Breach::new(place, text));
                }
                guest_before = guest;
            }
            _ => {}
        }
        ledger.apply(event);
        for moved in &ledger.moved {
            // In its new class all that it has waited counts.
            risen[*moved as usize] = 0;
        }
    }
    Ok(trace.has(|what| matches!(what, What::Promoted(_))))
}

/// While a task waits, no equal begins two turns: turns begun by another task of its class since it began to wait
/// ≤ 1 + floor(o / q). There o is what the waiting one owes: what it ran beyond its quanta, which is taken from its
/// next turns (as a rule less than its longest gap d; more if it was promoted while it owed).
///
/// A turn that the host or a higher class cut short goes on later; that is no new turn. Tasks that are guests of a
/// higher level are left out while they are.
///
/// # Errors
///
/// The first turn out of order.
pub fn round_robin(trace: &Trace) -> Judgement {
    // Among tasks with deadlines it is the deadline that counts.
    if trace.has_deadlines() {
        return Ok(false);
    }
    let quantum = nanos(trace.settings.quantum);
    let mut ledger = Ledger::new(trace);
    let mut tested = false;
    // By class, in the order in which they began to wait; entries that are out of date are skipped.
    let mut waiting: [VecDeque<(usize, u32)>; 3] = Default::default();
    // When each task began to wait, and where in the trace it began its last turns.
    let mut since = vec![0; trace.tasks.len()];
    let mut turns = vec![Vec::<usize>::new(); trace.tasks.len()];
    for (place, event) in trace.events.iter().enumerate() {
        let before = (event.task != HOST).then(|| *ledger.task(event.task));
        ledger.apply(event);
        let Some(before) = before else { continue };
        for task in &ledger.moved {
            // Turns in another class are no concern of this one.
            turns[*task as usize].clear();
        }
        let entry = ledger.task(event.task);
        if let What::Started(_) = event.what
            && before.is_at_home()
            && entry.fresh
        {
            let mine = &mut turns[event.task as usize];
            tested |= ledger.at_home[entry.class as usize] > 0;
            mine.push(place);
            let class = entry.class as usize;
            // The one that waits longest is in front; if it has not been wronged, nobody has.
            while let Some((began, other)) = waiting[class].front()
                && !(is_waiting(&ledger, *other, class) && since[*other as usize] == *began)
            {
                waiting[class].pop_front();
            }
            for (began, other) in &waiting[class] {
                let begun = mine.len() - mine.partition_point(|turn| turn < began);
                if begun < 2 {
                    break;
                }
                let owes = ledger.task(*other).owes / trace.tasks[*other as usize].turn(quantum);
                let current = is_waiting(&ledger, *other, class) && since[*other as usize] == *began;
                if *other != event.task && current && begun as u64 > 1 + owes {
                    let text = format!(
                        "#{} begins its turn no. {begun} since #{other} began to wait at {:.6} ms; at most {} may be",
                        event.task,
                        trace.events[*began].at as f64 / 1e6,
                        1 + owes
                    );
                    return Err(Breach::new(place, text));
                }
            }
        }
        let was = before.can_run() && before.is_at_home();
        let began = (!was).then_some(event.task);
        for task in began.into_iter().chain(ledger.moved.iter().copied()) {
            let entry = ledger.task(task);
            if entry.can_run() && entry.is_at_home() {
                since[task as usize] = place;
                waiting[entry.class as usize].push_back((place, task));
            }
        }
    }
    Ok(tested)
}

fn is_waiting(ledger: &Ledger, task: u32, class: usize) -> bool {
    let entry = ledger.task(task);
    entry.state == State::Ready && entry.can_run() && entry.is_at_home() && entry.class as usize == class
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;
    use crate::trace::Why;

    const HIGH: What = What::Spawned(Class::Immediate);
    const RUN_HIGH: What = What::Started(Class::Immediate);
    const LOW: What = What::Spawned(Class::Idle);
    const RUN_LOW: What = What::Started(Class::Idle);
    const NEXT: What = What::Yielded(Why::Quantum);

    #[test]
    fn a_pick_over_the_head_of_a_higher_class_is_seen() {
        let start = [(0, 0, LOW), (0, 1, HIGH)];
        let then = |more: &[(u64, u32, What)]| class_order(&trace(&[&start, more].concat()));
        assert_eq!(then(&[(0, 1, RUN_HIGH), (1, 1, What::Finished), (1, 0, RUN_LOW)]), Ok(true));
        assert!(then(&[(0, 0, RUN_LOW)]).is_err());
        assert_eq!(then(&[(0, 1, What::PauseCalled), (0, 0, RUN_LOW)]), Ok(false), "there is no other");
        assert!(then(&[(0, 1, RUN)]).unwrap_err().text.contains("its level is Immediate"));
    }

    #[test]
    fn a_task_that_does_not_give_way_is_seen() {
        let start = [(0, 0, LOW), (0, 0, RUN_LOW), (1, 1, HIGH)];
        let end = |at| {
            let mut trace = trace(&[&start[..], &[(at, 0, What::Yielded(Why::Preempted))]].concat());
            trace.tasks[0].longest_gap = 2 * MS;
            preemption(&trace)
        };
        assert_eq!(end(3), Ok(true));
        assert!(end(4).is_err());
    }

    #[test]
    fn early_high_and_too_many_promotions_are_seen() {
        let rise = |at, level| promotion(&trace(&[(0, 0, LOW), (at, 0, What::Promoted(level))]));
        assert_eq!(rise(500, Class::Normal), Ok(true));
        assert!(rise(499, Class::Normal).is_err());
        assert!(rise(500, Class::Immediate).is_err());
        let guests = [
            (0, 0, LOW),
            (0, 1, LOW),
            (500, 0, What::Promoted(Class::Normal)),
            (500, 1, What::Promoted(Class::Normal)),
        ];
        let run = |task| [(501, task, RUN), (502, task, What::Suspended)];
        let with = |more: &[(u64, u32, What)]| promotion(&trace(&[&guests, more].concat()));
        assert_eq!(with(&[run(0), run(1)].concat()), Ok(true), "nobody else is there");
        assert!(with(&[&[(500, 2, SPAWN)][..], &run(0), &run(1)].concat()).is_err());
        assert_eq!(
            with(&[&[(500, 2, SPAWN), (500, 3, SPAWN)][..], &run(0), &run(2), &run(1)].concat()),
            Ok(true)
        );
    }

    #[test]
    fn two_turns_over_a_waiting_equal_are_seen() {
        let turn = |task| [(1, task, RUN), (3, task, NEXT)];
        let start = [(0, 0, SPAWN), (0, 1, SPAWN)];
        let fair = trace(&[&start[..], &turn(0), &turn(1), &turn(0), &turn(1)].concat());
        assert_eq!(round_robin(&fair), Ok(true));
        let unfair = trace(&[&start[..], &turn(0), &turn(0)].concat());
        assert!(round_robin(&unfair).is_err());
        let owing = trace(&[&start[..], &[(0, 1, RUN), (5, 1, NEXT)], &turn(0), &turn(0)].concat());
        assert_eq!(round_robin(&owing), Ok(true), "a task that owes a turn is passed over");
    }

    #[test]
    fn a_turn_that_goes_on_is_no_second_turn() {
        let start = [(0, 0, SPAWN), (0, 1, SPAWN), (0, 0, RUN)];
        for why in [Why::Slice, Why::Preempted, Why::Host] {
            let goes_on = trace(&[&start[..], &[(1, 0, What::Yielded(why)), (1, 0, RUN)]].concat());
            assert_eq!(round_robin(&goes_on), Ok(true), "{why:?}");
        }
        let own = trace(&[&start[..], &[(1, 0, What::Yielded(Why::Own)), (1, 0, RUN)]].concat());
        assert!(round_robin(&own).is_err());
    }
}
