//! A document's values, one behind the other.

/// What may come next in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaInArray,
    CommaInObject,
    /// Nothing more.
    End,
}

/// The kinds of nodes: each stands in the upper byte of its node.
mod kind {
    pub(super) const NULL: u64 = 0;
    pub(super) const FALSE: u64 = 1;
    pub(super) const TRUE: u64 = 2;
    /// Followed by a node with its bits.
    pub(super) const NUMBER: u64 = 3;
    /// With its place among the strings; followed by a node with its length.
    pub(super) const STRING: u64 = 4;
    /// With the number of the node behind its end.
    pub(super) const ARRAY: u64 = 5;
    /// The same; keys are strings.
    pub(super) const OBJECT: u64 = 6;
}

const KIND_SHIFT: u32 = 56;

/// The values of one document.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    nodes: Vec<u64>,
    strings: Vec<u8>,
    /// Where the arrays and objects begin that are not at their end yet.
    open: Vec<usize>,
    values: u64,
}

impl Tape {
    /// Forgets all, but for the room that it has.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.strings.clear();
        self.open.clear();
        self.values = 0;
    }

    /// All that there is, as numbers.
    pub(super) fn nodes(&self) -> &[u64] {
        &self.nodes
    }

    /// How many values there are, keys included.
    pub(super) fn values(&self) -> u64 {
        self.values
    }

    /// Length of all strings.
    pub(super) fn bytes(&self) -> u64 {
        self.strings.len() as u64
    }

    fn push(&mut self, kind: u64, content: usize) {
        self.nodes.push(kind << KIND_SHIFT | content as u64);
        self.values += 1;
    }

    /// Adds a number.
    pub(super) fn push_number(&mut self, value: f64) {
        self.push(kind::NUMBER, 0);
        self.nodes.push(value.to_bits());
    }

    /// Adds the `null`, `true` or `false` that `text` begins with, and returns its length.
    pub(super) fn push_word(&mut self, text: &[u8]) -> Option<usize> {
        let words = [(&b"null"[..], kind::NULL), (b"true", kind::TRUE), (b"false", kind::FALSE)];
        let (word, kind) = words.into_iter().find(|(word, _)| text.starts_with(word))?;
        self.push(kind, 0);
        Some(word.len())
    }

    /// Begins a string, and returns its place.
    pub(super) fn begin_string(&self) -> usize {
        self.strings.len()
    }

    /// Goes on with the string.
    pub(super) fn push_text(&mut self, text: &[u8]) {
        self.strings.extend_from_slice(text);
    }

    /// Ends the string that began at `begin`.
    pub(super) fn end_string(&mut self, begin: usize) {
        self.push(kind::STRING, begin);
        self.nodes.push((self.strings.len() - begin) as u64);
    }

    /// Goes on with the character that is escaped at `text[at..]`, and returns the place behind it.
    ///
    /// # Errors
    ///
    /// The place, if there is no such escape.
    pub(super) fn push_escaped(&mut self, text: &[u8], at: usize) -> Result<usize, usize> {
        let character = match text.get(at + 1).ok_or(at)? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => return self.push_unicode(text, at),
            &byte @ (b'"' | b'\\' | b'/') => byte.into(),
            _ => return Err(at),
        };
        self.strings.push(character as u8);
        Ok(at + 2)
    }

    fn push_unicode(&mut self, text: &[u8], at: usize) -> Result<usize, usize> {
        let first = unit(text, at).ok_or(at)?;
        let second = unit(text, at + 6).unwrap_or(0);
        let character = char::decode_utf16([first, second]).next().and_then(Result::ok).ok_or(at)?;
        self.push_text(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(at + 6 * character.len_utf16())
    }

    /// Begins an array.
    pub(super) fn open_array(&mut self) {
        self.open.push(self.nodes.len());
        self.push(kind::ARRAY, 0);
    }

    /// Begins an object.
    pub(super) fn open_object(&mut self) {
        self.open.push(self.nodes.len());
        self.push(kind::OBJECT, 0);
    }

    /// Ends the array or object that began last.
    pub(super) fn close(&mut self) {
        let begin = self.open.pop().expect("it has begun");
        self.nodes[begin] |= self.nodes.len() as u64;
    }

    /// What comes behind a value here.
    pub(super) fn after_value(&self) -> Expect {
        match self.open.last() {
            None => Expect::End,
            Some(&begin) if self.nodes[begin] >> KIND_SHIFT == kind::ARRAY => Expect::CommaInArray,
            Some(_) => Expect::CommaInObject,
        }
    }
}

/// Whether `byte` stands for itself in a string.
pub(super) fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// The unit of UTF-16 that is escaped as `\u….` at `text[at..]`.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
impl Tape {
    /// It as serde_json has it.
    pub(super) fn value(&self) -> serde_json::Value {
        let (value, end) = self.value_at(0);
        assert_eq!(end, self.nodes.len(), "one value, and all of it");
        value
    }

    /// The value of this node, and the number of the one behind it.
    fn value_at(&self, at: usize) -> (serde_json::Value, usize) {
        use serde_json::Value;
        let content = (self.nodes[at] & ((1 << KIND_SHIFT) - 1)) as usize;
        match self.nodes[at] >> KIND_SHIFT {
            kind::NULL => (Value::Null, at + 1),
            kind::FALSE => (false.into(), at + 1),
            kind::TRUE => (true.into(), at + 1),
            kind::NUMBER => (f64::from_bits(self.nodes[at + 1]).into(), at + 2),
            kind::STRING => {
                let bytes = &self.strings[content..content + self.nodes[at + 1] as usize];
                (String::from_utf8(bytes.to_vec()).unwrap().into(), at + 2)
            }
            kind => {
                let (mut place, mut values) = (at + 1, Vec::new());
                while place < content {
                    let (value, next) = self.value_at(place);
                    values.push(value);
                    place = next;
                }
                if kind == kind::ARRAY {
                    return (values.into(), content);
                }
                let pairs =
                    values.chunks(2).map(|pair| (pair[0].as_str().unwrap().to_owned(), pair[1].clone()));
                (Value::Object(pairs.collect()), content)
            }
        }
    }
}
