//! A stream of bits, the first one lowest in its byte.

/// Bits on their way to the end of a file.
#[derive(Debug)]
pub(crate) struct Bits<'a> {
    file: &'a mut Vec<u8>,
    /// What does not make a whole byte yet, and what does.
    pending: u64,
    length: u32,
}

impl<'a> Bits<'a> {
    /// Begins at a whole byte.
    pub(super) fn new(file: &'a mut Vec<u8>) -> Self {
        Self { file, pending: 0, length: 0 }
    }

    /// Writes the low `length` bits of `value`, at most 16, the lowest first; the others are zero.
    pub(super) fn put(&mut self, value: u32, length: u32) {
        self.pending |= u64::from(value) << self.length;
        self.length += length;
        if self.length >= 32 {
            self.file.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= 32;
            self.length -= 32;
        }
    }

    /// Fills the last byte up with zeros.
    pub(super) fn finish(self) {
        let bytes = self.length.div_ceil(8) as usize;
        self.file.extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bit_is_the_lowest() {
        let mut file = vec![9];
        let mut bits = Bits::new(&mut file);
        for (value, length) in [(1, 1), (0b10, 2), (0xffff, 16), (0, 13), (0b101, 3)] {
            bits.put(value, length);
        }
        bits.finish();
        assert_eq!(file, [9, 0b1111_1101, 0b1111_1111, 0b0000_0111, 0, 0b101]);
    }
}
