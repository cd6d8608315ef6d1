//! Service: how much, and how long until.

use super::{Breach, Judgement};
use crate::ledger::{Ledger, State};
use crate::rules::JUMP_NANOS;
use crate::span::{nanos, short};
use crate::trace::{HOST, Trace, What, Why};

/// The lag between equals is checked for all pairs of the first so many tasks: pairs grow with the square.
pub const LAG_TASKS: usize = 32;

/// A slice ends early, or without telling of work, only if nothing is ready; and it tells of work only if something
/// is (or a timer has become due). A yield that was requested ends a slice early as well.
///
/// # Errors
///
/// The first slice that ended too early, or told the host something wrong.
pub fn never_idle(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    let mut requested = false;
    let mut due = vec![None; trace.tasks.len()];
    for (place, event) in trace.events.iter().enumerate() {
        match event.what {
            What::YieldRequested => requested = true,
            What::Sleeps(until) => due[event.task as usize] = Some(until),
            What::Slept | What::Dropped => due[event.task as usize] = None,
            What::SliceEnded { work_left, .. } => {
                let ready = ledger.runnable();
                let (begin, length) = ledger.slice.unwrap_or((event.at, 0));
                let first = || {
                    let entry = ledger.tasks.iter().position(|entry| entry.can_run());
                    entry.map_or(String::new(), |task| format!(" (#{task})"))
                };
                if ready > 0 && !work_left {
                    let text = format!("the slice ends and tells of no work; {ready} ready{}", first());
                    return Err(Breach::new(place, text));
                }
                if ready > 0 && event.at - begin < length && !requested {
                    let text = format!(
                        "the slice ends after {} of its {}; {ready} ready{}",
                        short(event.at - begin),
                        short(length),
                        first()
                    );
                    return Err(Breach::new(place, text));
                }
                let timer = || due.iter().any(|due| due.is_some_and(|until| until <= event.at));
                if ready == 0 && work_left && !timer() {
                    return Err(Breach::new(place, "the slice tells of work, and nothing is ready"));
                }
                requested = false;
            }
            _ => {}
        }
        ledger.apply(event);
    }
    Ok(trace.has(|what| matches!(what, What::SliceEnded { .. })))
}

/// Beside an equal that is ready, a turn lasts at most q + d, its quantum (times its weight) and its longest gap;
/// if the equal became ready only after the quantum, at most d from then on. And a turn that ends because of the
/// quantum lasted at least q - d: the rest is what it had overdrawn before.
///
/// # Errors
///
/// The first turn that was too long or too short.
pub fn quantum(trace: &Trace) -> Judgement {
    let base = nanos(trace.settings.quantum);
    let mut ledger = Ledger::new(trace);
    // Since when an equal of the running task has been ready without a break.
    let mut equal: Option<u64> = None;
    let (mut moved, mut tested) = (false, false);
    for (place, event) in trace.events.iter().enumerate() {
        let running = ledger.running;
        let before = running.map(|task| *ledger.task(task));
        ledger.apply(event);
        if let What::Started(_) = event.what {
            (equal, moved) = (None, false);
        }
        moved |= running.is_some_and(|task| ledger.moved.contains(&task));
        if let Some(task) = ledger.running {
            let entry = ledger.task(task);
            let many = ledger.can_run[entry.level as usize];
            equal = if many > 0 { equal.or(Some(event.at)) } else { None };
        } else if let (Some(task), Some(before)) = (running, before) {
            let facts = trace.tasks[task as usize];
            let (gap, quantum) = (facts.longest_gap, facts.turn(base));
            let used = before.used + (event.at - before.started);
            if let (Some(since), false) = (equal, moved) {
                tested = true;
                let over = before.started + quantum.saturating_sub(before.used);
                let late = event.at.saturating_sub(over.max(since));
                if late > gap {
                    let text = format!(
                        "#{task} ran for {} beside a ready equal, {} past its quantum of q = {}; its longest gap is d = {}",
                        short(used),
                        short(late),
                        short(quantum),
                        short(gap)
                    );
                    return Err(Breach::new(place, text));
                }
            }
            if event.what == What::Yielded(Why::Quantum) && used + gap < quantum {
                let text =
                    format!("the quantum of #{task} ends after {}; q = {}", short(used), short(quantum));
                return Err(Breach::new(place, text));
            }
        }
    }
    Ok(tested)
}

