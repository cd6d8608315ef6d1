//! What became of the tasks: counted where they begin and where they are dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of one round. Futures of other threads count here, too.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    made: AtomicU64,
    dropped: AtomicU64,
    finished: AtomicU64,
    panicked: AtomicU64,
}

fn add(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

impl Tally {
    /// Futures made, wherever they went.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::SeqCst)
    }

    /// Futures dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Futures that came to their end.
    pub(crate) fn finished(&self) -> u64 {
        self.finished.load(Ordering::SeqCst)
    }

    /// Futures that panicked.
    pub(crate) fn panicked(&self) -> u64 {
        self.panicked.load(Ordering::SeqCst)
    }
}

/// One future's life, owned by it.
pub(crate) struct Life(Arc<Tally>);

impl Life {
    pub(crate) fn new(tally: &Arc<Tally>) -> Self {
        add(&tally.made);
        Life(tally.clone())
    }

    /// The future has come to its end.
    pub(crate) fn finish(&self) {
        add(&self.0.finished);
    }

    /// It is about to panic.
    pub(crate) fn panic(&self) {
        add(&self.0.panicked);
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        add(&self.0.dropped);
    }
}
