//! The input: the text files of a folder, read once into memory before anything is measured.

mod json;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use crate::failure::Failure;

/// A file with a NUL byte this early is taken for binary: no text encoding in use for sources has one, and git looks no
/// further either.
const BINARY_PROBE_BYTES: usize = 8000;

/// A character of UTF-8 may be this long: where there is less room, no text is begun.
const CHARACTER_MAX_BYTES: u64 = 4;

/// How a file in UTF-16 begins: it has NUL bytes, and is a text all the same.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// A folder with little text is gone through over and over, but not more often: this repository's 2 MB then still make a job of
/// a second, and a folder of a few lines no endless one.
const PASSES_MAX: u64 = 64;

/// What to do with a text that is not in UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotUtf8 {
    /// It is an error: who named the folder can do something about it.
    Refuse,
    /// It is read with replacement characters.
    Replace,
}

/// The texts to work on, in an order that depends on their paths only.
#[derive(Debug)]
pub(crate) struct Corpus {
    folder: PathBuf,
    documents: Vec<String>,
    /// Length of the documents.
    bytes: u64,
    /// How often the documents are gone through.
    passes: usize,
    /// And how often at most.
    passes_max: u64,
    lossy: u64,
    binary: u64,
    unreadable: u64,
    /// There were hardly any JSON documents, so that texts were made some.
    is_made_json: bool,
}

impl Corpus {
    /// Reads the text files below `folder` until `limit_bytes` are together; the last one is cut there. If all of them are
    /// less, they are gone through several times, each time as new documents.
    ///
    /// Binary and unreadable files are left out, and texts that are not UTF-8 dealt with as `not_utf8` says; each is
    /// counted for [`notes`](Corpus::notes).
    ///
    /// # Errors
    ///
    /// [`Failure::Input`] if `folder` is missing, no folder, unreadable, or has no text in it; and if a text in it is not
    /// UTF-8 and `not_utf8` refuses that.
    pub(crate) fn read(folder: &Path, limit_bytes: u64, not_utf8: NotUtf8) -> Result<Self, Failure> {
        let mut corpus = Self::empty(folder);
        corpus.add_files(|_| true, limit_bytes, not_utf8)?;
        if corpus.bytes == 0 {
            return Err(Failure::Input(format!(
                "there is no text in {}{}: name another folder with --input DIR",
                folder.display(),
                corpus.left_out()
            )));
        }
        corpus.repeat_up_to(limit_bytes);
        Ok(corpus)
    }

    fn add_files(
        &mut self,
        wanted: impl Fn(&Path) -> bool,
        limit_bytes: u64,
        not_utf8: NotUtf8,
    ) -> Result<(), Failure> {
        for path in self.files()?.into_iter().filter(|path| wanted(path)) {
            let room = limit_bytes.saturating_sub(self.bytes);
            if room < CHARACTER_MAX_BYTES {
                break;
            }
            self.add(&path, room, not_utf8)?;
        }
        Ok(())
    }

