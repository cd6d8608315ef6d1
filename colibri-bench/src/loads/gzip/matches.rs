//! Where a text repeats itself: literals and matches, and the chains of places by which matches are found.

/// Least length of a match.
pub(super) const MATCH_MIN: usize = 3;
/// Most.
pub(super) const MATCH_MAX: usize = 258;
/// How far back a match may lie.
pub(super) const WINDOW: usize = 1 << 15;
/// How many places are tried for a match: about as many as gzip tries at its level 5.
pub(super) const CHAIN_MAX: u32 = 16;
/// A block of so many tokens has codes of its own.
pub(super) const BLOCK_TOKENS: usize = 1 << 14;

/// The three next bytes are hashed to one of so many chains.
const CHAINS: usize = 1 << 15;
/// There is no such place.
const NONE: u32 = u32::MAX;
/// The same to whom it is a number: no place is that far.
pub(super) const NOWHERE: usize = NONE as usize;

/// A literal, or a match.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token(u32);

/// How far back a match lies: a symbol, and bits of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Distance {
    pub(super) symbol: usize,
    pub(super) extra: u32,
    pub(super) extra_bits: u32,
}

impl Token {
    const MATCH: u32 = 1 << 31;

    /// A byte.
    pub(super) fn of_literal(byte: u8) -> Self {
        Self(byte.into())
    }

    /// `length` bytes that stand `distance` before it.
    pub(super) fn of_match(length: usize, distance: usize) -> Self {
        Self(Self::MATCH | ((length - MATCH_MIN) as u32) << 16 | (distance - 1) as u32)
    }

    /// Length of a match beyond the least.
    fn length(self) -> u32 {
        self.0 >> 16 & 0xff
    }

    /// Its symbol in the alphabet of literals and lengths.
    pub(super) fn symbol(self) -> usize {
        if self.0 & Self::MATCH == 0 {
            return self.0 as usize;
        }
        // The longest has a symbol of its own.
        if self.length() == 255 {
            return 285;
        }
        let (symbol, _, _) = split::<4>(self.length());
        257 + symbol
    }

    /// What follows a length's symbol: value and number of bits.
    pub(super) fn length_extra(self) -> (u32, u32) {
        if self.length() == 255 {
            return (0, 0);
        }
        let (_, extra, bits) = split::<4>(self.length());
        (extra, bits)
    }

    /// Of a match, how far back it lies.
    pub(super) fn distance(self) -> Option<Distance> {
        let (symbol, extra, extra_bits) = split::<2>(self.0 & 0xffff);
        (self.0 & Self::MATCH != 0).then_some(Distance { symbol, extra, extra_bits })
    }
}

/// The symbol of `value`, its extra bits and their number: `STEPS` symbols for each number of extra bits, twice as many
/// for none.
fn split<const STEPS: u32>(value: u32) -> (usize, u32, u32) {
    if value < 2 * STEPS {
        return (value as usize, 0, 0);
    }
    let bits = value.ilog2() - STEPS.ilog2();
    ((bits * STEPS + (value >> bits)) as usize, value & ((1 << bits) - 1), bits)
}

/// For each three bytes (by hash), the places in which they stand, newest first.
#[derive(Debug)]
pub(crate) struct Chains {
    /// By hash: the newest place.
    pub(super) newest: Vec<u32>,
    /// By place, modulo the window: the place before it in its chain.
    pub(super) before: Vec<u32>,
}

impl Chains {
    /// Without any place.
    pub(super) fn new() -> Self {
        Self { newest: vec![NONE; CHAINS], before: vec![NONE; WINDOW] }
    }

    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        self.newest.fill(NONE);
    }
}

/// The chain of the three bytes that stand at `at`.
pub(super) fn chain_of(text: &[u8], at: usize) -> usize {
    let three = u32::from_le_bytes([text[at], text[at + 1], text[at + 2], 0]);
    (three.wrapping_mul(0x9e37_79b1) >> (32 - CHAINS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_symbols_of_the_standard() {
        let of = |length| {
            let token = Token::of_match(length, 1);
            (token.symbol(), token.length_extra())
        };
        assert_eq!([of(3), of(10)], [(257, (0, 0)), (264, (0, 0))]);
        assert_eq!([of(11), of(12), of(13)], [(265, (0, 1)), (265, (1, 1)), (266, (0, 1))]);
        assert_eq!([of(114), of(115)], [(279, (15, 4)), (280, (0, 4))]);
        assert_eq!([of(257), of(258)], [(284, (30, 5)), (285, (0, 0))]);
        assert_eq!(Token::of_literal(200).symbol(), 200);
    }

    #[test]
    fn distances_have_the_symbols_of_the_standard() {
        let of = |distance| {
            let distance = Token::of_match(3, distance).distance().unwrap();
            (distance.symbol, distance.extra, distance.extra_bits)
        };
        assert_eq!([of(1), of(4), of(5), of(6)], [(0, 0, 0), (3, 0, 0), (4, 0, 1), (4, 1, 1)]);
        assert_eq!(
            [of(7), of(9), of(24_577), of(32_768)],
            [(5, 0, 1), (6, 0, 2), (29, 0, 13), (29, 8191, 13)]
        );
        assert_eq!(Token::of_literal(1).distance(), None);
    }
}
