//! The LZ4 decoder of a device, and cudarc's memory as device memory.
#![allow(unsafe_code)]

use super::call::{check, check_batch};
use super::lane::milliseconds;
use crate::gpu::abi as ffi;
use crate::gpu::{Coded, DecodeLz4, DeviceBytes, DeviceError, Lz4ForDevice};
use cudarc::driver::{CudaSlice, CudaStream, CudaViewMut, DevicePtrMut, DeviceSlice, DriverError};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

/// Decodes LZ4.
pub(super) struct Lz4Lane {
    lz4: NonNull<ffi::hybz_lz4>,
    ordinal: i32,
    max_blocks: usize,
    /// The device may still be running: none of its memory may be freed.
    lost: bool,
}

// SAFETY: the library's structure is not bound to a thread.
unsafe impl Send for Lz4Lane {}

impl Lz4Lane {
    pub fn new(ordinal: i32, max_blocks: usize) -> Result<Self, DeviceError> {
        let count =
            u32::try_from(max_blocks).map_err(|_| DeviceError::Other(format!("{max_blocks} blocks at once")))?;
        let mut lz4 = ptr::null_mut();
        // SAFETY: `lz4` is valid for writes; the callee refuses numbers out of range.
        check(unsafe { ffi::hybz_lz4_create(ordinal, count, &mut lz4) }, "opening a decoder of LZ4")?;
        let lz4 =
            NonNull::new(lz4).ok_or_else(|| DeviceError::Other("opening a decoder of LZ4: got none".to_owned()))?;
        Ok(Lz4Lane { lz4, ordinal, max_blocks, lost: false })
    }
}

impl DecodeLz4 for Lz4Lane {
    fn max_blocks(&self) -> usize {
        self.max_blocks
    }

    unsafe fn decode(
        &mut self,
        coded: Coded<'_>,
        blocks: &[Lz4ForDevice],
        text: u64,
        text_len: u64,
        damaged: &mut [u32],
        timeout: Duration,
    ) -> Result<(), DeviceError> {
        if self.lost || blocks.len() > self.max_blocks || damaged.len() != blocks.len() {
            return Err(DeviceError::Other("blocks that the decoder was not made for".to_owned()));
        }
        let (lz4, count, text) = (self.lz4.as_ptr(), blocks.len() as u32, text as *mut u8);
        let (first, status, timeout) = (blocks.as_ptr(), damaged.as_mut_ptr(), milliseconds(timeout));
        // SAFETY: `blocks` and `damaged` have `count` entries, declared as in C (tested); the library checks that all
        // blocks lie within the bytes, and the caller guarantees the addresses. With or without a copy from the host,
        // nothing is in flight when it returns, except after a timeout, which is `Lost`.
        let code = unsafe {
            match coded {
                Coded::Device(at, len) => {
                    ffi::hybz_lz4_decode(lz4, at as *const u8, len, first, count, text, text_len, status, timeout)
                }
                Coded::Host(bytes, staging) => {
                    let (from, len, copied) = (bytes.as_ptr(), bytes.len() as u64, staging as *mut u8);
                    ffi::hybz_lz4_load(lz4, from, len, copied, first, count, text, text_len, status, timeout)
                }
            }
        };
        let done = check_batch(code, "decoding LZ4", self.ordinal);
        self.lost |= matches!(done, Err(DeviceError::Lost(_)));
        done
    }
}

impl Drop for Lz4Lane {
    fn drop(&mut self) {
        if !self.lost {
            // SAFETY: `new` created it, and nothing uses it any more. The result does not matter.
            let _ = unsafe { ffi::hybz_lz4_destroy(self.lz4.as_ptr()) };
        }
    }
}

/// The address of some memory, once its stream and everything that stream waits for is done.
fn settled(memory: &mut impl DevicePtrMut<u8>, stream: &Arc<CudaStream>) -> Result<u64, DeviceError> {
    let failed = |error: DriverError| DeviceError::Other(format!("waiting for a stream: {error}"));
    stream.context().bind_to_thread().map_err(failed)?;
    // The stream waits for other users of the memory. Later users are ordered by the host, which continues when the
    // device is done.
    let address = memory.device_ptr_mut(stream).0;
    stream.synchronize().map_err(failed)?;
    Ok(address)
}

// SAFETY: cudarc's slices own their memory, and a context of cudarc is the device's primary one.
unsafe impl DeviceBytes for CudaSlice<u8> {
    fn ordinal(&self) -> i32 {
        self.context().ordinal() as i32
    }

    fn bytes(&self) -> u64 {
        self.len() as u64
    }

    fn settle(&mut self) -> Result<u64, DeviceError> {
        let stream = self.stream().clone();
        settled(self, &stream)
    }
}

// SAFETY: as above; a view borrows the memory.
unsafe impl DeviceBytes for CudaViewMut<'_, u8> {
    fn ordinal(&self) -> i32 {
        self.stream().context().ordinal() as i32
    }

    fn bytes(&self) -> u64 {
        self.len() as u64
    }

    fn settle(&mut self) -> Result<u64, DeviceError> {
        let stream = self.stream().clone();
        settled(self, &stream)
    }
}

/// Bytes in the memory of a device, for tests.
#[cfg(test)]
pub(crate) fn to_device(ordinal: i32, bytes: &[u8]) -> CudaSlice<u8> {
    let context = cudarc::driver::CudaContext::new(ordinal as usize).expect("a context");
    context.default_stream().clone_htod(bytes).expect("memory of the device")
}

/// Copies these bytes to the host.
#[cfg(test)]
pub(crate) fn from_device(memory: &CudaSlice<u8>) -> Vec<u8> {
    memory.stream().clone_dtoh(memory).expect("a copy")
}
