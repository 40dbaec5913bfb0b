//! GPUs: a batch of blocks transformed, or coded all the way, on a device.
//!
//! Everything that knows CUDA lives behind this door: the kernels in `cuda/`, declared in `ffi`, called through `call`,
//! owned by `lane`; devices are found by `device`. Without the cargo feature `cuda` the door is the same and `absent` stands
//! behind it: there are no devices. In tests `fake` does the work on the CPU and fails as scripted.
//!
//! The door is the trait [`Sorter`]: fill in texts, sort, read columns; or, of a lane of another [`Pipeline`], sorted thirds, or
//! blocks coded all the way.

use crate::format::bzip2::{MAX_SYMBOLS, MAX_TABLES};
use std::fmt;
use std::time::Duration;

#[cfg(not(feature = "cuda"))]
#[path = "absent.rs"]
mod backend;
#[cfg(feature = "cuda")]
#[path = "device.rs"]
mod backend;
#[cfg(feature = "cuda")]
mod call;
#[cfg(test)]
pub(crate) mod fake;
#[cfg(feature = "cuda")]
mod ffi;
#[cfg(feature = "cuda")]
mod lane;
mod select;

pub use backend::{devices, likely, open};
pub use select::select;

/// How a lane shares the work with the cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pipeline {
    /// The device sorts all rotations, and hands over the last column.
    Bwt,
    /// The device sorts two thirds of the rotations and from these the rest, and hands over both lists; a core merges them
    /// (the shape of Deshpande's thesis, chapter 4).
    Hybrid,
    /// The device sorts all rotations and codes the columns; the lane's thread writes the heads of the blocks before the codes. There
    /// is nothing left for a core.
    #[default]
    Resident,
    /// Of blocks of `.hbz` streams: the device sorts all suffixes, and hands over the last column and the entry points; a core codes. (What
    /// comes before the sort the lane's thread does.)
    Suffixes,
}

/// The shortest block that a device sorts: shorter ones are not worth a thought.
pub const MIN_DEVICE_BLOCK: usize = 64;

/// The longest block of a lane for [`Pipeline::Suffixes`], in bytes; and all blocks of one lane together are less than 2^31.
pub const MAX_WIDE_BLOCK: usize = crate::format::hbz::MAX_BLOCK as usize;

/// The most blocks in a batch.
pub const MAX_BATCH: usize = 512;

/// A GPU that this process may use (CUDA hides those that CUDA_VISIBLE_DEVICES does not name).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number among the visible ones.
    pub ordinal: i32,
    /// Such as `NVIDIA H200`.
    pub name: String,
    /// Such as `GPU-4f0b...`, as nvidia-smi prints it.
    pub uuid: String,
    /// Such as `0000:1b:00.0`.
    pub pci: String,
    /// Bytes of memory.
    pub memory: u64,
}

/// Why a device did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// Not enough memory, on the device or pinned: a smaller lane may do.
    Memory(String),
    /// The context is lost or hangs. Nothing in this process must touch it again.
    Lost(String),
    /// Anything else.
    Other(String),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::Memory(what) | DeviceError::Lost(what) | DeviceError::Other(what) => f.write_str(what),
        }
    }
}

/// Somebody who transforms batches of blocks: a lane of a GPU, or a fake one.
pub trait Sorter: Send {
    /// The most blocks in a batch.
    fn most_blocks(&self) -> usize;

    /// The longest block, in bytes.
    fn longest(&self) -> usize;

    /// Where the blocks of the next batch go, back to back: `most_blocks` x `longest` bytes.
    fn texts(&mut self) -> &mut [u8];

    /// Transforms the blocks that [`texts`](Self::texts) holds, which have these lengths: at least [`MIN_DEVICE_BLOCK`] each, and
    /// none of them periodic.
    ///
    /// After any failure it must not be used again, only dropped.
    fn sort(&mut self, lengths: &[u32], patience: Duration) -> Result<Sorted<'_>, DeviceError>;

    /// Of a lane opened for [`Pipeline::Hybrid`], where `sort` is of the others: sorts two lists of each of the blocks that
    /// [`texts`](Self::texts) holds. Each has been turned to its least rotation, and began at `turns` of it before.
    fn thirds(&mut self, lengths: &[u32], turns: &[u32], patience: Duration) -> Result<SortedThirds<'_>, DeviceError>;

