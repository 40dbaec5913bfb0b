//! Devices that decode blocks of LZ4 into their own memory, and what such memory is.

use super::DeviceError;
use std::time::Duration;

/// A block of LZ4, as `cuda/lz4.cu` takes it (`struct hybz_lz4_block`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lz4ForDevice {
    /// The first byte of the block among the coded bytes.
    pub from: u64,
    /// The first byte of its text.
    pub to: u64,
    /// How many coded bytes it has.
    pub coded: u32,
    /// How many bytes of text; at most [`MAX_LZ4`].
    pub length: u32,
    /// Not 0: it is stored as it is.
    pub plain: u32,
    /// Padding.
    pub unused: u32,
}

/// The most text that a block has on a device, in bytes.
pub const MAX_LZ4: u32 = 4 << 20;

/// Where coded bytes are.
#[derive(Clone, Copy, Debug)]
pub enum Coded<'a> {
    /// In the device's memory: address and bytes.
    Device(u64, u64),
    /// In the host's, and an address in the device's with room for as many: copying and decoding overlap.
    Host(&'a [u8], u64),
}

/// What decodes blocks of LZ4 on a device (`cuda/lz4.cu`).
pub trait DecodeLz4: Send {
    /// How many blocks it takes at once.
    fn max_blocks(&self) -> usize;

    /// Decodes blocks, which lie one after the other on both sides (gaps are allowed), to the `text_len` bytes at the
    /// address `text`. Whatever they say, nothing outside those is written. For each block `damaged` becomes 0 or 1.
    ///
    /// After any error it must not be used again, only dropped.
    ///
    /// # Safety
    /// The addresses are in this device's memory, in its primary context, with as many bytes as said, which nobody else
    /// uses meanwhile; what was to be written there has been.
    #[allow(unsafe_code)]
    unsafe fn decode(
        &mut self,
        coded: Coded<'_>,
        blocks: &[Lz4ForDevice],
        text: u64,
        text_len: u64,
        damaged: &mut [u32],
        timeout: Duration,
    ) -> Result<(), DeviceError>;
}

/// Bytes in a device's memory. With the feature `cuda`, these are cudarc's `CudaSlice<u8>` and `CudaViewMut<u8>`.
///
/// # Safety
/// What [`settle`](Self::settle) returns stays valid as long as the value is borrowed.
#[allow(unsafe_code)]
pub unsafe trait DeviceBytes {
    /// The number of the device.
    fn ordinal(&self) -> i32;

    /// How many bytes there are.
    fn bytes(&self) -> u64;

    /// Waits until nothing is under way with these bytes, and returns their address: as many as [`bytes`](Self::bytes)
    /// says may be read and written there, in the device's primary context.
    ///
    /// # Errors
    /// What went wrong with that, or with the device before.
    fn settle(&mut self) -> Result<u64, DeviceError>;
}
