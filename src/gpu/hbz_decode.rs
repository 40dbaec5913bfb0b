//! What goes to a device that decodes blocks of `.hbz` streams, and what comes back
//! ([`Offload::DecodeLarge`](super::Offload::DecodeLarge)).

use super::{DeviceError, DeviceLane};
use crate::codec::hbz::decode::{Block, PayloadParts};
use std::time::Duration;

/// The most blocks in a batch.
pub const MAX_LARGE: usize = 64;
/// The most rows that a lane can have, all blocks of a batch together.
pub const MAX_ROWS: usize = 1 << 30;
/// There may be 2^16 rows from entry point to entry point: one chain of so many dependent loads takes 40 ms.
pub const MAX_ENTRY_LOG: u8 = 16;
/// Blocks begin at multiples of so many rows.
pub const ROW_UNIT: usize = 16;

/// A lane that decodes blocks of `.hbz` streams.
pub trait DecodeCodes: DeviceLane {
    /// Decodes blocks up to their codes. The first `bytes` bytes of [`texts`](DeviceLane::texts), which has room for
    /// [`input_room`] of them, hold their payloads as [`LargeForDevice::write`] writes them. All blocks together have
    /// at most `max_blocks * max_length` rows.
    fn codes(
        &mut self,
        blocks: &[LargeForDevice],
        bytes: usize,
        timeout: Duration,
    ) -> Result<DecodedCodes<'_>, DeviceError>;

    /// Makes the lane larger, for so many rows. What [`texts`](DeviceLane::texts) holds is lost. Returns whether there
    /// was enough memory; if not, the lane is as large as it was.
    ///
    /// # Errors
    /// After an error the lane must not be used again, only dropped.
    fn reserve(&mut self, rows: usize) -> Result<bool, DeviceError>;
}

/// How many bytes of input a lane for so many blocks and rows has room for.
pub const fn input_room(blocks: usize, rows: usize) -> usize {
    rows / 2 + (16 << 10) * blocks + (64 << 10)
}

/// A block to be decoded: `struct hybz_large` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LargeForDevice {
    /// Its rows.
    pub rows: u32,
    /// Where they begin among those of all blocks: a multiple of [`ROW_UNIT`].
    pub base: u32,
    /// The base-2 logarithm of the rows from entry point to entry point: 12 to [`MAX_ENTRY_LOG`].
    pub entry_log: u32,
    /// How many selectors there are.
    pub selectors: u32,
    /// The byte of the input at which its [`SegmentForDevice`]s begin.
    pub segments_at: u32,
    /// The byte at which the rows of its entry points begin, 32 bits each.
    pub entries_at: u32,
    /// The byte at which the shares of its tables begin, 16 bits each: those of tokens, then those of selectors.
    pub shares_at: u32,
    /// The first move-to-front list: the codes in use, then zeros.
    pub list: [u8; 256],
}

/// A segment: `struct hybz_segment` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SegmentForDevice {
    /// The byte of the input at which it begins.
    pub at: u32,
    /// Its bytes.
    pub bytes: u32,
    /// Its tokens.
    pub tokens: u32,
}

/// A batch, decoded.
#[derive(Clone, Copy, Debug)]
pub struct DecodedCodes<'a> {
    /// By block: not 0 if something about it is unusual or wrong, and a core must look at it.
    pub odd: &'a [u32],
    /// From each block's base on its codes, in the order of the text. Nothing in them is checked yet.
    pub codes: &'a [u8],
}

impl LargeForDevice {
    /// How many bytes of input a block takes.
    pub fn input_len(parts: &PayloadParts<'_>) -> usize {
        let shares = parts.shares.tokens.iter().chain(&parts.shares.selectors).map(Vec::len).sum::<usize>();
        let tables = parts.segments.len() * size_of::<SegmentForDevice>() + parts.entries.len() * 4 + shares * 2;
        coded_len(parts).next_multiple_of(4) + tables.next_multiple_of(4)
    }

    /// Writes what the device needs of a block to the input from byte `at` on, a multiple of 4; there must be room for
    /// [`input_len`](Self::input_len) bytes. Its rows begin at `base`.
    pub fn write(block: &Block, base: u32, input: &mut [u8], at: usize) -> LargeForDevice {
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

/// The bytes of all segments of a block, one after the other.
fn coded_len(parts: &PayloadParts<'_>) -> usize {
    parts.segments.iter().map(|segment| segment.bytes.len()).sum()
}

/// Where the next bytes go.
struct Room<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Room<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Goes on at a multiple of 4: there.
    fn align(&mut self) -> u32 {
        let end = self.at.next_multiple_of(4);
        self.bytes[self.at..end].fill(0);
        self.at = end;
        end as u32
    }
}
