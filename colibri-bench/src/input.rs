//! The input: the text files of a folder, read once into memory before anything is measured.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file with a NUL byte this early is taken for binary: no text encoding in use for sources has one, and git looks no
/// further either.
const BINARY_PROBE_BYTES: usize = 8000;

/// A folder with little text is indexed over and over, but not more often: soon nothing in it is new to the index.
const PASSES_MAX: u64 = 8;

/// The texts to index, in an order that depends on their paths only.
#[derive(Debug)]
pub(crate) struct Corpus {
    folder: PathBuf,
    documents: Vec<String>,
    /// Length of the documents.
    bytes: u64,
    /// How often the documents are gone through.
    passes: usize,
    lossy: u64,
    binary: u64,
    unreadable: u64,
}

impl Corpus {
    /// Reads the text files below `folder` until about `limit_bytes` are together. If all of them are less, they are
    /// gone through several times, each time as new documents.
    ///
    /// Files that are not UTF-8 are read with replacement characters, binary and unreadable ones are left out; each is
    /// counted for [`notes`](Corpus::notes).
    ///
    /// # Errors
    ///
    /// [`Failure::Input`] if `folder` is missing, no folder, unreadable, or has no text in it.
    pub(crate) fn read(folder: &Path, limit_bytes: u64) -> Result<Self, Failure> {
        let mut corpus = Self {
            folder: folder.to_owned(),
            documents: Vec::new(),
            bytes: 0,
            passes: 1,
            lossy: 0,
            binary: 0,
            unreadable: 0,
        };
        for path in corpus.files(folder)? {
            if corpus.bytes >= limit_bytes {
                break;
            }
            corpus.add(&path);
        }
        if corpus.bytes == 0 {
            return Err(Failure::Input(format!(
                "there is no text to index in {}{}: name another folder with --input DIR",
                folder.display(),
                corpus.left_out()
            )));
        }
        corpus.passes = (limit_bytes / corpus.bytes).clamp(1, PASSES_MAX) as usize;
        Ok(corpus)
    }

    /// A corpus of given texts, for tests.
    #[cfg(test)]
    pub(crate) fn of(texts: &[&str]) -> Self {
        Self {
            folder: PathBuf::from("memory"),
            documents: texts.iter().map(|&text| text.to_owned()).collect(),
            bytes: texts.iter().map(|text| text.len() as u64).sum(),
            passes: 1,
            lossy: 0,
            binary: 0,
            unreadable: 0,
        }
    }

    /// Where the texts come from.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// All that is indexed; a document's number is its place in this order.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &str> {
        std::iter::repeat_n(&self.documents, self.passes).flatten().map(String::as_str)
    }

    /// The files' texts, each once.
    pub(crate) fn texts(&self) -> &[String] {
        &self.documents
    }

    /// Length of all that is indexed.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes * self.passes as u64
    }

    /// What the reader of the figures has to know about the input, a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.passes > 1 {
            notes.push(format!(
                "There is less text than --input-limit allows: it is indexed {} times over, as new files each time.",
                self.passes
            ));
        }
        if self.lossy > 0 {
            notes.push(format!(
                "{} not in UTF-8; what could not be read in them was replaced.",
                files_are(self.lossy)
            ));
        }
        if self.binary > 0 {
            notes.push(format!("{} binary and left out.", files_are(self.binary)));
        }
        if self.unreadable > 0 {
            notes.push(format!("{} unreadable and left out.", files_are(self.unreadable)));
        }
        notes
    }

    /// All regular files below `folder`, sorted; hidden folders and build output are passed over, links not followed.
    fn files(&mut self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let refuse = |what: &str| {
            Failure::Input(format!(
                "{} {what}: name a folder with text files with --input DIR",
                folder.display()
            ))
        };
        let found = fs::metadata(folder).map_err(|error| refuse(&format!("cannot be read ({error})")))?;
        if !found.is_dir() {
            return Err(refuse("is not a folder"));
        }
        fs::read_dir(folder).map_err(|error| refuse(&format!("cannot be read ({error})")))?;

        let mut files = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                self.unreadable += 1;
                continue;
            };
            for entry in entries {
                match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                    Ok((kind, entry)) if kind.is_dir() => {
                        let name = entry.file_name();
                        if !name.as_encoded_bytes().starts_with(b".") && name != "target" {
                            folders.push(entry.path());
                        }
                    }
                    Ok((kind, entry)) if kind.is_file() => files.push(entry.path()),
                    Ok(_) => {} // a link, a socket, a device
                    Err(_) => self.unreadable += 1,
                }
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    fn add(&mut self, path: &Path) {
        let Ok(bytes) = fs::read(path) else {
            self.unreadable += 1;
            return;
        };
        if bytes.iter().take(BINARY_PROBE_BYTES).any(|&byte| byte == 0) {
            self.binary += 1;
            return;
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            self.lossy += 1;
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        self.bytes += text.len() as u64;
        self.documents.push(text);
    }

    fn left_out(&self) -> String {
        match (self.binary, self.unreadable) {
            (0, 0) => String::new(),
            (binary, unreadable) => format!(" (left out: {binary} binary, {unreadable} unreadable)"),
        }
    }
}

/// The folder to index when none is named: the sources of the crates that cargo has on this machine, else this
/// repository's own.
pub(crate) fn default_folder() -> PathBuf {
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    cargo_home
        .map(|home| home.join("registry").join("src"))
        .filter(|sources| fs::read_dir(sources).is_ok_and(|mut entries| entries.next().is_some()))
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}

fn files_are(count: u64) -> String {
    if count == 1 { "1 file is".to_owned() } else { format!("{count} files are") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_text_and_counts_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        write("b.txt", b"second");
        write("a.txt", b"first");
        write("latin1.txt", b"caf\xe9 noir");
        write("image.bin", b"\x89PNG\0\0");
        fs::create_dir(folder.path().join(".git")).unwrap();
        write(".git/config", b"hidden");

        let corpus = Corpus::read(folder.path(), 22).unwrap();
        assert_eq!(corpus.documents().collect::<Vec<_>>(), ["first", "second", "caf\u{fffd} noir"]);
        assert_eq!(corpus.bytes(), 5 + 6 + 11);
        assert_eq!(
            corpus.notes(),
            [
                "1 file is not in UTF-8; what could not be read in them was replaced.",
                "1 file is binary and left out."
            ]
        );
    }

    #[test]
    fn stops_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "x".repeat(100)).unwrap();
        }
        let corpus = Corpus::read(folder.path(), 150).unwrap();
        assert_eq!((corpus.texts().len(), corpus.bytes()), (2, 200));
    }

    #[test]
    fn goes_through_little_text_several_times() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "four").unwrap();
        let corpus = Corpus::read(folder.path(), 11).unwrap();
        assert_eq!((corpus.documents().collect::<Vec<_>>(), corpus.bytes()), (vec!["four", "four"], 8));
        assert!(corpus.notes()[0].contains("2 times over"));
        assert_eq!(Corpus::read(folder.path(), 1 << 30).unwrap().documents().count(), 8);
    }

    #[test]
    fn the_default_folder_has_text_in_it() {
        assert!(Corpus::read(&default_folder(), 1).is_ok());
    }
}
