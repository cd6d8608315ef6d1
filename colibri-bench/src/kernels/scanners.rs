//! Loops over the bytes of a text.

use super::{Kernel, Size, Work, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(json_scan, Json, "byte scanner with inner loops and labels", |work| [&work.text]),
    kernel!(csv_sum, Csv, "byte scanner, a state and a match", |work| [&work.text, work.column]),
    kernel!(word_count, Prose, "two counters and a flag over bytes", |work| [&work.text]),
    kernel!(string_match, Prose, "naive search, leaves its inner loop early", |work| [
        &work.text,
        &work.needle
    ]),
    kernel!(number_lines, Numbers, "numbers in lines, `split` and `?`", |work| [&work.text]),
];

macro_rules! json_scan {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(text: &[u8]) -> u64 {
            $($start)*
            let mut depth = 0_u64;
            let mut deepest = 0;
            let mut strings = 0_u64;
            let mut sum = 0_u64;
            let mut i = 0;
            'values: while i < text.len() {
                match text[i] {
                    b'"' => {
                        i += 1;
                        loop {
                            $($tick)*
                            if i >= text.len() {
                                break 'values;
                            }
                            match text[i] {
                                b'"' => break,
                                b'\\' => i += 2,
                                _ => i += 1,
                            }
                        }
                        strings += 1;
                    }
                    b'0'..=b'9' => {
                        let mut number = 0_u64;
                        while i < text.len() && text[i].is_ascii_digit() {
                            $($tick)*
                            number = number.wrapping_mul(10).wrapping_add(u64::from(text[i] - b'0'));
                            i += 1;
                        }
                        sum = sum.wrapping_add(number);
                        continue 'values;
                    }
                    b'{' | b'[' => {
                        depth += 1;
                        deepest = depth.max(deepest);
                    }
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                i += 1;
            }
            sum.wrapping_mul(31).wrapping_add(strings).wrapping_mul(31).wrapping_add(deepest)
        }
    };
}
ways!(json_scan);

macro_rules! csv_sum {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(text: &[u8], column: usize) -> u64 {
            $($start)*
            let mut at = 0;
            let mut quoted = false;
            let mut number = 0_u64;
            let mut sum = 0_u64;
            for &byte in text {
                $($tick)*
                match byte {
                    b'"' => quoted = !quoted,
                    b',' if !quoted => {
                        if at == column {
                            sum += number;
                        }
                        number = 0;
                        at += 1;
                    }
                    b'\n' if !quoted => {
                        if at == column {
                            sum += number;
                        }
                        number = 0;
                        at = 0;
                    }
                    b'0'..=b'9' => number = number.wrapping_mul(10) + u64::from(byte - b'0'),
                    _ => {}
                }
            }
            sum
        }
    };
}
ways!(csv_sum);

macro_rules! word_count {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(text: &[u8]) -> u64 {
            $($start)*
            let mut words = 0_u64;
            let mut lines = 0_u64;
            let mut inside = false;
            for &byte in text {
                $($tick)*
                if byte == b'\n' {
                    lines += 1;
                }
                let space = byte.is_ascii_whitespace();
                if inside && space {
                    words += 1;
                }
                inside = !space;
            }
            words << 32 | lines
        }
    };
}
ways!(word_count);

macro_rules! string_match {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(text: &[u8], needle: &[u8]) -> u64 {
            $($start)*
            let mut found = 0;
            'places: for place in 0..text.len() - needle.len() + 1 {
                for i in 0..needle.len() {
                    $($tick)*
                    if text[place + i] != needle[i] {
                        continue 'places;
                    }
                }
                found += 1;
            }
            found
        }
    };
}
ways!(string_match);

macro_rules! number_lines {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(text: &str) -> Result<u64, std::num::ParseIntError> {
            $($start)*
            let mut sum = 0;
            for line in text.lines() {
                for word in line.split(' ') {
                    $($tick)*
                    sum += word.parse::<u64>()?;
                }
            }
            Ok(sum)
        }
    };
}
ways!(number_lines);

/// Lines of numbers.
struct Numbers {
    text: String,
}

impl Work for Numbers {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(24);
        let line = |_| format!("{} {} {}\n", random.below(1_000), random.below(100), random.below(100_000));
        Self { text: (0..size.of(10, 600_000)).map(line).collect() }
    }
}

struct Json {
    text: Vec<u8>,
}

impl Work for Json {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(12);
        let mut text = b"[".to_vec();
        for _ in 0..size.of(6, 160_000) {
            text.extend_from_slice(b"{\"id\": ");
            text.extend_from_slice(random.below(1_000_000).to_string().as_bytes());
            text.extend_from_slice(b", \"name\": \"a \\\"quoted\\\" name of some length\", \"tags\": [");
            for tag in 0..random.below(4) {
                text.extend_from_slice(if tag == 0 { b"\"tag\"" } else { b", \"other tag\"" });
            }
            text.extend_from_slice(b"], \"size\": {\"x\": 12, \"y\": 345}},\n");
        }
        text.extend_from_slice(b"{}]");
        Self { text }
    }
}

struct Csv {
    text: Vec<u8>,
    column: usize,
}

impl Work for Csv {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(13);
        let mut text = Vec::new();
        for line in 0..size.of(10, 500_000) {
            let (a, b) = (random.below(100_000), random.below(100));
            text.extend_from_slice(format!("{line},\"name, first\",{a},{b},plain\n").as_bytes());
        }
        Self { text, column: 2 }
    }
}

struct Prose {
    text: Vec<u8>,
    needle: Vec<u8>,
}

impl Work for Prose {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(14);
        let mut text = Vec::new();
        for _ in 0..size.of(60, 1_800_000) {
            text.extend((0..1 + random.below(9)).map(|_| b"etaoinshrdlu"[random.below(12)]));
            text.push(if random.below(11) == 0 { b'\n' } else { b' ' });
        }
        Self { text, needle: b"ate the".to_vec() }
    }
}