    fn empty(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            documents: Vec::new(),
            bytes: 0,
            passes: 1,
            passes_max: PASSES_MAX,
            lossy: 0,
            binary: 0,
            unreadable: 0,
            is_made_json: false,
        }
    }

    /// The first `limit_bytes` of it, its last text cut there.
    pub(crate) fn beginning(&self, limit_bytes: u64) -> Self {
        let mut short = Self { documents: Vec::new(), bytes: 0, folder: self.folder.clone(), ..*self };
        for text in &self.documents {
            let room = limit_bytes.saturating_sub(short.bytes);
            if room < CHARACTER_MAX_BYTES {
                break;
            }
            short.push(text[..floor_char_boundary(text, room)].to_owned());
        }
        short.repeat_up_to(limit_bytes);
        short
    }

    fn repeat_up_to(&mut self, limit_bytes: u64) {
        self.passes = (limit_bytes / self.bytes.max(1)).clamp(1, self.passes_max) as usize;
    }

    /// A corpus of given texts, for tests.
    #[cfg(test)]
    pub(crate) fn of(texts: &[&str]) -> Self {
        let mut corpus = Self::empty(Path::new("memory"));
        texts.iter().for_each(|&text| corpus.push(text.to_owned()));
        corpus
    }

    /// Where the texts come from.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// All that is worked on; a document's number is its place in this order.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &str> {
        std::iter::repeat_n(&self.documents, self.passes).flatten().map(String::as_str)
    }

    /// The files' texts, each once.
    pub(crate) fn texts(&self) -> &[String] {
        &self.documents
    }

    /// Length of all that is worked on.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes * self.passes as u64
    }

    /// What the reader of the figures has to know about the input, a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_made_json {
            notes.push(
                "There are hardly any JSON files in the folder: each text was made one, with its lines."
                    .to_owned(),
            );
        }
        if self.passes > 1 {
            notes.push(format!(
                "There is less text than --input-limit allows: it is gone through {} times, as new files each time.",
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
    fn files(&mut self) -> Result<Vec<PathBuf>, Failure> {
        let folder = &self.folder;
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
        let mut folders = vec![folder.clone()];
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

    /// Adds the text of a file, or its first `room` bytes.
    fn add(&mut self, path: &Path, room: u64, not_utf8: NotUtf8) -> Result<(), Failure> {
        let Ok(bytes) = read(path, room) else {
            self.unreadable += 1;
            return Ok(());
        };
        let is_cut = bytes.len() as u64 == room;
        if bytes.iter().take(BINARY_PROBE_BYTES).any(|&byte| byte == 0)
            && !UTF_16.iter().any(|mark| bytes.starts_with(mark))
        {
            self.binary += 1;
            return Ok(());
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if is_cut && error.utf8_error().error_len().is_none() => before_the_cut(error),
            Err(error) if not_utf8 == NotUtf8::Replace => {
                self.lossy += 1;
                String::from_utf8_lossy(error.as_bytes()).into_owned()
            }
            Err(error) => {
                return Err(Failure::Input(format!(
                    "{} is not in UTF-8 (from byte {} on): convert it, or read such files with replacement \
                     characters with --lossy",
                    path.display(),
                    error.utf8_error().valid_up_to()
                )));
            }
        };
        self.push(text);
        Ok(())
    }

    fn push(&mut self, text: String) {
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

/// The first `limit_bytes` of a file.
fn read(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A text whose last character was cut in two, without it.
fn before_the_cut(error: FromUtf8Error) -> String {
    let length = error.utf8_error().valid_up_to();
    let mut bytes = error.into_bytes();
    bytes.truncate(length);
    String::from_utf8(bytes).expect("it is valid up to there")
}

/// The last place in `text` up to `limit_bytes` that is not within a character.
fn floor_char_boundary(text: &str, limit_bytes: u64) -> usize {
    let limit = usize::try_from(limit_bytes).map_or(text.len(), |limit| limit.min(text.len()));
    (0..=limit).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0)
}

/// The folder to read when none is named: the sources of the crates that cargo has on this machine, else this
/// repository's own.
pub(crate) fn default_folder() -> PathBuf {
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    cargo_home
        .map(|home| home.join("registry").join("src"))
        .filter(|sources| fs::read_dir(sources).is_ok_and(|mut entries| entries.next().is_some()))
        .unwrap_or_else(|| {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .parent()
                .expect("the bench lies in the workspace")
                .to_owned()
        })
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

        let corpus = Corpus::read(folder.path(), 22, NotUtf8::Replace).unwrap();
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
    fn a_text_in_another_encoding_is_refused_where_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("image.bin"), b"\x89PNG\0\0").unwrap();
        for bytes in [&b"caf\xe9 noir"[..], b"\xff\xfec\0a\0f\0\xe9\0", b"cut off \xe2\x82"] {
            let path = folder.path().join("text");
            fs::write(&path, bytes).unwrap();
            let refused = Corpus::read(folder.path(), 1 << 20, NotUtf8::Refuse).unwrap_err().to_string();
            assert!(refused.contains(path.to_str().unwrap()) && refused.contains("--lossy"), "{refused}");
        }
    }

    #[test]
    fn stops_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "€".repeat(30)).unwrap();
        }
        let read = |limit| Corpus::read(folder.path(), limit, NotUtf8::Refuse).unwrap();
        // 90 bytes each; the limit of 152 lies within a character, which is no fault of the file's.
        assert_eq!((read(152).texts().len(), read(152).bytes()), (2, 150));
        assert_eq!((read(90).texts().len(), read(90).bytes()), (1, 90));
        assert_eq!((read(270).beginning(152).texts().len(), read(270).beginning(152).bytes()), (2, 150));
        assert_eq!(read(270).beginning(90).bytes(), 90);
    }

    #[test]
    fn goes_through_little_text_several_times() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "four").unwrap();
        let corpus = Corpus::read(folder.path(), 11, NotUtf8::Refuse).unwrap();
        assert_eq!((corpus.documents().collect::<Vec<_>>(), corpus.bytes()), (vec!["four", "four"], 8));
        assert!(corpus.notes()[0].contains("gone through 2 times"));
        let most = Corpus::read(folder.path(), 1 << 30, NotUtf8::Refuse).unwrap();
        assert_eq!(most.documents().count(), 64);
    }

    #[test]
    fn the_default_folder_has_text_in_it() {
        assert!(Corpus::read(&default_folder(), 1 << 10, NotUtf8::Replace).is_ok());
    }
}
