//! Nothing at all: the plain function holds the thread to its end, then the queries that came meanwhile are answered.

use std::rc::Rc;
use std::sync::Arc;

use futures::executor::block_on;

use super::{Load, Peer, Round, at_once, bulk};
use crate::arrivals::{Arrivals, answer};
use crate::failure::Failure;
use crate::loads::{Bulk, LocalIndex};
use crate::measure::Disturbed;

#[derive(Debug)]
pub(super) struct Nothing;

impl<B: Bulk> Peer<B> for Nothing {
    fn name(&self) -> &'static str {
        "without yields"
    }

    fn slug(&self) -> &'static str {
        "without-yields"
    }

    fn round(&self, load: &Load) -> Result<Round, Failure> {
        let index = Rc::new(LocalIndex::new());
        B::begin(&load.corpus, Rc::clone(&index));
        let (arrivals, queue) = Arrivals::prepare(&load.plan);

        let (corpus, shared) = (Arc::clone(&load.corpus), Rc::clone(&index));
        let bulk = block_on(bulk(async { B::plain(corpus, shared) }, &arrivals));
        let waits = block_on(answer(queue, Rc::clone(&index), at_once));

        let mut disturbed = Disturbed::default();
        disturbed.add(&bulk.used); // it is one slice
        Ok(Round { bulk, waits, sent: arrivals.join(), disturbed, index: index.fingerprint() })
    }
}
