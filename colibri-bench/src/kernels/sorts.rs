//! Sorts with an inner `while`.

use super::{Kernel, Size, Work, fingerprint, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(insertion_sort, Unsorted<15_000>, "insertion sort, three instructions inside", |work| [
        &mut work.values
    ]),
    kernel!(shell_sort, Unsorted<180_000>, "shell sort, depth 3", |work| [&mut work.values]),
    kernel!(quicksort, Unsorted<280_000>, "quicksort's partition, a stack of ranges", |work| [
        &mut work.values
    ]),
];

macro_rules! insertion_sort {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(values: &mut [u32]) {
            $($start)*
            for i in 1..values.len() {
                let value = values[i];
                let mut j = i;
                while j > 0 && values[j - 1] > value {
                    $($tick)*
                    values[j] = values[j - 1];
                    j -= 1;
                }
                values[j] = value;
            }
        }
    };
}
ways!(insertion_sort);

macro_rules! shell_sort {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(values: &mut [u32]) {
            $($start)*
            let mut gap = 1;
            while gap < values.len() / 3 {
                gap = 3 * gap + 1;
            }
            while gap > 0 {
                for i in gap..values.len() {
                    let value = values[i];
                    let mut j = i;
                    while j >= gap && values[j - gap] > value {
                        $($tick)*
                        values[j] = values[j - gap];
                        j -= gap;
                    }
                    values[j] = value;
                }
                gap /= 3;
            }
        }
    };
}
ways!(shell_sort);

macro_rules! quicksort {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(values: &mut [u32]) {
            $($start)*
            let mut ranges = vec![(0, values.len())];
            while let Some((low, high)) = ranges.pop() {
                if high - low < 2 {
                    continue;
                }
                let pivot = values[low + (high - low - 1) / 2];
                let (mut left, mut right) = (low, high - 1);
                loop {
                    while values[left] < pivot {
                        $($tick)*
                        left += 1;
                    }
                    while values[right] > pivot {
                        $($tick)*
                        right -= 1;
                    }
                    if left >= right {
                        break;
                    }
                    values.swap(left, right);
                    left += 1;
                    right -= 1;
                }
                ranges.push((low, right + 1));
                ranges.push((right + 1, high));
            }
        }
    };
}
ways!(quicksort);

/// `COUNT` values in no order, or a few for tests.
struct Unsorted<const COUNT: usize> {
    first: Vec<u32>,
    values: Vec<u32>,
}

impl<const COUNT: usize> Work for Unsorted<COUNT> {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(15);
        let first: Vec<u32> = (0..size.of(40, COUNT)).map(|_| random.next() as u32).collect();
        Self { values: first.clone(), first }
    }

    fn reset(&mut self) {
        self.values.copy_from_slice(&self.first);
    }

    fn trace(&self) -> u64 {
        fingerprint(self.values.iter().map(|&value| value.into()))
    }
}
