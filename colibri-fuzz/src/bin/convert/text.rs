//! Changes to places of a text. Everything else stays byte for byte.

use std::ops::Range;

/// A text and what is to be put in place of some of its ranges.
#[derive(Debug)]
pub(crate) struct Edited<'a> {
    text: &'a str,
    /// Disjoint.
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Edited<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Edited { text, edits: Vec::new() }
    }

    /// What stands there, unchanged.
    pub(crate) fn original(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    /// Puts `new` in place of `range`. A range that has changes inside has to be [taken](Edited::take) first.
    pub(crate) fn replace(&mut self, range: Range<usize>, new: String) {
        debug_assert!(self.is_free(&range), "two changes at {range:?}");
        self.edits.push((range, new));
    }

    /// Whether nothing has been changed at `range` yet.
    pub(crate) fn is_free(&self, range: &Range<usize>) -> bool {
        self.edits.iter().all(|(other, _)| other.end <= range.start || range.end <= other.start)
    }

    /// The text of `range` with the changes inside it, which are forgotten.
    pub(crate) fn take(&mut self, range: Range<usize>) -> String {
        let is_inside =
            |(other, _): &(Range<usize>, String)| range.start <= other.start && other.end <= range.end;
        let (mut inside, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.edits).into_iter().partition(is_inside);
        self.edits = others;
        inside.sort_by_key(|(other, _)| (other.start, other.end));
        let mut result = String::new();
        let mut done = range.start;
        for (other, new) in inside {
            result.push_str(&self.text[done..other.start]);
            result.push_str(&new);
            done = other.end;
        }
        result.push_str(&self.text[done..range.end]);
        result
    }

    /// The whole text with all changes.
    pub(crate) fn finish(mut self) -> String {
        self.take(0..self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_change_moves_with_the_text_around_it() {
        let mut edited = Edited::new("a (b (c)) d");
        edited.replace(6..7, "x".to_owned());
        let inner = edited.take(3..8);
        assert_eq!(inner, "b (x)");
        edited.replace(2..9, format!("[{inner}]"));
        edited.replace(11..11, "!".to_owned());
        assert_eq!(edited.finish(), "a [b (x)] d!");
    }
}
