//! Pinned memory on the host.
//!
//! To pin 256 MB takes 0.1 s and more, so each lane's thread allocates its own. It is not write-combined, because the
//! CPU reads the columns from it: write-combined memory is read at a hundredth of the speed.
#![allow(unsafe_code)]

use super::call::check;
use crate::abi as ffi;
use crate::{DeviceError, Result};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::slice;

/// Pinned memory of a lane. A single allocation is faster.
pub struct Pinned {
    memory: NonNull<u8>,
    bytes: usize,
}

// SAFETY: this is plain memory, owned by `Pinned` alone.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Pins this memory for the current device.
    pub fn new(device: i32, touched: Touched) -> Result<Pinned> {
        let (bytes, touched) = (touched.bytes, ManuallyDrop::new(touched).memory);
        let mut memory: *mut c_void = ptr::null_mut();
        // SAFETY: `memory` is valid for writes, and the callee takes over `touched`, which has that many bytes.
        check(unsafe { ffi::hybz_pinned_alloc(device, bytes, touched, &mut memory) }, "taking pinned memory")?;
        let memory = NonNull::new(memory.cast::<u8>());
        let memory = memory.ok_or_else(|| DeviceError::Memory("taking pinned memory: got none".to_owned()))?;
        Ok(Pinned { memory, bytes })
    }

    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `new` allocated that many bytes and zeroed them; the device writes to them only inside calls that
        // have `&mut`.
        unsafe { slice::from_raw_parts(self.memory.as_ptr(), self.bytes) }
    }

    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is mutably borrowed.
        unsafe { slice::from_raw_parts_mut(self.memory.as_ptr(), self.bytes) }
    }

    /// The address of a part.
    pub fn part(&self, part: &Range<usize>) -> *mut u8 {
        assert!(part.end <= self.bytes);
        // SAFETY: checked above.
        unsafe { self.memory.as_ptr().add(part.start) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it. The result no longer matters.
        let _ = unsafe { ffi::hybz_pinned_free(self.memory.as_ptr().cast(), self.bytes) };
    }
}

/// Memory to be pinned; null if there was none.
pub struct Touched {
    memory: *mut c_void,
    bytes: usize,
}

impl Touched {
    pub fn new(bytes: usize) -> Touched {
        // SAFETY: the call takes a number.
        Touched { memory: unsafe { ffi::hybz_touched_alloc(bytes) }, bytes }
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it.
        unsafe { ffi::hybz_touched_free(self.memory, self.bytes) };
    }
}
