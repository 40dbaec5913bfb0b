//! A span: a stretch of compressed input that begins with what looks like a block, and how such beginnings are found.

use super::tasks::{DECODE, DecodeBlock};
use crate::Client;
use crate::block::DecodedBlock;
use crate::codec::find_magic;
use crate::error::DecodeError;
use crate::schedule::Ticket;
use crate::stream::piece::Piece;
use std::sync::Arc;

/// A span longer than this is handed on without waiting for the next magic. No block that an encoder writes is as long:
/// 18,002 groups of 50 codes of 20 bits are 2.25 MB.
pub(super) const MAX_SPAN: usize = 4 << 20;
/// What a decoded block may take in memory (`Text::Plain` is never longer), so what a job is charged beside its span.
const MAX_TEXT: u64 = crate::block::MAX_PLAIN_TEXT as u64;
/// Behind a magic, this many bits tell whether bzip2 could accept the block at all.
pub(super) const HEADER_BITS: u64 = 48 + 32 + 1 + 24 + 16 + 256 + 3 + 15;

/// A stretch of compressed input, bits `first .. end` of `data`. Neighbours may share a byte.
#[derive(Clone)]
pub(crate) struct Span {
    pub data: Arc<Vec<u8>>,
    /// Where in the whole input `data` begins, in bits.
    pub at: u64,
    /// The first bit of `data` that belongs to the span: 0 to 7.
    pub first: u64,
    /// The bit of `data` after the span's last.
    pub end: u64,
    /// Whether it begins with what looks like a block.
    pub coded: bool,
}

/// A span on its way, and what the block at its beginning decodes to, if it begins with one.
pub(crate) struct IssuedSpan {
    pub span: Span,
    pub block: Option<Ticket<Result<DecodedBlock, DecodeError>>>,
}

impl Span {
    /// Where the span begins in the whole input, in bits.
    pub fn start_bit(&self) -> u64 {
        self.at + self.first
    }

    /// The bit after its last in the whole input.
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
            let task = DecodeBlock { data: Arc::clone(&self.data), start: self.first, end: self.end };
            let bytes = task.bytes();
            client.task(task).class(DECODE, bytes).submit()
        });
        IssuedSpan { span: self, block }
    }
}

/// The next magic that may begin a block, from bit `searched` on, which then is behind what was searched; `None` if
/// there is none or if it cannot be told yet. With `whole`, nothing is behind the data.
pub(super) fn next_magic(data: &[u8], searched: &mut u64, whole: bool) -> Option<u64> {
    let have = data.len() as u64 * 8;
    loop {
        let Some(bit) = find_magic::find(data, *searched) else {
            // A magic that is not wholly there yet may begin in the last 47 bits.
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
