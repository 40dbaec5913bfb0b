//! How much input a decoder may take if it has to stop exactly at the end of the first stream.
//!
//! A [`Gate`] looks at bytes before they are taken and closes where the stream *may* end. The joiner, which has all
//! bytes up to there, then says whether it does. Everything before such a place is taken at once, so blocks are still
//! read ahead and decoded in parallel.
//!
//! - A bzip2 stream ends 80 to 87 bits after the first bit of its end magic (48 bits of magic, 32 bits of combined CRC,
//!   padding to a whole byte). It may end wherever these 48 bits appear, at any bit offset and even inside a block's
//!   data: random data contain them once in 2^48 bits.
//! - A `.hbz` stream states the length of each of its parts: it ends after its index.
//! - An LZ4 frame states the length of each of its blocks: it ends behind the last. A legacy frame does not say which
//!   is the last, so all bytes are taken.
//! - A `.Z` stream ends where its input does.

use crate::bits::{BitSource, SliceBits};
use crate::format::bzip2::END_MAGIC;
use crate::format::hbz::{self, BlockHeader, HEADER_LEN, Next, StreamHeader};
use crate::format::{lz4, lzw};
use crate::lz4::walk::{Part, Walker};

/// From the first byte of the magic to the byte behind the stream, at most: 87 bits.
const RECORD: usize = 11;

/// Watches the input of a decoder.
#[derive(Debug)]
pub(crate) struct Gate {
    format: Format,
    closed: bool,
}

#[derive(Debug)]
enum Format {
    /// No byte has been seen.
    Unknown,
    Bzip2(Tail),
    Hbz(Parts),
    Lz4(Walker),
    /// A `.Z` stream, or another that goes on where it should have ended: all of its input is taken.
    Any,
}

impl Gate {
    pub fn new() -> Gate {
        Gate { format: Format::Unknown, closed: false }
    }

    /// Takes some of `bytes`, the next of the input: all of them, or those up to the place where the stream may end.
    /// Returns how many.
    pub fn take(&mut self, bytes: &[u8]) -> usize {
        let Some(&first) = bytes.first() else { return 0 };
        if self.closed {
            return 0;
        }
        if matches!(self.format, Format::Unknown) {
            self.format = match first {
                byte if byte == hbz::MAGIC[0] => Format::Hbz(Parts::default()),
                byte if byte == lzw::MAGIC[0] => Format::Any,
                byte if lz4::begins_with(byte) => Format::Lz4(Walker::default()),
                _ => Format::Bzip2(Tail::default()),
            };
        }
        let end = match &mut self.format {
            Format::Bzip2(tail) => tail.take(bytes),
            Format::Hbz(parts) => parts.take(bytes),
            Format::Lz4(walker) => frame_end(walker, bytes),
            Format::Unknown | Format::Any => None,
        };
        self.closed = end.is_some();
        end.unwrap_or(bytes.len())
    }

    /// Whether the stream may end behind the bytes taken.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// To be called when the joiner wants more: the stream goes on.
    pub fn open(&mut self) {
        self.closed = false;
        if let Format::Hbz(_) | Format::Lz4(_) = self.format {
            self.format = Format::Any;
        }
    }
}

/// The offset in `bytes` at which a frame ends, or at which it is found damaged: the joiner then returns the error.
fn frame_end(walker: &mut Walker, bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    loop {
        match walker.next(&mut rest) {
            Part::Need => return None,
            // What a legacy frame ends with belongs to what follows it.
            Part::End(None) if walker.is_in_magic() => {}
            Part::End(_) | Part::Other(_) | Part::Wrong(_) | Part::TooLong(_) => return Some(bytes.len() - rest.len()),
            _ => {}
        }
    }
}

/// The last bytes taken of a bzip2 stream: an end magic may have begun in them.
#[derive(Debug, Default)]
struct Tail {
    bytes: [u8; RECORD],
    len: usize,
}

impl Tail {
    /// The offset in `bytes` at which the stream may end.
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
            // Where the stream could have ended before, it did not.
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
}

