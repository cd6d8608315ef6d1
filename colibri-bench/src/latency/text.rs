//! What `latency` found, in words, tables and plots.

use hdrhistogram::Histogram;

use super::subject::Subject;
use crate::cli::Options;
use crate::job::Job;
use crate::loads::{Bulk, Index};
use crate::measure::{self, Rounds};
use crate::peers::shares_a_core;
use crate::report::{Bar, Plot, Report, Row, count, digits, duration, percent, quantile, rounds_of, spread};
use crate::warning::Warning;

/// All that was measured.
#[derive(Debug)]
pub(super) struct Measured<'a, B> {
    pub(super) options: &'a Options,
    pub(super) job: Job<B>,
    /// The first is what the others are compared with.
    pub(super) subjects: Vec<Subject>,
}

impl<B: Bulk> Measured<'_, B> {
    /// It as a report.
    pub(super) fn report(self) -> Report {
        let mut report = Report::new(B::SCENARIO, self.command());
        self.say_load(&mut report);
        self.say_waits(&mut report);
        self.say_throughput(&mut report);
        self.say_result(&mut report);
        self.warn(&mut report);
        for subject in self.subjects {
            add_rows(&mut report, &subject);
            report.histogram(subject.slug, subject.waits);
        }
        report
    }

    fn command(&self) -> String {
        let load = if B::NAME == Index::NAME { String::new() } else { format!(" --load {}", B::NAME) };
        let rounds = self.rounds();
        format!("cargo xtask bench latency{load} --rounds {rounds} {}", self.job.options(self.options))
    }

    /// How many rounds there were.
    fn rounds(&self) -> usize {
        self.subjects[0].throughput.len()
    }

    fn say_load(&self, report: &mut Report) {
        report.say(&format!(
            "Bulk work: {}\n\
             Queries: {} in a second, Poisson arrivals from another thread (an open loop), each a task that looks a word up in\n\
             an index{}. {}, interleaved.\n\
             OS thread: the bulk work on a thread of its own, {}.{}",
            self.job.say(),
            count(self.options.rate.into()),
            if B::NAME == Index::NAME { ", in what is there so far" } else { " that is there already" },
            rounds_of(self.rounds(), self.options.rounds()),
            if shares_a_core() {
                "on the core of the thread that answers"
            } else {
                "on another core than the thread that answers: this system cannot keep both on one"
            },
            self.job.notes(),
        ));
    }

    fn say_waits(&self, report: &mut Report) {
        report.say(
            "Waits of the queries, from the planned arrival to the answer's end: the time in which the thread was held is in\n\
             them (no coordinated omission). All rounds together, then the 99th percentile of single rounds. The last line is the\n\
             part of all waits that the sender is to blame for; the last column leaves it out of the 99th percentile.",
        );
        let row = |name: &str, histogram: &Histogram<u64>, subject: Option<&Subject>| {
            let at = |share| quantile(histogram, share);
            let p99_nanos = subject
                .filter(|subject| !subject.p99_nanos.is_empty())
                .map(|subject| Rounds::of(subject.p99_nanos.iter().copied()));
            let round = |nanos: Option<f64>| nanos.map_or(String::new(), |nanos| duration(nanos as u64));
            [
                name.to_owned(),
                count(histogram.len()),
                at(0.5),
                at(0.9),
                at(0.99),
                at(0.999),
                at(1.0),
                round(p99_nanos.map(|rounds| rounds.min)),
                round(p99_nanos.map(|rounds| rounds.median)),
                subject.map_or(String::new(), |subject| quantile(&subject.since_sent, 0.99)),
            ]
        };
        let mut rows: Vec<_> =
            self.subjects.iter().map(|subject| row(subject.name, &subject.waits, Some(subject))).collect();
        rows.push(row("(of these: sent late)", &self.late(), None));
        report.table(
            ["way", "queries", "p50", "p90", "p99", "p99.9", "max", "p99: best", "median", "since sent"],
            rows,
        );
        let late = self.late();
        let curves = self.subjects.iter().map(|subject| (subject.name, &subject.waits));
        report.plot(Plot::percentiles("Waits of the queries", curves.chain([("(sent late)", &late)])));
    }

    /// By how much the sender was late, over all rounds of all subjects.
    fn late(&self) -> Histogram<u64> {
        let mut late = measure::histogram();
        for subject in &self.subjects {
            late.add(&subject.late).expect("it resizes itself");
        }
        late
    }

    fn say_throughput(&self, report: &mut Report) {
        let base = &self.subjects[0];
        report.say(&format!(
            "Throughput of the bulk work while the queries are answered. The spread between rounds is the machine's noise.\n\
             Ratios: to the round of \"{}\" beside it; in own time: by the time that the bulk work's thread had on the CPU, with the\n\
             answers to the queries (not those of OS threads), but without what other programs took. Disturbed: slices of 1 ms or\n\
             more of which other programs had over 1 %.",
            base.name
        ));
        let row = |subject: &Subject| {
            let rounds = subject.rates();
            let unless_shared = |share: Option<f64>| match share {
                _ if !subject.is_alone => "shares its core".to_owned(),
                share => share.map_or("unknown".to_owned(), percent),
            };
            [
                subject.name.to_owned(),
                format!("{} MB/s", digits(rounds.max)),
                format!("{} MB/s", digits(rounds.median)),
                spread(&rounds),
                percent(rounds.max / base.rates().max),
                percent(subject.median_ratio(base)),
                percent(subject.median_own_ratio(base)),
                unless_shared(subject.disturbed.share()),
                unless_shared(subject.worst_off_cpu()),
            ]
        };
        report.table(
            [
                "way",
                "best",
                "median",
                "spread",
                "best / best",
                "median ratio",
                "in own time",
                "disturbed slices",
                "off the CPU, at most",
            ],
            self.subjects.iter().map(row).collect(),
        );
    }

    fn say_result(&self, report: &mut Report) {
        let base = &self.subjects[0];
        if self.subjects.iter().any(|subject| subject.waits.is_empty()) {
            report.say("There were too few queries to compare the ways: raise --rate, or work on more text.");
            return;
        }
        let lower = |subject: &Subject| base.median_p99_nanos() / subject.median_p99_nanos();
        let lines = self.subjects[1..].iter().map(|subject| {
            format!(
                "{}: p99 is {} times lower than {}, at {} of its bulk throughput (medians of the rounds).",
                subject.name,
                digits(lower(subject)),
                base.name,
                percent(subject.median_ratio(base)),
            )
        });
        report.say(&lines.collect::<Vec<_>>().join("\n"));
        let bars = |of: &dyn Fn(&Subject) -> f64, label: fn(f64) -> String| {
            self.subjects[1..].iter().map(|subject| Bar::of(subject.name, of(subject), label)).collect()
        };
        report.plot(Plot::bars(
            "Bulk throughput, as a share of that without yields (median ratio)",
            bars(&|subject| subject.median_ratio(base), percent),
        ));
        report.plot(Plot::log_bars(
            "How many times lower the 99th percentile is than without yields (medians of the rounds)",
            bars(&lower, |times| format!("{} ×", digits(times))),
        ));
    }

    fn warn(&self, report: &mut Report) {
        let subjects = &self.subjects;
        let known = subjects.iter().all(|subject| subject.off_cpu.iter().all(Option::is_some));
        let of_each = |share: fn(&Subject) -> f64| -> Vec<(&str, f64)> {
            subjects.iter().map(|subject| (subject.name, share(subject))).collect()
        };
        let all = [
            Warning::debug_build(),
            Warning::few_rounds(self.rounds()),
            Warning::bulk_short(self.job.wall),
            Warning::off_cpu_unknown(known),
            Warning::off_cpu(&of_each(|subject| subject.worst_off_cpu().unwrap_or(0.0))),
            Warning::spread(&of_each(|subject| subject.rates().spread().unwrap_or(0.0))),
            Warning::sender_late(self.late().value_at_quantile(0.99)),
        ];
        let exhausted =
            subjects.iter().map(|subject| Warning::plan_exhausted(subject.name, subject.is_exhausted));
        for warning in all.into_iter().chain(exhausted).flatten() {
            report.warn(warning);
        }
    }
}

fn add_rows(report: &mut Report, subject: &Subject) {
    let name = subject.name;
    report.row(Row::of_histogram(name, "query wait", &subject.waits));
    report.row(Row::of_histogram(name, "query wait since it was sent", &subject.since_sent));
    if !subject.p99_nanos.is_empty() {
        report.row(Row::of_figures(name, "query wait, p99 of each round", "ns", &subject.p99_nanos));
    }
    report.row(Row::of_figures(name, "bulk throughput of each round", "MB/s", &subject.throughput));
    let own = "bulk throughput of each round in own time";
    report.row(Row::of_figures(name, own, "MB/s", &subject.own_throughput));
    let off_cpu: Vec<f64> = subject.off_cpu.iter().copied().flatten().collect();
    if !off_cpu.is_empty() {
        report.row(Row::of_figures(name, "share of each round kept off the CPU", "1", &off_cpu));
    }
    if let Some(share) = subject.disturbed.share() {
        report.row(Row::of_figure(name, "share of disturbed slices", "1", share));
    }
    report.row(Row::of_histogram(name, "lateness of the sender", &subject.late));
}
