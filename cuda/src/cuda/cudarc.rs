//! cudarc's memory as device memory.
#![allow(unsafe_code)]

use crate::{DeviceBytes, DeviceError, Result};
use cudarc::driver::{CudaSlice, CudaStream, CudaViewMut, DevicePtrMut, DeviceSlice, DriverError};
use std::sync::Arc;

/// The address of some memory, after its stream has done all its work and everything that it waits for.
fn settled(memory: &mut impl DevicePtrMut<u8>, stream: &Arc<CudaStream>) -> Result<u64> {
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

    fn settle(&mut self) -> Result<u64> {
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

    fn settle(&mut self) -> Result<u64> {
        let stream = self.stream().clone();
        settled(self, &stream)
    }
}

/// Copies these bytes to a device's memory, for tests.
pub fn to_device(ordinal: i32, bytes: &[u8]) -> CudaSlice<u8> {
    let context = cudarc::driver::CudaContext::new(ordinal as usize).expect("a context");
    context.default_stream().clone_htod(bytes).expect("memory of the device")
}

/// Copies these bytes to the host.
pub fn from_device(memory: &CudaSlice<u8>) -> Vec<u8> {
    memory.stream().clone_dtoh(memory).expect("a copy")
}
