//! Makes a failing workload small: plain data in, plain data out, so that it works on files as well as on drawn
//! cases. A step is kept if the same promise still breaks.

use std::time::{Duration, Instant};

use crate::span::nanos;
use crate::workload::{Action, Class, Faults, Host, Plan, Settings, Step, Workload};

/// The smallest workload found within so many simulations, and so much time, for which `fails` still holds.
///
/// It removes halves, then quarters, … of the tasks, steps and outside events; then makes what is left plainer: the
/// default settings, a prompt host, fewer rounds, rounder and shorter times.
pub fn shrink(
    workload: &Workload,
    tries: u32,
    time: Duration,
    fails: impl Fn(&Workload) -> bool,
) -> Workload {
    let mut search = Search { best: workload.clone(), tries, until: Instant::now() + time, fails };
    loop {
        let before = search.best.clone();
        search.remove_tasks();
        search.remove_parts();
        search.simplify();
        if search.best == before || search.tries == 0 {
            return search.best;
        }
    }
}

struct Search<F> {
    best: Workload,
    tries: u32,
    until: Instant,
    fails: F,
}

impl<F: Fn(&Workload) -> bool> Search<F> {
    /// Takes `candidate` if it still fails.
    fn try_it(&mut self, candidate: Workload) -> bool {
        if self.tries == 0 || candidate == self.best || candidate.tasks.is_empty() {
            return false;
        }
        self.tries = if Instant::now() < self.until { self.tries - 1 } else { 0 };
        let fails = (self.fails)(&candidate);
        if fails {
            self.best = candidate;
        }
        fails
    }

    fn change(&mut self, change: impl FnOnce(&mut Workload)) -> bool {
        let mut candidate = self.best.clone();
        change(&mut candidate);
        self.try_it(candidate)
    }

    /// Removes runs of a list's entries: as many as possible at once.
    fn remove_runs(
        &mut self,
        length: impl Fn(&Workload) -> usize,
        remove: impl Fn(&mut Workload, usize, usize),
    ) {
        let mut run = length(&self.best).div_ceil(2);
        while run > 0 {
            let mut from = 0;
            while from < length(&self.best) {
                let to = (from + run).min(length(&self.best));
                // Something smaller has taken its place if it went.
                if !self.change(|workload| remove(workload, from, to)) {
                    from = to;
                }
            }
            run /= 2;
        }
    }

    fn remove_tasks(&mut self) {
        self.remove_runs(
            |workload| workload.tasks.len(),
            |workload, from, to| {
                *workload = without_tasks(workload, from, to);
            },
        );
    }

    fn remove_parts(&mut self) {
        self.remove_runs(
            |workload| workload.outside.len(),
            |workload, from, to| drop(workload.outside.drain(from..to)),
        );
        for task in 0..self.best.tasks.len() {
            self.remove_runs(
                |workload| workload.tasks[task].steps.len(),
                |workload, from, to| drop(workload.tasks[task].steps.drain(from..to)),
            );
        }
        self.remove_runs(
            |workload| workload.clock.steps.len(),
            |workload, from, to| drop(workload.clock.steps.drain(from..to)),
        );
        self.remove_runs(
            |workload| workload.host.turns.len(),
            |workload, from, to| drop(workload.host.turns.drain(from..to)),
        );
        self.remove_runs(
            |workload| workload.host.away.len(),
            |workload, from, to| drop(workload.host.away.drain(from..to)),
        );
        self.remove_runs(
            |workload| workload.host.timers.len(),
            |workload, from, to| drop(workload.host.timers.drain(from..to)),
        );
    }

    fn simplify(&mut self) {
        self.change(|workload| workload.host = Host::default());
        self.change(|workload| workload.settings = Settings::default());
        self.change(|workload| workload.settings.policy.clear());
        self.change(|workload| workload.settings.max_tasks = None);
        self.change(|workload| workload.settings.bad_observer = false);
        self.change(|workload| workload.clock = Faults::default());
        self.change(|workload| workload.clock.coarse = None);
        for task in 0..self.best.tasks.len() {
            self.change(|workload| workload.tasks[task].rounds = 1);
            while self.best.tasks[task].rounds > 1 && self.change(|workload| workload.tasks[task].rounds /= 2)
            {
            }
            while self.best.tasks[task].rounds > 1 && self.change(|workload| workload.tasks[task].rounds -= 1)
            {
            }
            self.change(|workload| workload.tasks[task].weight = 1);
            self.change(|workload| workload.tasks[task].deadline = None);
            self.change(|workload| workload.tasks[task].bad_drop = false);
            self.change(|workload| workload.tasks[task].bad_waker = false);
            for step in 0..self.best.tasks[task].steps.len() {
                if let Step::Within { step: inner, .. } = self.best.tasks[task].steps[step].clone() {
                    self.change(|workload| workload.tasks[task].steps[step] = *inner);
                }
            }
            self.change(|workload| workload.tasks[task].class = Class::Normal);
            self.change(|workload| workload.tasks[task].arrives = Some(Duration::ZERO));
        }
        // Every length of time in the workload, by its number.
        let many = spans(&mut self.best.clone()).len();
        for place in 0..many {
            for plainer in plainer(*spans(&mut self.best.clone())[place]) {
                if self.change(|workload| *spans(workload)[place] = plainer) {
                    break;
                }
            }
        }
    }
}

