//! Shares: who goes before equals, and that equals get the same.

use super::service::LAG_TASKS;
use super::{Breach, Judgement};
use crate::ledger::{Entry, Ledger};
use crate::rules::JUMP_NANOS;
use crate::span::{nanos, short};
use crate::trace::{HOST, Trace, What, Why};
use crate::workload::Class;

/// Jain's index of equal tasks is at least this.
pub const LEAST_JAIN: f64 = 0.99;

/// So many times the lag bound must each have got on average before the index is looked at. If services differ by at most
/// B and their mean is m, the index is at least 1 / (1 + (B / 2m)²): at m = 5 B that is 0.9901.
pub const MEAN_IN_BOUNDS: u64 = 5;

/// Of the tasks of a class that are ready, the one with the earliest deadline begins the next turn, before those without
/// one: deadline(picked) ≤ deadline(waiting). Who goes on with a turn that was cut, who owes a turn, and who was promoted
/// are left out. Checked for the first [`LAG_TASKS`] tasks that wait.
///
/// # Errors
///
/// The first turn that began before a more urgent one.
pub fn deadlines(trace: &Trace) -> Judgement {
    if !trace.has_deadlines() {
        return Ok(false);
    }
    let quantum = nanos(trace.settings.quantum);
    let mut due = vec![u64::MAX; trace.tasks.len()];
    let mut promoted = vec![false; trace.tasks.len()];
    let mut ledger = Ledger::new(trace);
    let mut tested = false;
    for (place, event) in trace.events.iter().enumerate() {
        match event.what {
            What::Due(at) => due[event.task as usize] = at,
            What::Promoted(_) => promoted[event.task as usize] = true,
            What::Started(_) => {
                let mine = ledger.task(event.task);
                let plain = |number: usize, entry: &Entry| {
                    let owes = entry.owes >= trace.tasks[number].turn(quantum);
                    !(entry.keeps_turn || owes || promoted[number] || !entry.is_at_home())
                };
                if plain(event.task as usize, mine) {
                    let urgent = due[event.task as usize] < u64::MAX;
                    tested |= urgent && ledger.at_home[mine.class as usize] > 1;
                    let before = |(number, other): (usize, &Entry)| {
                        other.can_run()
                            && other.class == mine.class
                            && due[number] < due[event.task as usize]
                            && plain(number, other)
                    };
                    if let Some(other) = ledger.tasks.iter().take(LAG_TASKS).enumerate().position(before) {
                        let text = format!(
                            "#{} begins a turn before #{other}, which is due at {:.6} ms",
                            event.task,
                            due[other] as f64 / 1e6
                        );
                        return Err(Breach::new(place, text));
                    }
                }
                promoted[event.task as usize] = false;
            }
            _ => {}
        }
        ledger.apply(event);
    }
    Ok(tested)
}

