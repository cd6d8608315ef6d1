//! Workloads written by hand, and as Rust: [`Plan::new`] and what follows it reads like the sentences that a workload
//! prints as, and [`Workload::to_rust`] writes it.

use std::fmt::Write;
use std::time::Duration;

use super::{
    Action, Class, ClockStep, Faults, Host, Number, Outside, Plan, Punctuality, Settings, Step, Workload,
};
use crate::span::{from_text, to_text};

/// A length of time such as `"2ms"`, `"40us"`, `"1.5s"`.
///
/// # Panics
///
/// If the text is none: it is the writer's own, and is meant to be seen at the first run.
#[track_caller]
pub fn span(text: &str) -> Duration {
    match from_text(text) {
        Ok(span) => span,
        Err(message) => panic!("{message}"),
    }
}

impl Plan {
    /// A task of this class that comes at the start and ends at once.
    pub fn new(class: Class) -> Self {
        Plan { class, ..Plan::default() }
    }

    /// It is spawned at this time.
    pub fn arrives(self, at: &str) -> Self {
        Plan { arrives: Some(span(at)), ..self }
    }

    /// It comes only if another task spawns it.
    pub fn if_spawned(self) -> Self {
        Plan { arrives: None, ..self }
    }

    /// Its turn lasts so many quanta.
    pub fn weight(self, weight: u32) -> Self {
        Plan { weight, ..self }
    }

    /// It should be done so long after its spawning.
    pub fn due_after(self, deadline: &str) -> Self {
        Plan { deadline: Some(span(deadline)), ..self }
    }

    /// It goes through its steps so many times.
    pub fn rounds(self, rounds: u32) -> Self {
        Plan { rounds, ..self }
    }

    /// What it holds panics when it is dropped.
    pub fn bad_drop(self) -> Self {
        Plan { bad_drop: true, ..self }
    }

    /// The wakers with which it sleeps and awaits others' ends panic once they have woken it.
    pub fn bad_waker(self) -> Self {
        Plan { bad_waker: true, ..self }
    }

    /// One more step.
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// It computes for `total` with a checkpoint after each `gap`.
    pub fn work(self, total: &str, gap: &str) -> Self {
        self.step(Step::Work { total: span(total), gap: span(gap) })
    }

    /// It computes for `total` without any checkpoint.
    pub fn hold(self, total: &str) -> Self {
        self.step(Step::Hold(span(total)))
    }

    /// It gives way once.
    pub fn yields(self) -> Self {
        self.step(Step::Yield)
    }

    /// It sleeps.
    pub fn sleep(self, length: &str) -> Self {
        self.step(Step::Sleep(span(length)))
    }

    /// It waits for a wake.
    pub fn wait(self) -> Self {
        self.step(Step::Wait)
    }

    /// The same, and acts before the end of its poll.
    pub fn wait_doing(self, action: Action) -> Self {
        self.step(Step::WaitDoing(action))
    }

    /// It waits for the end of another task.
    pub fn join(self, of: Number) -> Self {
        self.step(Step::Join(of))
    }

    /// It acts.
    pub fn act(self, action: Action) -> Self {
        self.step(Step::Do(action))
    }

    /// It panics.
    pub fn panics(self) -> Self {
        self.step(Step::Panic)
    }
}

impl Step {
    /// This step, given up after so long.
    pub fn within(self, limit: &str) -> Self {
        Step::Within { limit: span(limit), step: Box::new(self) }
    }
}

impl Workload {
    /// One more thing that comes from outside.
    pub fn outside(mut self, at: &str, action: Action) -> Self {
        self.outside.push(Outside { at: span(at), action });
        self
    }

