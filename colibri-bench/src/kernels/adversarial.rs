//! Loops that a meter which learns can be wrong about. Their overshoot is what to watch, not their ratio.

use super::{Kernel, Size, Work, kernel, ways};

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(cost_jump, Jump, "iterations a thousand times as long from the middle on", |work| [
        work.rounds,
        &work.costs
    ]),
    kernel!(slow_iteration, Slow, "one iteration of 2 ms among short ones", |work| [
        work.rounds,
        &work.costs
    ]),
    kernel!(short_entries, Entries, "an inner loop entered a million times for three rounds", |work| [
        &work.values,
        work.entries,
        work.rounds
    ]),
];

macro_rules! cost_jump {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(rounds: u64, costs: &[u32; 2]) -> u64 {
            $($start)*
            let mut state = 1;
            // The second part has a thousandth of the iterations and takes as long.
            for round in 0..rounds + rounds / 1000 {
                $($tick)*
                state = spin(state ^ round, costs[usize::from(round >= rounds)]);
            }
            state
        }
    };
}
ways!(cost_jump);

macro_rules! slow_iteration {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(rounds: u64, costs: &[u32; 2]) -> u64 {
            $($start)*
            let mut state = 1;
            for round in 0..rounds {
                $($tick)*
                state = spin(state ^ round, costs[usize::from(round == rounds / 2)]);
            }
            state
        }
    };
}
ways!(slow_iteration);

macro_rules! short_entries {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(values: &[u64], entries: usize, rounds: usize) -> u64 {
            $($start)*
            let mut sum = 0_u64;
            for entry in 0..entries {
                let from = entry & 1023;
                for &value in &values[from..from + rounds] {
                    $($tick)*
                    sum = sum.rotate_left(5) ^ value;
                }
            }
            sum
        }
    };
}
ways!(short_entries);

/// Work that takes about as many ns as `rounds`. It is a function of its own, so that no check is inside.
#[inline(never)]
fn spin(mut state: u64, rounds: u32) -> u64 {
    for _ in 0..rounds {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
    }
    state
}

struct Jump {
    rounds: u64,
    costs: [u32; 2],
}

impl Work for Jump {
    fn new(size: Size) -> Self {
        Self { rounds: size.of(1_000, 5_000_000), costs: [2, 2_000] }
    }
}

struct Slow {
    rounds: u64,
    costs: [u32; 2],
}

impl Work for Slow {
    fn new(size: Size) -> Self {
        Self { rounds: size.of(200, 8_000_000), costs: [2, size.of(200, 1_500_000)] }
    }
}

struct Entries {
    values: Vec<u64>,
    entries: usize,
    rounds: usize,
}

impl Work for Entries {
    fn new(size: Size) -> Self {
        let values = (0..1027).map(|number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        Self { values, entries: size.of(40, 10_000_000), rounds: 3 }
    }
}
