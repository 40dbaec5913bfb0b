//! Writes bit strings.
//!
//! Bits collect at the low end of a 64-bit word. A flush stores all eight bytes of the word, but only the whole bytes
//! count: one unconditional store and two additions, with no loop over bytes (bzip2 writes byte by byte). Three Huffman
//! codes of at most 19 bits fit between two flushes.

use std::collections::TryReserveError;

/// A growing bit string.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    /// The whole bytes, then free space: only `bytes[..at]` counts.
    bytes: Vec<u8>,
    /// The number of whole bytes.
    at: usize,
    /// The last `used` bits, at the low end. The bits above them are leftovers and mean nothing.
    word: u64,
    /// The number of bits of `word` that count: at most 7 between calls.
    used: u32,
}

impl BitWriter {
    /// An empty string.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty string with room for `bits` bits.
    pub fn with_capacity(bits: u64) -> Self {
        BitWriter { bytes: vec![0; (bits / 8) as usize + 16], ..Self::default() }
    }

    /// Appends the low `count` bits of `value`, most significant bit first. `count` is at most 56, and the higher bits
    /// of `value` must be zero.
    #[inline]
    pub fn write(&mut self, value: u64, count: u32) {
        debug_assert!(count <= 56 && value >> count == 0);
        self.make_room(8);
        self.word = self.word << count | value;
        self.used += count;
        self.flush();
    }

    /// Appends the codes of `symbols`. `codes[symbol]` holds the code above its lowest byte, and in that byte the
    /// code's length, at most 19.
    #[inline]
    pub fn write_codes(&mut self, symbols: &[u16], codes: &[u32; 512]) {
        self.make_room(symbols.len() * 3 + 16);
        let mut triples = symbols.chunks_exact(3);
        for triple in &mut triples {
            for &symbol in triple {
                self.append_code(codes[usize::from(symbol) & 511]);
            }
            self.flush();
        }
        for &symbol in triples.remainder() {
            self.append_code(codes[usize::from(symbol) & 511]);
        }
        self.flush();
    }

    #[inline]
    fn append_code(&mut self, code: u32) {
        let len = code & 0xff;
        self.word = self.word << len | u64::from(code >> 8);
        self.used += len;
    }

    /// Moves the whole bytes out of the word. There must be room for eight bytes.
    #[inline]
    fn flush(&mut self) {
        // Two shifts, because `used` can be 0 and a shift by 64 is not defined.
        let aligned = self.word << (63 - self.used) << 1;
        self.bytes[self.at..self.at + 8].copy_from_slice(&aligned.to_be_bytes());
        self.at += (self.used >> 3) as usize;
        self.used &= 7;
    }

    #[inline]
    fn make_room(&mut self, bytes: usize) {
        if self.bytes.len() - self.at < bytes {
            let len = (self.bytes.len() * 2).max(self.at + bytes);
            self.bytes.resize(len, 0);
        }
    }

    /// Reserves room for `bits` more bits.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn try_reserve(&mut self, bits: u64) -> Result<(), TryReserveError> {
        let missing = (self.at + (bits / 8) as usize + 16).saturating_sub(self.bytes.len());
        self.bytes.try_reserve_exact(missing)?;
        self.bytes.resize(self.bytes.len() + missing, 0);
        Ok(())
    }

    /// Drops the first `bytes` whole bytes; everything after them stays.
    pub fn drop_first(&mut self, bytes: usize) {
        self.bytes.copy_within(bytes..self.at, 0);
        self.at -= bytes;
    }

    /// The number of bits written so far.
    pub fn bit_len(&self) -> u64 {
        self.at as u64 * 8 + u64::from(self.used)
    }

    /// The whole bytes so far.
    pub fn whole_bytes(&self) -> &[u8] {
        &self.bytes[..self.at]
    }

    /// Drops the whole bytes. The last bits (at most seven) stay, and the next write continues after these bits.
    pub fn forget_whole_bytes(&mut self) {
        self.at = 0;
    }

    /// Pads the last byte with zero bits.
    pub fn align(&mut self) {
        if self.used > 0 {
            self.write(0, 8 - self.used);
        }
    }

    /// Returns all bytes, the last one padded with zero bits.
    pub fn finish(mut self) -> Vec<u8> {
        self.align();
        self.bytes.truncate(self.at);
        self.bytes
    }
}

/// Appends the first `bit_len` bits of `bytes`, at any alignment of `out`. Panics if `bytes` has fewer bits.
///
/// Each step copies eight bytes, by a funnel shift of two neighbouring words.
pub fn append_bits(out: &mut BitWriter, bytes: &[u8], bit_len: u64) {
    let whole = (bit_len / 8) as usize;
    let rest = (bit_len % 8) as u32;
    out.make_room(whole + 16);
    let shift = out.used;
    if shift == 0 {
        out.bytes[out.at..out.at + whole].copy_from_slice(&bytes[..whole]);
        out.at += whole;
    } else {
        // The bits left in the word are the top of the next byte to be written.
        let mut carry = out.word << (63 - shift) << 1;
        let words = bytes[..whole].chunks_exact(8);
        let tail = words.remainder();
        for (to, from) in out.bytes[out.at..].chunks_exact_mut(8).zip(words) {
            let word = u64::from_be_bytes(from.try_into().expect("eight bytes"));
            to.copy_from_slice(&(carry | word >> shift).to_be_bytes());
            carry = word << (64 - shift);
        }
        out.at += whole - tail.len();
        out.word = carry >> (64 - shift);
        for &byte in tail {
            out.write(u64::from(byte), 8);
        }
    }
    if rest > 0 {
        out.write(u64::from(bytes[whole] >> (8 - rest)), rest);
    }
}

