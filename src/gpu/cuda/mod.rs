//! NVIDIA GPUs: the kernels in `cuda/` at the repository's root, declared in `abi`, called through `call`, owned by
//! `lane`, `hbz_coding_lane`, `hbz_decoding_lane`, `lines_lane`, `lz4_lane`, `factor_lane` and `lzw_lane`; `device`
//! finds devices, `visible` hides them, and `pinned` has memory.

use super::{
    Backend, CodeBlocks, CodeLargeBlocks, DecodeBlocks, DecodeCodes, DecodeLz4, DecodeStrips, Device, DeviceError,
    FindFactors, LaneSize, Shown, SortColumns, SortLines, SortSuffixes, SortThirds, StripsSize,
};

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

    fn open_columns(&self, device: &Device, size: LaneSize) -> Result<Box<dyn SortColumns>, DeviceError> {
        Ok(Box::new(lane::ColumnLane::new(device.ordinal, size)?))
    }

    fn open_thirds(&self, device: &Device, size: LaneSize) -> Result<Box<dyn SortThirds>, DeviceError> {
        Ok(Box::new(lane::ThirdsLane::new(device.ordinal, size)?))
    }

    fn open_codes(&self, device: &Device, size: LaneSize) -> Result<Box<dyn CodeBlocks>, DeviceError> {
        Ok(Box::new(lane::CodeLane::new(device.ordinal, size)?))
    }

    fn open_suffixes(&self, device: &Device, size: LaneSize) -> Result<Box<dyn SortSuffixes>, DeviceError> {
        Ok(Box::new(lane::SuffixLane::new(device.ordinal, size)?))
    }

    fn open_large_coder(&self, device: &Device, size: LaneSize) -> Result<Box<dyn CodeLargeBlocks>, DeviceError> {
        Ok(Box::new(hbz_coding_lane::CodingLane::new(device.ordinal, size)?))
    }

    fn open_decoder(&self, device: &Device, size: LaneSize) -> Result<Box<dyn DecodeBlocks>, DeviceError> {
        Ok(Box::new(lane::DecodeLane::new(device.ordinal, size)?))
    }

    fn open_large_decoder(&self, device: &Device, size: LaneSize) -> Result<Box<dyn DecodeCodes>, DeviceError> {
        Ok(Box::new(hbz_decoding_lane::LargeLane::new(device.ordinal, size)?))
    }

    fn open_lines(&self, device: &Device, size: LaneSize) -> Result<Box<dyn SortLines>, DeviceError> {
        Ok(Box::new(lines_lane::LinesLane::new(device.ordinal, size)?))
    }

    fn open_lz4(&self, device: &Device, max_blocks: usize) -> Result<Box<dyn DecodeLz4>, DeviceError> {
        Ok(Box::new(lz4_lane::Lz4Lane::new(device.ordinal, max_blocks)?))
    }

    fn open_factors(&self, device: &Device, size: LaneSize) -> Result<Box<dyn FindFactors>, DeviceError> {
        Ok(Box::new(factor_lane::FactorLane::new(device.ordinal, size)?))
    }

    fn open_strips(&self, device: &Device, size: StripsSize) -> Result<Box<dyn DecodeStrips>, DeviceError> {
        Ok(Box::new(lzw_lane::StripsLane::new(device.ordinal, size)?))
    }
}
