//! A thread of the system's for the bulk job, on the core of the thread that answers the queries: the system's scheduler
//! in place of one in the program. On a core of its own it would have twice the machine that the others have.

use std::sync::Arc;
use std::thread;

use futures::executor::block_on;

use super::{Load, Peer, Round, at_once, bulk};
use crate::arrivals::{Arrivals, answer};
use crate::failure::Failure;
use crate::loads::{Bulk, SharedIndex};
use crate::measure::Disturbed;

/// The nice value of a thread that has to wait for all others.
pub(super) const LOWEST_PRIORITY: i32 = 19;

#[derive(Debug)]
pub(super) struct OsThread {
    name: &'static str,
    slug: &'static str,
    nice: i32,
}

impl OsThread {
    /// Its bulk thread runs at the nice value `nice`.
    pub(super) fn new(name: &'static str, slug: &'static str, nice: i32) -> Self {
        Self { name, slug, nice }
    }
}

impl<B: Bulk> Peer<B> for OsThread {
    fn name(&self) -> &'static str {
        self.name
    }

    fn slug(&self) -> &'static str {
        self.slug
    }

    fn is_alone(&self) -> bool {
        false
    }

    fn round(&self, load: &Load) -> Result<Round, Failure> {
        let index = Arc::new(SharedIndex::new());
        B::begin(&load.corpus, Arc::clone(&index));
        // The sender's thread starts before, and may run anywhere.
        let (arrivals, queue) = Arrivals::prepare(&load.plan);
        let pinned = OneCore::pin();
        let (bulk, waits) = thread::scope(|scope| {
            let bulk = scope.spawn(|| {
                let lowered = lower_priority(self.nice);
                let (corpus, index) = (Arc::clone(&load.corpus), Arc::clone(&index));
                let done = block_on(bulk(async { B::plain(corpus, index) }, &arrivals));
                lowered.map(|()| done) // not earlier: the queries end with the bulk work only
            });
            let waits = block_on(answer(queue, Arc::clone(&index), at_once));
            (bulk.join(), waits)
        });
        drop(pinned);
        let bulk = bulk.map_err(|_| Failure::Run(format!("a thread of \"{}\" panicked", self.name)))??;
        let disturbed = Disturbed::default();
        Ok(Round { bulk, waits, sent: arrivals.join(), disturbed, index: index.fingerprint() })
    }
}

/// Whether this system keeps two threads on one core where that is asked for, and lowers the priority of one of them: else
/// a thread of the system's has a core of its own, and there is none of low priority.
pub(crate) fn shares_a_core() -> bool {
    OneCore::pin().is_some()
}

/// While it lives, this thread and those that it starts stay on the core on which it was made; where the system can.
#[derive(Debug)]
struct OneCore {
    #[cfg(target_os = "linux")]
    before: rustix::thread::CpuSet,
}

#[cfg(target_os = "linux")]
impl OneCore {
    fn pin() -> Option<Self> {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
        let mut here = CpuSet::new();
        here.set(sched_getcpu());
        let before = sched_getaffinity(None).ok()?;
        sched_setaffinity(None, &here).ok().map(|()| Self { before })
    }
}

#[cfg(target_os = "linux")]
impl Drop for OneCore {
    fn drop(&mut self) {
        // It may be that a core has gone meanwhile; then the one that is left is right.
        let _ = rustix::thread::sched_setaffinity(None, &self.before);
    }
}

#[cfg(not(target_os = "linux"))]
impl OneCore {
    fn pin() -> Option<Self> {
        None
    }
}

/// Gives the calling thread this nice value. On Linux it is the thread's own, elsewhere the whole program's.
fn lower_priority(nice: i32) -> Result<(), Failure> {
    #[cfg(target_os = "linux")]
    if nice > 0 {
        rustix::process::setpriority_process(None, nice)
            .map_err(|error| Failure::Run(format!("a thread's priority cannot be lowered ({error})")))?;
    }
    let _ = nice;
    Ok(())
}