    /// Rust that makes this workload, with `colibri_fuzz::workload::*` in scope.
    pub fn to_rust(&self) -> String {
        let mut text = String::from("Workload {\n");
        let plain = Settings::default();
        if self.settings != plain {
            text += "    settings: Settings {\n";
            let Settings { slice, quantum, upgrade_after, policy, max_tasks, bad_observer } = &self.settings;
            let spans = [
                ("slice", slice, plain.slice),
                ("quantum", quantum, plain.quantum),
                ("upgrade_after", upgrade_after, plain.upgrade_after),
            ];
            for (name, span, _) in spans.iter().filter(|(_, span, plain)| *span != plain) {
                let _ = writeln!(text, "        {name}: {},", rust(**span));
            }
            if !policy.is_empty() {
                let _ = writeln!(text, "        policy: {},", list(policy));
            }
            if let Some(most) = max_tasks {
                let _ = writeln!(text, "        max_tasks: Some({most}),");
            }
            if *bad_observer {
                text += "        bad_observer: true,\n";
            }
            text += "        ..Settings::default()\n    },\n";
        }
        if self.host != Host::default() {
            text += "    host: Host {\n";
            let Host { turns, away, timers } = &self.host;
            for (name, spans) in [("turns", turns), ("away", away)] {
                if !spans.is_empty() {
                    let _ = writeln!(text, "        {name}: {},", list(spans));
                }
            }
            if !timers.is_empty() {
                let timers = timers.iter().map(|when| match when {
                    Punctuality::InTime => "Punctuality::InTime".to_owned(),
                    Punctuality::Early(by) => format!("Punctuality::Early({})", rust(*by)),
                    Punctuality::Late(by) => format!("Punctuality::Late({})", rust(*by)),
                });
                let _ = writeln!(text, "        timers: vec![{}],", timers.collect::<Vec<_>>().join(", "));
            }
            text += "        ..Host::default()\n    },\n";
        }
        if !self.clock.is_none() {
            let Faults { coarse, steps } = &self.clock;
            let coarse = coarse.map_or("None".to_owned(), |grain| format!("Some({})", rust(grain)));
            let steps = steps.iter().map(|step| match step {
                ClockStep::Ahead(at, by) => format!("ClockStep::Ahead({}, {})", rust(*at), rust(*by)),
                ClockStep::Back(at, by) => format!("ClockStep::Back({}, {})", rust(*at), rust(*by)),
            });
            let steps = steps.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "    clock: Faults {{ coarse: {coarse}, steps: vec![{steps}] }},");
        }
        text += "    tasks: vec![\n";
        for plan in &self.tasks {
            let _ = writeln!(text, "        {},", plan.to_rust());
        }
        text += "    ],\n    ..Workload::default()\n}\n";
        for Outside { at, action } in &self.outside {
            let _ = writeln!(text, ".outside(\"{}\", {})", to_text(*at), action.to_rust());
        }
        text
    }
}

impl Plan {
    fn to_rust(&self) -> String {
        let Plan { class, arrives, weight, deadline, bad_drop, bad_waker, rounds, steps } = self;
        let mut text = format!("Plan::new(Class::{class:?})");
        match arrives {
            None => text += ".if_spawned()",
            Some(Duration::ZERO) => {}
            Some(at) => text += &format!(".arrives(\"{}\")", to_text(*at)),
        }
        if *weight != 1 {
            text += &format!(".weight({weight})");
        }
        if let Some(deadline) = deadline {
            text += &format!(".due_after(\"{}\")", to_text(*deadline));
        }
        if *bad_drop {
            text += ".bad_drop()";
        }
        if *bad_waker {
            text += ".bad_waker()";
        }
        if *rounds != 1 {
            text += &format!(".rounds({rounds})");
        }
        for step in steps {
            text += &match step {
                Step::Work { total, gap } => format!(".work(\"{}\", \"{}\")", to_text(*total), to_text(*gap)),
                Step::Hold(total) => format!(".hold(\"{}\")", to_text(*total)),
                Step::Yield => ".yields()".to_owned(),
                Step::Sleep(length) => format!(".sleep(\"{}\")", to_text(*length)),
                Step::Wait => ".wait()".to_owned(),
                Step::WaitDoing(action) => format!(".wait_doing({})", action.to_rust()),
                Step::Join(of) => format!(".join({of})"),
                Step::Do(action) => format!(".act({})", action.to_rust()),
                Step::Panic => ".panics()".to_owned(),
                Step::Within { .. } => format!(".step({})", step.to_rust()),
            };
        }
        text
    }
}

impl Step {
    fn to_rust(&self) -> String {
        match self {
            Step::Work { total, gap } => {
                format!("Step::Work {{ total: {}, gap: {} }}", rust(*total), rust(*gap))
            }
            Step::Hold(total) => format!("Step::Hold({})", rust(*total)),
            Step::Yield => "Step::Yield".to_owned(),
            Step::Sleep(length) => format!("Step::Sleep({})", rust(*length)),
            Step::Wait => "Step::Wait".to_owned(),
            Step::WaitDoing(action) => format!("Step::WaitDoing({})", action.to_rust()),
            Step::Join(of) => format!("Step::Join({of})"),
            Step::Do(action) => format!("Step::Do({})", action.to_rust()),
            Step::Panic => "Step::Panic".to_owned(),
            Step::Within { limit, step } => format!("{}.within(\"{}\")", step.to_rust(), to_text(*limit)),
        }
    }
}

impl Action {
    fn to_rust(self) -> String {
        match self {
            Action::SetClass(of, class) => format!("Action::SetClass({of}, Class::{class:?})"),
            // The rest holds numbers only, which Rust and its debug output write alike.
            other => format!("Action::{other:?}"),
        }
    }
}

fn rust(length: Duration) -> String {
    format!("span(\"{}\")", to_text(length))
}

