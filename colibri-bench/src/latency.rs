//! The scenario `latency`: point queries beside bulk work on one thread.
//!
//! The bulk job builds an inverted index over real text; queries look up words in what is indexed so far. They arrive
//! from another thread by a plan, whatever the subject does, and each wait counts from the planned arrival to the
//! answer's end. A wait that is measured from the moment the thread *notices* a query would leave out just the time in
//! which the thread was held (coordinated omission).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::cli::Options;
use crate::failure::Failure;
use crate::index::{self, Index};
use crate::input::{self, Corpus};
use crate::measure::{self, Rounds, Watch};
use crate::peers::{COLIBRI, Load, Peer, Round, TOKIO, WITHOUT_YIELD};
use crate::plan;
use crate::progress::Progress;
use crate::report::{Report, Row, count, digits, duration, percent};
use crate::warning::Warning;

/// What the scenario measures, in one line.
pub(crate) const ABOUT: &str = "point queries beside an index build on one thread: waits and throughput";

/// The subjects, in the order in which a round runs them; the first is what the others are compared with.
const PEERS: [&Peer; 3] = [&WITHOUT_YIELD, &TOKIO, &COLIBRI];

/// The plan reaches this many times as far as the bulk job takes without any query: no subject may run out of load.
const HORIZON_FACTOR: u32 = 8;
/// The least the plan reaches beyond that.
const HORIZON_LEAST: Duration = Duration::from_secs(1);

/// Measures it.
pub(crate) fn run(options: &Options) -> Result<Report, Failure> {
    let folder = options.input.clone().unwrap_or_else(input::default_folder);
    let corpus = Arc::new(Corpus::read(&folder, options.input_limit_bytes(), options.not_utf8())?);
    let progress = Progress::new("latency", 1 + u64::from(options.rounds()) * PEERS.len() as u64);

    progress.begin("warming up".to_owned());
    let expected = Expected::of(&corpus);
    progress.step();
    let horizon = expected.wall * HORIZON_FACTOR + HORIZON_LEAST;
    let plan = Arc::new(plan::poisson(options.seed, options.rate, horizon, &corpus));
    let load = Load { corpus, plan };

    let mut results: Vec<Subject> = PEERS.map(Subject::new).into();
    for number in 1..=options.rounds() {
        for subject in &mut results {
            progress.begin(format!("round {number} of {}: {}", options.rounds(), subject.peer.name));
            let round = (subject.peer.round)(&load)?;
            expected.check(subject.peer, &round)?;
            subject.add(&round, load.corpus.bytes());
            progress.step();
        }
    }
    drop(progress);
    Ok(report(options, &load.corpus, &expected, results))
}

/// What the bulk job comes to, found by running it alone once; this also warms memory and caches for everyone.
#[derive(Debug)]
struct Expected {
    words: u64,
    terms: usize,
    fingerprint: u64,
    wall: Duration,
}

impl Expected {
    fn of(corpus: &Arc<Corpus>) -> Self {
        let index = Index::shared();
        let watch = Watch::start();
        let words = index::build(Arc::clone(corpus), std::rc::Rc::clone(&index));
        let wall = watch.stop().wall;
        let index = index.borrow();
        Self { words, terms: index.terms(), fingerprint: index.fingerprint(), wall }
    }

    /// A figure of work that was not done is worth nothing.
    fn check(&self, peer: &Peer, round: &Round) -> Result<(), Failure> {
        if (round.bulk.words, round.fingerprint) == (self.words, self.fingerprint) {
            return Ok(());
        }
        Err(Failure::Run(format!(
            "\"{}\" built another index than the plain function: {} words instead of {}. Please report this.",
            peer.name, round.bulk.words, self.words
        )))
    }
}

/// A subject and what its rounds gave.
#[derive(Debug)]
struct Subject {
    peer: &'static Peer,
    /// From the planned arrivals on.
    waits: Histogram<u64>,
    /// From the sending on.
    since_sent: Histogram<u64>,
    /// The 99th percentile of each round's waits, ns.
    p99_nanos: Vec<f64>,
    /// MB in a second, per round.
    throughput: Vec<f64>,
    /// Share of each round in which the thread was kept off the CPU.
    off_cpu: Vec<Option<f64>>,
    late: Histogram<u64>,
    exhausted: bool,
        let (sent, answered) = (round.sent.late_nanos.len(), round.waits.planned.len());
        if sent != answered {
            return Err(Failure::Run(format!(
                "\"{}\" answered {answered} queries of {sent}. Please report this.",
                peer.name
            )));
        }
}

