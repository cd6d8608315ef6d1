//! The table of task life: every way for a task to end, at every moment, with every kind of witness. Not random, but
//! all of them; a fault in the life of one task cannot hide between the dice.

use std::time::Duration;

use crate::workload::{Action, Class, Plan, Step, Workload};

/// The task that the table is about; the others act on it.
const SUBJECT: usize = 0;

/// Where in its life the task is when its end comes.
const MOMENTS: [&str; 9] = [
    "before its first poll",
    "in its first poll",
    "after a yield",
    "while it waits",
    "while it sleeps",
    "while it joins another",
    "while it hovers, ready",
    "while it hovers, waiting",
    "in the middle of its work",
];

/// How it ends, or what is done to it.
const ENDS: [&str; 8] = [
    "finishes",
    "panics",
    "cancels itself",
    "is cancelled by a task",
    "is cancelled from outside",
    "is cancelled twice",
    "is resumed, then finishes",
    "is moved to another class, then finishes",
];

/// Who awaits its end.
const WITNESSES: [&str; 4] =
    ["nobody", "one who waits before", "one who asks after", "one who is cancelled while waiting"];

/// One line of the table: what it is about, and the workload.
#[derive(Clone, Debug)]
pub struct Line {
    /// Moment, end and witness, in words.
    pub name: String,
    /// The workload.
    pub workload: Workload,
}

/// All lines: each moment with each end, each witness, in each class.
pub fn table() -> impl Iterator<Item = Line> {
    let combine = |moment| {
        (0..ENDS.len()).flat_map(move |end| (0..WITNESSES.len()).map(move |witness| (moment, end, witness)))
    };
    (0..MOMENTS.len()).flat_map(combine).flat_map(|(moment, end, witness)| {
        Class::ALL.map(|class| Line {
            name: format!(
                "a task of class {class:?} {} {}; {} awaits it",
                ENDS[end], MOMENTS[moment], WITNESSES[witness]
            ),
            workload: workload(class, moment, end, witness),
        })
    })
}

fn workload(class: Class, moment: usize, end: usize, witness: usize) -> Workload {
    let ms = Duration::from_millis;
    let plan = |class, at: u64, steps| Plan { class, arrives: Some(ms(at)), steps, ..Plan::default() };
    let work = |length| Step::Work { total: ms(length), gap: Duration::from_micros(100) };
    // What leads up to the moment. Each takes the task past 5 ms, when others act on it.
    let mut steps = match moment {
        0 | 1 => vec![],
        2 => vec![Step::Yield, work(1), Step::Yield],
        3 => vec![Step::Wait],
        4 => vec![Step::Sleep(ms(10))],
        5 => vec![Step::Join(1)],
        6 => vec![Step::Do(Action::Pause(SUBJECT)), work(1)],
        7 => vec![Step::WaitDoing(Action::Pause(SUBJECT))],
        _ => vec![work(10)],
    };
    match end {
        1 => steps.push(Step::Panic),
        2 => steps.extend([Step::Do(Action::Cancel(SUBJECT)), work(3)]),
        _ => steps.push(Step::Hold(Duration::from_micros(50))),
    }
    let act: Vec<Action> = match end {
        3 => vec![Action::Cancel(SUBJECT)],
        5 => vec![Action::Cancel(SUBJECT), Action::Cancel(SUBJECT), Action::Wake(SUBJECT)],
        6 => vec![Action::Resume(SUBJECT), Action::Wake(SUBJECT)],
        7 => vec![Action::SetClass(SUBJECT, Class::Idle), Action::SetClass(SUBJECT, Class::Immediate)],
        _ => vec![],
    };
    // The subject comes at 2 ms, behind the one that it may join; "before its first poll" means at 5 ms, while
    // somebody above it runs.
    let arrives = if moment == 0 { 5 } else { 2 };
    let mut tasks = vec![
        plan(class, arrives, steps),
        plan(Class::Normal, 0, vec![Step::Sleep(ms(12))]),
        plan(Class::Immediate, 5, act.into_iter().map(Step::Do).collect()),
        // Lets it go, in case it still waits or hovers.
        plan(Class::Immediate, 20, vec![Step::Do(Action::Wake(SUBJECT)), Step::Do(Action::Resume(SUBJECT))]),
    ];
    match witness {
        1 => tasks.push(plan(Class::Immediate, 3, vec![Step::Join(SUBJECT)])),
        2 => tasks.push(plan(Class::Normal, 60, vec![Step::Join(SUBJECT)])),
        3 => {
            let number = tasks.len();
            tasks.push(plan(Class::Immediate, 3, vec![Step::Join(SUBJECT), work(5)]));
            tasks.push(plan(Class::Idle, 4, vec![Step::Do(Action::Cancel(number))]));
        }
        _ => {}
    }
    let mut workload = Workload { tasks, ..Workload::default() };
    if end == 4 {
        let action = Action::Cancel(SUBJECT);
        workload.outside.push(crate::workload::Outside { at: ms(5), action });
    }
    workload
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Extra, judge};
    use crate::colibri::Colibri;

    #[test]
    fn every_life_keeps_every_promise() {
        let lines = table().collect::<Vec<_>>();
        assert_eq!(lines.len(), MOMENTS.len() * ENDS.len() * WITNESSES.len() * 3);
        for Line { name, workload } in lines {
            let judged = judge::<Colibri>(&workload, Extra { twice: true, related: true, model: true });
            if let Some(breach) = judged.breach {
                panic!("{name}: {breach}\n\n{workload}\n{}", judged.trace.timeline(breach.place, 60));
            }
        }
    }
}
