//! Device memory that lanes share.
#![allow(unsafe_code)]

use super::call::{check, is_lost};
use crate::abi as ffi;
use crate::{DeviceError, KeptText, Result};
use std::any::Any;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};

/// Device memory shared by the device's lanes.
pub(super) struct CudaText {
    ordinal: i32,
    pub memory: NonNull<u8>,
    bytes: u64,
}

// SAFETY: it is an address in device memory, which the host does not dereference; the device's streams order the
// accesses.
unsafe impl Send for CudaText {}
// SAFETY: as above.
unsafe impl Sync for CudaText {}

impl CudaText {
    pub fn new(ordinal: i32, bytes: u64) -> Result<CudaText> {
        let mut memory: *mut c_void = ptr::null_mut();
        // SAFETY: `memory` is valid for writes.
        check(unsafe { ffi::hybz_device_alloc(ordinal, bytes, &mut memory) }, "taking device memory for text")?;
        let memory = NonNull::new(memory.cast::<u8>());
        let memory = memory.ok_or_else(|| DeviceError::Memory("taking device memory: got none".to_owned()))?;
        Ok(CudaText { ordinal, memory, bytes })
    }

    /// The address of a part.
    pub fn part(&self, part: &Range<u64>) -> Option<*mut u8> {
        // A device address: it is not dereferenced here.
        (part.start <= part.end && part.end <= self.bytes)
            .then(|| self.memory.as_ptr().wrapping_add(part.start as usize))
    }
}

impl Drop for CudaText {
    fn drop(&mut self) {
        if !is_lost(self.ordinal) {
            // SAFETY: `new` allocated it, and every batch that used it has ended: no lane of the device was lost.
            let _ = unsafe { ffi::hybz_device_free(self.ordinal, self.memory.as_ptr().cast()) };
        }
    }
}

impl KeptText for CudaText {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The memory of `kept`, if it belongs to this device.
pub(super) fn text_of(kept: &dyn KeptText, ordinal: i32) -> Result<&CudaText> {
    let text = kept.as_any().downcast_ref::<CudaText>().filter(|text| text.ordinal == ordinal);
    text.ok_or_else(|| DeviceError::Other("text of another device".to_owned()))
}

pub(super) fn out_of_bounds() -> DeviceError {
    DeviceError::Other("a part that is not in the kept text".to_owned())
}
