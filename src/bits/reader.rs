//! Reads bits, most significant bit first.
//!
//! [`BitSource`] is all that the reference decoder needs from its input. [`SliceBits`] is the plain implementation, for
//! bytes in memory. [`BitReader`] is the fast one: it keeps a 64-bit word and fills it with one unaligned load and no
//! branch (F. Giesen, "Reading bits in far too many ways", variant 4). After each refill at least 56 bits are ready,
//! and the load is not on the path from one code to the next. Keeping only a bit position and loading again for each
//! code would be simpler, but would put a load, a byte swap and a shift on that path.

/// A source of bits in order.
pub trait BitSource {
    /// Returns the next `n` bits (1 to 32) as a number, the first bit highest. Returns `None` and consumes nothing if
    /// fewer than `n` bits are left.
    fn bits(&mut self, n: u32) -> Option<u32>;

    /// The position of the next bit, counted from the first bit of the data.
    fn position(&self) -> u64;

    /// Reads a number in unary: the ones up to the next zero, and that zero. After `max` ones (1 to 8) it stops
    /// without consuming a zero.
    fn unary(&mut self, max: u32) -> Option<u32> {
        for ones in 0..max {
            if self.bits(1)? == 0 {
                return Some(ones);
            }
        }
        Some(max)
    }
}

/// The plain reader of a slice.
#[derive(Clone, Debug)]
pub struct SliceBits<'a> {
    data: &'a [u8],
    at: u64,
    end: u64,
}

impl<'a> SliceBits<'a> {
    /// Reads bits `start..end` of `data`. An `end` beyond the data means the end of the data.
    pub fn new(data: &'a [u8], start: u64, end: u64) -> Self {
        let end = end.min(data.len() as u64 * 8);
        SliceBits { data, at: start.min(end), end }
    }
}

impl BitSource for SliceBits<'_> {
    fn bits(&mut self, n: u32) -> Option<u32> {
        if self.end - self.at < u64::from(n) {
            return None;
        }
        let value = (word(self.data, (self.at / 8) as usize) << (self.at % 8)) >> (64 - n);
        self.at += u64::from(n);
        Some(value as u32)
    }

    fn position(&self) -> u64 {
        self.at
    }

    fn unary(&mut self, max: u32) -> Option<u32> {
        let available = self.end - self.at;
        let next = word(self.data, (self.at / 8) as usize) << (self.at % 8);
        let ones = next.leading_ones().min(max);
        let taken = u64::from((ones + 1).min(max));
        if taken > available {
            self.at = self.end;
            return None;
        }
        self.at += taken;
        Some(ones)
    }
}

/// The eight bytes at `byte` as a big-endian number. Bytes beyond the end of the data are zero.
#[inline(always)]
fn word(data: &[u8], byte: usize) -> u64 {
    match data.get(byte..).and_then(|rest| rest.first_chunk()) {
        Some(eight) => u64::from_be_bytes(*eight),
        None => tail_word(data, byte),
    }
}

#[cold]
fn tail_word(data: &[u8], byte: usize) -> u64 {
    let mut eight = [0; 8];
    let tail = data.get(byte..).unwrap_or(&[]);
    eight[..tail.len().min(8)].copy_from_slice(&tail[..tail.len().min(8)]);
    u64::from_be_bytes(eight)
}

/// The fast reader of a slice: at least 56 bits are ready after each [`refill`](BitReader::refill).
///
/// Beyond the end of the data it reads zeros, without limit. The caller must compare [`position`](BitReader::position)
/// with the end from time to time, and always before it relies on what it has read.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    data: &'a [u8],
    /// The next byte with bits not yet in the word.
    byte: usize,
    /// The next bits, first bit on top. Below the `ready` bits there are zeros, or bits that the next refill loads
    /// again.
    word: u64,
    ready: u32,
}

impl<'a> BitReader<'a> {
    /// Starts at bit `start` of `data`.
    pub fn new(data: &'a [u8], start: u64) -> Self {
        let byte = (start / 8) as usize;
        let mut reader = BitReader { data, byte, word: 0, ready: 0 };
        reader.refill();
        reader.skip((start % 8) as u32);
        reader.refill();
        reader
    }