/// Plainer lengths to try instead of `span`, the plainest first.
fn plainer(span: Duration) -> Vec<Duration> {
    let nanos = nanos(span);
    let mut tries =
        vec![0, nanos / 1_000_000_000 * 1_000_000_000, nanos / 1_000_000 * 1_000_000, nanos / 1_000 * 1_000];
    tries.extend([nanos / 10, nanos / 2, nanos - nanos / 4, nanos.saturating_sub(1_000_000)]);
    tries.retain(|plain| *plain < nanos);
    tries.dedup();
    tries.into_iter().map(Duration::from_nanos).collect()
}

/// All lengths of time in a workload but the settings', in a fixed order.
fn spans(workload: &mut Workload) -> Vec<&mut Duration> {
    let mut spans = Vec::new();
    for Plan { arrives, steps, .. } in &mut workload.tasks {
        spans.extend(arrives);
        for step in steps {
            let mut next = Some(step);
            while let Some(step) = next.take() {
                match step {
                    Step::Work { total, gap } => spans.extend([total, gap]),
                    Step::Hold(span) | Step::Sleep(span) => spans.push(span),
                    Step::Within { limit, step } => {
                        spans.push(limit);
                        next = Some(&mut **step);
                    }
                    _ => {}
                }
            }
        }
    }
    spans.extend(workload.outside.iter_mut().map(|outside| &mut outside.at));
    spans.extend(&mut workload.host.turns);
    spans.extend(&mut workload.host.away);
    spans
}

/// The workload without these tasks; what others do to them goes as well, and the numbers of the rest move up.
fn without_tasks(workload: &Workload, from: usize, to: usize) -> Workload {
    let renumber = |of: usize| match workload.resolve(of) {
        of if of < from => Some(of),
        of if of < to => None,
        of => Some(of - (to - from)),
    };
    let again = |action: &Action| {
        let mut action = *action;
        if let Some(of) = action.target_mut() {
            *of = renumber(*of)?;
        }
        Some(action)
    };
    let mut smaller = workload.clone();
    smaller.tasks.drain(from..to);
    for plan in &mut smaller.tasks {
        plan.steps = std::mem::take(&mut plan.steps)
            .into_iter()
            .filter_map(|mut step| match step.innermost_mut() {
                Step::Join(of) => renumber(*of).map(Step::Join),
                Step::Do(action) => again(action).map(Step::Do),
                inner @ Step::WaitDoing(_) => {
                    if let Step::WaitDoing(action) = inner {
                        *inner = again(action).map_or(Step::Wait, Step::WaitDoing);
                    }
                    Some(step)
                }
                _ => Some(step),
            })
            .collect();
    }
    smaller
        .outside
        .retain_mut(|outside| again(&outside.action).map(|action| outside.action = action).is_some());
    smaller
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;

    #[test]
    fn finds_the_one_step_that_matters() {
        let holds = |workload: &Workload| {
            let steps = workload.tasks.iter().flat_map(|plan| &plan.steps);
            steps.into_iter().any(|step| matches!(step, Step::Sleep(span) if nanos(*span) >= 1_000_000))
        };
        let large = (0..)
            .map(|number| Case { seed: 1, number }.workload())
            .find(|workload| workload.size() > 60 && holds(workload));
        let small = shrink(&large.unwrap(), 2_000, Duration::from_secs(600), holds);
        assert_eq!(small.size(), 3, "one task, one step:\n{small}");
        let Step::Sleep(span) = small.tasks[0].steps[0] else { panic!("{small}") };
        assert!(nanos(span) < 1_500_000, "{small}");
    }

    #[test]
    fn numbers_move_up_with_their_tasks() {
        let plan = |steps| Plan { arrives: None, steps, ..Plan::default() };
        let workload = Workload {
            tasks: vec![
                plan(vec![]),
                plan(vec![]),
                plan(vec![Step::Join(2), Step::Join(1), Step::Do(Action::Wake(0))]),
            ],
            ..Workload::default()
        };
        let smaller = without_tasks(&workload, 1, 2);
        assert_eq!(smaller.tasks[1].steps, [Step::Join(1), Step::Do(Action::Wake(0))]);
    }
}
