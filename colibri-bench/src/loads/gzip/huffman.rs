//! Huffman codes for a block: their lengths by how often symbols occur, and the header that tells them.

use super::bits::Bits;

/// Symbols for literals, the block's end, and lengths of matches.
pub(super) const LITERALS: usize = 286;
/// Symbols for distances.
pub(super) const DISTANCES: usize = 30;
/// The symbol that ends a block.
pub(super) const END_OF_BLOCK: usize = 256;

/// Symbols in which code lengths are written: lengths, a repeat, and two runs of zeros.
const LENGTHS: usize = 19;
/// The order in which their own lengths are written.
const LENGTHS_ORDER: [usize; LENGTHS] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Longest code of a symbol.
const CODE_MAX_BITS: usize = 15;
/// Longest code of a length.
const LENGTH_CODE_MAX_BITS: usize = 7;

/// The codes of a block.
#[derive(Debug)]
pub(crate) struct Codes {
    literals: Code<LITERALS>,
    distances: Code<DISTANCES>,
}

impl Codes {
    /// Those that make symbols which occur so often shortest.
    pub(super) fn of(literals: &[u32; LITERALS], distances: &[u32; DISTANCES]) -> Self {
        Self { literals: Code::of(literals, CODE_MAX_BITS), distances: Code::of(distances, CODE_MAX_BITS) }
    }

    /// Begins a block with these codes.
    pub(super) fn put_header(&self, is_last: bool, bits: &mut Bits<'_>) {
        let (literals, distances) = (self.literals.used(257), self.distances.used(1));
        let steps = run_lengths(literals.iter().chain(distances));
        let mut counts = [0; LENGTHS];
        steps.iter().for_each(|step| counts[step.symbol] += 1);
        let code = Code::of(&counts, LENGTH_CODE_MAX_BITS);
        let told = LENGTHS_ORDER.iter().rposition(|&symbol| code.lengths[symbol] > 0).unwrap_or(0).max(3) + 1;

        bits.put(u32::from(is_last) | 0b10 << 1, 3);
        bits.put((literals.len() - 257) as u32, 5);
        bits.put((distances.len() - 1) as u32, 5);
        bits.put((told - 4) as u32, 4);
        for &symbol in &LENGTHS_ORDER[..told] {
            bits.put(code.lengths[symbol].into(), 3);
        }
        for step in steps {
            code.put(step.symbol, bits);
            bits.put(step.extra, step.extra_bits);
        }
    }

    /// Writes a literal, a length's symbol or the block's end.
    pub(super) fn put_literal(&self, symbol: usize, bits: &mut Bits<'_>) {
        self.literals.put(symbol, bits);
    }

    /// Writes a distance's symbol.
    pub(super) fn put_distance(&self, symbol: usize, bits: &mut Bits<'_>) {
        self.distances.put(symbol, bits);
    }
}

/// A code for an alphabet.
#[derive(Debug)]
struct Code<const N: usize> {
    /// Bits of each symbol's code; none if it does not occur.
    lengths: [u8; N],
    /// The codes, first bit lowest.
    codes: [u16; N],
}

impl<const N: usize> Code<N> {
    fn of(counts: &[u32; N], max_bits: usize) -> Self {
        let lengths = lengths(counts, max_bits);
        let mut next = [0_u16; CODE_MAX_BITS + 2];
        for &length in lengths.iter().filter(|&&length| length > 0) {
            next[usize::from(length) + 1] += 1;
        }
        for bits in 1..next.len() {
            next[bits] = (next[bits] + next[bits - 1]) << 1;
        }
        let mut codes = [0; N];
        for (code, &length) in codes.iter_mut().zip(&lengths).filter(|(_, length)| **length > 0) {
            *code = next[usize::from(length)].reverse_bits() >> (16 - length);
            next[usize::from(length)] += 1;
        }
        Self { lengths, codes }
    }

    fn put(&self, symbol: usize, bits: &mut Bits<'_>) {
        bits.put(self.codes[symbol].into(), self.lengths[symbol].into());
    }

    /// The lengths up to the last that is used, but at least so many.
    fn used(&self, least: usize) -> &[u8] {
        let end = self.lengths.iter().rposition(|&length| length > 0).map_or(0, |last| last + 1);
        &self.lengths[..end.max(least)]
    }
}

/// The length of each symbol's code: Huffman's, cut to `max_bits`.
fn lengths<const N: usize>(counts: &[u32; N], max_bits: usize) -> [u8; N] {
    let mut used: Vec<usize> = (0..N).filter(|&symbol| counts[symbol] > 0).collect();
    used.sort_unstable_by_key(|&symbol| counts[symbol]);
    let mut lengths = [0; N];
    if used.len() <= 1 {
        // A code of one symbol has a bit all the same.
        used.iter().for_each(|&symbol| lengths[symbol] = 1);
        return lengths;
    }
    let mut of_length = count_depths(&used.iter().map(|&symbol| counts[symbol]).collect::<Vec<_>>());
    shorten(&mut of_length, max_bits);
    // The rarest get the longest.
    let mut rarest = used.into_iter();
    for bits in (1..of_length.len()).rev() {
        rarest.by_ref().take(of_length[bits]).for_each(|symbol| lengths[symbol] = bits as u8);
    }
    lengths
}

