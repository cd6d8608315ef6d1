//! A workload: what tasks do, when they arrive, how the host behaves. Plain data that reads like a sentence, is
//! written to and read from JSON, and means the same on every scheduler.

mod build;
mod maybe;
mod show;
mod spans;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::subject::Skill;

pub use self::build::span;

/// A task's number: its place in [`Workload::tasks`]. Numbers past the end wrap around, so that a workload stays
/// meaningful while its shrinking removes tasks.
pub type Number = usize;

/// One complete case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The scheduler's lengths of time.
    #[serde(default)]
    pub settings: Settings,
    /// How the owner of the thread behaves.
    #[serde(default)]
    pub host: Host,
    /// All tasks that may ever exist.
    pub tasks: Vec<Plan>,
    /// What happens from outside: another thread, a user, a device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
    /// What is wrong with the clock.
    #[serde(default, skip_serializing_if = "Faults::is_none")]
    pub clock: Faults,
}

/// The scheduler's lengths of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How long one turn of the host may last.
    #[serde(with = "crate::span")]
    pub slice: Duration,
    /// How long one task runs before an equal gets its turn.
    #[serde(with = "crate::span")]
    pub quantum: Duration,
    /// After what wait a ready task rises one class.
    #[serde(with = "crate::span")]
    pub upgrade_after: Duration,
    /// The slice's length by what the host is doing ([`Action::SetActivity`]), gone through again and again. Empty:
    /// always [`Settings::slice`].
    #[serde(with = "spans", skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<Duration>,
    /// How many tasks may live at a time; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tasks: Option<usize>,
    /// Whether who observes the scheduler panics now and then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bad_observer: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            slice: Duration::from_millis(8),
            quantum: Duration::from_millis(2),
            upgrade_after: Duration::from_millis(500),
            policy: Vec::new(),
            max_tasks: None,
            bad_observer: false,
        }
    }
}

impl Settings {
    /// The slice's length while the host does this.
    pub fn slice_while(&self, activity: usize) -> Duration {
        self.policy.get(activity % self.policy.len().max(1)).copied().unwrap_or(self.slice)
    }
}

/// What is wrong with the clock that the scheduler is shown. Time itself goes on evenly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// It shows whole multiples of this only.
    #[serde(with = "maybe", skip_serializing_if = "Option::is_none")]
    pub coarse: Option<Duration>,
    /// It steps, at these times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ClockStep>,
}

impl Faults {
    /// Whether nothing is wrong.
    pub fn is_none(&self) -> bool {
        *self == Faults::default()
    }
}

/// A step of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockStep {
    /// It jumps ahead by so much: the machine was asleep.
    Ahead(#[serde(with = "crate::span")] Duration, #[serde(with = "crate::span")] Duration),
    /// It steps back by so much: it was corrected.
    Back(#[serde(with = "crate::span")] Duration, #[serde(with = "crate::span")] Duration),
}

/// How the owner of the thread behaves. Both lists are gone through again and again; an empty one means "at once"
/// or "in time".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Lengths of the turns, where the host chooses them itself (`run_for`). Empty: always `run_slice`.
    #[serde(with = "spans", skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Duration>,
    /// How long it stays away after a turn that left work.
    #[serde(with = "spans", skip_serializing_if = "Vec::is_empty")]
    pub away: Vec<Duration>,
    /// When it comes, relative to the timer it was told of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timers: Vec<Punctuality>,
}

/// When the host comes, relative to the timer it was told of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Punctuality {
    /// Exactly then.
    InTime,
    /// This much before (nothing must happen), and once more exactly then.
    Early(#[serde(with = "crate::span")] Duration),
    /// This much after.
    Late(#[serde(with = "crate::span")] Duration),
}

/// A scheduling class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Runs before all others.
    Immediate,
    /// The middle.
    Normal,
    /// Runs when nothing else wants to.
    Idle,
}

impl Class {
    /// All of them, the highest first.
    pub const ALL: [Class; 3] = [Class::Immediate, Class::Normal, Class::Idle];
}

/// What one task does, from its arrival to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Its class at first.
    pub class: Class,
    /// When it is spawned from outside; absent: only another task's [`Action::Spawn`] brings it.
    #[serde(default, with = "maybe", skip_serializing_if = "Option::is_none")]
    pub arrives: Option<Duration>,
    /// How many quanta its turn lasts.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub weight: u32,
    /// By when it should be done, from its spawning; it goes before equals without, or with a later one.
    #[serde(default, with = "maybe", skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Duration>,
    /// Whether what it holds panics when it is dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bad_drop: bool,
    /// Whether the wakers with which it sleeps and awaits others' ends panic once they have woken it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bad_waker: bool,
    /// How often it goes through its steps.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub rounds: u32,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

