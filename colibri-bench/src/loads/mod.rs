//! The bulk work of `latency`, and the index that its queries look into.
//!
//! Each load's loops are written once, as a macro. [`forms`] makes four modules of it: plain, with colibri's attribute, with
//! tokio's `consume_budget` in each round of the hot loop, and with a yield by hand in every 64th.

mod gzip;
mod index;
mod json;
mod words;

use std::fmt::Debug;
use std::sync::Arc;

pub(crate) use self::gzip::Gzip;
pub(crate) use self::index::{Index, LocalIndex, Lookup, SharedIndex};
pub(crate) use self::json::Json;
pub(crate) use self::words::Words;

use crate::cli::Options;
use crate::executors::Executor;
use crate::failure::Failure;
use crate::input::Corpus;

/// Items between two yields that are written by hand.
const HAND_YIELD_ITEMS: u32 = 64;

/// Of a load that needs no index itself, this much of its texts is indexed before a round, for the queries.
const INDEXED_BYTES: u64 = 1 << 20;

/// Makes the modules `plain`, `cooperative`, `consuming` and `yielding` of the macro `$work`.
///
/// The macro gets what stands before a function's name, generic parameters to declare and to hand on, what comes behind
/// a call of one function by another, what comes first in the function with the hot loop, what comes in each of its
/// rounds, and what stands before a loop that is over in a few µs by itself.
macro_rules! forms {
    ($work:ident) => {
        pub(crate) mod plain {
            use super::*;
            $work! { [pub(crate) fn] {} {} {} {} {} {} }
        }
        pub(crate) mod cooperative {
            use super::*;
            $work! { [#[colibri_core::cooperative] pub(crate) fn] {} {} { .await } {} {} { #[cooperative(skip)] } }
        }
        pub(crate) mod consuming {
            use super::*;
            $work! { [pub(crate) async fn] {} {} { .await } {} { tokio::task::consume_budget().await; } {} }
        }
        pub(crate) mod yielding {
            use super::*;
            use $crate::executors::Executor;
            $work! { [pub(crate) async fn] { E: Executor, } { E, } { .await }
                { let mut passed = 0_u32; }
                {
                    passed += 1;
                    if passed == $crate::loads::HAND_YIELD_ITEMS {
                        passed = 0;
                        E::yield_now().await;
                    }
                }
                {}
            }
        }
    };
}
use forms;

/// What a bulk job came to: equal work has equal figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// Words, tokens or values, the load's own unit.
    pub(crate) items: u64,
    /// Bytes that it wrote, if it writes any.
    pub(crate) bytes: u64,
    /// A figure that depends on all of its output; the index has one of its own.
    pub(crate) fingerprint: u64,
}

/// A load: a bulk job in every form that a peer runs.
pub(crate) trait Bulk: Debug + 'static {
    /// Its name on the command line.
    const NAME: &'static str;
    /// The scenario's name with this load, in file names too.
    const SCENARIO: &'static str;
    /// What the job does, in a few words.
    const ABOUT: &'static str;
    /// How many times as much as an index build it gets through in the same time.
    const INPUT_FACTOR: u64 = 1;

    /// Reads what it works on.
    ///
    /// # Errors
    ///
    /// [`Failure::Input`] if there is nothing to work on.
    fn read(options: &Options) -> Result<Corpus, Failure> {
        Corpus::read(&options.folder(), options.input_limit_bytes(Self::INPUT_FACTOR), options.not_utf8())
    }

    /// Fills the index that a round begins with.
    fn begin<I: Lookup>(corpus: &Corpus, index: I) {
        index::plain::build(Arc::new(corpus.beginning(INDEXED_BYTES)), index);
    }

    /// The job as an ordinary function, which stops for nobody.
    fn plain<I: Lookup>(corpus: Arc<Corpus>, index: I) -> Done;

    /// The same lines with colibri's attribute.
    fn cooperative<I: Lookup>(corpus: Arc<Corpus>, index: I) -> impl Future<Output = Done> + 'static;

    /// With `tokio::task::consume_budget().await` for each item.
    fn consuming<I: Lookup>(corpus: Arc<Corpus>, index: I) -> impl Future<Output = Done> + 'static;

    /// With the executor's own yield after every 64th item.
    fn yielding<E: Executor, I: Lookup>(
        corpus: Arc<Corpus>,
        index: I,
    ) -> impl Future<Output = Done> + 'static;

    /// What was done, in a sentence: `done` of `corpus`, with so many different words in the index.
    fn say(corpus: &Corpus, done: &Done, terms: usize) -> String;
}

/// A figure that depends on every byte and on their order.
fn fingerprint(bytes: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    words::WordHash::default().hash_one(bytes)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::time::Duration;

    use colibri_core::{Priority, Scheduler};

    use super::*;
    use crate::executors::{CurrentThread, LocalExecutor};

    /// The job on `executor`, and the fingerprint of the index that it left.
    fn on<E: Executor, B: Bulk, F: Future<Output = Done> + 'static>(
        corpus: &Arc<Corpus>,
        job: impl Fn(Arc<Corpus>, Rc<LocalIndex>) -> F,
    ) -> (Done, u64) {
        let index = Rc::new(LocalIndex::new());
        B::begin(corpus, Rc::clone(&index));
        let executor = E::new();
        let done = executor.block_on(executor.spawn(job(Arc::clone(corpus), Rc::clone(&index))));
        (done, index.fingerprint())
    }

    fn every_form_comes_to_the_same<B: Bulk>(corpus: Corpus) {
        let corpus = Arc::new(corpus);
        let expected = on::<CurrentThread, B, _>(&corpus, async |corpus, index| B::plain(corpus, index));
        assert!(expected.0.items > 100, "{expected:?}");
        assert_eq!(on::<CurrentThread, B, _>(&corpus, B::consuming), expected);
        assert_eq!(on::<LocalExecutor, B, _>(&corpus, B::yielding::<LocalExecutor, _>), expected);
        assert_eq!(on::<CurrentThread, B, _>(&corpus, B::cooperative), expected);

        let index = Arc::new(SharedIndex::new());
        B::begin(&corpus, Arc::clone(&index));
        assert_eq!((B::plain(Arc::clone(&corpus), Arc::clone(&index)), index.fingerprint()), expected);

        // As many yields as there can be.
        let result = Rc::new(RefCell::new(None));
        let index = Rc::new(LocalIndex::new());
        B::begin(&corpus, Rc::clone(&index));
        let scheduler = Scheduler::builder().quantum(Duration::from_micros(1)).build();
        let job = B::cooperative(corpus, Rc::clone(&index));
        drop(scheduler.spawn(Priority::Idle, {
            let result = Rc::clone(&result);
            async move { *result.borrow_mut() = Some(job.await) }
        }));
        scheduler.run();
        assert_eq!((result.take().expect("it has run"), index.fingerprint()), expected);
    }

    fn texts() -> Corpus {
        Corpus::of(&[include_str!("mod.rs"), "", include_str!("../main.rs"), "the same; the same words", "x"])
    }

    #[test]
    fn every_form_of_the_index_comes_to_the_same() {
        every_form_comes_to_the_same::<Index>(texts());
    }

    #[test]
    fn every_form_of_gzip_comes_to_the_same() {
        every_form_comes_to_the_same::<Gzip>(texts());
    }

    #[test]
    fn every_form_of_json_comes_to_the_same() {
        every_form_comes_to_the_same::<Json>(texts().as_json());
    }
}