fn list(spans: &[Duration]) -> String {
    format!("vec![{}]", spans.iter().map(|span| rust(*span)).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rust that is compiled, beside its own text.
    macro_rules! compiled {
        ($workload:expr) => {
            ($workload, stringify!($workload))
        };
    }

    /// Without white space and trailing commas, which `stringify!` is free to change.
    fn bare(text: &str) -> String {
        let text = text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
        text.replace(",]", "]").replace(",}", "}")
    }

    /// Which variants of these a list has: each match names all of them, so that none is forgotten here.
    fn kinds<T>(all: impl IntoIterator<Item = T>, kind: fn(T) -> usize) -> usize {
        all.into_iter().fold(0, |seen, one| seen | 1 << kind(one))
    }

    #[test]
    #[expect(clippy::needless_update, reason = "what is printed ends so, whether or not all fields differ")]
    fn the_rust_that_is_printed_makes_the_same_workload() {
        let (workload, text) = compiled!(
            Workload {
                settings: Settings {
                    slice: span("9ms"),
                    quantum: span("1ms"),
                    upgrade_after: span("1500us"),
                    policy: vec![span("4ms"), span("8ms")],
                    max_tasks: Some(3),
                    bad_observer: true,
                    ..Settings::default()
                },
                host: Host {
                    turns: vec![span("2ms")],
                    away: vec![span("0s"), span("1s")],
                    timers: vec![
                        Punctuality::InTime,
                        Punctuality::Early(span("1ns")),
                        Punctuality::Late(span("3ms"))
                    ],
                    ..Host::default()
                },
                clock: Faults {
                    coarse: Some(span("1ms")),
                    steps: vec![
                        ClockStep::Back(span("5ms"), span("1ms")),
                        ClockStep::Ahead(span("6ms"), span("2s"))
                    ]
                },
                tasks: vec![
                    Plan::new(Class::Idle)
                        .arrives("3ms")
                        .weight(2)
                        .due_after("9ms")
                        .bad_drop()
                        .bad_waker()
                        .rounds(4)
                        .work("5ms", "50us")
                        .hold("1ms")
                        .yields()
                        .sleep("7ns"),
                    Plan::new(Class::Normal)
                        .if_spawned()
                        .wait()
                        .wait_doing(Action::Nudge(0))
                        .join(0)
                        .act(Action::SetClass(0, Class::Immediate))
                        .act(Action::SetClass(0, Class::Normal))
                        .act(Action::Spawn(2))
                        .act(Action::SpawnFromAfar(3))
                        .act(Action::Submit(4))
                        .act(Action::Wake(5))
                        .act(Action::Cancel(6))
                        .act(Action::Pause(7))
                        .act(Action::Resume(8))
                        .act(Action::SetActivity(2))
                        .panics()
                        .step(Step::Sleep(span("2ms")).within("1ms"))
                        .step(Step::Work { total: span("2ms"), gap: span("1ms") }.within("1ms")),
                    Plan::new(Class::Immediate)
                        .step(Step::Hold(span("2ms")).within("1ms"))
                        .step(Step::Yield.within("1ms"))
                        .step(Step::Wait.within("1ms"))
                        .step(Step::WaitDoing(Action::Wake(1)).within("1ms"))
                        .step(Step::Join(1).within("1ms"))
                        .step(Step::Do(Action::Wake(1)).within("1ms"))
                        .step(Step::Panic.within("2ms").within("1ms")),
                ],
                ..Workload::default()
            }
            .outside("4ms", Action::RequestYield)
            .outside("5ms", Action::WakeFromAfar(1))
        );
        assert_eq!(bare(&workload.to_rust()), bare(text));
        let json = serde_json::to_string(&workload).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), workload);

        // It holds everything that there is.
        let steps = || workload.tasks.iter().flat_map(|plan| &plan.steps);
        let step = |step: &Step| match step {
            Step::Work { .. } => 0,
            Step::Hold(_) => 1,
            Step::Yield => 2,
            Step::Sleep(_) => 3,
            Step::Wait => 4,
            Step::WaitDoing(_) => 5,
            Step::Join(_) => 6,
            Step::Within { .. } => 7,
            Step::Do(_) => 8,
            Step::Panic => 9,
        };
        assert_eq!(kinds(steps(), step), (1 << 10) - 1);
        assert_eq!(kinds(steps().map(Step::innermost), step), (1 << 10) - 1 - (1 << 7));
        let done = steps().filter_map(|step| match step {
            Step::Do(action) | Step::WaitDoing(action) => Some(*action),
            _ => None,
        });
        let actions = done.chain(workload.outside.iter().map(|outside| outside.action));
        let action = |action: Action| match action {
            Action::Spawn(_) => 0,
            Action::SpawnFromAfar(_) => 1,
            Action::Wake(_) => 2,
            Action::WakeFromAfar(_) => 3,
            Action::Submit(_) => 4,
            Action::Nudge(_) => 5,
            Action::Cancel(_) => 6,
            Action::Pause(_) => 7,
            Action::Resume(_) => 8,
            Action::SetClass(..) => 9,
            Action::RequestYield => 10,
            Action::SetActivity(_) => 11,
        };
        assert_eq!(kinds(actions, action), (1 << 12) - 1);
    }

    #[test]
    #[should_panic(expected = "no length of time")]
    fn a_length_that_is_none_is_told() {
        span("3 fortnights");
    }
}