impl Default for Plan {
    /// A task of class Normal that comes at the start and ends at once.
    fn default() -> Self {
        Plan {
            class: Class::Normal,
            arrives: Some(Duration::ZERO),
            weight: 1,
            deadline: None,
            bad_drop: false,
            bad_waker: false,
            rounds: 1,
            steps: Vec::new(),
        }
    }
}

/// One step of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Computes for `total`, with a checkpoint after each `gap` and at the end.
    Work {
        /// The whole length.
        #[serde(with = "crate::span")]
        total: Duration,
        /// From one checkpoint to the next.
        #[serde(with = "crate::span")]
        gap: Duration,
    },
    /// Computes without any checkpoint: nobody can stop it.
    Hold(#[serde(with = "crate::span")] Duration),
    /// Gives way once.
    Yield,
    /// Sleeps.
    Sleep(#[serde(with = "crate::span")] Duration),
    /// Waits for a [`Action::Wake`] that is meant for it; those that came before count.
    Wait,
    /// The same, and does something between the moment at which it can be woken and the end of its poll. A wake that
    /// comes of that meets the task while it runs.
    WaitDoing(Action),
    /// Waits for the end of another task, if that exists and nobody else waits for it.
    Join(Number),
    /// Another step, given up when so much time is over. (Not a [`Step::Join`], which would go on in secret.)
    Within {
        /// How long it may take.
        #[serde(with = "crate::span")]
        limit: Duration,
        /// The step.
        step: Box<Step>,
    },
    /// Acts on another task, or on itself.
    Do(Action),
    /// Panics.
    Panic,
}

/// What a task, or the outside, does to a task. On a task that is not there (any more) it does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Spawns it, unless that was done.
    Spawn(Number),
    /// Spawns it, unless that was done, from another thread: nobody holds a handle. (Only a task of weight 1 and without a
    /// deadline.)
    SpawnFromAfar(Number),
    /// Lets it go past one [`Step::Wait`].
    Wake(Number),
    /// The same, from another thread.
    WakeFromAfar(Number),
    /// Spawns it, unless that was done, in the place of the one that was submitted before in its class: that is cancelled.
    /// (Only a task of weight 1 and without a deadline.)
    Submit(Number),
    /// Wakes it for no reason.
    Nudge(Number),
    /// Cancels it.
    Cancel(Number),
    /// Pauses it.
    Pause(Number),
    /// Resumes it.
    Resume(Number),
    /// Moves it to another class.
    SetClass(Number, Class),
    /// Asks whoever runs to give way to the host.
    RequestYield,
    /// Says what the host is doing: which of [`Settings::policy`] holds from the next slice on.
    SetActivity(usize),
}

impl Action {
    /// The task that it is about, if it is about one.
    pub fn target_mut(&mut self) -> Option<&mut Number> {
        match self {
            Action::Spawn(of)
            | Action::SpawnFromAfar(of)
            | Action::Wake(of)
            | Action::WakeFromAfar(of)
            | Action::Submit(of)
            | Action::Nudge(of)
            | Action::Cancel(of)
            | Action::Pause(of)
            | Action::Resume(of)
            | Action::SetClass(of, _) => Some(of),
            Action::RequestYield | Action::SetActivity(_) => None,
        }
    }

    /// What a scheduler must offer for it.
    pub fn needs(&self) -> Option<Skill> {
        match self {
            Action::Spawn(_) | Action::Wake(_) | Action::WakeFromAfar(_) | Action::Nudge(_) => None,
            Action::SpawnFromAfar(_) => Some(Skill::Afar),
            Action::Cancel(_) | Action::Submit(_) => Some(Skill::Cancel),
            Action::Pause(_) | Action::Resume(_) => Some(Skill::Pause),
            Action::SetClass(..) => Some(Skill::Classes),
            Action::RequestYield => Some(Skill::Requests),
            Action::SetActivity(_) => Some(Skill::Activity),
        }
    }
}

impl Step {
    /// The step itself, or the one within it.
    pub fn innermost(&self) -> &Step {
        match self {
            Step::Within { step, .. } => step.innermost(),
            step => step,
        }
    }

