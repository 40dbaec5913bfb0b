//! The input and output of a device that decodes ([`Offload::Decode`](super::Offload::Decode)).

use super::{DeviceError, DeviceLane};
use crate::formats::bzip2::header::{MAX_SYMBOLS, MAX_TABLES};
use std::time::Duration;

/// A lane that decodes blocks.
pub trait DecodeBlocks: DeviceLane {
    /// Decodes blocks to their texts, or up to their run-length-coded texts. The first `bytes` bytes of
    /// [`texts`](DeviceLane::texts) hold the codes and selectors of all blocks: at most `max_length` bytes for each
    /// block on average.
    fn decode(
        &mut self,
        blocks: &[BlockForDevice],
        bytes: usize,
        expand: bool,
        timeout: Duration,
    ) -> Result<DecodedBatch<'_>, DeviceError>;
}

/// A block to decode: `struct hybz_block` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BlockForDevice {
    /// The offset in the input of its bits, a multiple of 4.
    pub at: u32,
    /// The first bit of its codes, counted from there.
    pub first_bit: u32,
    /// The end of its bits, counted from there.
    pub end_bit: u32,
    /// The offset in the input of its selectors, one byte each.
    pub selectors_at: u32,
    /// The number of selectors.
    pub selectors: u32,
    /// The row of the block itself.
    pub origin: u32,
    /// The max number of rows.
    pub limit: u32,
    /// The number of symbols in its alphabet.
    pub symbols: u32,
    /// The number of tables.
    pub tables: u32,
    /// The bytes in use, ascending.
    pub used: [u8; 256],
    /// The code lengths of each table.
    pub lengths: [[u8; MAX_SYMBOLS]; MAX_TABLES],
}

/// The result for a block: `struct hybz_decoded` of `cuda/hybz.h`. Nothing in it is checked yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct DecodedByDevice {
    /// Not 0: the block is unusual or wrong in some way, and a core must decode it.
    pub odd: u32,
    /// The bit after its last code, counted as [`BlockForDevice::first_bit`].
    pub end_bit: u32,
    /// The length of its run-length-coded text.
    pub rows: u32,
    /// The offset of its output in that of the batch.
    pub at: u32,
    /// The length of its output.
    pub length: u32,
    /// Not 0: the output is the text, up to `MAX_PLAIN_TEXT` bytes. 0: it is the run-length-coded text.
    pub expanded: u32,
}

/// A decoded batch.
#[derive(Clone, Copy, Debug)]
pub struct DecodedBatch<'a> {
    /// Its blocks.
    pub blocks: &'a [DecodedByDevice],
    /// Their outputs.
    pub output: &'a [u8],
}
