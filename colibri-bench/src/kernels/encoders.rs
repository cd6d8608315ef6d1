//! Encoders that push to a `Vec`.

use super::{Kernel, Size, Work, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(run_length, Runs, "run lengths, an inner while", |work| [&work.bytes]),
    kernel!(base64, Runs, "base64, four pushes a round", |work| [&work.bytes]),
    kernel!(varint, Values, "seven bits a byte, an inner while", |work| [&work.values]),
    kernel!(lz, Runs, "LZ77 with a hash of last places", |work| [&work.bytes]),
];

macro_rules! run_length {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(bytes: &[u8]) -> Vec<u8> {
            $($start)*
            let mut out = Vec::new();
            let mut i = 0;
            while i < bytes.len() {
                let byte = bytes[i];
                let mut length = 1;
                while i + length < bytes.len() && bytes[i + length] == byte && length < 255 {
                    $($tick)*
                    length += 1;
                }
                out.push(length as u8);
                out.push(byte);
                i += length;
            }
            out
        }
    };
}
ways!(run_length);

macro_rules! base64 {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(bytes: &[u8]) -> Vec<u8> {
            $($start)*
            let mut out = Vec::with_capacity(bytes.len() / 3 * 4);
            for three in bytes.chunks_exact(3) {
                $($tick)*
                let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
                out.push(DIGITS[(bits >> 18) as usize & 63]);
                out.push(DIGITS[(bits >> 12) as usize & 63]);
                out.push(DIGITS[(bits >> 6) as usize & 63]);
                out.push(DIGITS[bits as usize & 63]);
            }
            out
        }
    };
}
ways!(base64);

macro_rules! varint {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(values: &[u64]) -> Vec<u8> {
            $($start)*
            let mut out = Vec::new();
            for &value in values {
                let mut value = value;
                while value >= 128 {
                    $($tick)*
                    out.push(value as u8 | 128);
                    value >>= 7;
                }
                out.push(value as u8);
            }
            out
        }
    };
}
ways!(varint);

macro_rules! lz {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(bytes: &[u8]) -> Vec<u8> {
            $($start)*
            let mut out = Vec::new();
            let mut last = vec![usize::MAX; 4096];
            let mut i = 0;
            while i + 3 < bytes.len() {
                let key = u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
                let slot = (key.wrapping_mul(0x9e37_79b1) >> 20) as usize;
                let before = last[slot];
                last[slot] = i;
                let mut length = 0;
                if before != usize::MAX && i - before < 1 << 16 {
                    while length < 255 && i + length < bytes.len() && bytes[before + length] == bytes[i + length] {
                        $($tick)*
                        length += 1;
                    }
                }
                if length >= 4 {
                    let back = (i - before) as u16;
                    out.push(length as u8);
                    out.extend_from_slice(&back.to_le_bytes());
                    i += length;
                } else {
                    $($tick)*
                    out.push(0);
                    out.push(bytes[i]);
                    i += 1;
                }
            }
            out
        }
    };
}
ways!(lz);

/// The digits of base64.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in runs of mostly a few.
struct Runs {
    bytes: Vec<u8>,
}

impl Work for Runs {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(20);
        let mut bytes = Vec::new();
        while bytes.len() < size.of(200, 10_000_000) {
            let byte = b"abcdefgh"[random.below(8)];
            let length = 1 + random.below(6) * random.below(6);
            bytes.extend(std::iter::repeat_n(byte, length));
        }
        Self { bytes }
    }
}

/// Numbers, most of them small.
struct Values {
    values: Vec<u64>,
}

impl Work for Values {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(23);
        let values = (0..size.of(60, 2_000_000)).map(|_| {
            let bits = 1 + random.below(40);
            random.below(1 << bits) as u64
        });
        Self { values: values.collect() }
    }
}
