//! The backend of `gpu` when the feature `cuda` is off: there are no devices.

use super::{Device, DeviceError, Pipeline, Sorter};

/// How many devices there seem to be: none.
pub fn likely() -> usize {
    0
}

/// The devices that this process may use, or why there are none.
pub fn devices() -> Result<Vec<Device>, String> {
    Err("this hybz was built without GPU support (feature `cuda`)".to_owned())
}

/// Opens a lane on a device.
pub fn open(
    device: &Device,
    _max_blocks: usize,
    _max_length: usize,
    _pipeline: Pipeline,
) -> Result<Box<dyn Sorter>, DeviceError> {
    Err(DeviceError::Other(format!("{}: this hybz was built without GPU support", device.name)))
}
