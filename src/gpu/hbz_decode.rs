//! The input and output of a device that decodes blocks of `.hbz` streams
//! ([`Offload::DecodeLarge`](super::Offload::DecodeLarge)).

pub use super::abi::{
    HYBZ_LARGE_INPUT as input_room, HYBZ_MAX_LARGE as MAX_LARGE, hybz_large as LargeForDevice,
    hybz_segment as SegmentForDevice,
};
use crate::formats::hbz::codec::decode::{PayloadBlock, PayloadParts};

/// The max number of rows of a lane, for all blocks of a batch together.
pub const MAX_ROWS: usize = 1 << 30;
/// The max distance of entry points, as a base-2 logarithm.
pub const MAX_ENTRY_LOG: u8 = super::abi::HYBZ_MAX_ENTRY_LOG as u8;
/// Blocks begin at multiples of this many rows.
pub const ROW_UNIT: usize = 16;

/// A decoded batch.
#[derive(Clone, Copy, Debug)]
pub struct DecodedCodes<'a> {
    /// For each block: not 0 if the block is unusual or wrong in some way, and a core must decode it.
    pub odd: &'a [u32],
    /// At each block's base: its codes, in the order of the text. Nothing in them is checked yet.
    pub codes: &'a [u8],
}

impl LargeForDevice {
    /// The number of input bytes of a block.
    pub fn input_len(parts: &PayloadParts<'_>) -> usize {
        let shares = parts.shares.tokens.iter().chain(&parts.shares.selectors).map(Vec::len).sum::<usize>();
        let tables = parts.segments.len() * size_of::<SegmentForDevice>() + parts.entries.len() * 4 + shares * 2;
        coded_len(parts).next_multiple_of(4) + tables.next_multiple_of(4)
    }

    /// Writes the block's data for the device to the input, at byte `at`, a multiple of 4; there must be room for
    /// [`input_len`](Self::input_len) bytes. Its rows begin at `base`.
    pub fn write(block: &PayloadBlock, base: u32, input: &mut [u8], at: usize) -> LargeForDevice {
        let parts = block.parts();
        let first = parts.segments.first().map_or(0, |segment| segment.bytes.start);
        let len = coded_len(&parts);
        let mut room = Room { bytes: input, at };
        room.put(&parts.payload[first..first + len]);
        let segments_at = room.align();
        for segment in parts.segments {
            let segment_at = at + segment.bytes.start - first;
            [segment_at, segment.bytes.len(), segment.tokens].iter().for_each(|&n| room.put(&(n as u32).to_ne_bytes()));
        }
        let entries_at = room.align();
        parts.entries.iter().for_each(|row| room.put(&row.to_ne_bytes()));
        let shares_at = room.align();
        let tables = parts.shares.tokens.iter().chain(&parts.shares.selectors);
        tables.flatten().for_each(|share| room.put(&share.to_ne_bytes()));
        room.align();
        LargeForDevice {
            rows: block.rows(),
            base,
            entry_log: block.stream().entry_log.into(),
            selectors: parts.shares.selectors.len() as u32,
            segments_at,
            entries_at,
            shares_at,
            list: *parts.list,
        }
    }
}

/// The number of bytes of all segments of a block.
fn coded_len(parts: &PayloadParts<'_>) -> usize {
    parts.segments.iter().map(|segment| segment.bytes.len()).sum()
}

/// A cursor in the input.
struct Room<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Room<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Advances to a multiple of 4, and returns that offset.
    fn align(&mut self) -> u32 {
        let end = self.at.next_multiple_of(4);
        self.bytes[self.at..end].fill(0);
        self.at = end;
        end as u32
    }
}
