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

use crate::allowance::Allowance;
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

/// In a quick run the bulk job is to take about this long by itself: a good part of a second, so that the thread is held
/// for hundreds of ms where nothing yields, and still ten or more of its kind fit into a quick run.
const BULK_QUICK: Duration = Duration::from_millis(800);
/// How much is indexed to find out how fast this machine is.
const TRIAL_BYTES: u64 = 8 << 20;
/// Input is cut to whole MiB, so that --input-limit can name it.
const MEBIBYTE: u64 = 1 << 20;

/// The plan reaches this many times as far as the bulk job takes without any query: no subject may run out of load.
const HORIZON_FACTOR: u32 = 8;
/// The least the plan reaches beyond that.
const HORIZON_LEAST: Duration = Duration::from_secs(1);

/// Measures it.
pub(crate) fn run(options: &Options) -> Result<Report, Failure> {
    let allowance = Allowance::of(options);
    let folder = options.input.clone().unwrap_or_else(input::default_folder);
    let mut corpus = Corpus::read(&folder, options.input_limit_bytes(), options.not_utf8())?;
    let rounds = options.rounds();
    let progress = Progress::new("latency", 1 + u64::from(rounds) * PEERS.len() as u64);

    progress.begin("warming up".to_owned());
    let mut limit_bytes = options.input_limit_bytes();
    if options.fits_input() {
        limit_bytes = limit_bytes.min(bytes_within(BULK_QUICK, &corpus));
        corpus = corpus.beginning(limit_bytes);
    }
    let corpus = Arc::new(corpus);
    let expected = Expected::of(&corpus);
    progress.step();
    let horizon = expected.wall * HORIZON_FACTOR + HORIZON_LEAST;
    let plan = Arc::new(plan::poisson(options.seed, options.rate, horizon, &corpus));
    let load = Load { corpus, plan };

    let mut results: Vec<Subject> = PEERS.map(Subject::new).into();
    for number in allowance.rounds(rounds) {
        for subject in &mut results {
            progress.begin(format!("round {number} of {rounds}: {}", subject.peer.name));
            let round = (subject.peer.round)(&load)?;
            expected.check(subject.peer, &round)?;
            subject.add(&round, load.corpus.bytes());
            progress.step();
        }
    }
    drop(progress);
    Ok(report(options, limit_bytes, &load.corpus, &expected, results))
}

/// How much of `corpus` this machine indexes in `time`, about: more text makes the index outgrow the caches, so that it
/// takes rather longer. At least 1 MiB, and whole ones.
fn bytes_within(time: Duration, corpus: &Corpus) -> u64 {
    let trial = Arc::new(corpus.beginning(TRIAL_BYTES));
    let took = Expected::of(&trial).wall;
    let bytes = trial.bytes() as f64 * time.as_secs_f64() / took.as_secs_f64();
    (bytes as u64 / MEBIBYTE).max(1) * MEBIBYTE
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
        let (sent, answered) = (round.sent.late_nanos.len(), round.waits.planned.len());
        if sent != answered {
            return Err(Failure::Run(format!(
                "\"{}\" answered {answered} queries of {sent}. Please report this.",
                peer.name
            )));
        }
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

fn report(
    options: &Options,
    limit_bytes: u64,
    corpus: &Corpus,
    expected: &Expected,
    subjects: Vec<Subject>,
) -> Report {
    let mut report = Report::new("latency", command(options, rounds(&subjects), limit_bytes));
    say_load(&mut report, options, corpus, expected, rounds(&subjects));
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

/// How many rounds there were.
fn rounds(subjects: &[Subject]) -> usize {
    subjects[0].throughput.len()
}

fn command(options: &Options, rounds: usize, limit_bytes: u64) -> String {
    let limit_mib = limit_bytes / MEBIBYTE;
    let Options { seed, rate, input, .. } = options;
    let input = input.as_ref().map_or(String::new(), |folder| format!(" --input {}", folder.display()));
    let lossy = if options.lossy { " --lossy" } else { "" };
    format!(
        "cargo xtask bench latency --rounds {rounds} --seed {seed} --rate {rate} --input-limit {limit_mib}{input}{lossy}"
    )
}

fn say_load(report: &mut Report, options: &Options, corpus: &Corpus, expected: &Expected, rounds: usize) {
    let mut text = format!(
        "Bulk work: an index of {} MB in {} files below {}: {} words, {} different ones.\n\
         Queries: {} in a second, Poisson arrivals from another thread (an open loop), each a task that looks a word up in\n\
         what is indexed so far. {}, interleaved.",
        digits(corpus.bytes() as f64 / 1e6),
        count(corpus.documents().count() as u64),
        shorten(corpus.folder()),
        count(expected.words),
        count(expected.terms as u64),
        count(options.rate.into()),
        rounds_of(rounds, options.rounds()),
    );
    for note in corpus.notes() {
        text.push('\n');
        text.push_str(&note);
    }
    report.say(&text);
}

fn rounds_of(made: usize, planned: u32) -> String {
    match made {
        1 if planned == 1 => "1 round".to_owned(),
        _ if made == planned as usize => format!("{made} rounds"),
        _ => format!("{made} of {planned} rounds (a quick run has no time for more)"),
    }
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
        let p99_nanos = subject.map(|subject| Rounds::of(subject.p99_nanos.iter().copied()));
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
            subject.map_or(String::new(), |subject| duration(subject.since_sent.value_at_quantile(0.99))),
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

fn say_result(report: &mut Report, subjects: &[Subject]) {
    let base = &subjects[0];
    if subjects.iter().any(|subject| subject.waits.is_empty()) {
        report.say("There were too few queries to compare the ways: raise --rate, or index more text.");
        return;
    }
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
