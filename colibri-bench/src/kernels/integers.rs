//! Integers: reductions, checksums, number theory.

use super::{Kernel, Size, Work, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(sum, Numbers, "vectorised integer reduction", |work| [&work.values, work.rounds]),
    kernel!(fnv, Data, "byte hash, one multiplication a round", |work| [&work.bytes]),
    kernel!(crc32, Data, "checksum with a table", |work| [&work.bytes, &work.table]),
    kernel!(sieve, Limit<3_000_000>, "sieve, its table made in the function", |work| [work.0]),
    kernel!(collatz, Limit<150_000>, "while with a branch", |work| [work.0 as u64]),
    kernel!(gcd, Limit<1_300>, "while inside two fors", |work| [work.0 as u64]),
    kernel!(trial_division, Limit<280_000>, "while that breaks early", |work| [work.0 as u64]),
];

macro_rules! sum {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(values: &[u32], rounds: usize) -> u64 {
            $($start)*
            let mut sum = 0_u64;
            for round in 0..rounds {
                for &value in values {
                    $($tick)*
                    sum = sum.wrapping_add(u64::from(value ^ round as u32));
                }
            }
            sum
        }
    };
}
ways!(sum);

macro_rules! fnv {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(bytes: &[u8]) -> u64 {
            $($start)*
            let mut hash = 0xcbf2_9ce4_8422_2325_u64;
            for byte in bytes {
                $($tick)*
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
            hash
        }
    };
}
ways!(fnv);

macro_rules! crc32 {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(bytes: &[u8], table: &[u32; 256]) -> u64 {
            $($start)*
            let mut sum = !0_u32;
            for &byte in bytes.iter() {
                $($tick)*
                sum = table[((sum ^ u32::from(byte)) & 255) as usize] ^ sum >> 8;
            }
            u64::from(!sum)
        }
    };
}
ways!(crc32);

macro_rules! sieve {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(limit: usize) -> u64 {
            $($start)*
            let mut prime = vec![true; limit];
            let mut count = 0;
            for number in 2..limit {
                if prime[number] {
                    count += 1;
                    let mut multiple = number * 2;
                    while multiple < limit {
                        $($tick)*
                        prime[multiple] = false;
                        multiple += number;
                    }
                }
            }
            count
        }
    };
}
ways!(sieve);

macro_rules! collatz {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(limit: u64) -> u64 {
            $($start)*
            let mut longest = 0;
            for start in 1..limit {
                let mut number = start;
                let mut steps = 0_u64;
                while number != 1 {
                    $($tick)*
                    number = if number.is_multiple_of(2) { number / 2 } else { 3 * number + 1 };
                    steps += 1;
                }
                longest = longest.max(steps << 32 | start);
            }
            longest
        }
    };
}
ways!(collatz);

macro_rules! gcd {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(limit: u64) -> u64 {
            $($start)*
            let mut sum = 0;
            for a in 1..limit {
                for b in 1..a {
                    let (mut x, mut y) = (a, b);
                    while y != 0 {
                        $($tick)*
                        let rest = x % y;
                        x = y;
                        y = rest;
                    }
                    sum += x;
                }
            }
            sum
        }
    };
}
ways!(gcd);

macro_rules! trial_division {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(limit: u64) -> u64 {
            $($start)*
            let mut found = 0;
            for number in 2..limit {
                let mut divisor = 2;
                let mut prime = true;
                while divisor * divisor <= number {
                    $($tick)*
                    if number % divisor == 0 {
                        prime = false;
                        break;
                    }
                    divisor += 1;
                }
                if prime {
                    found += 1;
                }
            }
            found
        }
    };
}
ways!(trial_division);

struct Numbers {
    values: Vec<u32>,
    rounds: usize,
}

impl Work for Numbers {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(21);
        let values = (0..size.of(70, 20_000)).map(|_| random.next() as u32).collect();
        Self { values, rounds: size.of(4, 7_000) }
    }
}

struct Data {
    bytes: Vec<u8>,
    table: [u32; 256],
}

impl Work for Data {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(22);
        let mut table = [0; 256];
        for (number, entry) in (0..).zip(&mut table) {
            *entry = (0..8).fold(number, |sum: u32, _| sum >> 1 ^ (0xedb8_8320 * (sum & 1)));
        }
        Self { bytes: (0..size.of(300, 12_000_000)).map(|_| random.next() as u8).collect(), table }
    }
}

/// A figure to go up to: `FULL`, or little for tests.
struct Limit<const FULL: usize>(usize);

impl<const FULL: usize> Work for Limit<FULL> {
    fn new(size: Size) -> Self {
        Self(size.of(30, FULL))
    }
}