impl Subject {
    fn new(peer: &'static Peer) -> Self {
        Self {
            peer,
            waits: measure::histogram(),
            since_sent: measure::histogram(),
            p99_nanos: Vec::new(),
            throughput: Vec::new(),
            off_cpu: Vec::new(),
            late: measure::histogram(),
            exhausted: false,
        }
    }

    fn add(&mut self, round: &Round, bytes: u64) {
        let waits = measure::histogram_of(&round.waits.planned);
        self.p99_nanos.push(waits.value_at_quantile(0.99) as f64);
        self.waits.add(&waits).expect("it resizes itself");
        self.since_sent.add(measure::histogram_of(&round.waits.sent)).expect("it resizes itself");
        self.late.add(measure::histogram_of(&round.sent.late_nanos)).expect("it resizes itself");
        self.throughput.push(bytes as f64 / 1e6 / round.bulk.used.wall.as_secs_f64());
        self.off_cpu.push(round.bulk.used.off_cpu());
        self.exhausted |= round.sent.exhausted;
    }

    /// The 99th percentile of the middle round: one that another program disturbed does not move it.
    fn median_p99_nanos(&self) -> f64 {
        Rounds::of(self.p99_nanos.iter().copied()).median
    }

    fn worst_off_cpu(&self) -> Option<f64> {
        self.off_cpu.iter().copied().flatten().reduce(f64::max)
    }

    /// Throughput in shares of `base`'s, each round beside the one it was interleaved with.
    fn ratios(&self, base: &Subject) -> Vec<f64> {
        self.throughput.iter().zip(&base.throughput).map(|(own, base)| own / base).collect()
    }
}

fn report(options: &Options, corpus: &Corpus, expected: &Expected, subjects: Vec<Subject>) -> Report {
    let mut report = Report::new("latency", command(options));
    say_load(&mut report, options, corpus, expected);
    say_waits(&mut report, &subjects);
    say_throughput(&mut report, &subjects);
    say_result(&mut report, &subjects);
    warn(&mut report, &subjects, expected);
    for subject in subjects {
        add_rows(&mut report, &subject);
        report.histogram(subject.peer.slug, subject.waits);
    }
    report
}

fn command(options: &Options) -> String {
    let limit_mib = options.input_limit_bytes() >> 20;
    let Options { seed, rate, input, .. } = options;
    let input = input.as_ref().map_or(String::new(), |folder| format!(" --input {}", folder.display()));
    let lossy = if options.lossy { " --lossy" } else { "" };
    format!(
        "cargo xtask bench latency --rounds {} --seed {seed} --rate {rate} --input-limit {limit_mib}{input}{lossy}",
        options.rounds()
    )
}

fn say_load(report: &mut Report, options: &Options, corpus: &Corpus, expected: &Expected) {
    let mut text = format!(
        "Bulk work: an index of {} MB in {} files below {}: {} words, {} different ones.\n\
         Queries: {} in a second, Poisson arrivals from another thread (an open loop), each a task that looks a word up in\n\
         what is indexed so far. {} rounds, interleaved.",
        digits(corpus.bytes() as f64 / 1e6),
        count(corpus.documents().count() as u64),
        shorten(corpus.folder()),
        count(expected.words),
        count(expected.terms as u64),
        count(options.rate.into()),
        options.rounds(),
    );
    for note in corpus.notes() {
        text.push('\n');
        text.push_str(&note);
    }
    report.say(&text);
}

