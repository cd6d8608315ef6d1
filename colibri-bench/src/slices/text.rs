//! What `slices` found, in words, a table and plots.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::host::Round;
use super::knee::{GAIN, Law};
use crate::cli::Options;
use crate::job::Job;
use crate::loads::Index;
use crate::measure::{self, Disturbed, Rounds};
use crate::report::{
    Axis, Plot, Point, Report, Row, Series, count, digits, duration, percent, quantile, rounds_of,
};
use crate::warning::Warning;

/// A length of slices, and what its rounds gave.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) length: Duration,
    /// Of the queries, from the planned arrivals on.
    pub(super) waits: Histogram<u64>,
    /// The 99th percentile of the waits of each round that had any, ns.
    pub(super) p99_nanos: Vec<f64>,
    /// MB in a second, per round.
    pub(super) throughput: Vec<f64>,
    /// The same by the thread's own time, in which interruptions are not.
    pub(super) own_throughput: Vec<f64>,
    /// How long each slice was, ns.
    pub(super) held: Histogram<u64>,
    /// Slices that other programs disturbed.
    pub(super) disturbed: Disturbed,
    /// By how much the sender was late, ns.
    pub(super) late: Histogram<u64>,
    /// Share of each round in which the thread was kept off the CPU.
    pub(super) off_cpu: Vec<Option<f64>>,
    /// The plan was over before the bulk work was.
    pub(super) is_exhausted: bool,
}

impl Setting {
    /// Adds a round with a bulk work of so many bytes.
    pub(super) fn add(&mut self, round: &Round, bytes: u64) {
        let waits = measure::histogram_of(&round.waits.planned);
        if !waits.is_empty() {
            self.p99_nanos.push(waits.value_at_quantile(0.99) as f64);
        }
        self.waits.add(&waits).expect("it resizes itself");
        self.throughput.push(bytes as f64 / 1e6 / round.used.wall.as_secs_f64());
        self.own_throughput.push(bytes as f64 / 1e6 / round.used.cpu_or_wall().as_secs_f64());
        self.late.add(measure::histogram_of(&round.sent.late_nanos)).expect("it resizes itself");
        self.off_cpu.push(round.used.off_cpu());
        self.is_exhausted |= round.sent.exhausted;
        for slice in &round.slices {
            self.held.record(slice.wall.as_nanos() as u64).expect("it resizes itself");
            self.disturbed.add(slice);
        }
    }

    fn name(&self) -> String {
        duration(self.length.as_nanos() as u64).replace(".00", "").replace(".0 ", " ")
    }

    fn millis(&self) -> f64 {
        self.length.as_secs_f64() * 1e3
    }

    fn median_p99_nanos(&self) -> Option<f64> {
        (!self.p99_nanos.is_empty()).then(|| Rounds::of(self.p99_nanos.iter().copied()).median)
    }

    /// Throughput by the thread's own time as a share of `base`'s: the middle one of the rounds' ratios, each to the round
    /// beside it.
    fn ratio(&self, base: &Setting) -> f64 {
        Rounds::of(self.own_throughput.iter().zip(&base.own_throughput).map(|(own, base)| own / base)).median
    }
}

/// `settings` as a report.
pub(super) fn report(options: &Options, job: &Job<Index>, settings: &[Setting]) -> Report {
    let made = settings[0].throughput.len();
    let command = format!("cargo xtask bench slices --rounds {made} {}", job.options(options));
    let mut report = Report::new("slices", command);
    report.say(&format!(
        "Bulk work: {}\n\
         A host gives colibri a slice, then takes its turn: it answers the queries that have come ({} in a second, Poisson\n\
         arrivals from another thread, waits from the planned arrival on) and paints a picture of 640 × 360 points.\n\
         {}, interleaved.{}",
        job.say(),
        count(options.rate.into()),
        rounds_of(made, options.rounds()),
        job.notes()
    ));
    let longest = &settings[settings.len() - 1];
    let points: Vec<(f64, f64)> =
        settings.iter().map(|setting| (setting.millis(), setting.ratio(longest))).collect();
    let law = Law::of(&points);
    let knee = law.knee(&points.iter().map(|point| point.0).collect::<Vec<_>>());
    let late = late(settings);
    say_table(&mut report, settings, law, &late);
    say_knee(&mut report, &settings[knee], law, law.residual(&points));
    plot(&mut report, settings, law, knee);
    warn(&mut report, job, settings, &late);
    for setting in settings {
        add_rows(&mut report, setting);
        report.histogram(setting.name().replace(' ', "-").replace('µ', "u"), setting.waits.clone());
    }
    report
}

