//! Devices that decode LZ4 blocks into device memory, and the interface of such memory.

use super::DeviceError;
pub use super::abi::hybz_lz4_block as Lz4ForDevice;
use std::time::Duration;

/// The max length in bytes of a block's text on a device.
pub const MAX_LZ4: u32 = super::abi::HYBZ_MAX_LZ4 as u32;

/// The location of coded bytes.
#[derive(Clone, Copy, Debug)]
pub enum Coded<'a> {
    /// In device memory: address and number of bytes.
    Device(u64, u64),
    /// In host memory, with a device address that has room for as many bytes: copying and decoding overlap.
    Host(&'a [u8], u64),
}

/// Decodes LZ4 blocks on a device (`cuda/lz4.cu`).
pub trait DecodeLz4: Send {
    /// The max number of blocks of one call.
    fn max_blocks(&self) -> usize;

    /// Decodes blocks to the `text_len` bytes at the address `text`. Their coded bytes and their texts are in ascending
    /// order; gaps are allowed. Whatever they contain, nothing outside the text is written. For each block `damaged`
    /// becomes 0 or 1.
    ///
    /// After any error the decoder must not be used again, only dropped.
    ///
    /// # Safety
    /// The addresses are in this device's memory, in its primary context, with the stated number of bytes. Nothing else
    /// uses them during the call, and all earlier writes to them are complete.
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
/// The address that [`settle`](Self::settle) returns stays valid as long as the value is borrowed.
#[allow(unsafe_code)]
pub unsafe trait DeviceBytes {
    /// The number of the device.
    fn ordinal(&self) -> i32;

    /// The number of bytes.
    fn bytes(&self) -> u64;

    /// Waits until all work on these bytes is complete, and returns their address: [`bytes`](Self::bytes) bytes may be
    /// read and written there, in the device's primary context.
    ///
    /// # Errors
    /// Any failure of the wait, or of earlier work on the device.
    fn settle(&mut self) -> Result<u64, DeviceError>;
}
