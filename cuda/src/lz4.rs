//! Devices that decode LZ4 blocks into device memory, and the interface of such memory.

use super::DeviceError;
pub use super::abi::hybz_lz4_block as Lz4ForDevice;

/// The max length in bytes of a block's text on a device.
pub const MAX_LZ4: u32 = super::abi::HYBZ_MAX_LZ4 as u32;

/// The location of coded bytes.
#[derive(Clone, Copy, Debug)]
pub enum Coded<'a> {
    /// In device memory: address and number of bytes.
    Device(u64, u64),
    /// In host memory, with the address of a device buffer of the same size: copying and decoding overlap.
    Host(&'a [u8], u64),
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
