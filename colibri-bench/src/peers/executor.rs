//! An executor of one thread: the bulk job as an idle task, each query as an immediate one, where there are classes.

use std::cell::RefCell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use super::{Load, Peer, Round, bulk};
use crate::arrivals::{Arrivals, answer};
use crate::executors::{Class, Executor, Latch};
use crate::failure::Failure;
use crate::input::Corpus;
use crate::loads::{Bulk, Done, LocalIndex};

/// The executor `E`, with the bulk job in the form `F`.
#[derive(Debug)]
pub(super) struct OnExecutor<E, F> {
    name: &'static str,
    slug: &'static str,
    kind: PhantomData<fn() -> (E, F)>,
}

/// A form of the bulk job.
pub(super) trait Form: Debug + 'static {
    fn job<B: Bulk, E: Executor>(
        corpus: Arc<Corpus>,
        index: Rc<LocalIndex>,
    ) -> impl Future<Output = Done> + 'static;
}

/// With colibri's attribute and nothing else.
#[derive(Debug)]
pub(super) struct Cooperative;

/// With `consume_budget` for each item.
#[derive(Debug)]
pub(super) struct Consuming;

/// With a yield by hand every so many items.
#[derive(Debug)]
pub(super) struct Yielding;

impl Form for Cooperative {
    fn job<B: Bulk, E: Executor>(
        corpus: Arc<Corpus>,
        index: Rc<LocalIndex>,
    ) -> impl Future<Output = Done> + 'static {
        B::cooperative(corpus, index)
    }
}

impl Form for Consuming {
    fn job<B: Bulk, E: Executor>(
        corpus: Arc<Corpus>,
        index: Rc<LocalIndex>,
    ) -> impl Future<Output = Done> + 'static {
        B::consuming(corpus, index)
    }
}

impl Form for Yielding {
    fn job<B: Bulk, E: Executor>(
        corpus: Arc<Corpus>,
        index: Rc<LocalIndex>,
    ) -> impl Future<Output = Done> + 'static {
        B::yielding::<E, _>(corpus, index)
    }
}

impl<E, F> OnExecutor<E, F> {
    pub(super) fn new(name: &'static str, slug: &'static str) -> Self {
        Self { name, slug, kind: PhantomData }
    }
}

impl<B: Bulk, E: Executor, F: Form> Peer<B> for OnExecutor<E, F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn slug(&self) -> &'static str {
        self.slug
    }

    fn round(&self, load: &Load) -> Result<Round, Failure> {
        let executor = E::without_timers();
        let index = Rc::new(LocalIndex::new());
        B::begin(&load.corpus, Rc::clone(&index));
        let (arrivals, queue) = Arrivals::prepare(&load.plan);
        let arrivals = Rc::new(arrivals);

        let ended = Latch::new(2);
        let waits = spawn(&executor, Class::Immediate, &ended, {
            let spawner = executor.clone();
            answer(queue, Rc::clone(&index), move |query| {
                E::detach(spawner.spawn_as(Class::Immediate, query));
            })
        });
        let bulk = spawn(&executor, Class::Idle, &ended, {
            let job = F::job::<B, E>(Arc::clone(&load.corpus), Rc::clone(&index));
            let arrivals = Rc::clone(&arrivals);
            async move { bulk(job, &arrivals).await }
        });
        executor.block_on(ended.opened());
        let failed = || Failure::Run(format!("a task on \"{}\" failed. Please report this.", self.name));
        let (bulk, waits) = bulk.take().zip(waits.take()).ok_or_else(failed)?;

        let arrivals = Rc::into_inner(arrivals).expect("the bulk job has ended");
        let disturbed = waits.disturbed;
        Ok(Round { bulk, waits, sent: arrivals.join(), disturbed, index: index.fingerprint() })
    }
}

/// Starts a task that leaves its output in the cell and counts `ended` down, when it ends or is dropped. Nobody awaits its
/// handle, which would lift it on colibri.
fn spawn<E: Executor, T: 'static>(
    executor: &E,
    class: Class,
    ended: &Latch,
    future: impl Future<Output = T> + 'static,
) -> Rc<RefCell<Option<T>>> {
    struct Ends(Latch);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.count_down();
        }
    }
    let output = Rc::new(RefCell::new(None));
    let (place, ends) = (Rc::clone(&output), Ends(ended.clone()));
    E::detach(executor.spawn_as(class, async move {
        let done = future.await;
        *place.borrow_mut() = Some(done);
        drop(ends);
    }));
    output
}
