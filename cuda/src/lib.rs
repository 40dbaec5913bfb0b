//! The interface to GPUs: lanes of a device, each of which does one of the tasks that a device can take off the cores.
//!
//! A [`Backend`] finds devices and opens lanes on them; `cuda`, a module with a cargo feature of the same name, is the
//! only one. To add one, write a module next to it and a line in `BACKENDS`. A [`DeviceLane`] has one [`Pipeline`]; a
//! [`GpuStation`] makes it a station of the queue. `hybz.h` describes what the kernels compute. Codecs and formats are
//! in the packages above this one, and so are the lanes that tests use in place of devices.
//!
//! For the packages of hybz's repository: it may change with every version.

use std::fmt;

pub mod abi;
mod choice;
#[cfg(feature = "cuda")]
mod cuda;
mod decode;
mod factor;
mod hbz_code;
mod hbz_decode;
mod lane;
mod lines;
mod lz4;
mod select;
mod station;

pub use abi::{
    HYBZ_CODED_BYTES as coded_room, HYBZ_MAX_BLOCKS as MAX_BATCH, HYBZ_MAX_LZW as MAX_STRIP,
    HYBZ_MAX_WIDE_LENGTH as MAX_WIDE_BLOCK, HYBZ_MIN_LENGTH as MIN_DEVICE_BLOCK, hybz_coded as CodedByDevice,
    hybz_lzw_found as StripFound, hybz_lzw_strip as StripForDevice,
};
pub use choice::Choice;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub use cuda::{from_device, to_device};
pub use decode::{BlockForDevice, DecodedBatch, DecodedByDevice};
pub use factor::{FACTOR_STEPS, FactorByDevice, FactorsByDevice, MAX_FETCHED};
pub use hbz_code::{
    CodedSegment, CodedSegments, PricesForDevice, SharesForDevice, TallyByDevice, Tokenized, TokensByDevice,
    segment_room,
};
pub use hbz_decode::{
    DecodedCodes, LargeForDevice, MAX_ENTRY_LOG, MAX_LARGE, MAX_ROWS, ROW_UNIT, SegmentForDevice, input_room,
};
pub use lane::DeviceLane;
pub use lines::{KeptText, LineOrder, RangeInParts, SortedLines};
pub use lz4::{Coded, DeviceBytes, Lz4ForDevice, MAX_LZ4};
pub use select::select;
pub use station::{GpuStation, Offloaded, Open, Times};

/// The compiled-in backends. The first one with devices is used.
const BACKENDS: &[&dyn Backend] = &[
    #[cfg(feature = "cuda")]
    &cuda::Cuda,
];

/// The purpose of a lane, as `cuda/hybz.h` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// Sorts all rotations.
    Bwt = abi::HYBZ_BWT as isize,
    /// Sorts two thirds of the suffixes, and derives the order of the rest from them.
    Hybrid = abi::HYBZ_HYBRID as isize,
    /// Sorts all rotations and codes the columns.
    Resident = abi::HYBZ_RESIDENT as isize,
    /// Sorts all suffixes of large blocks.
    Suffixes = abi::HYBZ_SUFFIXES as isize,
    /// Decodes blocks.
    Decode = abi::HYBZ_DECODE as isize,
    /// Decodes blocks of `.hbz` streams up to their codes.
    DecodeLarge = abi::HYBZ_DECODE_LARGE as isize,
    /// Codes blocks of `.hbz` streams up to their segments.
    CodeLarge = abi::HYBZ_CODE_LARGE as isize,
    /// Sorts lines.
    Lines = abi::HYBZ_LINES as isize,
    /// Finds exact LZ77 factors.
    Factor = abi::HYBZ_FACTOR as isize,
    /// Decodes LZ4 blocks.
    Lz4 = abi::HYBZ_LZ4 as isize,
    /// Decodes strips of LZW.
    Strips = abi::HYBZ_STRIPS as isize,
}

/// A GPU that this process may use (CUDA hides those not listed in CUDA_VISIBLE_DEVICES).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number among those that were visible when the process started.
    pub number: usize,
    /// Its number among those that are visible now ([`show_only`]).
    pub ordinal: i32,
    /// The device's name, such as `NVIDIA H200`.
    pub name: String,
    /// The UUID, such as `GPU-4f0b...`, as nvidia-smi prints it.
    pub uuid: String,
    /// Such as `0000:1b:00.0`.
    pub pci: String,
    /// The number of bytes of memory.
    pub memory: u64,
}

/// The reason why a device did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// Not enough memory, on the device or pinned: a smaller lane may work.
    Memory(String),
    /// The context is lost or hangs. This process must not touch it again.
    Lost(String),
    /// The device returned a wrong result. None of its lanes may be used again.
    Wrong(&'static str),
    /// Any other error.
    Other(String),
}

