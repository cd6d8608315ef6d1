//! The load `index`: an inverted index over many texts, and the point query into what is there so far.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use super::words::{WordHash, Words};
use super::{Bulk, Done, forms};
use crate::executors::Executor;
use crate::input::Corpus;
use crate::report::count;

macro_rules! index {
    ([$($fn:tt)*] { $($generics:tt)* } { $($pass:tt)* } { $($await:tt)* } { $($start:tt)* } { $($tick:tt)* } { $($short:tt)* }) => {
        /// Indexes all of `corpus` and returns the number of words.
        $($fn)* build<$($generics)* I: Lookup>(corpus: Arc<Corpus>, index: I) -> u64 {
            $($start)*
            let mut count = 0;
            for (document, text) in (0..).zip(corpus.documents()) {
                for word in Words::of(text) {
                    index.add(word, document);
                    count += 1;
                    $($tick)*
                }
            }
            count
        }
    };
}
forms!(index);

/// The load.
#[derive(Debug)]
pub(crate) struct Index;

impl Bulk for Index {
    const NAME: &'static str = "index";
    const SCENARIO: &'static str = "latency";
    const ABOUT: &'static str = "builds an inverted index";

    fn begin<I: Lookup>(_: &Corpus, _: I) {}

    fn plain<I: Lookup>(corpus: Arc<Corpus>, index: I) -> Done {
        done(plain::build(corpus, index))
    }

    async fn cooperative<I: Lookup>(corpus: Arc<Corpus>, index: I) -> Done {
        done(cooperative::build(corpus, index).await)
    }

    async fn consuming<I: Lookup>(corpus: Arc<Corpus>, index: I) -> Done {
        done(consuming::build(corpus, index).await)
    }

    async fn yielding<E: Executor, I: Lookup>(corpus: Arc<Corpus>, index: I) -> Done {
        done(yielding::build::<E, I>(corpus, index).await)
    }

    fn say(_: &Corpus, done: &Done, terms: usize) -> String {
        format!("{} words, {} different ones", count(done.items), count(terms as u64))
    }
}

fn done(words: u64) -> Done {
    Done { items: words, bytes: 0, fingerprint: 0 }
}

/// What a bulk job and the queries share: [`LocalIndex`] on one thread, [`SharedIndex`] between threads.
pub(crate) trait Lookup: Clone + 'static {
    /// Notes that `word` occurs in `document`; documents come in ascending order.
    fn add(&self, word: &[u8], document: u32);

    /// The point query: in how many documents is `word`, and which are the newest of them?
    fn query(&self, word: &[u8]) -> Answer;
}

impl<C: Cell, P: Deref<Target = Shards<C>> + Clone + 'static> Lookup for P {
    fn add(&self, word: &[u8], document: u32) {
        self.shard(word).with(|shard| match shard.get_mut(word) {
            Some(documents) if documents.last() == Some(&document) => {}
            Some(documents) => documents.push(document),
            None => {
                shard.insert(word.into(), vec![document]);
            }
        });
    }

    fn query(&self, word: &[u8]) -> Answer {
        self.shard(word).with(|shard| {
            let documents = shard.get(word).map_or(&[][..], Vec::as_slice);
            let mut newest = [None; 8];
            for (place, &document) in newest.iter_mut().zip(documents.iter().rev()) {
                *place = Some(document);
            }
            Answer { documents: documents.len(), newest }
        })
    }
}

/// What a point query returns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// How many documents have the word.
    pub(crate) documents: usize,
    /// The newest of them, newest first.
    pub(crate) newest: [Option<u32>; 8],
}

/// Shards of the index. A hash table that grows moves all its entries in one step that nothing can interrupt: 300 000
/// words in one table would hold the thread for tens of ms, in 1024 tables for tens of µs.
const SHARDS: usize = 1 << 14;

/// A part of the words with their documents.
type Shard = HashMap<Box<[u8]>, Vec<u32>, WordHash>;

/// Words and the documents in which they occur, each shard in a cell of its own: threads that share it seldom meet at one.
#[derive(Debug)]
pub(crate) struct Shards<C>(Vec<C>);

/// An index for one thread.
pub(crate) type LocalIndex = Shards<RefCell<Shard>>;

/// An index for several threads.
pub(crate) type SharedIndex = Shards<Mutex<Shard>>;

/// How a shard is opened.
pub(crate) trait Cell: 'static {
    /// Closes it around `shard`.
    fn new(shard: Shard) -> Self;

    /// Opens it for `use_it`.
    fn with<R>(&self, use_it: impl FnOnce(&mut Shard) -> R) -> R;
}

impl Cell for RefCell<Shard> {
    fn new(shard: Shard) -> Self {
        Self::new(shard)
    }

    fn with<R>(&self, use_it: impl FnOnce(&mut Shard) -> R) -> R {
        use_it(&mut self.borrow_mut())
    }
}

impl Cell for Mutex<Shard> {
    fn new(shard: Shard) -> Self {
        Self::new(shard)
    }

    fn with<R>(&self, use_it: impl FnOnce(&mut Shard) -> R) -> R {
        use_it(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<C: Cell> Shards<C> {
    /// An empty index.
    pub(crate) fn new() -> Self {
        Self((0..SHARDS).map(|_| C::new(Shard::default())).collect())
    }

    /// Number of different words.
    pub(crate) fn terms(&self) -> usize {
        self.0.iter().map(|cell| cell.with(|shard| shard.len())).sum()
    }

    /// A figure that two indexes share only if they hold the same words in the same documents (but for an unlikely
    /// accident): each way of building is checked by it after each round.
    pub(crate) fn fingerprint(&self) -> u64 {
        let hash = WordHash::default();
        let of_shard = |shard: &mut Shard| {
            shard.iter().fold(0, |sum: u64, entry| sum.wrapping_add(hash.hash_one(entry)))
        };
        self.0.iter().fold(0, |sum: u64, cell| sum.wrapping_add(cell.with(of_shard)))
    }

    /// The cell that a word belongs to: by the top bits of its hash, of which a table of its size uses the others.
    fn shard(&self, word: &[u8]) -> &C {
        &self.0[(WordHash::default().hash_one(word) >> 32) as usize % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn a_query_sees_what_is_indexed_so_far() {
        let index = Rc::new(LocalIndex::new());
        assert_eq!(index.query(b"bird"), Answer { documents: 0, newest: [None; 8] });
        for document in [0, 0, 1, 7] {
            index.add(b"bird", document);
        }
        let answer = index.query(b"bird");
        assert_eq!(answer.documents, 3);
        assert_eq!(answer.newest[..4], [Some(7), Some(1), Some(0), None]);
        assert_eq!(index.terms(), 1);
    }

    #[test]
    fn a_fingerprint_tells_indexes_apart() {
        let fingerprint = |entries: &[(&str, u32)]| {
            let index = Rc::new(LocalIndex::new());
            entries.iter().for_each(|(word, document)| index.add(word.as_bytes(), *document));
            index.fingerprint()
        };
        let base = fingerprint(&[("a", 1), ("b", 2)]);
        assert_eq!(base, fingerprint(&[("b", 2), ("a", 1)]));
        assert_ne!(base, fingerprint(&[("a", 2), ("b", 1)]));
        assert_ne!(base, fingerprint(&[("a", 1)]));
    }
}