    /// The same, to be changed.
    pub fn innermost_mut(&mut self) -> &mut Step {
        match self {
            Step::Within { step, .. } => step.innermost_mut(),
            step => step,
        }
    }
}

/// Something that happens from outside at a time of its own, also in the middle of a task's step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outside {
    /// When, from the start.
    #[serde(with = "crate::span")]
    pub at: Duration,
    /// What.
    pub action: Action,
}

impl Workload {
    /// The place that `number` means here.
    pub fn resolve(&self, number: Number) -> usize {
        number % self.tasks.len().max(1)
    }

    /// Whether any task has a deadline.
    pub fn has_deadlines(&self) -> bool {
        self.tasks.iter().any(|plan| plan.deadline.is_some())
    }

    /// A measure of how much there is to read: what shrinking makes small.
    pub fn size(&self) -> usize {
        self.tasks.iter().map(|plan| 2 + plan.steps.len()).sum::<usize>()
            + self.outside.len()
            + self.host.turns.len()
            + self.host.away.len()
            + self.host.timers.len()
            + self.clock.steps.len()
    }

    /// This workload without what a scheduler of these skills does not offer, so that it can be judged by the rest.
    pub fn for_skills(&self, skills: &[Skill]) -> Workload {
        let can = |skill: Option<Skill>| skill.is_none_or(|skill| skills.contains(&skill));
        let mut workload = self.clone();
        if !can(Some(Skill::Clock)) {
            workload.clock = Faults::default();
        }
        if !can(Some(Skill::Limit)) {
            workload.settings.max_tasks = None;
        }
        if !can(Some(Skill::Activity)) {
            workload.settings.policy.clear();
        }
        workload.outside.retain(|outside| can(outside.action.needs()));
        for plan in &mut workload.tasks {
            if !can(Some(Skill::Classes)) {
                plan.class = Class::Normal;
            }
            if !can(Some(Skill::Weights)) {
                plan.weight = 1;
            }
            if !can(Some(Skill::Deadlines)) {
                plan.deadline = None;
            }
            plan.bad_drop &= can(Some(Skill::BadDrops));
            plan.bad_waker &= can(Some(Skill::BadWakers));
            for step in &mut plan.steps {
                let step = step.innermost_mut();
                if let Step::WaitDoing(action) = step
                    && !can(action.needs())
                {
                    *step = Step::Wait;
                }
            }
            plan.steps.retain(|step| !matches!(step, Step::Do(action) if !can(action.needs())));
        }
        workload
    }
}

fn once() -> u32 {
    1
}

fn is_once(rounds: &u32) -> bool {
    *rounds == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Workload {
        let ms = Duration::from_millis;
        Workload {
            host: Host { away: vec![ms(1)], timers: vec![Punctuality::Early(ms(2))], ..Host::default() },
            tasks: vec![
                Plan {
                    class: Class::Idle,
                    arrives: Some(ms(3)),
                    weight: 3,
                    rounds: 2,
                    steps: vec![
                        Step::Work { total: ms(5), gap: Duration::from_micros(50) },
                        Step::Do(Action::SetClass(1, Class::Normal)),
                        Step::Sleep(ms(1)),
                    ],
                    ..Plan::default()
                },
                Plan { arrives: None, steps: vec![Step::Wait, Step::Panic], ..Plan::default() },
            ],
            outside: vec![Outside { at: ms(4), action: Action::RequestYield }],
            ..Workload::default()
        }
    }

    #[test]
    fn json_and_back() {
        let text = serde_json::to_string_pretty(&example()).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), example(), "{text}");
    }

    #[test]
    fn what_may_be_left_out_may_be_left_out() {
        let short = r#"{"tasks": [{"class": "idle", "arrives": "0s", "steps": ["yield", {"hold": "3ms"}]}]}"#;
        let workload = serde_json::from_str::<Workload>(short).unwrap();
        assert_eq!(workload.settings, Settings::default());
        assert_eq!((workload.tasks[0].rounds, workload.tasks[0].weight), (1, 1));
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        assert!(serde_json::from_str::<Workload>(r#"{"tasks": [], "slize": 1}"#).is_err());
    }

    #[test]
    fn prints_as_sentences() {
        let text = example().to_string();
        assert!(
            text.contains(
                "#0   idle      at 3ms     weight 3, 2 times: work 5ms by 50us, move #1 to normal, sleep 1ms"
            ),
            "{text}"
        );
        assert!(text.contains("outside        at 4ms     request a yield"), "{text}");
    }
}
