//! What goes to a device that decodes, and what comes back ([`Offload::Decode`](super::Offload::Decode)).

use super::{DeviceError, DeviceLane};
use crate::format::bzip2::{MAX_SYMBOLS, MAX_TABLES};
use std::time::Duration;

/// A lane that decodes blocks.
pub trait DecodeBlocks: DeviceLane {
    /// Decodes blocks up to their run-length-coded texts. The first `bytes` bytes of [`texts`](DeviceLane::texts) hold
    /// codes and selectors of all of them: `max_length` bytes for each block, shared between them as needed.
    fn decode(
        &mut self,
        blocks: &[BlockForDevice],
        bytes: usize,
        timeout: Duration,
    ) -> Result<DecodedBatch<'_>, DeviceError>;
}

/// One block to be decoded: `struct hybz_block` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BlockForDevice {
    /// The byte of the input at which its bits begin, a multiple of 4.
    pub at: u32,
    /// The first bit of its codes, counted from there.
    pub first_bit: u32,
    /// No bit from here on belongs to it.
    pub end_bit: u32,
    /// The byte of the input at which its selectors begin, one byte each.
    pub selectors_at: u32,
    /// How many selectors there are.
    pub selectors: u32,
    /// The row of the block itself.
    pub origin: u32,
    /// The most rows that it may have.
    pub limit: u32,
    /// How many symbols its alphabet has.
    pub symbols: u32,
    /// How many tables there are.
    pub tables: u32,
    /// The bytes in use, ascending.
    pub used: [u8; 256],
    /// The code lengths of each table.
    pub lengths: [[u8; MAX_SYMBOLS]; MAX_TABLES],
}

/// What became of a block: `struct hybz_decoded` of `cuda/hybz.h`. Nothing in it is checked yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct DecodedByDevice {
    /// Not 0: something about it is unusual or wrong, and a core must look at it.
    pub odd: u32,
    /// The bit after its last code, counted as [`BlockForDevice::first_bit`].
    pub end_bit: u32,
    /// How many bytes of run-length-coded text it has.
    pub rows: u32,
    /// Where in the texts they begin.
    pub at: u32,
}

/// A batch, decoded.
#[derive(Clone, Copy, Debug)]
pub struct DecodedBatch<'a> {
    /// Its blocks.
    pub blocks: &'a [DecodedByDevice],
    /// Their run-length-coded texts.
    pub texts: &'a [u8],
}
