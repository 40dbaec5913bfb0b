//! The interface to GPUs: batches of blocks that a device sorts or codes.
//!
//! A [`Backend`] finds devices and opens lanes on them; `cuda`, a module with a cargo feature of the same name, is the
//! only one. Another one is a folder next to it and a line in `BACKENDS`. There is one trait for each task that a
//! device can take off the cores ([`Offload`]): [`SortColumns`], [`SortThirds`], [`CodeBlocks`], [`SortSuffixes`],
//! [`CodeLargeBlocks`], [`DecodeBlocks`], [`DecodeCodes`]; [`SortLines`] for the package `hysort`, [`FindFactors`] for
//! [`factor`](crate::factor), [`DecodeLz4`] for [`lz4::gpu`](crate::lz4::gpu), and [`DecodeStrips`] for
//! [`lzw`](crate::lzw). In tests `fake` does the work on the CPU and fails as scripted.

use std::fmt;
use std::time::Duration;

pub mod abi;
mod choice;
#[cfg(feature = "cuda")]
mod cuda;
mod decode;
mod factor;
#[cfg(test)]
pub(crate) mod fake;
mod hbz_code;
mod hbz_decode;
mod lines;
mod lz4;
mod lzw;
mod select;
pub(crate) mod station;

pub use abi::{
    HYBZ_CODED_BYTES as coded_room, HYBZ_MAX_BLOCKS as MAX_BATCH, HYBZ_MAX_WIDE_LENGTH as MAX_WIDE_BLOCK,
    HYBZ_MIN_LENGTH as MIN_DEVICE_BLOCK, hybz_coded as CodedByDevice,
};
pub use choice::Choice;
#[cfg(all(test, feature = "cuda"))]
pub(crate) use cuda::{from_device, to_device};
pub use decode::{BlockForDevice, DecodeBlocks, DecodedBatch, DecodedByDevice};
pub use factor::{FACTOR_STEPS, FactorByDevice, FactorsByDevice, FindFactors, MAX_FETCHED};
pub use hbz_code::{
    CodeLargeBlocks, CodedSegment, CodedSegments, SharesForDevice, Tokenized, TokensByDevice, segment_room,
};
pub use hbz_decode::{
    DecodeCodes, DecodedCodes, LargeForDevice, MAX_ENTRY_LOG, MAX_LARGE, MAX_ROWS, ROW_UNIT, SegmentForDevice,
    input_room,
};
pub use lines::{KeptText, LineOrder, RangeInParts, SortLines, SortedLines};
pub use lz4::{Coded, DecodeLz4, DeviceBytes, Lz4ForDevice, MAX_LZ4};
pub use lzw::{DecodeStrips, MAX_STRIP, StripForDevice, StripFound, StripsSize};
pub use select::select;
pub use station::{GpuStation, Offloaded, Open, Times};

/// The compiled-in backends. The first one with devices is used.
const BACKENDS: &[&dyn Backend] = &[
    #[cfg(feature = "cuda")]
    &cuda::Cuda,
];

/// The work that a device does for the cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offload {
    /// The device sorts all rotations and returns the last column; a core codes it.
    Bwt,
    /// The device sorts two thirds of the rotations and from these the rest, and returns both lists; a core merges and
    /// codes them (the shape of Deshpande's thesis, 2014, section 5.2).
    Hybrid,
    /// The device sorts all rotations and codes the columns; the lane's thread writes the heads of the blocks before
    /// the codes. The cores do nothing.
    #[default]
    Resident,
    /// For blocks of `.hbz` streams: the device sorts all suffixes, and returns the last column and the entry points; a
    /// core codes. (The lane's thread does the steps before the sort.)
    Suffixes,
    /// Like [`Suffixes`](Self::Suffixes), but in the shape of [`Hybrid`](Self::Hybrid).
    HybridLarge,
    /// Like [`Suffixes`](Self::Suffixes), but the device codes; the lane's thread writes the heads of the blocks. The
    /// cores do nothing.
    CodeLarge,
    /// The other direction, for `.bz2` streams: the lane's thread reads the headers, the device decodes blocks up to
    /// their text, and the thread checks it; some texts come back run-length-coded.
    Decode,
    /// The same for `.hbz` streams: the lane's thread reads the payloads up to their segments, the device decodes
    /// blocks up to their codes, and the thread replaces the codes by text and checks it.
    DecodeLarge,
    /// Verifies blocks that a lane has coded: as [`Decode`](Self::Decode), but the lane's thread compares the
    /// run-length-coded text with that of the original.
    Verify,
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
    /// The device returned a wrong result. None of its lanes must be used again.
    Wrong(&'static str),
    /// Any other error.
    Other(String),
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Opens a lane for [`Offload::Bwt`].
    fn open_columns(&self, device: &Device, size: LaneSize) -> Result<Box<dyn SortColumns>, DeviceError>;
    /// Opens a lane for [`Offload::Hybrid`] or [`Offload::HybridLarge`].
    fn open_thirds(&self, device: &Device, size: LaneSize) -> Result<Box<dyn SortThirds>, DeviceError>;
    /// Opens a lane for [`Offload::Resident`].
    fn open_codes(&self, device: &Device, size: LaneSize) -> Result<Box<dyn CodeBlocks>, DeviceError>;
    /// Opens a lane for [`Offload::Suffixes`].
    fn open_suffixes(&self, device: &Device, size: LaneSize) -> Result<Box<dyn SortSuffixes>, DeviceError>;
    /// Opens a lane for [`Offload::CodeLarge`].
    fn open_large_coder(&self, device: &Device, size: LaneSize) -> Result<Box<dyn CodeLargeBlocks>, DeviceError>;
    /// Opens a lane for [`Offload::Decode`]: `max_length` is the max number of compressed bytes of a block.
    fn open_decoder(&self, device: &Device, size: LaneSize) -> Result<Box<dyn DecodeBlocks>, DeviceError>;
    /// Opens a lane for [`Offload::DecodeLarge`]: blocks of any length with at most `max_blocks * max_length` rows in
    /// total.
    fn open_large_decoder(&self, device: &Device, size: LaneSize) -> Result<Box<dyn DecodeCodes>, DeviceError>;
    /// Opens a lane that sorts lines.
    fn open_lines(&self, device: &Device, size: LaneSize) -> Result<Box<dyn SortLines>, DeviceError>;
    /// Opens a decoder for up to `max_blocks` LZ4 blocks in one call.
    fn open_lz4(&self, device: &Device, max_blocks: usize) -> Result<Box<dyn DecodeLz4>, DeviceError>;
    /// Opens a lane that finds factors; `max_blocks` must be 1.
    fn open_factors(&self, device: &Device, size: LaneSize) -> Result<Box<dyn FindFactors>, DeviceError>;
    /// Opens a lane that decodes strips of LZW codes.
    fn open_strips(&self, device: &Device, size: StripsSize) -> Result<Box<dyn DecodeStrips>, DeviceError>;
}

