//! Blocks of `.hbz` streams as a device that decodes takes them: `struct hybz_large` of `hybz.h`.

use crate::formats::hbz::codec::decode::PayloadBlock;
use hybz_gpu::{LargeForDevice, SegmentForDevice};

/// The number of input bytes of a block.
pub fn input_len(block: &PayloadBlock) -> usize {
    let shares = block.shares.tokens.iter().chain(&block.shares.selectors).map(Vec::len).sum::<usize>();
    let tables = block.segments.len() * size_of::<SegmentForDevice>() + block.entries.len() * 4 + shares * 2;
    coded_len(block).next_multiple_of(4) + tables.next_multiple_of(4)
}

/// Writes the block's data for the device to the input, at byte `at`, a multiple of 4; there must be room for
/// [`input_len`] bytes. Its rows begin at `base`.
pub fn write(block: &PayloadBlock, base: u32, input: &mut [u8], at: usize) -> LargeForDevice {
    let first = block.segments.first().map_or(0, |segment| segment.bytes.start);
    let len = coded_len(block);
    let mut room = Room { bytes: input, at };
    room.put(&block.payload[first..first + len]);
    let segments_at = room.align();
    for segment in &block.segments {
        let segment_at = at + segment.bytes.start - first;
        [segment_at, segment.bytes.len(), segment.tokens].iter().for_each(|&n| room.put(&(n as u32).to_ne_bytes()));
    }
    let entries_at = room.align();
    block.entries.iter().for_each(|row| room.put(&row.to_ne_bytes()));
    let shares_at = room.align();
    let tables = block.shares.tokens.iter().chain(&block.shares.selectors);
    tables.flatten().for_each(|share| room.put(&share.to_ne_bytes()));
    room.align();
    LargeForDevice {
        rows: block.header.rows,
        base,
        entry_log: block.stream.entry_log.into(),
        selectors: block.shares.selectors.len() as u32,
        segments_at,
        entries_at,
        shares_at,
        list: block.list,
    }
}

/// The number of bytes of all segments of a block.
fn coded_len(block: &PayloadBlock) -> usize {
    block.segments.iter().map(|segment| segment.bytes.len()).sum()
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
