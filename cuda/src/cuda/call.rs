//! Converts the return codes of `cuda/hybz.h` to results.
#![allow(unsafe_code)]

use crate::abi as ffi;
use crate::{DeviceError, Result};
use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// `cudaErrorMemoryAllocation`.
const OUT_OF_MEMORY: c_int = 2;

/// `Ok` for 0; otherwise an error that names the operation and explains the code.
pub fn check(code: c_int, doing: &str) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the function accepts any number and returns a static, nul-terminated text.
    let text = unsafe { CStr::from_ptr(ffi::hybz_error_text(code)) };
    let text = format!("{doing}: {} ({code})", text.to_string_lossy());
    // SAFETY: the function accepts any number.
    let sticky = unsafe { ffi::hybz_is_sticky(code) } != 0;
    Err(match code {
        OUT_OF_MEMORY => DeviceError::Memory(text),
        ffi::HYBZ_TIMEOUT | ffi::HYBZ_WRONG => DeviceError::Lost(text),
        _ if sticky => DeviceError::Lost(text),
        _ => DeviceError::Other(text),
    })
}

/// A bit for each device that lost a lane: a kernel may still run there, and freeing memory would wait for it.
static LOST: AtomicU64 = AtomicU64::new(0);

fn bit(ordinal: i32) -> u64 {
    1 << (ordinal % 64)
}

/// Whether this device, or one whose number differs by a multiple of 64, has lost a lane.
pub(super) fn is_lost(ordinal: i32) -> bool {
    LOST.load(Relaxed) & bit(ordinal) != 0
}

/// Like [`check`], for a batch of any lane on this device. If the device is lost, the process remembers that.
pub(super) fn check_batch(code: c_int, doing: &str, ordinal: i32) -> Result<()> {
    let checked = check(code, doing);
    if matches!(checked, Err(DeviceError::Lost(_))) {
        LOST.fetch_or(bit(ordinal), Relaxed);
    }
    checked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_devices_are_remembered() {
        // No test machine has that many devices.
        for code in [700, -2] {
            let ordinal = 61 + i32::from(code < 0);
            assert!(check_batch(0, "", ordinal).is_ok() && check_batch(2, "", ordinal).is_err() && !is_lost(ordinal));
            assert!(matches!(check_batch(code, "", ordinal), Err(DeviceError::Lost(_))) && is_lost(ordinal));
        }
        assert!(!is_lost(60) && !is_lost(63));
    }

    #[test]
    fn codes() {
        assert_eq!(check(0, "nothing"), Ok(()));
        assert!(
            matches!(check(2, "taking memory"), Err(DeviceError::Memory(what)) if what.starts_with("taking memory: "))
        );
        assert!(matches!(check(700, ""), Err(DeviceError::Lost(_)))); // an illegal address
        assert!(matches!(check(-2, ""), Err(DeviceError::Lost(_)))); // a kernel that hangs
        assert!(matches!(check(-1, ""), Err(DeviceError::Other(_))));
        assert!(matches!(check(35, ""), Err(DeviceError::Other(_)))); // a driver too old
    }
}
