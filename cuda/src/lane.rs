//! A lane of a device, whatever its pipeline does.

use super::abi::HYBZ_TOKENS;
use super::{
    BlockForDevice, Coded, CodedBatch, CodedSegments, DecodedBatch, DecodedCodes, DeviceError, FactorByDevice,
    FactorsByDevice, KeptText, LaneSize, LargeForDevice, LineOrder, Lz4ForDevice, PricesForDevice, RangeInParts,
    SharesForDevice, Sorted, SortedLines, SortedSuffixes, SortedThirds, Steps, StripForDevice, StripFound,
    TallyByDevice, Tokenized,
};
use crate::Result;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A lane of a device. Each [`Pipeline`](super::Pipeline) supports some of the methods; the others return errors.
///
/// After any error the lane must not be used again, only dropped.
#[allow(unused_variables)] // of methods that other lanes have
pub trait DeviceLane: Send {
    /// The capacity of the lane.
    fn size(&self) -> LaneSize;

    /// The buffer for the blocks of the next batch, plain or coded, back to back: `max_blocks` of `max_length` bytes.
    fn input(&mut self) -> &mut [u8] {
        &mut []
    }

    /// The total time of each step so far.
    fn steps(&self) -> Steps {
        Steps::default()
    }

    // `Bwt`.