/// By how much the sender was late, over all rounds.
fn late(settings: &[Setting]) -> Histogram<u64> {
    let mut late = measure::histogram();
    for setting in settings {
        late.add(&setting.late).expect("it resizes itself");
    }
    late
}

fn say_table(report: &mut Report, settings: &[Setting], law: Law, late: &Histogram<u64>) {
    let longest = &settings[settings.len() - 1];
    let row = |setting: &Setting| {
        let at = |share| quantile(&setting.waits, share);
        let rates = Rounds::of(setting.throughput.iter().copied());
        [
            setting.name(),
            count(setting.waits.len()),
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0),
            format!("{} MB/s", digits(rates.max)),
            format!("{} MB/s", digits(rates.median)),
            percent(setting.ratio(longest)),
            percent(law.share(setting.millis()) / law.share(longest.millis())),
            quantile(&setting.held, 0.99),
            quantile(&setting.held, 1.0),
            setting.disturbed.share().map_or("unknown".to_owned(), percent),
        ]
    };
    let lateness = |share| if late.is_empty() { "–".to_owned() } else { quantile(late, share) };
    report.say(&format!(
        "Waits of the queries, and the bulk work's throughput; ratios by the thread's own time, to the round with slices of {}\n\
         beside it, and what the fitted law says. Held: how long the slices were. Disturbed: slices of which other programs had over 1 %.\n\
         The sender's lateness is part of all waits: its p50 {}, p99 {}, max {}.",
        longest.name(),
        lateness(0.5),
        lateness(0.99),
        lateness(1.0),
    ));
    report.table(
        [
            "slice",
            "queries",
            "p50",
            "p99",
            "p99.9",
            "max",
            "bulk: best",
            "median",
            "median ratio",
            "law",
            "held: p99",
            "max",
            "disturbed slices",
        ],
        settings.iter().map(row).collect(),
    );
}

/// `at` is the knee; `residual` says how far what was measured lies from the law.
fn say_knee(report: &mut Report, at: &Setting, law: Law, residual: f64) {
    let is_reliable = residual <= GAIN;
    report.say(&format!(
        "The knee is at slices of {}{}: from there on, slices twice as long give less than {} more throughput, and let the\n\
         queries wait twice as long (p99 there: {}). A turn of this host costs the bulk work {}, by the law\n\
         throughput = limit × slice / (slice + turn), fitted to all lengths; a host with another turn has another knee.\n\
         What was measured lies {} from the law (root of the mean square){}.",
        at.name(),
        if is_reliable { "" } else { " (not reliable)" },
        percent(GAIN),
        at.median_p99_nanos().map_or("no queries".to_owned(), |nanos| duration(nanos as u64)),
        duration((law.turn * 1e6) as u64),
        percent(residual),
        if is_reliable { "" } else { ", more than the gain that the knee is defined by: take more --rounds on a calmer machine" },
    ));
}

