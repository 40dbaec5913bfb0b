//! Finds the places where a bzip2 stream may end.
//!
//! A stream ends 80 to 87 bits after the first bit of its end magic (48 bits of magic, 32 bits of combined CRC, padding
//! to a whole byte). It may end wherever these 48 bits appear, at any bit offset and even inside a block's data: random
//! data contain them once in 2^48 bits.

use crate::bits::{BitSource, SliceBits};
use crate::formats::bzip2::header::END_MAGIC;
use crate::stream::piece::StreamEndDetector;

/// The maximum number of bytes from the magic's first byte to the first byte after the stream: 87 bits.
const RECORD: usize = 11;

/// The last bytes taken of a bzip2 stream, in which an end magic may have begun.
#[derive(Default)]
pub(super) struct Tail {
    bytes: [u8; RECORD],
    len: usize,
}

impl StreamEndDetector for Tail {
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        // Magics that begin in the tail, then those that begin in `bytes`.
        let mut seam = [0; 2 * RECORD];
        let head = bytes.len().min(RECORD);
        seam[..self.len].copy_from_slice(&self.bytes[..self.len]);
        seam[self.len..self.len + head].copy_from_slice(&bytes[..head]);
        let seam = &seam[..self.len + head];
        let end_of = |magic: u64| (magic + 80).div_ceil(8) as usize;
        let mut from = 0;
        let mut end = None;
        while let Some(magic) = find_end_magic(seam, from) {
            from = magic + 1;
            // The stream did not end at earlier possible ends.
            if end_of(magic) > self.len {
                end = Some(end_of(magic) - self.len);
                break;
            }
        }
        let end = end.into_iter().chain(find_end_magic(bytes, 0).map(end_of)).min().filter(|&end| end <= bytes.len());
        let taken = &bytes[..end.unwrap_or(bytes.len())];
        if taken.len() >= RECORD {
            self.bytes.copy_from_slice(&taken[taken.len() - RECORD..]);
            self.len = RECORD;
        } else {
            let keep = self.len.min(RECORD - taken.len());
            self.bytes.copy_within(self.len - keep..self.len, 0);
            self.bytes[keep..keep + taken.len()].copy_from_slice(taken);
            self.len = keep + taken.len();
        }
        end
    }
    /// The magic was a part of a block.
    fn goes_on(&mut self) -> bool {
        true
    }
}

/// A set of 16-bit values: the pairs of neighbouring bytes that an end magic can contain. A magic at any bit offset
/// determines the five bytes after the one in which it begins.
static PAIRS: [u64; 1 << 10] = {
    let mut pairs = [0; 1 << 10];
    let mut shift = 0;
    while shift < 8 {
        let mut byte = 1;
        while byte < 5 {
            let pair = (END_MAGIC >> (32 + shift - 8 * byte) & 0xffff) as usize;
            pairs[pair / 64] |= 1 << (pair % 64);
            byte += 1;
        }
        shift += 1;
    }
    pairs
};

/// The first bit of the first whole end magic in `data` that begins at bit `from` or later.
///
/// Among five neighbouring bytes there is a pair that begins at a multiple of four bytes, so it is enough to look at
/// every fourth pair; in noise one of 2,048 of them leads to a full comparison.
pub(crate) fn find_end_magic(data: &[u8], from: u64) -> Option<u64> {
    // The pair at byte p decides about magics whose first bit is in bytes p - 4 to p - 1.
    let first = usize::try_from(from / 8).ok()?;
    let rest = data.get(first + 4..)?;
    rest.chunks(4).enumerate().find_map(|(i, four)| {
        let &[high, low, ..] = four else { return None };
        let pair = usize::from(high) << 8 | usize::from(low);
        if PAIRS[pair / 64] >> (pair % 64) & 1 == 0 {
            return None;
        }
        confirm(data, (first + 4 * i) as u64 * 8, from)
    })
}

/// The first end magic that begins at one of the 32 bits from `start` on.
#[cold]
fn confirm(data: &[u8], start: u64, from: u64) -> Option<u64> {
    (start.max(from)..start + 32).find(|&bit| {
        let mut bits = SliceBits::new(data, bit, u64::MAX);
        bits.bits(24) == Some((END_MAGIC >> 24) as u32) && bits.bits(24) == Some(END_MAGIC as u32 & 0xff_ffff)
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use hybz_testkit::shapes::random;

    /// Puts an end magic at this bit.
    pub(crate) fn put(data: &mut [u8], start: u64) {
        for i in 0..48 {
            let (byte, bit) = (((start + i) / 8) as usize, 7 - (start + i) % 8);
            data[byte] = data[byte] & !(1 << bit) | ((END_MAGIC >> (47 - i) & 1) as u8) << bit;
        }
    }

    #[test]
    fn magics_are_found_at_every_bit() {
        for background in [0u8, 0xff, 0x17, 0x72, 0x90] {
            for start in 0..8 * 54 {
                let mut data = vec![background; 60];
                put(&mut data, start);
                for from in [0, start.saturating_sub(1), start, start + 1, 479, 480, 500] {
                    let expected = (from <= start).then_some(start);
                    assert_eq!(find_end_magic(&data, from), expected, "{background} {start} {from}");
                }
                let end = (start as usize + 48).div_ceil(8);
                assert_eq!(find_end_magic(&data[..end], 0), Some(start));
                assert_eq!(find_end_magic(&data[..end - 1], 0), None);
            }
        }
        assert_eq!(find_end_magic(&random(1 << 20), 0), None);
    }
}
