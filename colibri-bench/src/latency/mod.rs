//! The scenario `latency`: point queries beside bulk work on one core.
//!
//! The bulk job builds an inverted index over real text, compresses it, or parses JSON; queries look up words in an index.
//! They arrive from another thread by a plan, whatever the subject does, and each wait counts from the planned arrival to
//! the answer's end. A wait that is measured from the moment the thread *notices* a query would leave out just the time in
//! which the thread was held (coordinated omission).

mod subject;
mod text;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use crate::allowance::Allowance;
use crate::cli::{Options, Scenario};
use crate::failure::Failure;
use crate::input::Corpus;
use crate::loads::{Bulk, Done, Gzip, Index, Json, LocalIndex};
use crate::measure::Watch;
use crate::peers::{self, Load, Peer, Round};
use crate::plan;
use crate::progress::Progress;
use crate::report::Report;

use self::subject::Subject;
use self::text::Measured;

/// The scenario with the load `index`.
pub(crate) const LATENCY: Scenario = Scenario {
    name: "latency",
    about: "point queries beside an index build on one core, each peer: waits and throughput",
    run: run::<Index>,
};
/// The scenario with the load `gzip`.
pub(crate) const GZIP: Scenario = Scenario {
    name: "latency --load gzip",
    about: "the same beside the compression of real files",
    run: run::<Gzip>,
};
/// The scenario with the load `json`.
pub(crate) const JSON: Scenario = Scenario {
    name: "latency --load json",
    about: "the same beside the parsing of real JSON documents",
    run: run::<Json>,
};

/// The bulk work of `latency`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadName {
    /// An inverted index over text files
    #[default]
    Index,
    /// gzip-style compression of text files
    Gzip,
    /// Parsing of JSON documents
    Json,
}

impl LoadName {
    /// The scenario with this load.
    pub(crate) fn scenario(self) -> &'static Scenario {
        match self {
            LoadName::Index => &LATENCY,
            LoadName::Gzip => &GZIP,
            LoadName::Json => &JSON,
        }
    }
}

/// In a quick run the bulk job is to take about this long by itself: half a second, so that the thread is held for
/// hundreds of ms where nothing yields, and still some rounds of all subjects fit into a quick run.
const BULK_QUICK: Duration = Duration::from_millis(500);
/// How much is worked on to find out how fast this machine is.
const TRIAL_BYTES: u64 = 8 << 20;
/// Input is cut to whole MiB, so that --input-limit can name it.
const MEBIBYTE: u64 = 1 << 20;

/// The plan reaches this many times as far as the bulk job takes without any query: no subject may run out of load.
const HORIZON_FACTOR: u32 = 8;
/// The least the plan reaches beyond that.
const HORIZON_LEAST: Duration = Duration::from_secs(1);

/// Measures it with the load `B`.
fn run<B: Bulk>(options: &Options) -> Result<Report, Failure> {
    let allowance = Allowance::of(options);
    let mut corpus = B::read(options)?;
    let rounds = options.rounds();
    let peers = peers::all::<B>();
    let progress = Progress::new(B::SCENARIO, 1 + u64::from(rounds) * peers.len() as u64);

    progress.begin("warming up".to_owned());
    let mut limit_bytes = options.input_limit_bytes();
    if options.fits_input() {
        limit_bytes = limit_bytes.min(bytes_within::<B>(BULK_QUICK, &corpus));
        corpus = corpus.beginning(limit_bytes);
    }
    let corpus = Arc::new(corpus);
    let expected = Expected::of::<B>(&corpus);
    progress.step();
    let horizon = expected.wall * HORIZON_FACTOR + HORIZON_LEAST;
    let plan = Arc::new(plan::poisson(options.seed, options.rate, horizon, &corpus));
    let load = Load { corpus, plan };

    let mut subjects: Vec<Subject> = peers.iter().map(|peer| Subject::of(&**peer)).collect();
    for number in allowance.rounds(rounds) {
        for (peer, subject) in peers.iter().zip(&mut subjects) {
            progress.begin(format!("round {number} of {rounds}: {}", peer.name()));
            let round = peer.round(&load)?;
            expected.check(&**peer, &round)?;
            subject.add(&round, load.corpus.bytes());
            progress.step();
        }
    }
    drop(progress);
    Ok(Measured { options, limit_bytes, corpus: &load.corpus, expected, subjects }.report::<B>())
}

/// How much of `corpus` this machine gets through in `time`, about: more text makes the index outgrow the caches, so that
/// it takes rather longer. At least 1 MiB, and whole ones.
fn bytes_within<B: Bulk>(time: Duration, corpus: &Corpus) -> u64 {
    let trial = Arc::new(corpus.beginning(TRIAL_BYTES));
    let took = Expected::of::<B>(&trial).wall;
    let bytes = trial.bytes() as f64 * time.as_secs_f64() / took.as_secs_f64();
    (bytes as u64 / MEBIBYTE).max(1) * MEBIBYTE
}

/// What the bulk job comes to, found by running it alone once; this also warms memory and caches for everyone.
#[derive(Debug)]
struct Expected {
    done: Done,
    terms: usize,
    index: u64,
    wall: Duration,
}

impl Expected {
    fn of<B: Bulk>(corpus: &Arc<Corpus>) -> Self {
        let index = Rc::new(LocalIndex::new());
        B::begin(corpus, Rc::clone(&index));
        let watch = Watch::start();
        let done = B::plain(Arc::clone(corpus), Rc::clone(&index));
        let wall = watch.stop().wall;
        Self { done, terms: index.terms(), index: index.fingerprint(), wall }
    }

    /// A figure of work that was not done is worth nothing.
    fn check<B: Bulk>(&self, peer: &dyn Peer<B>, round: &Round) -> Result<(), Failure> {
        let (sent, answered) = (round.sent.late_nanos.len(), round.waits.planned.len());
        if sent != answered {
            return Err(Failure::Run(format!(
                "\"{}\" answered {answered} queries of {sent}. Please report this.",
                peer.name()
            )));
        }
        if (round.bulk.done, round.index) == (self.done, self.index) {
            return Ok(());
        }
        Err(Failure::Run(format!(
            "\"{}\" came to another result than the plain function: {:?} instead of {:?}. Please report this.",
            peer.name(),
            round.bulk.done,
            self.done
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_does_the_whole_work_and_answers_every_query() {
        let corpus = Arc::new(Corpus::of(&[include_str!("mod.rs"), include_str!("subject.rs")]));
        let expected = Expected::of::<Gzip>(&corpus);
        let plan = Arc::new(plan::poisson(1, 20_000, Duration::from_millis(100), &corpus));
        let load = Load { corpus, plan };
        for peer in peers::all::<Gzip>() {
            expected.check(&*peer, &peer.round(&load).unwrap()).unwrap();
        }
    }

    #[test]
    fn work_that_was_not_done_is_a_failure() {
        let corpus = Arc::new(Corpus::of(&["a few words", "and some more"]));
        let expected = Expected::of::<Index>(&corpus);
        let load = Load { plan: Arc::default(), corpus };
        let peer = &peers::all::<Index>()[0];
        let mut round = peer.round(&load).unwrap();
        round.bulk.done.items += 1;
        let failure = expected.check(&**peer, &round).unwrap_err().to_string();
        assert!(failure.contains("\"without yields\" came to another result"), "{failure}");
    }
}