    /// Makes at least 56 bits ready.
    #[inline(always)]
    pub fn refill(&mut self) {
        self.word |= word(self.data, self.byte) >> self.ready;
        self.byte += ((63 - self.ready) >> 3) as usize;
        self.ready |= 56;
    }

    /// Returns the next `n` bits without consuming them; `n` is at least 1 and at most the number of bits ready.
    #[inline(always)]
    pub fn peek(&self, n: u32) -> u32 {
        (self.word >> (64 - n)) as u32
    }

    /// Consumes `n` bits; `n` is at most the number of bits ready.
    #[inline(always)]
    pub fn skip(&mut self, n: u32) {
        self.word <<= n & 63;
        self.ready -= n;
    }

    /// Consumes and returns the next `n` bits; `n` may be 0 and is at most the number of bits ready.
    #[inline(always)]
    pub fn read(&mut self, n: u32) -> u32 {
        let value = (self.word >> 1 >> (63 - n)) as u32;
        self.skip(n);
        value
    }

    /// The number of bits consumed, counted from the first bit of the data. It can lie beyond the end of the data.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.byte as u64 * 8 - u64::from(self.ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader so simple that it is unlikely to be wrong.
    fn naive(data: &[u8], at: u64, n: u32) -> u32 {
        (at..at + u64::from(n)).fold(0, |value, bit| {
            let byte = data.get((bit / 8) as usize).copied().unwrap_or(0);
            value << 1 | u32::from(byte >> (7 - bit % 8) & 1)
        })
    }

    fn some_data() -> Vec<u8> {
        (0..97u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[test]
    fn slice_bits_are_the_naive_ones() {
        let data = some_data();
        for n in 1..=32 {
            for start in 0..64 {
                let mut bits = SliceBits::new(&data, start, u64::MAX);
                let mut at = start;
                while let Some(value) = bits.bits(n) {
                    assert_eq!(value, naive(&data, at, n));
                    at += u64::from(n);
                    assert_eq!(bits.position(), at);
                }
                assert!(at + u64::from(n) > data.len() as u64 * 8);
            }
        }
    }

    #[test]
    fn unary_numbers_bit_by_bit() {
        /// Implements only the required methods.
        struct BitByBit<'a>(SliceBits<'a>);
        impl BitSource for BitByBit<'_> {
            fn bits(&mut self, n: u32) -> Option<u32> {
                self.0.bits(n)
            }
            fn position(&self) -> u64 {
                self.0.position()
            }
        }
        let data = [&some_data()[..], &[0xff, 0xff, 0x7f, 0xfe, 0, 0xff]].concat();
        for (max, start) in (1..=8).flat_map(|max| (0..data.len() as u64 * 8).map(move |start| (max, start))) {
            for end in [u64::MAX, start + 1, start + 7] {
                let mut fast = SliceBits::new(&data, start, end);
                let mut slow = BitByBit(fast.clone());
                while let ones = fast.unary(max)
                    && (ones, fast.position()) == (slow.unary(max), slow.position())
                    && ones.is_some()
                {}
                assert_eq!((fast.unary(max), fast.position()), (None, slow.position()), "{max} {start} {end}");
            }
        }
    }

    #[test]
    fn an_end_inside_the_data_is_kept() {
        let data = some_data();
        let mut bits = SliceBits::new(&data, 3, 13);
        assert_eq!(bits.bits(11), None);
        assert_eq!(bits.bits(10), Some(naive(&data, 3, 10)));
        assert_eq!(bits.bits(1), None);
        assert_eq!(SliceBits::new(&data, 13, 5).bits(1), None);
    }

    #[test]
    fn a_bit_reader_shows_the_same_bits_and_zeros_after_them() {
        let data = some_data();
        for n in 1..=28 {
            for start in 0..70 {
                let mut reader = BitReader::new(&data, start);
                let mut at = start;
                while at < data.len() as u64 * 8 + 100 {
                    assert_eq!(reader.position(), at);
                    assert_eq!(reader.peek(n), naive(&data, at, n));
                    reader.skip(n);
                    assert_eq!(reader.peek(n), naive(&data, at + u64::from(n), n));
                    reader.skip(n);
                    at += 2 * u64::from(n);
                    reader.refill();
                }
            }
        }
    }
}