/// A slice lasts at most its length + d, the longest gap of the task that ran last; and once its length is over, no
/// poll begins (but a first one, so that a slice of no length gets on).
///
/// # Errors
///
/// The first slice that was too long.
pub fn slice(trace: &Trace) -> Judgement {
    let mut ledger = Ledger::new(trace);
    let mut last = None;
    for (place, event) in trace.events.iter().enumerate() {
        match (event.what, ledger.slice) {
            (What::SliceStarted(_), _) => last = None,
            (What::Started(_), Some((begin, length))) => {
                if last.is_some() && event.at >= begin + length {
                    let over = short(event.at - begin);
                    let text =
                        format!("#{} begins to run {over} into a slice of {}", event.task, short(length));
                    return Err(Breach::new(place, text));
                }
                last = Some(event.task);
            }
            (What::Started(_), None) => {
                return Err(Breach::new(
                    place,
                    format!("#{} runs while the host has the thread", event.task),
                ));
            }
            (What::SliceEnded { .. }, Some((begin, length))) => {
                let gap = last.map_or(0, |task: u32| trace.tasks[task as usize].longest_gap);
                let used = event.at - begin;
                if used > length + gap {
                    let text = format!(
                        "the slice lasted {}; its length is {}, the longest gap of the last task d = {}",
                        short(used),
                        short(length),
                        short(gap)
                    );
                    return Err(Breach::new(place, text));
                }
            }
            _ => {}
        }
        ledger.apply(event);
    }
    Ok(trace.dispatches() > 0)
}

/// While two tasks of one class are both ready (or running) without a break, their services differ by at most
/// q + max(d1, d2) + max(o1, o2), where o is what each owed when the stretch began (nothing, if it was new). If one of
/// them began it in the middle of a turn that was cut, what both have used of their turns counts as owed too.
///
/// With weights all of these but q are divided by the task's weight: services are in proportion to the weights.
///
/// A yield of its own, a wait, a pause, a move or a promotion of either ends the stretch, and so does a poll of [`JUMP_NANOS`].
/// Checked for all pairs of
/// the first [`LAG_TASKS`] tasks, at the end of each poll.
///
/// # Errors
///
/// The first pair whose services went too far apart.
pub fn lag(trace: &Trace) -> Judgement {
    // Among tasks with deadlines it is the deadline that counts.
    if trace.has_deadlines() {
        return Ok(false);
    }
    let quantum = nanos(trace.settings.quantum);
    let many = trace.tasks.len().min(LAG_TASKS);
    let mut ledger = Ledger::new(trace);
    let mut tested = false;
    let mut service = vec![0u64; many];
    // Services and bounds are per unit of weight. Whole numbers lose less than a nanosecond in each of four divisions.
    let per_weight = |task: usize, span: u64| span / u64::from(trace.tasks[task].weight);
    let rounding = if trace.tasks.iter().any(|facts| facts.weight > 1) { 4 } else { 0 };
    // For each pair: the difference of their services when their stretch began, and the more that one of them owed.
    let mut base = vec![(0i64, 0u64); many * many];
    let backlogged = |ledger: &Ledger, task: usize| {
        let entry = &ledger.tasks[task];
        entry.competes_in(entry.class)
    };
    for (place, event) in trace.events.iter().enumerate() {
        let task = event.task as usize;
        let known = event.task != HOST && task < many;
        let before = known.then(|| (ledger.tasks[task], backlogged(&ledger, task)));
        ledger.apply(event);
        let (mut breaks, mut compare) = (false, false);
        if let Some((before, was)) = before {
            let now = backlogged(&ledger, task);
            let ended = before.state == State::Running && ledger.tasks[task].state != State::Running;
            let ran = if ended { event.at - before.started } else { 0 };
            service[task] += ran;
            breaks = now && (event.what == What::Yielded(Why::Own) || !was || ran >= JUMP_NANOS);
            compare = ended && was && now && !breaks;
        }
        let moved = ledger.moved.iter().map(|task| *task as usize).filter(|task| *task < many);
        for task in moved.chain(breaks.then_some(task)) {
            for other in (0..many).filter(|other| *other != task) {
                let [mine, theirs] = [task, other].map(|task| ledger.tasks[task]);
                let mut owed = per_weight(task, mine.owes).max(per_weight(other, theirs.owes));
                // A guest whose turn was cut comes home to the head, before one that is in the middle of its turn; one
                // that was resumed or moved goes to the tail with the rest of a turn; one that was moved while it runs is
                // before all others of its new class.
                if mine.keeps_turn || mine.state == State::Running {
                    owed += per_weight(task, mine.used) + per_weight(other, theirs.used);
                }
                let [mine, theirs] = [task, other].map(|task| per_weight(task, service[task]) as i64);
                let difference = mine - theirs;
                base[task * many + other] = (difference, owed);
                base[other * many + task] = (-difference, owed);
            }
        }
        if compare {
            for other in (0..many).filter(|other| *other != task) {
                if !backlogged(&ledger, other) || ledger.tasks[other].class != ledger.tasks[task].class {
                    continue;
                }
                let (start, owed) = base[task * many + other];
                tested = true;
                let [mine, theirs] = [task, other].map(|task| per_weight(task, service[task]) as i64);
                let ahead = mine - theirs - start;
                let gaps = [task, other].map(|task| per_weight(task, trace.tasks[task].longest_gap));
                let most = quantum + gaps[0].max(gaps[1]) + owed + rounding;
                if ahead.unsigned_abs() > most {
                    let text = format!(
                        "while both were ready, #{task} got {} {} than #{other}; at most {} is fair (q = {}, d = {} and {}, owed before: {})",
                        short(ahead.unsigned_abs()),
                        if ahead > 0 { "more" } else { "less" },
                        short(most),
                        short(quantum),
                        short(gaps[0]),
                        short(gaps[1]),
                        short(owed)
                    );
                    return Err(Breach::new(place, text));
                }
            }
        }
    }
    Ok(tested)
}

