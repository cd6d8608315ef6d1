//! The subjects: each runs the same load its own way, on one thread.

mod colibri;
mod tokio;

use std::sync::Arc;

use crate::arrivals::{Arrivals, Sent, Waits};
use crate::failure::Failure;
use crate::index::SharedIndex;
use crate::input::Corpus;
use crate::measure::{Used, Watch};
use crate::plan::Query;

/// What every subject gets.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    /// The texts to index.
    pub(crate) corpus: Arc<Corpus>,
    /// The queries to answer meanwhile.
    pub(crate) plan: Arc<Vec<Query>>,
}

/// One way to run bulk work and queries on one thread.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Its name in tables.
    pub(crate) name: &'static str,
    /// Its name in file names.
    pub(crate) slug: &'static str,
    /// Runs one round.
    pub(crate) round: fn(&Load) -> Result<Round, Failure>,
}

/// The subject that all others are compared with.
pub(crate) const WITHOUT_YIELD: Peer =
    Peer { name: "without yields", slug: "without-yields", round: tokio::without_yield };

/// tokio's current-thread runtime, yields written by hand.
pub(crate) const TOKIO: Peer =
    Peer { name: "tokio, yield every 64 words", slug: "tokio-64", round: tokio::yielding_by_hand };

/// colibri's scheduler and attribute.
pub(crate) const COLIBRI: Peer = Peer { name: "colibri", slug: "colibri", round: colibri::round };

/// What a subject did in one round.
#[derive(Debug)]
pub(crate) struct Round {
    /// The bulk job, while queries were answered.
    pub(crate) bulk: Bulk,
    /// How long the queries waited.
    pub(crate) waits: Waits,
    /// What the sender did.
    pub(crate) sent: Sent,
    /// Fingerprint of the index that was built.
    pub(crate) fingerprint: u64,
}

/// What became of the bulk job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bulk {
    /// Words indexed.
    pub(crate) words: u64,
    /// Time from its first step to its last.
    pub(crate) used: Used,
}

impl Round {
    fn of(bulk: Bulk, waits: Waits, arrivals: Arrivals, index: &SharedIndex) -> Self {
        Self { bulk, waits, sent: arrivals.join(), fingerprint: index.borrow().fingerprint() }
    }
}

/// The bulk job as every subject runs it: the queries begin with it and end with it.
async fn bulk(job: impl Future<Output = u64>, arrivals: &Arrivals) -> Bulk {
    let watch = Watch::start();
    let queries = Started::of(arrivals);
    let words = job.await;
    drop(queries);
    Bulk { words, used: watch.stop() }
}

/// Queries come as long as this lives: a job that panics ends them, too, and with them the round.
#[derive(Debug)]
struct Started<'a>(&'a Arrivals);

impl<'a> Started<'a> {
    fn of(arrivals: &'a Arrivals) -> Self {
        arrivals.start();
        Self(arrivals)
    }
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
