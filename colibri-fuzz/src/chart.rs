//! What a picture of one case needs: who ran when, what each task got, how far equals were apart, who rose, how long
//! slices were. Pure functions over a trace; times in nanoseconds.

use serde::Serialize;

use crate::ledger::Ledger;
use crate::span::nanos;
use crate::trace::{HOST, Trace, What};
use crate::workload::{Class, Workload};

/// One case, ready to be drawn.
#[derive(Clone, Debug, Serialize)]
pub struct Picture {
    /// What it is, in a line.
    pub title: String,
    /// The workload, as sentences.
    pub workload: String,
    /// The workload, as Rust that repeats it.
    pub rust: String,
    /// When it ended.
    pub end: u64,
    /// The tasks' classes, by number.
    pub classes: Vec<Class>,
    /// Each poll: task, begin, end, the level it ran at, and why it ended.
    pub polls: Vec<(u32, u64, u64, Class, String)>,
    /// Each time in which a task was ready and did not run: task, begin, end.
    pub waits: Vec<(u32, u64, u64)>,
    /// Each slice: begin, end, the length that it was given.
    pub slices: Vec<(u64, u64, u64)>,
    /// Each promotion: when, who, to which level.
    pub promotions: Vec<(u64, u32, Class)>,
    /// By class: when, by how much the services of equals differed since the same tasks were ready, and by how much they
    /// might.
    pub lag: [Vec<(u64, u64, u64)>; 3],
}

/// Draws one case.
pub fn picture(title: &str, workload: &Workload, trace: &Trace) -> Picture {
    let mut picture = Picture {
        title: title.to_owned(),
        workload: workload.to_string(),
        rust: workload.to_rust(),
        end: trace.events.last().map_or(0, |event| event.at),
        classes: workload.tasks.iter().map(|plan| plan.class).collect(),
        polls: Vec::new(),
        waits: Vec::new(),
        slices: Vec::new(),
        promotions: Vec::new(),
        lag: [lag(trace, Class::Immediate), lag(trace, Class::Normal), lag(trace, Class::Idle)],
    };
    let mut ledger = Ledger::new(trace);
    let (mut poll, mut slice) = (None, (0, 0));
    for event in &trace.events {
        match event.what {
            What::Started(level) => {
                let since = ledger.task(event.task).since;
                if since < event.at {
                    picture.waits.push((event.task, since, event.at));
                }
                poll = Some((event.task, event.at, level));
            }
            What::Yielded(_) | What::Suspended | What::Finished | What::Panicked | What::Cancelled => {
                if let Some((task, begin, level)) = poll.take_if(|(task, ..)| *task == event.task) {
                    picture.polls.push((task, begin, event.at, level, event.what.to_string()));
                }
            }
            What::SliceStarted(length) => slice = (event.at, length),
            What::SliceEnded { .. } => picture.slices.push((slice.0, event.at, slice.1)),
            What::Promoted(level) => picture.promotions.push((event.at, event.task, level)),
            _ => {}
        }
        ledger.apply(event);
    }
    picture
}

/// At the end of each poll: by how much the services of equals differ, and may.
fn lag(trace: &Trace, class: Class) -> Vec<(u64, u64, u64)> {
    let quantum = nanos(trace.settings.quantum);
    let mut ledger = Ledger::new(trace);
    let mut service = vec![0u64; trace.tasks.len()];
    let (mut equals, mut begin, mut owed) = (Vec::new(), Vec::new(), 0);
    let mut points = Vec::new();
    for event in &trace.events {
        let running = ledger.running.map(|task| (task, ledger.task(task).started));
        ledger.apply(event);
        let Some((task, started)) = running.filter(|_| ledger.running.is_none() && event.task != HOST) else {
            continue;
        };
        service[task as usize] += (event.at - started) / u64::from(trace.tasks[task as usize].weight);
        let now = (0..trace.tasks.len()).filter(|task| ledger.tasks[*task].competes_in(class));
        let now = now.collect::<Vec<_>>();
        if now != equals {
            begin = now.iter().map(|task| service[*task]).collect();
            owed = now.iter().map(|task| ledger.tasks[*task].owes).max().unwrap_or(0);
            equals = now;
        }
        let got = || equals.iter().zip(&begin).map(|(task, begin)| service[*task] - begin);
        let spread = got().max().unwrap_or(0) - got().min().unwrap_or(0);
        let gap = equals.iter().map(|task| trace.tasks[*task].longest_gap).max().unwrap_or(0);
        let bound = if equals.len() < 2 { 0 } else { quantum + gap + owed };
        points.push((event.at, spread, bound));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colibri::Colibri;
    use crate::portrait::portrait;
    use crate::simulate::simulate;

    #[test]
    fn a_picture_has_all_that_the_page_draws() {
        let workload = portrait();
        let trace = simulate::<Colibri>(&workload);
        let picture = picture("the portrait", &workload, &trace);
        let polled: u64 = picture.polls.iter().map(|(_, begin, end, ..)| end - begin).sum();
        assert!(polled > 0 && polled <= picture.end, "{polled} of {}", picture.end);
        assert!(!picture.waits.is_empty() && !picture.slices.is_empty() && !picture.promotions.is_empty());
        let points = || picture.lag.iter().flatten().filter(|(.., bound)| *bound > 0);
        assert!(points().count() > 20 && points().all(|(_, spread, bound)| spread <= bound));
    }
}