/// How many leaves lie how deep in the Huffman tree of `counts`, which ascend. Leaves and inner nodes are taken from two
/// queues, each in ascending order.
fn count_depths(counts: &[u32]) -> Vec<usize> {
    let leaves = counts.len();
    let mut weights: Vec<u64> = counts.iter().map(|&count| count.into()).collect();
    let mut parents = vec![0; 2 * leaves - 1];
    let (mut leaf, mut inner) = (0, leaves);
    for node in leaves..2 * leaves - 1 {
        let mut weight = 0;
        for _ in 0..2 {
            let is_leaf = leaf < leaves && (inner == node || weights[leaf] <= weights[inner]);
            let child = if is_leaf { &mut leaf } else { &mut inner };
            weight += weights[*child];
            parents[*child] = node;
            *child += 1;
        }
        weights.push(weight);
    }
    let mut depths = vec![0; 2 * leaves - 1];
    for node in (0..2 * leaves - 2).rev() {
        depths[node] = depths[parents[node]] + 1;
    }
    let mut of_depth = vec![0; leaves];
    depths[..leaves].iter().for_each(|&depth: &usize| of_depth[depth] += 1);
    of_depth
}

/// Moves codes of more than `max_bits` up to it, and makes room for them: where there is one too many, two longest codes
/// become one, and a shorter code is split in two.
fn shorten(of_length: &mut Vec<usize>, max_bits: usize) {
    if of_length.len() <= max_bits + 1 {
        return;
    }
    let longer: usize = of_length.drain(max_bits + 1..).sum();
    of_length[max_bits] += longer;
    let mut taken: usize = (1..=max_bits).map(|bits| of_length[bits] << (max_bits - bits)).sum();
    while taken > 1 << max_bits {
        of_length[max_bits] -= 1;
        let bits = (1..max_bits).rev().find(|&bits| of_length[bits] > 0).expect("there are shorter ones");
        of_length[bits] -= 1;
        of_length[bits + 1] += 2;
        taken -= 1;
    }
}

/// A symbol of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    symbol: usize,
    extra: u32,
    extra_bits: u32,
}

/// `lengths` with their runs written shorter.
fn run_lengths<'a>(lengths: impl Iterator<Item = &'a u8>) -> Vec<Step> {
    let lengths: Vec<u8> = lengths.copied().collect();
    let mut steps = Vec::new();
    for run in lengths.chunk_by(|one, next| one == next) {
        let value = run[0];
        let mut left = run.len();
        while left > 0 {
            let (symbol, taken, least, extra_bits) = match (value, left) {
                (0, 11..) => (18, left.min(138), 11, 7),
                (0, 3..) => (17, left, 3, 3),
                // The first of a run is told by itself.
                (1.., 3..) if left < run.len() => (16, left.min(6), 3, 2),
                _ => (value.into(), 1, 1, 0),
            };
            steps.push(Step { symbol, extra: (taken - least) as u32, extra_bits });
            left -= taken;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of all codes that are taken: 1 in a code without gaps.
    fn taken(lengths: &[u8]) -> f64 {
        lengths.iter().filter(|&&length| length > 0).map(|&length| 0.5_f64.powi(length.into())).sum()
    }

    #[test]
    fn the_standards_own_example_of_codes() {
        // Lengths 3, 3, 3, 3, 3, 2, 4, 4 give 010 011 100 101 110 00 1110 1111.
        let code = Code::of(&[10, 10, 10, 10, 10, 20, 5, 5], 15);
        assert_eq!(code.lengths, [3, 3, 3, 3, 3, 2, 4, 4]);
        let bits = |symbol: usize| code.codes[symbol].reverse_bits() >> (16 - code.lengths[symbol]);
        let codes: Vec<u16> = (0..8).map(bits).collect();
        assert_eq!(codes, [0b010, 0b011, 0b100, 0b101, 0b110, 0b00, 0b1110, 0b1111]);
    }

    #[test]
    fn codes_are_no_longer_than_allowed_and_leave_no_gap() {
        let mut fibonacci = [0_u32; 30];
        let (mut one, mut next) = (1, 1);
        for count in &mut fibonacci {
            *count = one;
            (one, next) = (next, one + next);
        }
        for max_bits in [7, 15] {
            let lengths = lengths(&fibonacci, max_bits);
            assert_eq!(usize::from(*lengths.iter().max().unwrap()), max_bits);
            assert!((taken(&lengths) - 1.0).abs() < 1e-12);
            assert!(lengths.is_sorted_by(|one, next| one >= next), "the rarest have the longest");
        }
    }

    #[test]
    fn few_symbols_have_codes_too() {
        assert_eq!(lengths(&[0; 5], 15), [0; 5]);
        assert_eq!(lengths(&[0, 9, 0], 15), [0, 1, 0]);
        assert_eq!(lengths(&[1, 9, 0], 15), [1, 1, 0]);
    }

    #[test]
    fn runs_are_written_shorter() {
        let of = |lengths: &[u8]| {
            let steps = run_lengths(lengths.iter());
            steps.iter().map(|step| (step.symbol, step.extra)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[0; 2]), [(0, 0), (0, 0)]);
        assert_eq!(of(&[0; 10]), [(17, 7)]);
        assert_eq!(of(&[0; 140]), [(18, 127), (0, 0), (0, 0)]);
        assert_eq!(of(&[5; 9]), [(5, 0), (16, 3), (5, 0), (5, 0)]);
        assert_eq!(of(&[5, 5, 5, 0, 7]), [(5, 0), (5, 0), (5, 0), (0, 0), (7, 0)]);
    }
}
