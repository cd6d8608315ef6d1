//! What `classes` found, in words, tables and plots.

use super::burst::{EMPTIES, TASK, TASKS};
use super::result::Subject;
use crate::cli::Options;
use crate::executors::Class;
use crate::measure::Rounds;
use crate::report::{Bar, Plot, Report, Row, count, duration, percent, quantile, rounds_of};
use crate::warning::Warning;

/// Each subject's bursts of equal tasks and of classes; `react` says which React took part, or why none.
pub(super) fn report(options: &Options, results: &[[Subject; 2]], react: &str) -> Report {
    let made = results[0][0].overhead.len();
    let seed = options.seed;
    let mut report =
        Report::new("classes", format!("cargo xtask bench classes --rounds {made} --seed {seed}"));
    report.say(&format!(
        "A burst of {} tasks that work for {} each, by the clock; {}, interleaved. Overhead: by how much all of it\n\
         took longer than the work in the tasks, spawning included. Decision: {} tasks without work, the thread's own time of\n\
         each, with its call and its end. Hold: the longest time in which nobody beside the scheduler had a turn: the\n\
         host between slices (colibri), the event loop (Node), a task that yields (the executors, which have no slices).",
        count(TASKS as u64),
        duration(TASK.as_nanos() as u64),
        rounds_of(made, options.rounds()),
        count(EMPTIES as u64),
    ));
    report.say(react);
    let [equal, mixed] = [0, 1].map(|mix| results.iter().map(|pair| &pair[mix]).collect::<Vec<_>>());
    say_equal(&mut report, &equal);
    say_mixed(&mut report, &mixed);
    warn(&mut report, &[&equal[..], &mixed].concat());
    for (subjects, words) in [(&equal, "equal"), (&mixed, "10/30/60 %")] {
        subjects.iter().for_each(|subject| add_rows(&mut report, subject, words));
    }
    for subject in mixed {
        for (class, waits) in Class::ALL.iter().zip(&subject.waits) {
            report.histogram(format!("{}-{}", subject.slug, class.name().to_lowercase()), waits.clone());
        }
    }
    report
}

fn of(figures: &[f64]) -> Rounds {
    Rounds::of(figures.iter().copied())
}

fn of_nanos(nanos: f64) -> String {
    duration(nanos as u64)
}

fn of_overhead(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn say_equal(report: &mut Report, subjects: &[&Subject]) {
    report.say("All tasks equal.");
    let row = |subject: &&Subject| {
        let (overhead, decision) = (of(&subject.overhead), of(&subject.decision_nanos));
        [
            subject.name.to_owned(),
            of_nanos(of(&subject.work_nanos).median),
            of_nanos(of(&subject.total_nanos).median),
            of_overhead(overhead.min),
            of_overhead(overhead.median),
            of_nanos(decision.min),
            of_nanos(decision.median),
            of_nanos(of(&subject.hold_nanos).median),
            of_nanos(of(&subject.hold_nanos).max),
            subject.disturbed.share().map_or("unknown".to_owned(), percent),
        ]
    };
    report.table(
        [
            "way",
            "work",
            "total",
            "overhead: best",
            "median",
            "decision: best",
            "median",
            "hold: median",
            "max",
            "disturbed tasks",
        ],
        subjects.iter().map(row).collect(),
    );
}

fn say_mixed(report: &mut Report, subjects: &[&Subject]) {
    report.say(
        "10 % Immediate, 30 % Normal, 60 % Idle, mixed. Mean waits from the burst's start to a task's, the middle round's; if \
         classes\nare kept to, they cannot be less than 25, 125 and 350 ms. Only colibri and React's scheduler have classes.",
    );
    let row = |subject: &&Subject| {
        let overhead = of(&subject.overhead);
        let [immediate, normal, idle] =
            [0, 1, 2].map(|class| subject.mean_wait_nanos(class).map_or(String::new(), of_nanos));
        let longest = quantile(&subject.waits[0], 1.0);
        let hold = of(&subject.hold_nanos);
        [
            subject.name.to_owned(),
            of_overhead(overhead.min),
            of_overhead(overhead.median),
            immediate,
            normal,
            idle,
            longest,
            of_nanos(hold.median),
            of_nanos(hold.max),
        ]
    };
    report.table(
        [
            "way",
            "overhead: best",
            "median",
            "wait: Immediate",
            "Normal",
            "Idle",
            "Immediate, max",
            "hold: median",
            "max",
        ],
        subjects.iter().map(row).collect(),
    );
    let bars = subjects.iter().flat_map(|subject| {
        Class::ALL.iter().enumerate().filter_map(|(number, class)| {
            let name = format!("{}: {}", subject.name, class.name());
            subject.mean_wait_nanos(number).map(|nanos| Bar::of(&name, nanos, of_nanos))
        })
    });
    report.plot(Plot::bars("Mean wait in a burst of 10/30/60 %", bars.collect()));
    let holds =
        subjects.iter().map(|subject| Bar::of(subject.name, of(&subject.hold_nanos).median / 1e6, of_millis));
    report.plot(Plot::log_bars(
        "Longest hold of the thread, 10/30/60 % (median of the rounds)",
        holds.collect(),
    ));
}

fn of_millis(millis: f64) -> String {
    of_nanos(millis * 1e6)
}

fn warn(report: &mut Report, subjects: &[&Subject]) {
    let shares = subjects.iter().filter_map(|subject| subject.disturbed.share());
    let worst =
        shares.reduce(f64::max).and_then(|share| Warning::slices_disturbed("tasks of a subject", share));
    let few = Warning::few_rounds(subjects[0].overhead.len());
    [Warning::debug_build(), few, worst].into_iter().flatten().for_each(|warning| report.warn(warning));
}

fn add_rows(report: &mut Report, subject: &Subject, words: &str) {
    let name = subject.name;
    for (metric, unit, figures) in [
        ("overhead", "1", &subject.overhead),
        ("total", "ns", &subject.total_nanos),
        ("work", "ns", &subject.work_nanos),
        ("decision", "ns", &subject.decision_nanos),
        ("longest hold", "ns", &subject.hold_nanos),
    ] {
        report.row(Row::of_figures(name, &format!("{metric}, {words}"), unit, figures));
    }
    for (number, class) in
        Class::ALL.iter().enumerate().filter(|(number, _)| !subject.waits[*number].is_empty())
    {
        let metric = format!("wait of {}, {words}", class.name());
        report.row(Row::of_histogram(name, &metric, &subject.waits[number]));
        let metric = format!("mean {metric}");
        report.row(Row::of_figures(name, &metric, "ns", &subject.mean_waits_nanos[number]));
    }
    if let Some(share) = subject.disturbed.share() {
        report.row(Row::of_figure(name, &format!("share of disturbed tasks, {words}"), "1", share));
    }
}