/// A path below the home folder as `~/…`.
fn shorten(path: &Path) -> String {
    match std::env::home_dir().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

fn say_waits(report: &mut Report, subjects: &[Subject]) {
    report.say(
        "Waits of the queries, from the planned arrival to the answer's end: the time in which the thread was held is in\n\
         them (no coordinated omission). All rounds together, then the 99th percentile of single rounds. The last line is the\n\
         part of all waits that the sender is to blame for; the last column leaves it out of the 99th percentile.",
    );
    let row = |name: &str, histogram: &Histogram<u64>, subject: Option<&Subject>| {
        let at = |quantile| duration(histogram.value_at_quantile(quantile));
        let round = |nanos: Option<f64>| nanos.map_or(String::new(), |nanos| duration(nanos as u64));
        [
            name.to_owned(),
            count(histogram.len()),
            at(0.5),
            at(0.9),
            at(0.99),
            at(0.999),
            duration(histogram.max()),
            round(p99_nanos.map(|rounds| rounds.min)),
            round(p99_nanos.map(|rounds| rounds.median)),
        ]
    };
    let mut rows: Vec<_> =
        subjects.iter().map(|subject| row(subject.peer.name, &subject.waits, Some(subject))).collect();
    rows.push(row("(of these: sent late)", &late(subjects), None));
    report.table(
        ["way", "queries", "p50", "p90", "p99", "p99.9", "max", "p99: best", "median", "since sent"],
        rows,
    );
}

/// By how much the sender was late, over all rounds of all subjects.
fn late(subjects: &[Subject]) -> Histogram<u64> {
    let mut late = measure::histogram();
    for subject in subjects {
        late.add(&subject.late).expect("it resizes itself");
    }
    late
}

fn say_throughput(report: &mut Report, subjects: &[Subject]) {
    report.say(&format!(
        "Throughput of the bulk work while the queries are answered. The spread between rounds is the machine's noise.\n\
         Ratios: to the round of \"{}\" beside it.",
        subjects[0].peer.name
    ));
    let row = |subject: &Subject| {
        let rounds = Rounds::of(subject.throughput.iter().copied());
        let ratios = Rounds::of(subject.ratios(&subjects[0]));
        [
            subject.peer.name.to_owned(),
            format!("{} MB/s", digits(rounds.max)),
            format!("{} MB/s", digits(rounds.median)),
        let p99_nanos = subject.map(|subject| Rounds::of(subject.p99_nanos.iter().copied()));
            percent(rounds.spread()),
            percent(rounds.max / Rounds::of(subjects[0].throughput.iter().copied()).max),
            percent(ratios.median),
            subject.worst_off_cpu().map_or("unknown".to_owned(), percent),
        ]
    };
    report.table(
        ["way", "best", "median", "spread", "best / best", "median ratio", "kept off the CPU, at most"],
        subjects.iter().map(row).collect(),
    );
}
            subject.map_or(String::new(), |subject| duration(subject.since_sent.value_at_quantile(0.99))),

fn say_result(report: &mut Report, subjects: &[Subject]) {
    let base = &subjects[0];
    let lines = subjects[1..].iter().map(|subject| {
        format!(
            "{}: p99 is {} times lower than {}, at {} of its bulk throughput (medians of the rounds).",
            subject.peer.name,
            digits(base.median_p99_nanos() / subject.median_p99_nanos()),
            base.peer.name,
            percent(Rounds::of(subject.ratios(base)).median),
        )
    });
    report.say(&lines.collect::<Vec<_>>().join("\n"));
}

fn warn(report: &mut Report, subjects: &[Subject], expected: &Expected) {
    let known = subjects.iter().all(|subject| subject.off_cpu.iter().all(Option::is_some));
    let of_each = |share: fn(&Subject) -> f64| -> Vec<(&str, f64)> {
        subjects.iter().map(|subject| (subject.peer.name, share(subject))).collect()
    };
    let all = [
        Warning::debug_build(),
        Warning::bulk_short(expected.wall),
        Warning::off_cpu_unknown(known),
        Warning::off_cpu(&of_each(|subject| subject.worst_off_cpu().unwrap_or(0.0))),
        Warning::spread(&of_each(|subject| Rounds::of(subject.throughput.iter().copied()).spread())),
        Warning::sender_late(late(subjects).value_at_quantile(0.99)),
    ];
    let exhausted =
        subjects.iter().map(|subject| Warning::plan_exhausted(subject.peer.name, subject.exhausted));
    for warning in all.into_iter().chain(exhausted).flatten() {
        report.warn(warning);
    }
}

fn add_rows(report: &mut Report, subject: &Subject) {
    let name = subject.peer.name;
    report.row(Row::of_histogram(name, "query wait", &subject.waits));
    report.row(Row::of_histogram(name, "query wait since it was sent", &subject.since_sent));
    report.row(Row::of_figures(name, "query wait, p99 of each round", "ns", &subject.p99_nanos));
    report.row(Row::of_figures(name, "bulk throughput of each round", "MB/s", &subject.throughput));
    let off_cpu: Vec<f64> = subject.off_cpu.iter().copied().flatten().collect();
    if !off_cpu.is_empty() {
        report.row(Row::of_figures(name, "share of each round kept off the CPU", "1", &off_cpu));
    }
    report.row(Row::of_histogram(name, "lateness of the sender", &subject.late));
}
    if subjects.iter().any(|subject| subject.waits.is_empty()) {
        report.say("There were too few queries to compare the ways: raise --rate, or index more text.");
        return;
    }
