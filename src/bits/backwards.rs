//! Writing a bit string from its end to its beginning, which is the order in which ANS makes bits.
//!
//! Bits gather in a 64-bit word, the last ones lowest, and leave it eight bytes at a time of which only the whole ones
//! count, as in `BitWriter`; in memory they lie in reading order then. Where the string begins within a byte is known at its
//! beginning only: so it is moved into its place at last, in words, which takes less than a list of all parts to be written again.

use super::{BitWriter, append_bits};

/// A string of bits that grows in front.
#[derive(Clone, Debug, Default)]
pub struct BackWriter {
    /// Room, then the whole bytes: only `at..` counts.
    bytes: Vec<u8>,
    at: usize,
    /// The first bits, in the low end; above them zeros.
    word: u64,
    /// How many bits of `word` count: at most 7 after a flush.
    used: u32,
}

impl BackWriter {
    /// Becomes an empty string, with room for this many bits.
    pub fn start(&mut self, bits: usize) {
        let room = bits / 8 + 16;
        if self.bytes.len() < room {
            self.bytes = vec![0; room];
        }
        (self.at, self.word, self.used) = (self.bytes.len(), 0, 0);
    }

    /// Puts the low `count` bits of `value` in front; `value` has no higher bits. At most 56 bits between two flushes.
    #[inline(always)]
    pub fn put(&mut self, value: u64, count: u32) {
        debug_assert!(self.used + count < 64 && value >> count == 0);
        self.word |= value << self.used;
        self.used += count;
    }

    /// Moves the whole bytes out of the word. Panics where there is no room.
    #[inline(always)]
    pub fn flush(&mut self) {
        self.bytes[self.at - 8..self.at].copy_from_slice(&self.word.to_be_bytes());
        self.at -= (self.used >> 3) as usize;
        self.word >>= self.used & !7;
        self.used &= 7;
    }

    /// Appends the string to `out`.
    pub fn append_to(&mut self, out: &mut BitWriter) {
        self.flush();
        out.write(self.word, self.used);
        let bytes = &self.bytes[self.at..];
        append_bits(out, bytes, bytes.len() as u64 * 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    #[test]
    fn what_is_written_backwards_reads_forwards() {
        let mut rng = Rng(41);
        let mut backwards = BackWriter::default();
        for parts in (0..70).chain([1000, 5000]) {
            let parts: Vec<(u64, u32)> = (0..parts)
                .map(|_| {
                    let count = rng.below(29) as u32;
                    (rng.next_u64() & ((1 << count) - 1), count)
                })
                .collect();
            for before in [0, 3] {
                let (mut expected, mut out) = (BitWriter::new(), BitWriter::new());
                expected.write(u64::from(before > 0), before);
                out.write(u64::from(before > 0), before);
                parts.iter().for_each(|&(value, count)| expected.write(value, count));
                backwards.start(parts.len() * 28);
                for pair in parts.rchunks(2) {
                    pair.iter().rev().for_each(|&(value, count)| backwards.put(value, count));
                    backwards.flush();
                }
                backwards.append_to(&mut out);
                assert_eq!(out.bit_len(), expected.bit_len());
                assert_eq!(out.finish(), expected.finish());
            }
        }
    }
}
