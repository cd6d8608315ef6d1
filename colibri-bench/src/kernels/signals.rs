//! Stencils and filters: a 3×3 convolution, FIR, the game of life, a histogram.

use super::{Kernel, Size, Work, fingerprint, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(conv3x3, Image, "stencil with tiny constant inner loops", |work| [
        &work.pixels,
        &work.weights,
        &mut work.out,
        work.width
    ]),
    kernel!(smooth, Image, "stencil whose weights are a constant array of arrays", |work| [
        &work.pixels,
        &mut work.out,
        work.width
    ]),
    kernel!(fir, Signal, "FIR filter with 24 taps", |work| [&work.signal, &work.taps, &mut work.out]),
    kernel!(life, Cells, "game of life, bytes with a rim", |work| [
        &mut work.now,
        &mut work.next,
        work.width,
        work.generations
    ]),
    kernel!(histogram, Bytes, "histogram of bytes", |work| [&work.bytes, &mut work.bins, work.rounds]),
];

macro_rules! conv3x3 {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(pixels: &[f32], weights: &[[f32; 3]; 3], out: &mut [f32], width: usize) {
            $($start)*
            let height = pixels.len() / width;
            for y in 1..height - 1 {
                for x in 1..width - 1 {
                    $($tick)*
                    let mut sum = 0.0;
                    for dy in 0..3 {
                        for dx in 0..3 {
                            sum += weights[dy][dx] * pixels[(y + dy - 1) * width + x + dx - 1];
                        }
                    }
                    out[y * width + x] = sum;
                }
            }
        }
    };
}
ways!(conv3x3);

macro_rules! smooth {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(pixels: &[f32], out: &mut [f32], width: usize) {
            $($start)*
            const WEIGHTS: [[f32; 3]; 3] = [[0.0625, 0.125, 0.0625], [0.125, 0.25, 0.125], [0.0625, 0.125, 0.0625]];
            let height = pixels.len() / width;
            for y in 1..height - 1 {
                for x in 1..width - 1 {
                    $($tick)*
                    let mut sum = 0.0;
                    for (dy, row) in WEIGHTS.iter().enumerate() {
                        for (dx, weight) in row.iter().enumerate() {
                            sum += weight * pixels[(y + dy - 1) * width + x + dx - 1];
                        }
                    }
                    out[y * width + x] = sum;
                }
            }
        }
    };
}
ways!(smooth);

macro_rules! fir {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(signal: &[f32], taps: &[f32], out: &mut [f32]) {
            $($start)*
            for (place, value) in out.iter_mut().enumerate() {
                let window = &signal[place..place + taps.len()];
                let mut sum = 0.0;
                for (sample, tap) in window.iter().zip(taps) {
                    $($tick)*
                    sum += sample * tap;
                }
                *value = sum;
            }
        }
    };
}
ways!(fir);

macro_rules! life {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(now: &mut Vec<u8>, next: &mut Vec<u8>, width: usize, generations: usize) -> u64 {
            $($start)*
            let height = now.len() / width;
            let mut born = 0;
            for _ in 0..generations {
                for y in 1..height - 1 {
                    for x in 1..width - 1 {
                        $($tick)*
                        let here = y * width + x;
                        let neighbours = now[here - width - 1]
                            + now[here - width]
                            + now[here - width + 1]
                            + now[here - 1]
                            + now[here + 1]
                            + now[here + width - 1]
                            + now[here + width]
                            + now[here + width + 1];
                        let alive = neighbours == 3 || (neighbours == 2 && now[here] == 1);
                        if alive && now[here] == 0 {
                            born += 1;
                        }
                        next[here] = u8::from(alive);
                    }
                }
                std::mem::swap(now, next);
            }
            born
        }
    };
}
ways!(life);

macro_rules! histogram {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(bytes: &[u8], bins: &mut [u32; 256], rounds: usize) {
            $($start)*
            for _ in 0..rounds {
                for &byte in bytes {
                    $($tick)*
                    bins[byte as usize] += 1;
                }
            }
        }
    };
}
ways!(histogram);

struct Image {
    pixels: Vec<f32>,
    weights: [[f32; 3]; 3],
    out: Vec<f32>,
    width: usize,
}

impl Work for Image {
    fn new(size: Size) -> Self {
        let width = size.of(11, 3000);
        let mut random = SplitMix64::new(6);
        let pixels: Vec<f32> = (0..width * width).map(|_| random.unit() as f32).collect();
        Self {
            out: vec![0.0; pixels.len()],
            pixels,
            weights: [[0.1, 0.2, 0.1], [0.2, -1.2, 0.2], [0.1, 0.2, 0.1]],
            width,
        }
    }

    fn trace(&self) -> u64 {
        fingerprint(self.out.iter().map(|value| value.to_bits().into()))
    }
}

struct Signal {
    signal: Vec<f32>,
    taps: Vec<f32>,
    out: Vec<f32>,
}

impl Work for Signal {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(7);
        let mut samples = |count| (0..count).map(|_| random.unit() as f32).collect();
        let length = size.of(30, 2_400_000);
        Self { signal: samples(length + 24), taps: samples(24), out: vec![0.0; length] }
    }

    fn trace(&self) -> u64 {
        fingerprint(self.out.iter().map(|value| value.to_bits().into()))
    }
}

struct Cells {
    first: Vec<u8>,
    now: Vec<u8>,
    next: Vec<u8>,
    width: usize,
    generations: usize,
}

impl Work for Cells {
    fn new(size: Size) -> Self {
        let width = size.of(10, 500);
        let mut random = SplitMix64::new(8);
        let first: Vec<u8> = (0..width * width).map(|_| u8::from(random.below(3) == 0)).collect();
        Self { now: first.clone(), next: first.clone(), first, width, generations: size.of(4, 14) }
    }

    fn reset(&mut self) {
        self.now.copy_from_slice(&self.first);
        self.next.copy_from_slice(&self.first);
    }

    fn trace(&self) -> u64 {
        fingerprint(self.now.iter().map(|&cell| cell.into()))
    }
}

struct Bytes {
    bytes: Vec<u8>,
    bins: [u32; 256],
    rounds: usize,
}

impl Work for Bytes {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(9);
        let bytes =
            (0..size.of(300, 100_000)).map(|_| (random.unit() * random.unit() * 256.0) as u8).collect();
        Self { bytes, bins: [0; 256], rounds: size.of(2, 700) }
    }

    fn reset(&mut self) {
        self.bins.fill(0);
    }

    fn trace(&self) -> u64 {
        fingerprint(self.bins.iter().map(|&bin| bin.into()))
    }
}