/// Appends the `bit_len` bits of `bytes` from bit `from` on.
pub fn append_bits_from(out: &mut BitWriter, bytes: &[u8], from: u64, bit_len: u64) {
    let byte = (from / 8) as usize;
    let head = ((8 - from % 8) % 8).min(bit_len);
    if head > 0 {
        let value = u64::from(bytes[byte]) >> (8 - from % 8 - head) & ((1 << head) - 1);
        out.write(value, head as u32);
    }
    if bit_len > head {
        append_bits(out, &bytes[((from + head) / 8) as usize..], bit_len - head);
    }
}

/// Replaces `count` bits from bit `start` on with those of `value`; bits past the end of the data are dropped.
pub fn set_bits(data: &mut [u8], start: u64, value: u64, count: u64) {
    for i in 0..count {
        let (byte, bit) = (((start + i) / 8) as usize, 7 - (start + i) % 8);
        if let Some(byte) = data.get_mut(byte) {
            *byte = *byte & !(1 << bit) | ((value >> (count - 1 - i) & 1) as u8) << bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::shapes::Rng;

    /// One bool for each bit.
    #[derive(Default)]
    struct Naive(Vec<bool>);

    impl Naive {
        fn write(&mut self, value: u64, count: u32) {
            self.0.extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
        }

        fn bytes(&self) -> Vec<u8> {
            self.0.chunks(8).map(|c| c.iter().enumerate().map(|(i, &bit)| u8::from(bit) << (7 - i)).sum()).collect()
        }
    }

    #[test]
    fn values_of_all_widths() {
        let mut rng = Rng(1);
        let (mut fast, mut naive) = (BitWriter::new(), Naive::default());
        for _ in 0..20_000 {
            let count = rng.below(57) as u32;
            let value = rng.next_u64() & ((1 << count) - 1);
            fast.write(value, count);
            naive.write(value, count);
            assert_eq!(fast.bit_len(), naive.0.len() as u64);
        }
        assert_eq!(fast.finish(), naive.bytes());
    }

    #[test]
    fn groups_of_codes() {
        let mut rng = Rng(2);
        let mut codes = [0; 512];
        for code in &mut codes {
            let len = 1 + rng.below(17) as u32;
            *code = (rng.below(1 << len) as u32) << 8 | len;
        }
        let (mut fast, mut naive) = (BitWriter::new(), Naive::default());
        for _ in 0..2000 {
            let symbols: Vec<u16> = (0..1 + rng.below(50)).map(|_| rng.below(258) as u16).collect();
            fast.write_codes(&symbols, &codes);
            for &symbol in &symbols {
                let code = codes[usize::from(symbol)];
                naive.write(u64::from(code >> 8), code & 0xff);
            }
        }
        assert_eq!(fast.finish(), naive.bytes());
    }

    #[test]
    fn appending_at_every_alignment() {
        let mut rng = Rng(3);
        let bytes: Vec<u8> = (0..50).map(|_| rng.below(256) as u8).collect();
        let lens = |from| (from..=400).map(move |end| (from, end - from));
        for (before, (from, bit_len)) in
            (0..=64).flat_map(|before| (0..9).flat_map(lens).map(move |bits| (before, bits)))
        {
            let (mut fast, mut naive) = (BitWriter::new(), Naive::default());
            for _ in 0..before {
                let bit = rng.next_u64() & 1;
                fast.write(bit, 1);
                naive.write(bit, 1);
            }
            append_bits_from(&mut fast, &bytes, from, bit_len);
            for i in (from..from + bit_len).map(|i| i as usize) {
                naive.write(u64::from(bytes[i / 8] >> (7 - i % 8)) & 1, 1);
            }
            fast.write(0b101, 3);
            naive.write(0b101, 3);
            assert_eq!(fast.finish(), naive.bytes(), "{before} {from} {bit_len}");
        }
    }

    #[test]
    fn draining_keeps_the_bits_between() {
        let (mut out, mut drained) = (BitWriter::new(), Vec::new());
        let (mut all, mut rng) = (BitWriter::new(), Rng(4));
        for _ in 0..1000 {
            let count = rng.below(57) as u32;
            let value = rng.next_u64() & ((1 << count) - 1);
            out.write(value, count);
            all.write(value, count);
            drained.extend_from_slice(out.whole_bytes());
            out.forget_whole_bytes();
        }
        drained.extend(out.finish());
        assert_eq!(drained, all.finish());
    }
}
