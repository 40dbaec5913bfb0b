//! Finds devices, through cudarc and the driver's library, which is loaded on the first call.
//!
//! Nothing here creates a context, which takes 0.2 s and some hundred MB of device memory: the lane does that.
#![allow(unsafe_code)]

use super::visible;
use crate::Device;
use cudarc::driver::{result, sys};
use std::ffi::{CStr, c_int};

/// The oldest driver that runs CUDA 13 programs, as cuDriverGetVersion numbers it.
const MIN_DRIVER: c_int = 13_000;

/// The devices that this process may use, or why there are none.
pub fn devices() -> Result<Vec<Device>, String> {
    // SAFETY: the call only tries to load the library. Without the library, cudarc's first call would panic, so this
    // call comes first.
    if !unsafe { sys::is_culib_present() } {
        return Err("no NVIDIA driver (libcuda) on this machine".to_owned());
    }
    let mut version: c_int = 0;
    // SAFETY: `version` is valid for writes; this call may come before cuInit.
    let asked = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
    if asked.is_err() || version < MIN_DRIVER {
        return Err(format!("the NVIDIA driver is too old (CUDA {}.{})", version / 1000, version % 1000 / 10));
    }
    result::init().map_err(|e| describe_error("starting CUDA", e))?;
    let count = result::device::get_count().map_err(|e| describe_error("counting devices", e))?;
    if count == 0 {
        return Err("no GPU is visible".to_owned());
    }
    (0..count).map(|ordinal| describe(ordinal).map_err(|e| describe_error("asking a device", e))).collect()
}

fn describe(ordinal: c_int) -> Result<Device, result::DriverError> {
    let device = result::device::get(ordinal)?;
    let uuid = result::device::get_uuid(device)?;
    let hex: String = uuid.bytes.iter().map(|&byte| format!("{:02x}", byte as u8)).collect();
    let uuid = format!("GPU-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    let mut pci = [0; 32];
    // SAFETY: `pci` has room for the stated length, and cuDeviceGet returned `device`.
    unsafe { sys::cuDeviceGetPCIBusId(pci.as_mut_ptr(), pci.len() as c_int, device) }.result()?;
    // SAFETY: the driver terminated the text with a nul.
    let pci = unsafe { CStr::from_ptr(pci.as_ptr()) }.to_string_lossy().to_lowercase();
    // SAFETY: cuDeviceGet returned `device`.
    let memory = unsafe { result::device::total_mem(device) }? as u64;
    let number = visible::number(ordinal as usize);
    Ok(Device { number, ordinal, name: result::device::get_name(device)?, uuid, pci, memory })
}

fn describe_error(doing: &str, error: result::DriverError) -> String {
    let text = error.error_string().map_or_else(|_| "unknown error".into(), CStr::to_string_lossy);
    format!("{doing}: {text} ({})", error.0 as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_is_safe_without_a_gpu() {
        match devices() {
            Ok(found) => println!("{found:?}"),
            Err(why) => println!("no device: {why}"),
        }
    }
}