/// The result of a call to a device.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::Memory(what) | DeviceError::Lost(what) | DeviceError::Other(what) => f.write_str(what),
            DeviceError::Wrong(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for DeviceError {}

/// The capacity of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSize {
    /// The max number of blocks in a batch.
    pub max_blocks: usize,
    /// The max length of a block in bytes.
    pub max_length: usize,
}

/// The devices that stay visible in this process ([`show_only`]).
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// The first ones, at most this many.
    First(usize),
    /// Those on a list of numbers with commas between them.
    These(&'a str),
}

/// Finds devices, and opens lanes on them.
pub trait Backend: Sync {
    /// The likely number of devices, without asking a driver.
    fn likely(&self) -> usize;
    /// Hides devices, as [`show_only`] says.
    fn show_only(&self, _shown: Shown<'_>) {}
    /// The devices that this process may use, or why there are none.
    fn devices(&self) -> Result<Vec<Device>, String>;
    /// Opens a lane: for [`Pipeline::Decode`], `max_length` is the max number of compressed bytes of a block; for
    /// [`Pipeline::DecodeLarge`], blocks have any length, and at most `max_blocks * max_length` rows in total; for
    /// [`Pipeline::Factor`], `max_blocks` must be 1; for [`Pipeline::Lz4`], `max_length` is not used; for
    /// [`Pipeline::Strips`], it is the max number of bytes of codes of all strips.
    fn open(&self, device: &Device, pipeline: Pipeline, size: LaneSize) -> Result<Box<dyn DeviceLane>, DeviceError>;
}

/// The likely number of devices. This is fast, while asking a driver takes tenths of a second.
pub fn likely() -> usize {
    BACKENDS.iter().map(|backend| backend.likely()).find(|&count| count > 0).unwrap_or(0)
}

/// Hides all other devices from this process. A driver takes a quarter of a second to start each visible device,
/// whether it is used or not.
///
/// Has an effect only before the process starts a second thread, and before it asks a driver anything. With names
/// other than numbers on the list, all devices stay visible.
pub fn show_only(shown: Shown<'_>) {
    BACKENDS.iter().for_each(|backend| backend.show_only(shown));
}

/// The devices that this process may use, or why there are none.
///
/// # Errors
/// A sentence for the user: no driver, no device, or a build without the feature `cuda`.
pub fn devices() -> Result<Vec<Device>, String> {
    backend().map(|(_, devices)| devices)
}

/// The first backend with devices, and its devices.
pub fn backend() -> Result<(&'static dyn Backend, Vec<Device>), String> {
    let mut reason = "this hybz was built without GPU support (feature `cuda`)".to_owned();
    for &backend in BACKENDS {
        match backend.devices() {
            Ok(devices) => return Ok((backend, devices)),
            Err(why) => reason = why,
        }
    }
    Err(reason)
}

/// The time of each step of a lane so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// Batches.
    pub batches: u32,
    /// The milliseconds of device time of each step of `enum hybz_step` of `cuda/hybz.h`.
    pub ms: [f64; abi::HYBZ_STEPS],
}

impl Steps {
    /// Adds the times of a batch.
    #[cfg(feature = "cuda")]
    fn add(&mut self, ms: &[f32; abi::HYBZ_STEPS]) {
        self.batches += 1;
        self.ms.iter_mut().zip(ms).for_each(|(sum, ms)| *sum += f64::from(*ms));
    }

    /// The steps with a time above 0, by name, in milliseconds.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        abi::HYBZ_STEP_NAMES.into_iter().zip(self.ms).filter(|(_, time)| *time > 0.0)
    }
}

/// A coded batch.
#[derive(Clone, Copy, Debug)]
pub struct CodedBatch<'a> {
    /// Its blocks.
    pub blocks: &'a [CodedByDevice],
    /// The codes and selectors of all blocks.
    pub bytes: &'a [u8],
}

/// A batch with two lists of sorted rows, those of each block back to back.
#[derive(Clone, Copy, Debug)]
pub struct SortedThirds<'a> {
    /// The bits by which the lists are merged.
    pub bits: &'a [u32],
    /// The bytes before the rows.
    pub bytes: &'a [u8],
    /// The rows of the entry points, numbered from the sample's on. Each block has as many entries as the longest one.
    pub entries: &'a [u32],
}

/// A batch with all suffixes sorted, including those of the end marks (which are below all bytes).
#[derive(Clone, Copy, Debug)]
pub struct SortedSuffixes<'a> {
    /// For each block the bytes before the rows, back to back: one byte more than the block has, with 0 for the row of
    /// the whole block.
    pub columns: &'a [u8],
    /// The row of each whole block.
    pub origins: &'a [u32],
    /// The rows of the entry points, not counting the end mark's row. Each block has as many entries as the longest
    /// one.
    pub entries: &'a [u32],
}

/// A transformed batch.
#[derive(Clone, Copy, Debug)]
pub struct Sorted<'a> {
    /// The last columns, back to back.
    pub columns: &'a [u8],
    /// The row of each block itself.
    pub origins: &'a [u32],
}