/// The likely number of devices. This is fast, while asking a driver takes tenths of a second.
pub fn likely() -> usize {
    BACKENDS.iter().map(|backend| backend.likely()).find(|&count| count > 0).unwrap_or(0)
}

/// Hides all other devices from this process. A driver takes a quarter of a second to start each visible device,
/// whether it is used or not.
///
/// Has an effect only before the first other thread of the process and before a driver is asked anything. With names
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

/// A lane of a device: the common part of all kinds.
pub trait DeviceLane: Send {
    /// The capacity of the lane.
    fn size(&self) -> LaneSize;

    /// The buffer for the blocks of the next batch, back to back: `max_blocks` of `max_length` bytes.
    fn texts(&mut self) -> &mut [u8];

    /// The total time of each step so far.
    fn steps(&self) -> Steps {
        Steps::default()
    }
}

/// A lane that sorts rotations ([`Offload::Bwt`]).
pub trait SortColumns: DeviceLane {
    /// Transforms the blocks in [`texts`](DeviceLane::texts), given their lengths: at least [`MIN_DEVICE_BLOCK`] each,
    /// and none of them periodic.
    ///
    /// After any error the lane must not be used again, only dropped. The same holds for the other lanes.
    fn sort(&mut self, lengths: &[u32], timeout: Duration) -> Result<Sorted<'_>, DeviceError>;
}

/// A lane that sorts two lists of suffixes ([`Offload::Hybrid`], [`Offload::HybridLarge`]).
pub trait SortThirds: DeviceLane {
    /// Sorts two lists for each of the blocks in [`texts`](DeviceLane::texts), periodic or not. Also returns the rows
    /// of the position `turn` of each block, and of each 2^`entry_log`th position after it. (The suffixes of a block
    /// that has been rotated to its least rotation have the order of its rotations; its turn is the original
    /// beginning.)
    fn thirds(
        &mut self,
        lengths: &[u32],
        turns: &[u32],
        entry_log: u8,
        timeout: Duration,
    ) -> Result<SortedThirds<'_>, DeviceError>;
}

/// A lane that codes blocks ([`Offload::Resident`]).
pub trait CodeBlocks: DeviceLane {
    /// Transforms the blocks as [`SortColumns::sort`] does, and codes their columns.
    fn code(&mut self, lengths: &[u32], timeout: Duration) -> Result<CodedBatch<'_>, DeviceError>;
}

/// A lane that sorts suffixes ([`Offload::Suffixes`]).
pub trait SortSuffixes: DeviceLane {
    /// Sorts all suffixes of each block, periodic or not, and returns the rows of those at multiples of 2^`entry_log`.
    fn suffixes(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        timeout: Duration,
    ) -> Result<SortedSuffixes<'_>, DeviceError>;
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

/// A batch with two lists of sorted rows: each block's as in [`Thirds`](crate::codec::bwt::merge::Thirds), back to
/// back.
#[derive(Clone, Copy, Debug)]
pub struct SortedThirds<'a> {
    /// The bits by which the lists are merged.
    pub bits: &'a [u32],
    /// The bytes before the rows.
    pub bytes: &'a [u8],
    /// The rows of the entry points, counted from the sample's on. Each block has as many entries as the longest one.
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
