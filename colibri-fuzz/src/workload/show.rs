//! Workloads as sentences.

use std::fmt;
use std::time::Duration;

use super::{Action, ClockStep, Outside, Punctuality, Settings, Step, Workload};
use crate::span::to_text;

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { slice, quantum, upgrade_after, policy, max_tasks, bad_observer } = &self.settings;
        let [slice, quantum, upgrade] = [slice, quantum, upgrade_after].map(|span| to_text(*span));
        writeln!(f, "slice {slice}, quantum {quantum}, upgrade after {upgrade}")?;
        let list =
            |spans: &[Duration]| spans.iter().map(|span| to_text(*span)).collect::<Vec<_>>().join(", ");
        if !policy.is_empty() {
            writeln!(f, "slices by activity: {}", list(policy))?;
        }
        if let Some(most) = max_tasks {
            writeln!(f, "at most {most} tasks")?;
        }
        if *bad_observer {
            writeln!(f, "the observer panics now and then")?;
        }
        if let Some(coarse) = self.clock.coarse {
            writeln!(f, "the clock shows multiples of {}", to_text(coarse))?;
        }
        for step in &self.clock.steps {
            match step {
                ClockStep::Ahead(at, by) => {
                    writeln!(f, "the clock jumps ahead by {} at {}", to_text(*by), to_text(*at))?;
                }
                ClockStep::Back(at, by) => {
                    writeln!(f, "the clock steps back by {} at {}", to_text(*by), to_text(*at))?;
                }
            }
        }
        if !self.host.turns.is_empty() {
            writeln!(f, "the host's turns: {}", list(&self.host.turns))?;
        }
        if !self.host.away.is_empty() {
            writeln!(f, "the host stays away for: {}", list(&self.host.away))?;
        }
        if !self.host.timers.is_empty() {
            let come = |when: &Punctuality| match when {
                Punctuality::InTime => "in time".to_owned(),
                Punctuality::Early(by) => format!("{} early", to_text(*by)),
                Punctuality::Late(by) => format!("{} late", to_text(*by)),
            };
            writeln!(
                f,
                "the host comes to timers: {}",
                self.host.timers.iter().map(come).collect::<Vec<_>>().join(", ")
            )?;
        }
        for (number, plan) in self.tasks.iter().enumerate() {
            let class = format!("{:?}", plan.class).to_lowercase();
            let arrives = plan.arrives.map_or("if spawned".to_owned(), |at| format!("at {}", to_text(at)));
            write!(f, "#{number:<3} {class:<9} {arrives:<10} ")?;
            if plan.weight != 1 {
                write!(f, "weight {}, ", plan.weight)?;
            }
            if let Some(deadline) = plan.deadline {
                write!(f, "due after {}, ", to_text(deadline))?;
            }
            if plan.bad_drop {
                write!(f, "panics when dropped, ")?;
            }
            if plan.bad_waker {
                write!(f, "its wakers panic, ")?;
            }
            if plan.rounds != 1 {
                write!(f, "{} times: ", plan.rounds)?;
            }
            let steps = plan.steps.iter().map(|step| step.to_string()).collect::<Vec<_>>();
            writeln!(f, "{}", if steps.is_empty() { "ends at once".to_owned() } else { steps.join(", ") })?;
        }
        for Outside { at, action } in &self.outside {
            writeln!(f, "outside        at {:<7} {action}", to_text(*at))?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Work { total, gap } if gap >= total => write!(f, "work {}", to_text(*total)),
            Step::Work { total, gap } => write!(f, "work {} by {}", to_text(*total), to_text(*gap)),
            Step::Hold(total) => write!(f, "hold {}", to_text(*total)),
            Step::Yield => write!(f, "yield"),
            Step::Sleep(span) => write!(f, "sleep {}", to_text(*span)),
            Step::Wait => write!(f, "wait"),
            Step::WaitDoing(action) => write!(f, "wait ({action})"),
            Step::Join(of) => write!(f, "join #{of}"),
            Step::Within { limit, step } => write!(f, "within {} ({step})", to_text(*limit)),
            Step::Do(action) => write!(f, "{action}"),
            Step::Panic => write!(f, "panic"),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Spawn(of) => write!(f, "spawn #{of}"),
            Action::SpawnFromAfar(of) => write!(f, "spawn #{of} from another thread"),
            Action::Wake(of) => write!(f, "wake #{of}"),
            Action::WakeFromAfar(of) => write!(f, "wake #{of} from another thread"),
            Action::Submit(of) => write!(f, "submit #{of}"),
            Action::Nudge(of) => write!(f, "nudge #{of}"),
            Action::Cancel(of) => write!(f, "cancel #{of}"),
            Action::Pause(of) => write!(f, "pause #{of}"),
            Action::Resume(of) => write!(f, "resume #{of}"),
            Action::SetClass(of, class) => write!(f, "move #{of} to {}", format!("{class:?}").to_lowercase()),
            Action::RequestYield => write!(f, "request a yield"),
            Action::SetActivity(activity) => write!(f, "set activity {activity}"),
        }
    }
}
