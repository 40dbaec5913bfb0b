//! NVIDIA GPUs: the kernels in `cuda/` at the repository's root, declared in `abi`, called through `call`, owned by
//! `lane`, `hbz_coding_lane`, `hbz_decoding_lane`, `lines_lane`, `lz4_lane`, `factor_lane` and `lzw_lane`; `device`
//! finds devices, `visible` hides them, and `pinned` has memory.

use super::{Backend, DecodeLz4, DecodeStrips, Device, DeviceError, DeviceLane, LaneSize, Pipeline, Shown, StripsSize};

/// Methods that lanes implement in the same way.
macro_rules! device_lane {
    () => {
        fn size(&self) -> LaneSize {
            self.lane.size
        }

        fn input(&mut self) -> &mut [u8] {
            &mut self.lane.pinned.as_mut_slice()[self.lane.texts.clone()]
        }

        fn steps(&self) -> Steps {
            self.lane.steps
        }
    };
}

mod call;
mod device;
mod factor_lane;
mod hbz_coding_lane;
mod hbz_decoding_lane;
mod lane;
mod lines_lane;
mod lz4_lane;
mod lzw_lane;
mod pinned;
mod visible;

#[cfg(test)]
pub(crate) use lz4_lane::{from_device, to_device};

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

    fn open(&self, device: &Device, pipeline: Pipeline, size: LaneSize) -> Result<Box<dyn DeviceLane>, DeviceError> {
        let ordinal = device.ordinal;
        Ok(match pipeline {
            Pipeline::Bwt => Box::new(lane::ColumnLane::new(ordinal, size)?),
            Pipeline::Hybrid => Box::new(lane::ThirdsLane::new(ordinal, size)?),
            Pipeline::Resident => Box::new(lane::CodeLane::new(ordinal, size)?),
            Pipeline::Suffixes => Box::new(lane::SuffixLane::new(ordinal, size)?),
            Pipeline::Decode => Box::new(lane::DecodeLane::new(ordinal, size)?),
            Pipeline::DecodeLarge => Box::new(hbz_decoding_lane::LargeLane::new(ordinal, size)?),
            Pipeline::CodeLarge => Box::new(hbz_coding_lane::CodingLane::new(ordinal, size)?),
            Pipeline::Lines => Box::new(lines_lane::LinesLane::new(ordinal, size)?),
            Pipeline::Factor => Box::new(factor_lane::FactorLane::new(ordinal, size)?),
        })
    }

    fn open_lz4(&self, device: &Device, max_blocks: usize) -> Result<Box<dyn DecodeLz4>, DeviceError> {
        Ok(Box::new(lz4_lane::Lz4Lane::new(device.ordinal, max_blocks)?))
    }

    fn open_strips(&self, device: &Device, size: StripsSize) -> Result<Box<dyn DecodeStrips>, DeviceError> {
        Ok(Box::new(lzw_lane::StripsLane::new(device.ordinal, size)?))
    }
}
