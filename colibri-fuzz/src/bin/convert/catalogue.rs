//! The crates: chosen for loops and tests of their own, and for the kinds of code that they bring together.

/// A crate of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) version: String,
    /// What it brings.
    pub(crate) what: &'static str,
}

/// Versions are fixed, so that two runs mean the same.
const LIST: [(&str, &str, &str); 18] = [
    ("heck", "0.5.0", "edition 2021, no_std; `fmt` with hidden lifetimes, closures as arguments"),
    ("itoa", "1.0.19", "edition 2021, no_std; digits from the back, MaybeUninit"),
    ("semver", "1.0.28", "edition 2021; a parser with early exits"),
    ("fastrand", "2.5.0", "edition 2018; generators, loops that reject"),
    ("unicode-segmentation", "1.13.3", "edition 2018, no_std; state machines, iterators both ways"),
    ("smallvec", "1.16.6", "edition 2018; unsafe code, drop guards, generic arrays"),
    ("arrayvec", "0.7.8", "edition 2018; const generics, drop guards"),
    ("fixedbitset", "0.5.9", "edition 2021, no_std; words of bits, iterators both ways"),
    ("num-integer", "0.1.47", "edition 2018, no_std; generic arithmetic"),
    ("humantime", "2.4.0", "edition 2021; parsers and `fmt`"),
    ("memchr", "2.8.3", "edition 2021, no_std; byte scanners on raw pointers, generic over vectors"),
    ("regex-syntax", "0.8.12", "edition 2021; a parser, interval sets, heap stacks"),
    ("aho-corasick", "1.1.5", "edition 2021; automata, tables, queues"),
    ("textwrap", "0.16.4", "edition 2021; text, a table of dynamic programming"),
    ("indexmap", "2.14.2", "edition 2024; maps, entries, generic wrappers"),
    ("hashbrown", "0.15.5", "edition 2021, no_std; hash tables on raw memory"),
    ("petgraph", "0.8.3", "edition 2021; graph algorithms, heavily generic traits"),
    ("roaring", "0.11.5", "edition 2021; sets of integers, merging iterators"),
];

/// All of them.
pub(crate) fn list() -> Vec<Crate> {
    let entry = |&(name, version, what): &(&str, &str, &'static str)| Crate {
        name: name.to_owned(),
        version: version.to_owned(),
        what,
    };
    LIST.iter().map(entry).collect()
}

/// The crate that `text` names.
pub(crate) fn named(text: &str) -> Result<Crate, String> {
    if let Some((name, version)) = text.split_once('@') {
        if name.is_empty() || version.is_empty() {
            return Err(format!("`{text}` is no crate: write NAME@VERSION"));
        }
        return Ok(Crate { name: name.to_owned(), version: version.to_owned(), what: "" });
    }
    list().into_iter().find(|entry| entry.name == text).ok_or_else(|| {
        format!("`{text}` is not in the list (`--list` shows it): write {text}@VERSION for another crate")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_found_by_name_or_given_with_its_version() {
        assert_eq!(named("memchr").map(|entry| entry.version), Ok("2.8.3".to_owned()));
        assert_eq!(
            named("other@1.2").map(|entry| (entry.name, entry.version)),
            Ok(("other".into(), "1.2".into()))
        );
        for wrong in ["other", "@1", "other@"] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }
}
