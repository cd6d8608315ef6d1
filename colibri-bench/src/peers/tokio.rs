//! tokio's current-thread runtime: with yields written by hand, and without any.
//!
//! It gets its best: tasks that need not be `Send`, and no IO or timer driver, which it would otherwise look at in turns.

use std::rc::Rc;
use std::sync::Arc;

use tokio::runtime::{Builder, LocalOptions};

use super::{Load, Round};
use crate::arrivals::{Arrivals, answer};
use crate::failure::Failure;
use crate::index::{self, Index, SharedIndex};
use crate::input::Corpus;

/// The bulk job in one piece: its executor does not matter, since it never gives way.
pub(super) fn without_yield(load: &Load) -> Result<Round, Failure> {
    round(load, async |corpus, index| index::build(corpus, index))
}

/// The bulk job with a `yield_now` every 64 words.
pub(super) fn yielding_by_hand(load: &Load) -> Result<Round, Failure> {
    round(load, index::build_yielding_by_hand)
}

fn round<F: Future<Output = u64> + 'static>(
    load: &Load,
    job: impl Fn(Arc<Corpus>, SharedIndex) -> F,
) -> Result<Round, Failure> {
    let runtime = Builder::new_current_thread()
        .build_local(LocalOptions::default())
        .map_err(|error| Failure::Run(format!("tokio's runtime does not start: {error}")))?;
    let index = Index::shared();
    let (arrivals, queue) = Arrivals::prepare(&load.plan);
    let arrivals = Rc::new(arrivals);

    let queries = runtime.spawn_local(answer(queue, Rc::clone(&index), tokio::task::spawn_local));
    let bulk = runtime.spawn_local({
        let (job, arrivals) = (job(Arc::clone(&load.corpus), Rc::clone(&index)), Rc::clone(&arrivals));
        async move { super::bulk(job, &arrivals).await }
    });
    let (bulk, waits) = runtime
        .block_on(async { Ok::<_, tokio::task::JoinError>((bulk.await?, queries.await?)) })
        .map_err(|error| Failure::Run(format!("a task on tokio failed: {error}")))?;

    let arrivals = Rc::into_inner(arrivals).expect("the bulk job has ended");
    Ok(Round::of(bulk, waits, arrivals, &index))
}
