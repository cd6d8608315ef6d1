//! The scenario `latency`: point queries beside bulk work on one core.
//!
//! The bulk job builds an inverted index over real text, compresses it, or parses JSON; queries look up words in an index.
//! They arrive from another thread by a plan, whatever the subject does, and each wait counts from the planned arrival to
//! the answer's end. A wait that is measured from the moment the thread *notices* a query would leave out just the time in
//! which the thread was held (coordinated omission).

mod subject;
mod text;

use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use crate::allowance::Allowance;
use crate::cli::{Options, Scenario};
use crate::failure::Failure;
use crate::job::{self, Job};
use crate::loads::{Bulk, Gzip, Index, Json};
use crate::peers::{self, Load, Round};
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

/// Measures it with the load `B`.
fn run<B: Bulk>(options: &Options) -> Result<Report, Failure> {
    let allowance = Allowance::of(options);
    let rounds = options.rounds();
    let peers = peers::all::<B>();
    let progress = Progress::new(B::SCENARIO, 1 + u64::from(rounds) * peers.len() as u64);

    progress.begin("warming up".to_owned());
    let job = Job::<B>::fit(options, BULK_QUICK)?;
    progress.step();
    let load = Load { plan: job.plan(options), corpus: Arc::clone(&job.corpus) };

    let mut subjects: Vec<Subject> = peers.iter().map(|peer| Subject::of(&**peer)).collect();
    for number in allowance.rounds(rounds) {
        for (peer, subject) in peers.iter().zip(&mut subjects) {
            progress.begin(format!("round {number} of {rounds}: {}", peer.name()));
            let round = peer.round(&load)?;
            check(&job, peer.name(), &round)?;
            subject.add(&round, load.corpus.bytes());
            progress.step();
        }
    }
    drop(progress);
    Ok(Measured { options, job, subjects }.report())
}

/// A figure of work that was not done is worth nothing.
fn check<B: Bulk>(job: &Job<B>, name: &str, round: &Round) -> Result<(), Failure> {
    job.check(name, &round.bulk.done, round.index)?;
    job::check_answers(name, round.sent.late_nanos.len(), round.waits.planned.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Corpus;
    use crate::plan;

    #[test]
    fn every_peer_does_the_whole_work_and_answers_every_query() {
        let corpus = Corpus::of(&[include_str!("mod.rs"), include_str!("subject.rs")]);
        let job = Job::<Gzip>::of(corpus);
        let plan = Arc::new(plan::poisson(1, 20_000, Duration::from_millis(100), &job.corpus));
        let load = Load { corpus: Arc::clone(&job.corpus), plan };
        for peer in peers::all::<Gzip>() {
            check(&job, peer.name(), &peer.round(&load).unwrap()).unwrap();
        }
    }
}
