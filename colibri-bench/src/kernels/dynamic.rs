//! Tables of dynamic programming.

use super::{Kernel, Size, Work, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(levenshtein, Words, "table with one row, made in the function", |work| [&work.a, &work.b]),
    kernel!(common_subsequence, Words, "table with two rows that are swapped", |work| [&work.a, &work.b]),
    kernel!(knapsack, Sack, "table filled backwards, a while inside", |work| [
        &work.weights,
        &work.values,
        work.capacity
    ]),
];

macro_rules! levenshtein {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(a: &[u8], b: &[u8]) -> u64 {
            $($start)*
            let mut row: Vec<u32> = (0..=b.len() as u32).collect();
            for i in 0..a.len() {
                let mut corner = row[0];
                row[0] = i as u32 + 1;
                for j in 0..b.len() {
                    $($tick)*
                    let above = row[j + 1];
                    let replaced = corner + u32::from(a[i] != b[j]);
                    row[j + 1] = replaced.min(above + 1).min(row[j] + 1);
                    corner = above;
                }
            }
            u64::from(row[b.len()])
        }
    };
}
ways!(levenshtein);

macro_rules! common_subsequence {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(a: &[u8], b: &[u8]) -> u64 {
            $($start)*
            let mut before = vec![0_u32; b.len() + 1];
            let mut row = vec![0_u32; b.len() + 1];
            for &x in a {
                for (j, &y) in b.iter().enumerate() {
                    $($tick)*
                    row[j + 1] = if x == y { before[j] + 1 } else { before[j + 1].max(row[j]) };
                }
                std::mem::swap(&mut before, &mut row);
            }
            u64::from(before[b.len()])
        }
    };
}
ways!(common_subsequence);

macro_rules! knapsack {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(weights: &[usize], values: &[u64], capacity: usize) -> u64 {
            $($start)*
            let mut best = vec![0_u64; capacity + 1];
            for (&weight, &value) in weights.iter().zip(values) {
                let mut room = capacity;
                while room >= weight {
                    $($tick)*
                    let with = best[room - weight] + value;
                    if with > best[room] {
                        best[room] = with;
                    }
                    room -= 1;
                }
            }
            best[capacity]
        }
    };
}
ways!(knapsack);

struct Words {
    a: Vec<u8>,
    b: Vec<u8>,
}

impl Work for Words {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(10);
        let mut word = |length| (0..length).map(|_| b"acgt"[random.below(4)]).collect();
        Self { a: word(size.of(14, 4500)), b: word(size.of(17, 4500)) }
    }
}

struct Sack {
    weights: Vec<usize>,
    values: Vec<u64>,
    capacity: usize,
}

impl Work for Sack {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(11);
        let items = size.of(8, 1800);
        Self {
            weights: (0..items).map(|_| 1 + random.below(size.of(20, 500))).collect(),
            values: (0..items).map(|_| 1 + random.below(1000) as u64).collect(),
            capacity: size.of(40, 20_000),
        }
    }
}
