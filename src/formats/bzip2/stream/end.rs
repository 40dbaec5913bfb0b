//! Finds the places where a bzip2 stream may end, for a decoder that must not read past it (`gate`).
//!
//! A stream ends 80 to 87 bits after the first bit of its end magic (48 bits of magic, 32 bits of combined CRC, padding
//! to a whole byte). It may end wherever these 48 bits appear, at any bit offset and even inside a block's data: random
//! data contain them once in 2^48 bits.

use crate::codec::find_magic::find_end;
use crate::formats::bzip2::header::END_BITS;
use crate::stream::piece::StreamEndDetector;
use std::iter::successors;

/// The maximum number of bytes from the magic's first byte to the first byte after the stream: 87 bits.
const RECORD: usize = 11;

/// The last bytes taken of a bzip2 stream, in which an end magic may have begun.
#[derive(Default)]
pub(super) struct Tail(Vec<u8>);

impl StreamEndDetector for Tail {
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let old = self.0.len();
        let end_of = |magic: u64| (magic + END_BITS).div_ceil(8) as usize;
        // Magics that begin in the tail, then those that begin in `bytes`.
        let seam = [&self.0[..], &bytes[..bytes.len().min(RECORD)]].concat();
        let magics = successors(find_end(&seam, 0), |magic| find_end(&seam, magic + 1));
        // The stream did not end at earlier possible ends.
        let first = magics.map(end_of).find(|end| *end > old).map(|end| end - old);
        let end = first.into_iter().chain(find_end(bytes, 0).map(end_of)).min().filter(|end| *end <= bytes.len());
        let taken = &bytes[..end.unwrap_or(bytes.len())];
        self.0.extend_from_slice(&taken[taken.len().saturating_sub(RECORD)..]);
        self.0.drain(..self.0.len().saturating_sub(RECORD));
        end
    }

    /// Always true: the magic was then a part of a block.
    fn goes_on(&mut self) -> bool {
        true
    }
}
