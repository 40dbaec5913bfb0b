//! NVIDIA GPUs: the kernels of this package, declared in `abi`, their results checked by `call`;
//! `lane` owns lanes, `pipelines` has the methods of each, `device` finds devices, `visible` hides them, `pinned` and
//! `kept` own memory, and `cudarc` is for memory of users.

use super::{Backend, Device, DeviceLane, LaneSize, Pipeline, Shown};
use crate::Result;

mod call;
mod cudarc;
mod device;
mod kept;
mod lane;
mod pinned;
mod pipelines;
mod visible;

pub use cudarc::{from_device, to_device};

/// The backend.
pub(super) struct Cuda;

impl Backend for Cuda {
    fn likely(&self) -> usize {
        visible::likely()
    }

    fn show_only(&self, shown: Shown<'_>) {
        visible::show_only(shown);
    }

    fn devices(&self) -> Result<Vec<Device>, String> {
        device::devices()
    }

    fn open(&self, device: &Device, pipeline: Pipeline, size: LaneSize) -> Result<Box<dyn DeviceLane>> {
        Ok(Box::new(lane::CudaLane::open(device.ordinal, pipeline, size)?))
    }
}