/// Equal tasks get equal service: over each stretch in which the same tasks of a class are ready without a break, Jain's
/// index of their services (per unit of weight) is at least 0.99, (Σx)² / (n Σx²) ≥ 0.99, once their mean is
/// 5 (q + d + o), with d the longest gap and o the most that any of them owed at the beginning. A poll of [`JUMP_NANOS`] ends a
/// stretch.
///
/// # Errors
///
/// The first stretch at whose end the index was lower.
pub fn equal_service(trace: &Trace) -> Judgement {
    // Among tasks with deadlines it is the deadline that counts.
    if trace.has_deadlines() {
        return Ok(false);
    }
    let quantum = nanos(trace.settings.quantum);
    let many = trace.tasks.len().min(LAG_TASKS);
    let mut ledger = Ledger::new(trace);
    let mut stretches: [Stretch; 3] = Default::default();
    let mut service = vec![0u64; many];
    let mut tested = false;
    for (place, event) in trace.events.iter().enumerate() {
        let running = ledger.running;
        let before = running.map(|task| *ledger.task(task));
        let class_before = class_of(&ledger, event.task);
        ledger.apply(event);
        let mut jumped = false;
        if let (Some(task), Some(before), None) = (running, before, ledger.running)
            && let Some(service) = service.get_mut(task as usize)
        {
            let ran = event.at - before.started;
            *service += ran / u64::from(trace.tasks[task as usize].weight);
            jumped = ran >= JUMP_NANOS;
        }
        let class = class_of(&ledger, event.task);
        // Who moved may have left any class.
        let all = Class::ALL.into_iter().filter(|_| !ledger.moved.is_empty());
        let own = event.what == What::Yielded(Why::Own);
        for touched in class_before.into_iter().chain(class).chain(all) {
            let stretch = &mut stretches[touched as usize];
            let of_class = |number: &usize| ledger.tasks[*number].competes_in(touched);
            let now = (0..many).filter(of_class).collect::<Vec<_>>();
            if now == stretch.tasks && !own && !jumped && ledger.moved.is_empty() {
                continue;
            }
            tested |= stretch.judge(trace, &service, place)?;
            let bound = |number: &usize| {
                let weight = u64::from(trace.tasks[*number].weight);
                quantum + (trace.tasks[*number].longest_gap + ledger.tasks[*number].owes) / weight
            };
            *stretch = Stretch {
                begin: now.iter().map(|number| service[*number]).collect(),
                bound: now.iter().map(bound).max().unwrap_or(0),
                tasks: now,
            };
        }
    }
    let end = trace.events.len().saturating_sub(1);
    for stretch in &stretches {
        tested |= stretch.judge(trace, &service, end)?;
    }
    Ok(tested)
}

fn class_of(ledger: &Ledger, task: u32) -> Option<Class> {
    (task != HOST).then(|| ledger.task(task).class)
}

/// A time in which the same tasks of a class were ready.
#[derive(Default)]
struct Stretch {
    tasks: Vec<usize>,
    /// What each had got when it began.
    begin: Vec<u64>,
    /// By how much their services may differ.
    bound: u64,
}

impl Stretch {
    /// Whether it was long enough to be judged.
    fn judge(&self, trace: &Trace, service: &[u64], place: usize) -> Judgement {
        let many = self.tasks.len() as f64;
        let got = self.tasks.iter().zip(&self.begin).map(|(task, begin)| (service[*task] - begin) as f64);
        let (sum, squares) = got.clone().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        if many < 2.0 || sum < many * (MEAN_IN_BOUNDS * self.bound) as f64 || squares == 0.0 {
            return Ok(false);
        }
        let jain = sum * sum / (many * squares);
        if jain >= LEAST_JAIN {
            return Ok(true);
        }
        let most = got.clone().fold(0.0, f64::max) as u64;
        let least = got.fold(f64::INFINITY, f64::min) as u64;
        let text = format!(
            "{} equal tasks got between {} and {}: Jain's index is {jain:.4} (q = {})",
            self.tasks.len(),
            short(least),
            short(most),
            short(nanos(trace.settings.quantum))
        );
        Err(Breach::new(place, text))
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    const NEXT: What = What::Yielded(Why::Quantum);

    /// Two tasks run in turn, `mine` and `theirs` ms each time.
    fn in_turn(mine: u64, theirs: u64) -> Judgement {
        let mut events = vec![(0, 0, SPAWN), (0, 1, SPAWN)];
        let mut now = 0;
        for _ in 0..20 {
            for (task, length) in [(0, mine), (1, theirs)] {
                events.push((now, task, RUN));
                now += length;
                events.push((now, task, NEXT));
            }
        }
        equal_service(&trace(&events))
    }

    #[test]
    fn unequal_shares_are_seen() {
        assert_eq!(in_turn(2, 2), Ok(true));
        assert!(in_turn(2, 3).unwrap_err().text.contains("Jain's index is 0.96"));
    }

    #[test]
    fn a_turn_before_a_more_urgent_one_is_seen() {
        let due =
            |at| [(0, 0, SPAWN), (0, 1, SPAWN), (0, 1, What::Due(at)), (0, 0, What::Due(5)), (0, 0, RUN)];
        assert_eq!(deadlines(&trace(&due(7))), Ok(true));
        assert!(deadlines(&trace(&due(3))).is_err());
    }
}
