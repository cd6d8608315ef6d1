//! The load `json`: each document is parsed to a tape, every value of it, by the rules of RFC 8259.
//!
//! A tape instead of a tree: no allocation per value, and nothing to drop piece by piece at the end. One function without
//! recursion, as quick parsers are written.

mod number;
mod tape;

use std::sync::Arc;

use self::tape::{Expect, Tape};
use super::{Bulk, Done, Lookup, forms};
use crate::cli::Options;
use crate::executors::Executor;
use crate::failure::Failure;
use crate::input::Corpus;
use crate::report::count;

macro_rules! json {
    ([$($fn:tt)*] { $($generics:tt)* } { $($pass:tt)* } { $($await:tt)* } { $($start:tt)* } { $($tick:tt)* } { $($short:tt)* }) => {
        /// Parses all of `corpus`, and sums up what the tapes hold.
        $($fn)* parse_all<$($generics)*>(corpus: Arc<Corpus>) -> Done {
            $($start)*
            let mut done = Done { items: 0, bytes: 0, fingerprint: 0 };
            let mut tape = Tape::default();
            for text in corpus.documents() {
                $($tick)*
                let end = parse::<$($pass)*>(text.as_bytes(), &mut tape) $($await)*;
                done.items += tape.values();
                done.bytes += tape.bytes();
                let mut sum = u64::from(end.is_ok());
                for &node in tape.nodes() {
                    sum = sum.rotate_left(5).wrapping_add(node);
                }
                done.fingerprint = done.fingerprint.rotate_left(7) ^ sum;
            }
            done
        }

        /// Parses `text` to `tape`, whose earlier content goes.
        ///
        /// # Errors
        ///
        /// The first place in the text that no JSON has there.
        $($fn)* parse<$($generics)*>(text: &[u8], tape: &mut Tape) -> Result<(), usize> {
            $($start)*
            tape.clear();
            let mut expect = Expect::Value;
            let mut at = 0;
            loop {
                $($tick)*
                // A few bytes in all but hostile documents, and there a MB takes less than a ms.
                $($short)*
                while at < text.len() && matches!(text[at], b' ' | b'\n' | b'\r' | b'\t') {
                    at += 1;
                }
                if at == text.len() {
                    return if expect == Expect::End { Ok(()) } else { Err(at) };
                }
                let byte = text[at];
                match (expect, byte) {
                    (Expect::Value | Expect::ValueOrEnd | Expect::Key | Expect::KeyOrEnd, b'"') => {
                        let begin = tape.begin_string();
                        at += 1;
                        loop {
                            let run = at;
                            while at < text.len() && tape::is_plain(text[at]) {
                                at += 1;
                            }
                            tape.push_text(&text[run..at]);
                            match text.get(at) {
                                Some(b'"') => break,
                                Some(b'\\') => at = tape.push_escaped(text, at)?,
                                _ => return Err(at),
                            }
                        }
                        at += 1;
                        tape.end_string(begin);
                        expect = match expect {
                            Expect::Key | Expect::KeyOrEnd => Expect::Colon,
                            _ => tape.after_value(),
                        };
                    }
                    (Expect::Value | Expect::ValueOrEnd, b'-' | b'0'..=b'9') => {
                        let begin = at;
                        $($short)*
                        while at < text.len() && number::is_part(text[at]) {
                            at += 1;
                        }
                        tape.push_number(number::value(&text[begin..at]).ok_or(begin)?);
                        expect = tape.after_value();
                    }
                    (Expect::Value | Expect::ValueOrEnd, b'[') => {
                        tape.open_array();
                        at += 1;
                        expect = Expect::ValueOrEnd;
                    }
                    (Expect::Value | Expect::ValueOrEnd, b'{') => {
                        tape.open_object();
                        at += 1;
                        expect = Expect::KeyOrEnd;
                    }
                    (Expect::ValueOrEnd | Expect::CommaInArray, b']')
                    | (Expect::KeyOrEnd | Expect::CommaInObject, b'}') => {
                        tape.close();
                        at += 1;
                        expect = tape.after_value();
                    }
                    (Expect::CommaInArray, b',') => {
                        at += 1;
                        expect = Expect::Value;
                    }
                    (Expect::CommaInObject, b',') => {
                        at += 1;
                        expect = Expect::Key;
                    }
                    (Expect::Colon, b':') => {
                        at += 1;
                        expect = Expect::Value;
                    }
                    (Expect::Value | Expect::ValueOrEnd, _) => {
                        at += tape.push_word(&text[at..]).ok_or(at)?;
                        expect = tape.after_value();
                    }
                    _ => return Err(at),
                }
            }
        }
    };
}
forms!(json);

