//! The bulk job: an inverted index over many texts, and the point query into what is there so far.
//!
//! The same lines build it plain and cooperatively (one macro body, with and without the attribute); the third form is
//! what an author writes by hand on another executor.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use colibri_core::cooperative;

use crate::input::Corpus;

/// The index while it is built: the bulk job borrows it for one word, a query for one look-up.
pub(crate) type SharedIndex = Rc<RefCell<Index>>;

macro_rules! index_builder {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        pub(crate) fn $name(corpus: Arc<Corpus>, index: SharedIndex) -> u64 {
            let mut count = 0;
            for (document, text) in (0..).zip(corpus.documents()) {
                for word in Words::of(text) {
                    index.borrow_mut().add(word, document);
                    count += 1;
                }
            }
            count
        }
    };
}

index_builder! {
    /// Indexes all of `corpus` and returns the number of words: the ordinary function, which stops for nobody.
    build
}

index_builder! {
    /// The same lines with colibri's attribute.
    #[cooperative]
    build_cooperatively
}

/// Words between two hand-written yields.
pub(crate) const HAND_YIELD_WORDS: u64 = 64;

/// The same, as its author writes it by hand on tokio: a counter and a `yield_now` every [`HAND_YIELD_WORDS`].
pub(crate) async fn build_yielding_by_hand(corpus: Arc<Corpus>, index: SharedIndex) -> u64 {
    let mut count = 0;
    for (document, text) in (0..).zip(corpus.documents()) {
        for word in Words::of(text) {
            index.borrow_mut().add(word, document);
            count += 1;
            if count % HAND_YIELD_WORDS == 0 {
                tokio::task::yield_now().await;
            }
        }
    }
    count
}

/// Shards of the index. A hash table that grows moves all its entries in one step that nothing can interrupt: 300 000
/// words in one table would hold the thread for tens of ms, in 1024 tables for tens of µs.
const SHARDS: usize = 1 << 14;

/// Words and the documents in which they occur.
#[derive(Debug)]
pub(crate) struct Index {
    shards: Vec<HashMap<Box<[u8]>, Vec<u32>, WordHash>>,
}

impl Index {
    /// An empty index, ready to be shared on its thread.
    pub(crate) fn shared() -> SharedIndex {
        Rc::new(RefCell::new(Self { shards: vec![HashMap::default(); SHARDS] }))
    }

    /// Notes that `word` occurs in `document`; documents come in ascending order.
    pub(crate) fn add(&mut self, word: &[u8], document: u32) {
        let shard = &mut self.shards[shard_of(word)];
        match shard.get_mut(word) {
            Some(documents) if documents.last() == Some(&document) => {}
            Some(documents) => documents.push(document),
            None => {
                shard.insert(word.into(), vec![document]);
            }
        }
    }

    /// The point query: in how many documents is `word`, and which are the newest of them?
    pub(crate) fn query(&self, word: &[u8]) -> Answer {
        let documents = self.shards[shard_of(word)].get(word).map_or(&[][..], Vec::as_slice);
        let mut newest = [None; 8];
        for (place, &document) in newest.iter_mut().zip(documents.iter().rev()) {
            *place = Some(document);
        }
        Answer { documents: documents.len(), newest }
    }

    /// Number of different words.
    pub(crate) fn terms(&self) -> usize {
        self.shards.iter().map(HashMap::len).sum()
    }

