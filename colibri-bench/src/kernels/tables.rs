//! Hash tables: std's, and one with open addressing.

use std::collections::HashMap;

use super::{Kernel, Size, Work, fingerprint, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(hash_count, Keys, "counts in a HashMap", |work| [&work.keys]),
    kernel!(hash_probe, Keys, "open addressing, 0 to 2 probes", |work| [&work.keys, &mut work.table]),
];

macro_rules! hash_count {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(keys: &[u64]) -> u64 {
            $($start)*
            let mut counts: HashMap<u64, u32> = HashMap::new();
            for &key in keys {
                $($tick)*
                *counts.entry(key & 0xffff).or_insert(0) += 1;
            }
            let mut most = 0;
            for (&key, &count) in &counts {
                most = most.max(u64::from(count) << 32 | key);
            }
            most
        }
    };
}
ways!(hash_count);

macro_rules! hash_probe {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(keys: &[u64], table: &mut [u64]) -> u64 {
            $($start)*
            let mask = table.len() - 1;
            let mut different = 0;
            for &key in keys {
                let mut place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 20 & mask;
                while table[place] != 0 && table[place] != key {
                    $($tick)*
                    place = (place + 1) & mask;
                }
                if table[place] == 0 {
                    table[place] = key;
                    different += 1;
                }
            }
            different
        }
    };
}
ways!(hash_probe);

struct Keys {
    keys: Vec<u64>,
    table: Vec<u64>,
}

impl Work for Keys {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(16);
        let length = size.of(50, 1_500_000);
        let different = size.of(60, 75_000);
        let keys = (0..length).map(|_| 1 + (random.below(different) as u64) * 77).collect();
        Self { keys, table: vec![0; size.of(64, 131_072)] }
    }

    fn reset(&mut self) {
        self.table.fill(0);
    }

    fn trace(&self) -> u64 {
        fingerprint(self.table.iter().copied())
    }
}
