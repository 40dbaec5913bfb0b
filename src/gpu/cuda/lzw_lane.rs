//! A lane that decodes strips of LZW codes.
#![allow(unsafe_code)]

use super::call::{check, check_batch};
use super::lane::milliseconds;
use crate::gpu::abi as ffi;
use crate::gpu::{DecodeStrips, DeviceError, StripForDevice, StripFound, StripsSize};
use std::ffi::c_int;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// A lane that decodes strips.
pub(super) struct StripsLane {
    lane: NonNull<ffi::hybz_lzw>,
    ordinal: i32,
    size: StripsSize,
    /// The lane's context is lost or runs a kernel that hangs: nothing may be freed.
    lost: bool,
}

// SAFETY: it may be used from any thread, one at a time (hybz.h); all its uses here need `&mut` or are in `drop`.
unsafe impl Send for StripsLane {}

impl StripsLane {
    pub fn new(ordinal: i32, size: StripsSize) -> Result<Self, DeviceError> {
        let strips = u32::try_from(size.strips).map_err(|_| too_large())?;
        let mut lane: *mut ffi::hybz_lzw = ptr::null_mut();
        // SAFETY: `lane` is valid for writes; the callee refuses sizes out of range.
        let code = unsafe { ffi::hybz_lzw_create(ordinal, strips, size.coded as u64, size.text as u64, &mut lane) };
        check(code, "taking device memory")?;
        let lane = NonNull::new(lane).ok_or_else(|| DeviceError::Other("got no lane".to_owned()))?;
        Ok(StripsLane { lane, ordinal, size, lost: false })
    }

    fn check(&mut self, code: c_int) -> Result<(), DeviceError> {
        let outcome = check_batch(code, "decoding strips", self.ordinal);
        self.lost |= matches!(outcome, Err(DeviceError::Lost(_)));
        outcome
    }

    fn fits(&self, strips: &[StripForDevice], found: &[StripFound]) -> Result<u32, DeviceError> {
        if self.lost || strips.len() > self.size.strips || found.len() != strips.len() {
            return Err(too_large());
        }
        Ok(strips.len() as u32)
    }
}

fn too_large() -> DeviceError {
    DeviceError::Other("strips that the lane was not made for".to_owned())
}

impl DecodeStrips for StripsLane {
    fn size(&self) -> StripsSize {
        self.size
    }

    fn differences(&mut self, pixel: u32, row: u32) -> Result<(), DeviceError> {
        // SAFETY: the lane is valid, and the callee refuses numbers out of range.
        check(unsafe { ffi::hybz_lzw_differences(self.lane.as_ptr(), pixel, row) }, "rows of differences")
    }

    fn decode_strips(
        &mut self,
        coded: &[u8],
        strips: &[StripForDevice],
        text: &mut [u8],
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<(), DeviceError> {
        let count = self.fits(strips, found)?;
        // SAFETY: all slices have the stated number of entries, and the structures are declared as in C (tested); the
        // callee refuses strips that exceed them.
        let code = unsafe {
            ffi::hybz_lzw_decode_host(
                self.lane.as_ptr(),
                coded.as_ptr(),
                coded.len() as u64,
                strips.as_ptr(),
                count,
                text.as_mut_ptr(),
                text.len() as u64,
                found.as_mut_ptr(),
                milliseconds(timeout),
            )
        };
        self.check(code)
    }

    unsafe fn decode_on_device(
        &mut self,
        coded: (u64, usize),
        strips: &[StripForDevice],
        text: (u64, usize),
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<(), DeviceError> {
        let count = self.fits(strips, found)?;
        // SAFETY: as above; the caller guarantees the two addresses.
        let code = unsafe {
            ffi::hybz_lzw_decode(
                self.lane.as_ptr(),
                coded.0 as *const u8,
                coded.1 as u64,
                strips.as_ptr(),
                count,
                text.0 as *mut u8,
                text.1 as u64,
                found.as_mut_ptr(),
                milliseconds(timeout),
            )
        };
        self.check(code)
    }
}

impl Drop for StripsLane {
    fn drop(&mut self) {
        if !self.lost {
            // SAFETY: `new` allocated it. The result no longer matters.
            let _ = unsafe { ffi::hybz_lzw_destroy(self.lane.as_ptr()) };
        }
    }
}