    /// A figure that two indexes share only if they hold the same words in the same documents (but for an unlikely
    /// accident): each way of building is checked by it after each round.
    pub(crate) fn fingerprint(&self) -> u64 {
        let hash = WordHash::default();
        let entries = self.shards.iter().flatten();
        entries.fold(0, |sum: u64, entry| sum.wrapping_add(hash.hash_one(entry)))
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

/// Longest word, bytes; longer runs (data in a source file) are cut, so that one step stays short.
const WORD_MAX_BYTES: usize = 64;

/// The words of a text: runs of letters, digits, `_` and everything beyond ASCII.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    /// The words of `text`, in order. It may begin anywhere in a longer one, within a character too.
    pub(crate) fn of<T: AsRef<[u8]> + ?Sized>(text: &'a T) -> Self {
        Self { rest: text.as_ref() }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|&byte| is_word(byte))?;
        let word = &self.rest[start..];
        let reach = &word[..word.len().min(WORD_MAX_BYTES)];
        let length = reach.iter().position(|&byte| !is_word(byte)).unwrap_or(reach.len());
        let (word, rest) = word.split_at(length);
        self.rest = rest;
        Some(word)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The table that a word belongs to: the top bits of its hash, of which a table of its size uses the others.
fn shard_of(word: &[u8]) -> usize {
    (WordHash::default().hash_one(word) >> 32) as usize % SHARDS
}

type WordHash = BuildHasherDefault<WordHasher>;

/// A quick hash, eight bytes a step (the rotate-multiply of rustc's FxHash): the standard one would be most of the work
/// of a word.
#[derive(Debug, Default, Clone, Copy)]
struct WordHasher(u64);

impl WordHasher {
    fn mix(&mut self, value: u64) {
        const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95; // 2^64 / π
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(MULTIPLIER);
    }
}

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            self.mix(u64::from_le_bytes(*chunk));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last));
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn finish(&self) -> u64 {
        // The multiplication leaves the low bits weak; the standard map picks its bucket by them.
        self.0 ^ (self.0 >> 29)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use colibri_core::{Priority, Scheduler};

    use super::*;

    fn words(text: &str) -> Vec<String> {
        Words::of(text).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    #[test]
    fn words_are_runs_of_letters_digits_and_what_is_beyond_ascii() {
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words(" \n;;"), [""; 0]);
        assert_eq!(words("fn count_2(x: &str)"), ["fn", "count_2", "x", "str"]);
        assert_eq!(words("café—noir"), ["café—noir"]);
        assert_eq!(words(&"x".repeat(130)).iter().map(String::len).collect::<Vec<_>>(), [64, 64, 2]);
    }

    #[test]
    fn a_query_sees_what_is_indexed_so_far() {
        let mut index = Index::shared().take_inner();
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
    fn every_way_builds_the_same_index() {
        let corpus = Arc::new(Corpus::of(&[
            include_str!("index.rs"),
            "",
            include_str!("main.rs"),
            "the same words; the same words",
        ]));
        let plain = Index::shared();
        let count = build(Arc::clone(&corpus), Rc::clone(&plain));
        let expected = (count, plain.borrow().terms(), plain.borrow().fingerprint());
        assert!(count > 1000 && expected.1 > 100);
        let result =
            |count, index: &SharedIndex| (count, index.borrow().terms(), index.borrow().fingerprint());

        let yielding = Index::shared();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let count = runtime.block_on(build_yielding_by_hand(Arc::clone(&corpus), Rc::clone(&yielding)));
        assert_eq!(result(count, &yielding), expected);

        let cooperative = Index::shared();
        let scheduler = Scheduler::builder().quantum(Duration::from_micros(1)).build();
        let task = scheduler.spawn(Priority::Idle, build_cooperatively(corpus, Rc::clone(&cooperative)));
        let count = scheduler.block_on(task).unwrap();
        assert_eq!(result(count, &cooperative), expected);
    }

    #[test]
    fn a_fingerprint_tells_indexes_apart() {
        let fingerprint = |entries: &[(&str, u32)]| {
            let mut index = Index::shared().take_inner();
            entries.iter().for_each(|(word, document)| index.add(word.as_bytes(), *document));
            index.fingerprint()
        };
        let base = fingerprint(&[("a", 1), ("b", 2)]);
        assert_eq!(base, fingerprint(&[("b", 2), ("a", 1)]));
        assert_ne!(base, fingerprint(&[("a", 2), ("b", 1)]));
        assert_ne!(base, fingerprint(&[("a", 1)]));
    }

    trait TakeInner {
        fn take_inner(self) -> Index;
    }

    impl TakeInner for SharedIndex {
        fn take_inner(self) -> Index {
            Rc::into_inner(self).expect("not shared yet").into_inner()
        }
    }
}
