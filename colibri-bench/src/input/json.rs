//! JSON documents: those that are there, or texts that are made some.

use std::path::Path;

use super::{Corpus, NotUtf8};
use crate::failure::Failure;

/// With fewer JSON documents than this, the same few would be parsed over and over, always from the nearest cache.
const LEAST_BYTES: u64 = 128 << 10;
/// Of this part of the limit's texts documents are made, which are about twice as long.
const TEXTS_PART: u64 = 16;
/// Documents are parsed so quickly that they have to be gone through more often than texts.
const PASSES_MAX: u64 = 4096;

impl Corpus {
    /// Reads the JSON documents below `folder`, as [`read`](Corpus::read) does texts; a document that is cut at the end
    /// ends in an error, as some files on purpose do. If there are hardly any, each text is made one.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Corpus::read).
    pub(crate) fn read_json(folder: &Path, limit_bytes: u64, not_utf8: NotUtf8) -> Result<Self, Failure> {
        let mut corpus = Self::empty(folder);
        corpus.add_files(
            |path| path.extension().is_some_and(|kind| kind == "json"),
            limit_bytes,
            not_utf8,
        )?;
        if corpus.bytes < LEAST_BYTES.min(limit_bytes) {
            corpus = Self::read(folder, limit_bytes / TEXTS_PART, not_utf8)?.as_json();
        }
        corpus.passes_max = PASSES_MAX;
        corpus.repeat_up_to(limit_bytes);
        Ok(corpus)
    }

    /// Each text as a document: its length and its lines, with their numbers and how far they are indented.
    pub(crate) fn as_json(&self) -> Self {
        let document = |text: &String| {
            let lines = (1..).zip(text.lines()).map(|(number, line): (u32, _)| {
                let indent = line.len() - line.trim_start().len();
                serde_json::json!({ "number": number, "indent": indent, "text": line.trim(), "empty": line.is_empty() })
            });
            serde_json::json!({ "bytes": text.len(), "lines": lines.collect::<Vec<_>>() }).to_string()
        };
        let documents: Vec<String> = self.documents.iter().map(document).collect();
        let bytes = documents.iter().map(|text| text.len() as u64).sum();
        Self { folder: self.folder.clone(), documents, bytes, is_made_json: true, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn documents_are_read_where_there_are_some() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("a.rs", "fn main() {\n    run();\n}\n");
        let made = Corpus::read_json(folder.path(), 1 << 20, NotUtf8::Refuse).unwrap();
        let value: serde_json::Value = serde_json::from_str(made.documents().next().unwrap()).unwrap();
        assert_eq!(
            value["lines"][1],
            serde_json::json!({"number": 2, "indent": 4, "text": "run();", "empty": false})
        );
        assert!(made.notes()[0].starts_with("There are hardly any JSON files"));

        write("b.json", "[1, 2]");
        let few = Corpus::read_json(folder.path(), 1 << 20, NotUtf8::Refuse).unwrap();
        assert!(few.notes()[0].starts_with("There are hardly any JSON files"));
        let read = Corpus::read_json(folder.path(), 6, NotUtf8::Refuse).unwrap();
        assert_eq!((read.documents().collect::<Vec<_>>(), read.notes()), (vec!["[1, 2]"], vec![]));
    }
}