    /// Transforms the blocks in [`input`](Self::input), given their lengths: at least
    /// [`MIN_DEVICE_BLOCK`](super::MIN_DEVICE_BLOCK) each, and none of them periodic.
    fn sort(&mut self, lengths: &[u32], timeout: Duration) -> Result<Sorted<'_>> {
        Err(other_lane())
    }

    // `Hybrid`.

    /// Sorts two lists for each of the blocks in [`input`](Self::input), periodic or not. Also returns the rows
    /// of the position `turn` of each block, and of each 2^`entry_log`th position after it. (The suffixes of a block
    /// that has been rotated to its least rotation have the order of its rotations; its turn is the original
    /// beginning.)
    fn thirds(&mut self, lengths: &[u32], turns: &[u32], entry_log: u8, timeout: Duration) -> Result<SortedThirds<'_>> {
        Err(other_lane())
    }

    // `Resident`.

    /// Transforms the blocks as [`sort`](Self::sort) does, and codes their columns. Proves those with numbers in
    /// `proofs`.
    fn code(&mut self, lengths: &[u32], proofs: Range<usize>, timeout: Duration) -> Result<CodedBatch<'_>> {
        Err(other_lane())
    }

    // `Suffixes`.

    /// Sorts all suffixes of each block, periodic or not, and returns the rows of those at multiples of 2^`entry_log`.
    fn suffixes(&mut self, lengths: &[u32], entry_log: u8, timeout: Duration) -> Result<SortedSuffixes<'_>> {
        Err(other_lane())
    }

    // `Decode`.

    /// Decodes blocks to their texts, or some up to their run-length-coded texts. The first `bytes` bytes of
    /// [`input`](Self::input) hold the codes and selectors of all blocks: at most `max_length` bytes for each
    /// block on average.
    fn decode(&mut self, blocks: &[BlockForDevice], bytes: usize, timeout: Duration) -> Result<DecodedBatch<'_>> {
        Err(other_lane())
    }

    // `CodeLarge`, whose batches take several calls, in this order.

    /// Sorts all suffixes of each block in [`input`](Self::input), makes tokens of the last columns, and makes
    /// the first choice of selectors. There are entry points at multiples of 2^`entry_log`; the tokens have these
    /// weights.
    fn tokens(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        weights: &[u32; HYBZ_TOKENS],
        timeout: Duration,
    ) -> Result<Tokenized<'_>> {
        Err(other_lane())
    }

    /// Chooses again, with these prices for each block: in all segments, or only in the sampled ones.
    fn choose(&mut self, prices: &[PricesForDevice], all: bool, timeout: Duration) -> Result<&[TallyByDevice]> {
        Err(other_lane())
    }

    /// Encodes all segments with these shares for each block.
    fn segments(&mut self, shares: &[SharesForDevice], timeout: Duration) -> Result<CodedSegments<'_>> {
        Err(other_lane())
    }

    // `DecodeLarge`.

    /// Decodes blocks up to their codes. The first `bytes` bytes of [`input`](Self::input), which has
    /// [`input_room`](super::input_room) bytes in all, hold their payloads, each as [`LargeForDevice`] says. All
    /// blocks together have at most `max_blocks * max_length` rows.
    fn codes(&mut self, blocks: &[LargeForDevice], bytes: usize, timeout: Duration) -> Result<DecodedCodes<'_>> {
        Err(other_lane())
    }

    /// Enlarges the lane to this many rows and discards the contents of [`input`](Self::input). Returns whether
    /// there was enough memory; if not, the lane keeps its size. (A lane for strips: allocates device memory for
    /// [`decode_strips`](Self::decode_strips), for this many bytes of text.)
    fn reserve(&mut self, rows: usize) -> Result<bool> {
        Err(other_lane())
    }

    // `Lines`.

    /// The max number of lines in a batch.
    fn max_lines(&self) -> u64 {
        0
    }

    /// Sorts each of the ranges that [`input`](Self::input) holds back to back, given their lengths. Each has at
    /// least 1 byte, and its last byte ends a line.
    fn sort_lines(&mut self, lengths: &[u32], order: LineOrder, timeout: Duration) -> Result<SortedLines<'_>> {
        Err(other_lane())
    }

    /// Allocates `bytes` bytes of device memory for kept text.
    fn keep(&mut self, bytes: u64) -> Result<Arc<dyn KeptText>> {
        Err(other_lane())
    }

    /// Sorts the first `length` bytes of [`input`](Self::input), ascending, and keeps them at offset `at`. Like
    /// [`sort_lines`](Self::sort_lines), but nothing is copied to the host.
    fn sort_and_keep(&mut self, length: u32, end: u8, kept: &dyn KeptText, at: u64, timeout: Duration) -> Result<()> {
        Err(other_lane())
    }

    /// Like [`sort_lines`](Self::sort_lines), for ranges that are in parts.
    fn sort_parts(
        &mut self,
        ranges: &[RangeInParts],
        kept: &dyn KeptText,
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>> {
        Err(other_lane())
    }

    /// Sorts `length` bytes at `text` into `sorted`, both device addresses; with `unique`, keeps one of equal lines.
    /// Returns the number of bytes written.
    ///
    /// # Safety
    /// Both addresses have `length` bytes on this lane's device, in its primary context; nothing else writes to them
    /// during the call, and all earlier writes to `text` are complete.
    #[allow(unsafe_code)]
    unsafe fn sort_on_device(
        &mut self,
        text: u64,
        length: u32,
        order: LineOrder,
        unique: bool,
        sorted: u64,
        timeout: Duration,
    ) -> Result<u32> {
        Err(DeviceError::Other("this device sorts only text from the host".to_owned()))
    }

    // `Factor`.

    /// Finds the factors of a text of at least [`MIN_DEVICE_BLOCK`](super::MIN_DEVICE_BLOCK) bytes. They are exact if
    /// `divisions` is less than 2; otherwise they are cut at the ends of that many equal parts (the PLZ of Ching 2014).
    fn find(&mut self, text: &[u8], divisions: u32, runs: bool, timeout: Duration) -> Result<FactorsByDevice> {
        Err(other_lane())
    }

    /// Fetches up to [`MAX_FETCHED`](super::MAX_FETCHED) factors of the last text.
    fn fetch(&mut self, from: u32, count: usize, timeout: Duration) -> Result<&[FactorByDevice]> {
        Err(other_lane())
    }

    // `Lz4`.

    /// Decodes blocks to the `text_len` bytes at the address `text`. Their coded bytes and their texts are in ascending
    /// order; gaps are allowed. Whatever they contain, nothing outside the text is written. For each block `damaged`
    /// becomes 0 or 1.
    ///
    /// # Safety
    /// The addresses are in this device's memory, in its primary context, with the stated number of bytes. Nothing else
    /// uses them during the call, and all earlier writes to them are complete.
    #[allow(unsafe_code)]
    unsafe fn decode_lz4(
        &mut self,
        coded: Coded<'_>,
        blocks: &[Lz4ForDevice],
        text: (u64, u64),
        damaged: &mut [u32],
        timeout: Duration,
    ) -> Result<()> {
        Err(other_lane())
    }

    // `Strips`, whose `max_length` is the max number of bytes of codes of all strips.

    /// From now on texts hold differences, which are undone: rows of `row` bytes, and pixels of `pixel` bytes.
    fn differences(&mut self, pixel: u32, row: u32) -> Result<()> {
        Err(other_lane())
    }

    /// Decodes strips of `coded` into `text`, with the memory from [`reserve`](Self::reserve); `found` has an entry for
    /// each.
    fn decode_strips(
        &mut self,
        coded: &[u8],
        strips: &[StripForDevice],
        text: &mut [u8],
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<()> {
        Err(other_lane())
    }

    /// Like [`decode_strips`](Self::decode_strips), but `coded` and `text` are device addresses with these lengths.
    ///
    /// # Safety
    /// The addresses have that many bytes on this lane's device, in its primary context; nothing else writes to them
    /// during the call, and all earlier writes to them are complete.
    #[allow(unsafe_code)]
    unsafe fn decode_strips_on_device(
        &mut self,
        coded: (u64, usize),
        strips: &[StripForDevice],
        text: (u64, usize),
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<()> {
        Err(other_lane())
    }
}

pub(super) fn other_lane() -> DeviceError {
    DeviceError::Other("a lane of another pipeline".to_owned())
}