/// No ready task waits longer than 2 (A + q + d) + 2 N (q + d + c) of the host's time, where N is the largest number
/// of tasks that were ready at once while it waited, q the longest turn (the quantum times the largest weight), d the
/// longest gap of all tasks, and c = 0, since switches take
/// no virtual time. Time in which the host was away does not count: nobody could run.
///
/// A task that is moved to another class goes to the tail, and may have to rise once more from there: after a move it waits no
/// longer than A + q + d + 2 N (q + d + c), if that ends later.
///
/// # Errors
///
/// The first wait that was longer, also of tasks that still wait at the end.
pub fn starvation(trace: &Trace) -> Judgement {
    let wait = nanos(trace.settings.upgrade_after);
    let turns = trace.tasks.iter().map(|facts| facts.turn(nanos(trace.settings.quantum)));
    let quantum = turns.max().unwrap_or(0);
    let gap = trace.tasks.iter().map(|facts| facts.longest_gap).max().unwrap_or(0);
    let rise = wait + quantum + gap;
    let bound = |before_move: u64, ready: usize| {
        (2 * rise).max(before_move + rise) + 2 * ready as u64 * (quantum + gap)
    };
    let mut ledger = Ledger::new(trace);
    let mut peaks = Peaks::default();
    let mut tested = false;
    let judge = |ledger: &Ledger, peaks: &Peaks, place: usize, at: u64, task: usize| {
        let entry = &ledger.tasks[task];
        let waited = ledger.waited(entry, at);
        // Most waits are short of even the smallest bound: no need to look for the peak.
        if waited <= bound(0, 1) {
            return Ok(());
        }
        let ready = peaks.since(entry.since_place);
        let bound = bound(entry.before_move, ready);
        if waited > bound {
            let text = format!(
                "#{task} ({:?}) was ready for {} of the host's time without running; the bound is {} (A = {}, q = {}, d = {}, N = {ready})",
                entry.class,
                short(waited),
                short(bound),
                short(wait),
                short(quantum),
                short(gap)
            );
            return Err(Breach::new(place, text));
        }
        Ok(())
    };
    for (place, event) in trace.events.iter().enumerate() {
        match event.what {
            What::Started(_) => {
                judge(&ledger, &peaks, place, event.at, event.task as usize)?;
                tested |= ledger.waited(ledger.task(event.task), event.at) > 0;
            }
            What::ShutDown | What::CutShort => {
                let waiting = (0..ledger.tasks.len()).filter(|task| ledger.tasks[*task].can_run());
                waiting.into_iter().try_for_each(|task| judge(&ledger, &peaks, place, event.at, task))?;
            }
            _ => {}
        }
        ledger.apply(event);
        peaks.push(place, ledger.runnable() + usize::from(ledger.running.is_some()));
    }
    Ok(tested)
}

/// The largest of a row of numbers since any place: only falling values are kept, so that the first one since a place
/// is the largest since then.
#[derive(Default)]
struct Peaks(Vec<(usize, usize)>);

impl Peaks {
    fn push(&mut self, place: usize, value: usize) {
        while self.0.last().is_some_and(|(_, last)| *last <= value) {
            self.0.pop();
        }
        self.0.push((place, value));
    }

