//! The subjects of `latency`: each runs the same load its own way.

mod executor;
mod nothing;
mod thread;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use futures::FutureExt;

use self::executor::{Consuming, Cooperative, OnExecutor, Yielding};
use self::nothing::Nothing;
pub(crate) use self::thread::shares_a_core;
use self::thread::{LOWEST_PRIORITY, OsThread};
use crate::arrivals::{Arrivals, Sent, Waits};
use crate::executors::{Colibri, CurrentThread, LocalExecutor, Pool};
use crate::failure::Failure;
use crate::input::Corpus;
use crate::loads::{Bulk, Done};
use crate::measure::{Disturbed, Used, Watch};
use crate::plan::Query;

/// What every subject gets.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    /// The texts to work on.
    pub(crate) corpus: Arc<Corpus>,
    /// The queries to answer meanwhile.
    pub(crate) plan: Arc<Vec<Query>>,
}

/// One way to run the bulk work `B` and queries on one core.
pub(crate) trait Peer<B: Bulk>: Debug {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// Its name in file names.
    fn slug(&self) -> &'static str;

    /// Whether nobody else of the round is on the bulk work's core. If not, its time off the CPU tells nothing.
    fn is_alone(&self) -> bool {
        true
    }

    /// Runs one round.
    ///
    /// # Errors
    ///
    /// [`Failure::Run`] if the load does not come to its end.
    fn round(&self, load: &Load) -> Result<Round, Failure>;
}

/// The subjects, in the order in which a round runs them; the first is what the others are compared with, the last is
/// colibri.
pub(crate) fn all<B: Bulk>() -> Vec<Box<dyn Peer<B>>> {
    let mut peers: Vec<Box<dyn Peer<B>>> = vec![
        Box::new(Nothing),
        Box::new(OnExecutor::<CurrentThread, Yielding>::new("tokio, yield_now every 64", "tokio-64")),
        Box::new(OnExecutor::<CurrentThread, Consuming>::new("tokio, consume_budget", "tokio-budget")),
        Box::new(OnExecutor::<LocalExecutor, Yielding>::new(
            "async-executor, yield every 64",
            "async-executor",
        )),
        Box::new(OnExecutor::<Pool, Yielding>::new("futures LocalPool, yield every 64", "local-pool")),
        Box::new(OsThread::new("OS thread", "thread", 0)),
        Box::new(OsThread::new("OS thread, lowest priority", "thread-low", LOWEST_PRIORITY)),
        Box::new(OnExecutor::<Colibri, Cooperative>::new("colibri", "colibri")),
    ];
    let shares = shares_a_core();
    peers.retain(|peer| shares || peer.slug() != "thread-low");
    peers
}

/// What a subject did in one round.
#[derive(Debug)]
pub(crate) struct Round {
    /// The bulk job, while queries were answered.
    pub(crate) bulk: BulkDone,
    /// How long the queries waited.
    pub(crate) waits: Waits,
    /// What the sender did.
    pub(crate) sent: Sent,
    /// Slices of the bulk work that other programs disturbed.
    pub(crate) disturbed: Disturbed,
    /// Fingerprint of the index in the end.
    pub(crate) index: u64,
}

/// What became of the bulk job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BulkDone {
    /// What it came to.
    pub(crate) done: Done,
    /// Time from its first step to its last.
    pub(crate) used: Used,
}

/// The bulk job as every subject runs it: the queries begin with it and end with it.
async fn bulk(job: impl Future<Output = Done>, arrivals: &Arrivals) -> BulkDone {
    let watch = Watch::start();
    let queries = Started::of(arrivals);
    let done = job.await;
    drop(queries);
    BulkDone { done, used: watch.stop() }
}

/// Answers a query where there is no executor to hand it to.
fn at_once(query: Pin<Box<dyn Future<Output = ()>>>) {
    query.now_or_never().expect("a query never waits");
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
