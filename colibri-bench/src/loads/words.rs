//! The words of a text, and the hash that an index looks them up by.

use std::hash::{BuildHasherDefault, Hasher};

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

/// How words are hashed.
pub(super) type WordHash = BuildHasherDefault<WordHasher>;

/// A quick hash, eight bytes a step (the rotate-multiply of rustc's FxHash): the standard one would be most of the work
/// of a word.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct WordHasher(u64);

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
}