fn plot(report: &mut Report, settings: &[Setting], law: Law, knee: usize) {
    let longest = &settings[settings.len() - 1];
    let throughput = || Axis::linear("bulk throughput, of that at 50 ms", percent);
    let name = |number: usize, setting: &Setting| {
        if number == knee { format!("{}: the knee", setting.name()) } else { setting.name() }
    };
    let (mut against_wait, mut measured, mut fitted) = (Vec::new(), Vec::new(), Vec::new());
    let mut waits = [Vec::new(), Vec::new()];
    for (number, setting) in settings.iter().enumerate() {
        let (slice, ratio) = (setting.length.as_nanos() as f64, setting.ratio(longest));
        let says = format!("{}: {}", setting.name(), percent(ratio));
        if let Some(wait) = setting.median_p99_nanos() {
            let says = format!("{says}, p99 {}", duration(wait as u64));
            against_wait.push(Point::of(wait, ratio, says).labelled(name(number, setting)));
        }
        measured.push(Point::of(slice, ratio, says).labelled(name(number, setting)));
        let share = law.share(setting.millis()) / law.share(longest.millis());
        fitted.push(Point::of(slice, share, format!("{}, the law: {}", setting.name(), percent(share))));
        for (points, share) in waits.iter_mut().zip([0.5, 0.99]).filter(|_| !setting.waits.is_empty()) {
            let nanos = setting.waits.value_at_quantile(share);
            let says = format!(
                "{}: {} of the waits are at most {}",
                setting.name(),
                percent(share),
                duration(nanos)
            );
            points.push(Point::of(slice, nanos as f64, says));
        }
    }
    report.plot(Plot::lines(
        "Responsiveness against throughput",
        Axis::durations("wait of the host's queries, p99 (median of the rounds)"),
        throughput(),
        vec![Series::of("colibri, by slice", against_wait)],
    ));
    report.plot(Plot::lines(
        "Throughput by slice, and the law that is fitted to it",
        Axis::durations("slice"),
        throughput(),
        vec![Series::of("colibri, measured", measured), Series::of("the law", fitted)],
    ));
    let [p50, p99] = waits;
    report.plot(Plot::lines(
        "Waits of the host's queries by slice",
        Axis::durations("slice"),
        Axis::durations("wait"),
        vec![Series::of("p50", p50), Series::of("p99", p99)],
    ));
    let names: Vec<String> = settings.iter().map(Setting::name).collect();
    let curves = names.iter().map(String::as_str).zip(settings.iter().map(|setting| &setting.waits));
    report.plot(Plot::percentiles("Percentiles of these waits", curves));
}

fn warn(report: &mut Report, job: &Job<Index>, settings: &[Setting], late: &Histogram<u64>) {
    let mut disturbed = Disturbed::default();
    settings.iter().for_each(|setting| disturbed.merge(setting.disturbed));
    let names: Vec<String> = settings.iter().map(Setting::name).collect();
    let of_each = |share: fn(&Setting) -> f64| -> Vec<(&str, f64)> {
        names.iter().map(String::as_str).zip(settings.iter().map(share)).collect()
    };
    let spread = |setting: &Setting| Rounds::of(setting.throughput.iter().copied()).spread().unwrap_or(0.0);
    let off_cpu = |setting: &Setting| setting.off_cpu.iter().copied().flatten().fold(0.0, f64::max);
    let is_known = settings.iter().all(|setting| setting.off_cpu.iter().all(Option::is_some));
    let all = [
        Warning::debug_build(),
        Warning::few_rounds(settings[0].throughput.len()),
        Warning::bulk_short(job.wall),
        Warning::off_cpu_unknown(is_known),
        disturbed.share().and_then(|share| Warning::slices_disturbed("slices", share)),
        Warning::off_cpu(&of_each(off_cpu)),
        Warning::spread(&of_each(spread)),
        Warning::sender_late(late.value_at_quantile(0.99)),
    ];
    let exhausted = names
        .iter()
        .zip(settings)
        .map(|(name, setting)| Warning::plan_exhausted(&format!("slices of {name}"), setting.is_exhausted));
    all.into_iter().chain(exhausted).flatten().for_each(|warning| report.warn(warning));
}

fn add_rows(report: &mut Report, setting: &Setting) {
    let name = format!("slices of {}", setting.name());
    report.row(Row::of_histogram(&name, "query wait", &setting.waits));
    if !setting.p99_nanos.is_empty() {
        report.row(Row::of_figures(&name, "query wait, p99 of each round", "ns", &setting.p99_nanos));
    }
    report.row(Row::of_figures(&name, "bulk throughput of each round", "MB/s", &setting.throughput));
    let own = "bulk throughput of each round in own time";
    report.row(Row::of_figures(&name, own, "MB/s", &setting.own_throughput));
    report.row(Row::of_histogram(&name, "length of a slice", &setting.held));
    report.row(Row::of_histogram(&name, "lateness of the sender", &setting.late));
    if let Some(share) = setting.disturbed.share() {
        report.row(Row::of_figure(&name, "share of disturbed slices", "1", share));
    }
}
