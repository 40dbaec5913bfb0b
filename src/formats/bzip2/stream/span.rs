//! A span: a stretch of compressed input that begins with bits that look like a block, and the search for such bits.

use super::tasks::{DECODE, DecodeBlock};
use crate::block::{DecodedBlock, SharedBytes};
use crate::codec::find_magic;
use crate::error::DecodeError;
use crate::stream::piece::Piece;
use hybz_queue::{Client, Ticket};

/// A span longer than this is handed on without waiting for the next magic. No block that an encoder writes is that
/// long: 18,002 groups of 50 codes of 20 bits are 2.25 MB.
pub(super) const MAX_SPAN: usize = 4 << 20;
/// The memory that a decoded block may take (`Text::Plain` is never longer), charged to a job in addition to its span.
const MAX_TEXT: u64 = crate::block::MAX_PLAIN_TEXT as u64;
/// The number of bits, magic included, that tell whether bzip2 could accept the block at all.
pub(super) const HEADER_BITS: u64 = 48 + 32 + 1 + 24 + 16 + 256 + 3 + 15;

/// A stretch of compressed input, bits `first .. end` of `data`. Neighbours may share a byte.
#[derive(Clone)]
pub(crate) struct Span {
    pub data: SharedBytes,
    /// The position of `data` in the whole input, in bits.
    pub at: u64,
    /// The first bit of `data` that belongs to the span: 0 to 7.
    pub first: u64,
    /// The bit of `data` after the span's last bit.
    pub end: u64,
    /// Whether it begins with bits that look like a block.
    pub coded: bool,
}

/// A span that has been issued, and the result of decoding the block at its beginning, if it begins with one.
pub(crate) struct IssuedSpan {
    pub span: Span,
    pub block: Option<Ticket<Result<DecodedBlock, DecodeError>>>,
}

impl Span {
    /// The start of the span in the whole input, in bits.
    pub fn start_bit(&self) -> u64 {
        self.at + self.first
    }

    /// The bit after the span's last bit, in the whole input.
    pub fn end_bit(&self) -> u64 {
        self.at + self.end
    }
}

impl Piece for Span {
    type Issued = IssuedSpan;

    fn charge(&self) -> u64 {
        self.data.len() as u64 + 4096 + if self.coded { MAX_TEXT } else { 0 }
    }

    fn issue(self, client: &Client) -> IssuedSpan {
        let block = self.coded.then(|| {
            let task = DecodeBlock { data: self.data.clone(), start: self.first, end: self.end };
            let bytes = task.bytes();
            client.task(task).class(DECODE, bytes).submit()
        });
        IssuedSpan { span: self, block }
    }
}

/// The next magic that may begin a block, from bit `searched` on; `None` if there is none, or if that cannot be decided
/// yet. Moves `searched` past the searched bits. With `whole`, the data end the input.
pub(super) fn next_magic(data: &[u8], searched: &mut u64, whole: bool) -> Option<u64> {
    let have = data.len() as u64 * 8;
    loop {
        let Some(bit) = find_magic::find(data, *searched) else {
            // An incomplete magic may begin in the last 47 bits.
            *searched = (*searched).max(have.saturating_sub(47));
            return None;
        };
        if !whole && bit + HEADER_BITS > have {
            *searched = bit;
            return None;
        }
        *searched = bit + 1;
        if find_magic::plausible(data, bit, have) {
            return Some(bit);
        }
    }
}