/// The position in a `.hbz` stream.
#[derive(Debug, Default)]
struct Parts {
    stream: Option<StreamHeader>,
    /// Blocks so far.
    blocks: u32,
    /// The beginning of the next header.
    header: [u8; HEADER_LEN],
    header_len: usize,
    /// Bytes that are left of a payload or of the index.
    left: usize,
    /// These are the index's.
    last: bool,
}

impl Parts {
    /// The offset in `bytes` at which the stream ends, or at which a header is damaged: the joiner then returns the
    /// error.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.left > 0 {
                let n = self.left.min(bytes.len() - at);
                at += n;
                self.left -= n;
            } else {
                let n = (HEADER_LEN - self.header_len).min(bytes.len() - at);
                self.header[self.header_len..self.header_len + n].copy_from_slice(&bytes[at..at + n]);
                at += n;
                self.header_len += n;
                if self.header_len == HEADER_LEN {
                    self.header_len = 0;
                    let Some(left) = self.behind_header() else { return Some(at) };
                    self.left = left;
                }
            }
            if self.last && self.left == 0 {
                return Some(at);
            }
        }
        None
    }

    /// How many bytes of payload or index follow the header that was read; `None` if it is damaged.
    fn behind_header(&mut self) -> Option<usize> {
        let Some(stream) = &self.stream else {
            self.stream = Some(StreamHeader::parse(&self.header).ok()?);
            return Some(0);
        };
        match hbz::next(&self.header, self.blocks) {
            Next::Block => {
                let block = BlockHeader::parse(&self.header, stream, self.blocks).ok()?;
                self.blocks += 1;
                Some(block.coded_len as usize)
            }
            Next::Index(len) => {
                self.last = true;
                Some(len - HEADER_LEN)
            }
            Next::OtherIndex(_) | Next::Other => None,
        }
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
mod tests {
    use super::*;
    use crate::shapes::{Rng, random, shape};
    use crate::{LargeBlocks, Level, Settings};

    fn put(data: &mut [u8], start: u64) {
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

    /// Feeds `data` in pieces, opening the gate wherever it closes. Gives the places where it did.
    fn places(data: &[u8], mut piece: impl FnMut() -> usize) -> Vec<usize> {
        let mut gate = Gate::new();
        let (mut at, mut places) = (0, Vec::new());
        while at < data.len() {
            let end = data.len().min(at + piece());
            let n = gate.take(&data[at..end]);
            at += n;
            if gate.is_closed() {
                places.push(at);
                assert_eq!(gate.take(&data[at..]), 0);
                gate.open();
            } else {
                assert_eq!(at, end);
            }
        }
        places
    }

    #[test]
    fn it_closes_exactly_where_records_end() {
        let mut rng = Rng(8);
        for round in 0..300 {
            let mut data = random(2000);
            let mut bits: Vec<u64> = (0..rng.below(20)).map(|_| rng.below(8 * 1980) as u64).collect();
            bits.sort_unstable();
            bits.dedup_by(|b, a| *b < *a + 48);
            bits.iter().for_each(|&bit| put(&mut data, bit));
            let mut expected: Vec<usize> = bits.iter().map(|bit| (bit + 80).div_ceil(8) as usize).collect();
            expected.dedup();
            let most = [1, 2, 5, 11, 12, 30, 700, 5000][round % 8];
            assert_eq!(places(&data, || 1 + rng.below(most)), expected, "{round}");
        }
    }

    #[test]
    fn streams_end_where_it_closes() {
        let text = (shape("words").make)(250_000);
        let large = Settings::new().large_blocks(LargeBlocks::try_new(40_000).unwrap());
        for settings in [Settings::new().level(Level::FASTEST), large] {
            for text in [&text[..], b""] {
                let coded = crate::compress(text, &settings).unwrap();
                let more = [&coded[..], &[0; 100]].concat();
                for most in [1, 3, 31, 33, 1000, 1 << 20] {
                    assert_eq!(places(&coded, || most), [coded.len()]);
                    assert_eq!(places(&more, || most), [coded.len()]);
                }
            }
        }
    }
}
