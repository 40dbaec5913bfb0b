//! Writes a bit string from its end to its beginning, the order in which ANS produces bits.
//!
//! Bits collect in a 64-bit word, the string's last bits lowest. A flush stores all eight bytes of the word, but only
//! the whole bytes count, as in `BitWriter`; in memory these bytes are in reading order. The length of the string, and
//! with it its alignment within a byte, is known only when its first bit is written. [`BackWriter::append_to`]
//! therefore shifts the finished string into place a word at a time, which takes less time than keeping a list of all
//! parts and writing them again in order.

use super::{BitWriter, append_bits};

/// A bit string that grows at its front.
#[derive(Clone, Debug, Default)]
pub struct BackWriter {
    /// Free space, then the whole bytes: only `bytes[at..]` counts.
    bytes: Vec<u8>,
    at: usize,
    /// The first bits of the string, at the low end; the bits above them are zero.
    word: u64,
    /// The number of bits of `word` that count: at most 7 after a flush.
    used: u32,
}

impl BackWriter {
    /// Clears the string and makes room for `bits` bits.
    pub fn start(&mut self, bits: usize) {
        let room = bits / 8 + 16;
        if self.bytes.len() < room {
            self.bytes = vec![0; room];
        }
        (self.at, self.word, self.used) = (self.bytes.len(), 0, 0);
    }

    /// Puts the low `count` bits of `value` in front of the string. The bits of `value` above them must be zero.
    /// Between two flushes at most 56 bits may be put.
    #[inline(always)]
    pub fn put(&mut self, value: u64, count: u32) {
        debug_assert!(self.used + count < 64 && value >> count == 0);
        self.word |= value << self.used;
        self.used += count;
    }

    /// Moves the whole bytes out of the word. Panics if there is no room.
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
    use hybz_testkit::shapes::Rng;

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
