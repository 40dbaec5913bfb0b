//! Turns the codes of `cuda/hybz.h` into results.
#![allow(unsafe_code)]

use super::ffi;
use crate::gpu::DeviceError;
use std::ffi::{CStr, c_int};

/// `Ok` for 0; otherwise an error that says what was being done and what the code means.
pub fn check(code: c_int, doing: &str) -> Result<(), DeviceError> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: it takes any number and returns a static, nul-terminated text.
    let text = unsafe { CStr::from_ptr(ffi::hybz_error_text(code)) };
    let text = format!("{doing}: {} ({code})", text.to_string_lossy());
    // SAFETY: it takes any number.
    let sticky = unsafe { ffi::hybz_is_sticky(code) } != 0;
    Err(match code {
        ffi::OUT_OF_MEMORY => DeviceError::Memory(text),
        ffi::TIMEOUT | ffi::WRONG => DeviceError::Lost(text),
        _ if sticky => DeviceError::Lost(text),
        _ => DeviceError::Other(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