    /// Of a lane opened for [`Pipeline::Resident`]: transforms the blocks as `sort` does, and codes their columns.
    fn code(&mut self, lengths: &[u32], patience: Duration) -> Result<CodedBatch<'_>, DeviceError>;

    /// Of a lane opened for [`Pipeline::Suffixes`]: sorts all suffixes of each block, periodic or not, and tells in which rows those at
    /// multiples of 2^`entry_log` stand.
    fn suffixes(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        patience: Duration,
    ) -> Result<SortedSuffixes<'_>, DeviceError>;

    /// How long the steps have taken so far.
    fn steps(&self) -> Steps {
        Steps::default()
    }
}

/// How long the steps of a lane have taken so far, in milliseconds of device time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// Batches.
    pub batches: u32,
    /// Texts to the device.
    pub upload: f64,
    /// Sort keys.
    pub keys: f64,
    /// The first sort.
    pub sort: f64,
    /// Groups and ranks after it.
    pub group: f64,
    /// Rounds: small groups, in shared memory.
    pub small: f64,
    /// Rounds: large groups, by radix sort.
    pub large: f64,
    /// Rounds: new ranks.
    pub commit: f64,
    /// The other third, and what goes to the cores (hybrid).
    pub thirds: f64,
    /// Move-to-front and zero runs (resident).
    pub mtf: f64,
    /// Tables and selectors (resident).
    pub tables: f64,
    /// Codes (resident).
    pub bits: f64,
    /// Columns, lists or codes from the device.
    pub download: f64,
}

/// One block of a batch, coded: `struct hybz_coded` of `cuda/hybz.h`. Nothing in it is checked yet.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CodedByDevice {
    /// In which row the block itself stands.
    pub origin: u32,
    /// How many symbols there are, EOB included.
    pub symbols: u32,
    /// How many tables.
    pub tables: u32,
    /// How many bits the codes take; 0 if that is so much that they are not there.
    pub bits: u32,
    /// Where in the batch's bytes the codes begin, in whole words of 32 bits; behind them each group's selector, a byte each.
    pub at: u32,
    /// Whether byte c occurs: bit c % 32 of word c / 32.
    pub used: [u32; 8],
    /// The code lengths of each table.
    pub lengths: [[u8; MAX_SYMBOLS]; MAX_TABLES],
}

impl CodedByDevice {
    /// Nothing.
    pub const EMPTY: CodedByDevice = CodedByDevice {
        origin: 0,
        symbols: 0,
        tables: 0,
        bits: 0,
        at: 0,
        used: [0; 8],
        lengths: [[0; MAX_SYMBOLS]; MAX_TABLES],
    };

    /// The most bytes of codes and selectors that a block of so many bytes has.
    pub const fn most_bytes(length: usize) -> usize {
        (length + length / 4 + 128) / 4 * 4
    }
}

/// A batch, coded.
#[derive(Clone, Copy, Debug)]
pub struct CodedBatch<'a> {
    /// Its blocks.
    pub blocks: &'a [CodedByDevice],
    /// Codes and selectors of all of them.
    pub bytes: &'a [u8],
}

/// A batch of which two lists of rotations are sorted: each block's as in [`Thirds`](crate::codec::bwt::merge::Thirds), back to back.
#[derive(Clone, Copy, Debug)]
pub struct SortedThirds<'a> {
    /// What the rows are compared by.
    pub keys: &'a [u32],
    /// The bytes before the rows.
    pub bytes: &'a [u8],
    /// In which row, of both lists, each block itself stands.
    pub origins: &'a [u32],
}

/// A batch of which all suffixes are sorted, those of the end marks (below all bytes) included.
#[derive(Clone, Copy, Debug)]
pub struct SortedSuffixes<'a> {
    /// For each block the bytes before the rows, one more than the block has, back to back: 0 where there is none before.
    pub columns: &'a [u8],
    /// In which row of each block the whole block stands.
    pub origins: &'a [u32],
    /// The rows of the entry points, the end mark's row not counted: for each block as many as the longest one has.
    pub entries: &'a [u32],
}

/// A batch, transformed.
#[derive(Clone, Copy, Debug)]
pub struct Sorted<'a> {
    /// The last columns, back to back.
    pub columns: &'a [u8],
    /// In which row of each block the block itself stands.
    pub origins: &'a [u32],
}