    fn since(&self, place: usize) -> usize {
        self.0.get(self.0.partition_point(|(other, _)| *other < place)).map_or(0, |(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;
    use crate::workload::Class;

    const NEXT: What = What::Yielded(Why::Quantum);
    const CUT: What = What::Yielded(Why::Slice);

    #[test]
    fn an_idle_slice_is_seen() {
        let end = |at, what| never_idle(&trace(&[(0, 0, SPAWN), (0, H, OPEN), (at, H, what)]));
        assert!(end(0, IDLE).unwrap_err().text.contains("tells of no work"));
        assert!(end(7, BUSY).unwrap_err().text.contains("after 7.00 ms of its 8.00 ms"));
        assert_eq!(end(8, BUSY), Ok(true));
        assert!(never_idle(&trace(&[(0, H, OPEN), (0, H, BUSY)])).is_err(), "nothing is ready");
        assert_eq!(
            never_idle(&trace(&[(0, 0, SPAWN), (0, H, OPEN), (1, H, What::YieldRequested), (1, H, BUSY)])),
            Ok(true)
        );
    }

    #[test]
    fn long_and_short_quanta_are_seen() {
        let turn =
            |length, what| quantum(&trace(&[(0, 0, SPAWN), (0, 1, SPAWN), (0, 0, RUN), (length, 0, what)]));
        assert_eq!(turn(2, NEXT), Ok(true));
        assert!(turn(3, NEXT).unwrap_err().text.contains("1.00 ms past its quantum"));
        assert!(turn(1, NEXT).unwrap_err().text.contains("ends after 1.00 ms"));
        assert_eq!(turn(1, CUT), Ok(true));
        let alone = trace(&[(0, 0, SPAWN), (0, 0, RUN), (7, 0, CUT)]);
        assert_eq!(quantum(&alone), Ok(false), "nobody waits");
        let parts = [(0, 0, SPAWN), (0, 1, SPAWN), (0, 0, RUN), (1, 0, CUT), (1, 0, RUN), (3, 0, NEXT)];
        assert!(quantum(&trace(&parts)).is_err(), "a turn in two parts is one turn");
    }

    #[test]
    fn long_slices_are_seen() {
        let run =
            |end| slice(&trace(&[(0, 0, SPAWN), (0, H, OPEN), (0, 0, RUN), (end, 0, CUT), (end, H, BUSY)]));
        assert_eq!(run(8), Ok(true));
        assert!(run(9).unwrap_err().text.contains("lasted 9.00 ms"));
        let second = [(0, 0, SPAWN), (0, H, OPEN), (0, 0, RUN), (8, 0, CUT), (8, 0, RUN)];
        assert!(
            slice(&trace(&second))
                .unwrap_err()
                .text
                .contains("begins to run 8.00 ms into a slice of 8.00 ms")
        );
    }

    #[test]
    fn services_that_differ_too_much_are_seen() {
        let turn = |from, task, to| [(from, task, RUN), (to, task, NEXT)];
        let start = [(0, 0, SPAWN), (0, 1, SPAWN)];
        assert_eq!(
            lag(&trace(&[&start[..], &turn(0, 0, 2), &turn(2, 1, 4), &turn(4, 0, 6)].concat())),
            Ok(true)
        );
        let text = lag(&trace(&[&start[..], &turn(0, 0, 2), &turn(2, 0, 4)].concat())).unwrap_err().text;
        assert!(text.contains("#0 got 4.00 ms more than #1"), "{text}");
    }

    #[test]
    fn starvation_is_seen_also_of_those_who_never_run() {
        // A = 500 ms, q = 2 ms, d = 0.1 ms, N = 1: 2 × 502.1 + 2 × 2.1 = 1008.4 ms.
        let wait = |at, what, task| {
            starvation(&trace(&[(0, 0, What::Spawned(Class::Idle)), (0, H, OPEN), (at, task, what)]))
        };
        assert_eq!(wait(1008, RUN, 0), Ok(true));
        assert!(wait(1009, RUN, 0).is_err());
        assert!(wait(1009, What::ShutDown, H).is_err());
        let away = [(0, 0, SPAWN), (2000, H, OPEN), (2000, 0, RUN)];
        assert_eq!(starvation(&trace(&away)), Ok(false), "the host was away");
    }

    #[test]
    fn peaks_know_the_largest_since_a_place() {
        let mut peaks = Peaks::default();
        for (place, value) in [5, 3, 4, 1, 2].into_iter().enumerate() {
            peaks.push(place, value);
        }
        assert_eq!([0, 1, 2, 3, 4].map(|place| peaks.since(place)), [5, 4, 4, 2, 2]);
    }
}