/// The load.
#[derive(Debug)]
pub(crate) struct Json;

impl Bulk for Json {
    const NAME: &'static str = "json";
    const SCENARIO: &'static str = "latency-json";
    const ABOUT: &'static str = "parses JSON documents";
    const INPUT_FACTOR: u64 = 4;

    fn read(options: &Options) -> Result<Corpus, Failure> {
        Corpus::read_json(
            &options.folder(),
            options.input_limit_bytes(Self::INPUT_FACTOR),
            options.not_utf8(),
        )
    }

    fn plain<I: Lookup>(corpus: Arc<Corpus>, _: I) -> Done {
        plain::parse_all(corpus)
    }

    async fn cooperative<I: Lookup>(corpus: Arc<Corpus>, _: I) -> Done {
        cooperative::parse_all(corpus).await
    }

    async fn consuming<I: Lookup>(corpus: Arc<Corpus>, _: I) -> Done {
        consuming::parse_all(corpus).await
    }

    async fn yielding<E: Executor, I: Lookup>(corpus: Arc<Corpus>, _: I) -> Done {
        yielding::parse_all::<E>(corpus).await
    }

    fn say(_: &Corpus, done: &Done, _: usize) -> String {
        format!("{} values", count(done.items))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::random::SplitMix64;

    /// Compares with serde_json, whether it is JSON at all included.
    fn check(text: &str) {
        let mut tape = Tape::default();
        let own = plain::parse(text.as_bytes(), &mut tape).map(|()| tape.value());
        match (serde_json::from_str::<Value>(text), own) {
            (Ok(expected), Ok(found)) => assert!(is_same(&expected, &found), "{text}: {found}"),
            (Err(_), Err(at)) => assert!(at <= text.len()),
            (expected, found) => panic!("{text}: {found:?} where serde_json has {expected:?}"),
        }
    }

    /// Numbers are compared as such: serde_json keeps integers apart, and may be off by a last bit.
    fn is_same(one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Number(one), Value::Number(other)) => {
                let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
                (one - other).abs() <= one.abs() * 1e-15
            }
            (Value::Array(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
            }
            (Value::Object(one), Value::Object(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|(key, value)| other.get(key).is_some_and(|found| is_same(value, found)))
            }
            _ => one == other,
        }
    }

    const DOCUMENTS: [&str; 4] = [
        r#"{"name": "colibri", "tags": ["a", {}, [], null, true, false], "size": -12.5e-3, "": {"x": 0}}"#,
        r#" [ "\u00e9\ud83d\ude00\n\\\"\/", "é", 1E5, -0, 123456789012345678901, 0.1 ] "#,
        "\"text\"",
        "[[[[[[1,2],[3]],4]]],{\"a\":{\"b\":[{\"c\":[]}]}}]",
    ];

    #[test]
    fn documents_mean_what_they_mean_to_serde_json() {
        DOCUMENTS.into_iter().for_each(check);
        for text in Corpus::of(&[include_str!("mod.rs"), "", "one line"]).as_json().documents() {
            check(text);
        }
    }

    #[test]
    fn what_is_no_json_is_refused_where_serde_json_refuses_it() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,}",
            "{1:2}",
            "]",
            "}",
            "[}",
            "{]",
            "nul",
            "nulls",
            "True",
            "1 2",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "--1",
            "1e999",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\ud800\\n\"",
            "\"\\udc00\"",
            "\"\t\"",
            "[1 2]",
            "{,}",
            "[,]",
        ] {
            check(text);
        }
    }

    #[test]
    fn damaged_documents_are_judged_as_serde_json_judges_them() {
        const BYTES: &[u8] = b"{}[],:\"\\0-.e1u tn";
        let mut random = SplitMix64::new(3);
        for _ in 0..3_000 {
            let mut bytes = DOCUMENTS[random.below(DOCUMENTS.len())].as_bytes().to_vec();
            for _ in 0..=random.below(2) {
                let place = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[place] = BYTES[random.below(BYTES.len())],
                    1 => bytes.insert(place, BYTES[random.below(BYTES.len())]),
                    _ => bytes.truncate(place.max(1)),
                }
            }
            if let Ok(text) = std::str::from_utf8(&bytes) {
                check(text);
            }
        }
    }
}
