//! LZ4 frames decoded into the memory of a GPU, where their text stays (feature `cuda`).
//!
//! [`Layout::read`] finds the blocks of frames, and a [`Decoder`] decodes them from host memory
//! ([`load`](Decoder::load)), overlapping transfer and decoding, or from device memory ([`decode`](Decoder::decode)).
//! Each warp of the device takes a block, so throughput needs thousands of blocks: frames of blocks of 64 KiB, as
//! hybz and `lz4 -B4 -BI` write them. Larger blocks, of up to 4 MiB, are decoded
//! too, but a file of a gigabyte has too few of those to keep a device busy.
//!
//! ```no_run
//! use hybz_lz4_gpu::{Decoder, Layout};
//! # fn example(staging: u64, text: u64) -> Result<(), Box<dyn std::error::Error>> {
//! let coded = std::fs::read("data.lz4")?; // pinned memory is faster
//! let layout = Layout::read(&coded)?;
//! let mut decoder = Decoder::open("0", layout.blocks())?;
//! // Two addresses in the device's memory, with coded.len() bytes and layout.text_len().
//! // SAFETY: nothing else uses them, and all earlier work on them is done.
//! unsafe { decoder.load_at(&coded, &layout, staging, text) }?;
//! # Ok(())
//! # }
//! ```
//!
//! With cudarc: `decoder.load(&coded, &layout, &mut staging, &mut text)`, both a `CudaSlice<u8>` or a part of one
//! (`examples/lz4_device.rs`).
//!
//! # What is checked
//!
//! | | |
//! |---|---|
//! | headers of frames | their checksums, versions, reserved bits, lengths stated |
//! | the index of a frame | its checksum; its positions and lengths, against the frame's |
//! | each block | its lengths and distances, that it ends with literals, that it is all of its text |
//! | checksums of blocks | by [`Layout::check_blocks`], on the cores, if wanted |
//! | the checksum of the text | not: it is one chain over all of the text, which never comes to the host |
//!
//! Whatever a block contains, nothing is read or written outside its own bytes and its own text. Damage that leaves all
//! lengths as they were is detected only by the checksums of blocks (`lz4 -BX`). Linked blocks and legacy frames return
//! an [`Error`]; the cores can decode those.

#[cfg(test)]
mod cases;
mod error;
mod layout;
mod sequence;
#[cfg(test)]
mod tests;

use hybz_gpu::{Choice, Coded, DeviceLane, LaneSize, Pipeline};
use std::fmt;
use std::time::Duration;

pub use error::Error;
pub use hybz_gpu::{DeviceBytes, DeviceError};
pub use layout::Layout;

/// The timeout of a device: this time, plus the time that the text takes at 100 MB/s.
const TIMEOUT: Duration = Duration::from_secs(20);
const TIMEOUT_PER_BYTE: f64 = 1e-8;

/// Decodes LZ4 frames into the memory of a device.
///
/// Each call returns when the text is complete. After [`Error::Device`] the decoder must not be used again.
pub struct Decoder {
    lane: Box<dyn DeviceLane>,
    ordinal: i32,
    damaged: Vec<u32>,
}

impl Decoder {
    /// Opens the first device that `device` names (a number, a name such as `GPU-4f0b`, or a PCI address), for `blocks`
    /// blocks at once, at least 1. Each takes 36 bytes of device memory and of pinned memory. Frames of more blocks are
    /// decoded in parts.
    ///
    /// # Errors
    /// [`Error::Device`] if there is no such device, or not enough memory.
    pub fn open(device: &str, blocks: usize) -> Result<Decoder, Error> {
        let (backend, device) = Choice::new(Some(device)).device(0).map_err(DeviceError::Other)?;
        let size = LaneSize { max_blocks: blocks.max(1), max_length: 0 };
        Ok(Decoder::on(backend.open(&device, Pipeline::Lz4, size)?, device.ordinal))
    }

    fn on(lane: Box<dyn DeviceLane>, ordinal: i32) -> Decoder {
        Decoder { lane, ordinal, damaged: Vec::new() }
    }

    /// Decodes frames from host memory into the first [`text_len`](Layout::text_len) bytes of `text`; `staging`
    /// receives the coded bytes.
    ///
    /// # Errors
    /// [`Error::Frame`] for the first damaged block; [`Error::Room`], [`Error::Short`] and [`Error::OtherDevice`]
    /// before anything is started; [`Error::Device`].
    pub fn load(
        &mut self,
        coded: &[u8],
        layout: &Layout,
        staging: &mut impl DeviceBytes,
        text: &mut impl DeviceBytes,
    ) -> Result<(), Error> {
        layout.check_len(coded.len() as u64)?;
        let staging = self.settle(staging, layout.coded_len())?;
        let text = self.settle(text, layout.text_len())?;
        // SAFETY: `settle` returned memory of this device, of at least the length asked for, and both are borrowed.
        #[allow(unsafe_code)]
        unsafe {
            self.run(Coded::Host(&coded[..layout.coded_len() as usize], staging), layout, text)
        }
    }

    /// Decodes frames from device memory. (The layout is read from the same bytes on the host.)
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn decode(
        &mut self,
        coded: &mut impl DeviceBytes,
        layout: &Layout,
        text: &mut impl DeviceBytes,
    ) -> Result<(), Error> {
        layout.check_len(coded.bytes())?;
        let coded = self.settle(coded, layout.coded_len())?;
        let text = self.settle(text, layout.text_len())?;
        // SAFETY: as in `load`.
        #[allow(unsafe_code)]
        unsafe {
            self.run(Coded::Device(coded, layout.coded_len()), layout, text)
        }
    }

    /// [`load`](Self::load) with addresses in device memory: `staging` has [`coded_len`](Layout::coded_len) bytes,
    /// `text` has [`text_len`](Layout::text_len).
    ///
    /// # Safety
    /// Both ranges have that many bytes in the memory of this decoder's device, in its primary context, and do not
    /// overlap. Nothing else uses them during the call, and all earlier work on them is done.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    #[allow(unsafe_code)]
    pub unsafe fn load_at(&mut self, coded: &[u8], layout: &Layout, staging: u64, text: u64) -> Result<(), Error> {
        layout.check_len(coded.len() as u64)?;
        // SAFETY: the caller guarantees it.
        unsafe { self.run(Coded::Host(&coded[..layout.coded_len() as usize], staging), layout, text) }
    }

    /// [`decode`](Self::decode) with addresses in device memory: `coded` has [`coded_len`](Layout::coded_len) bytes,
    /// `text` has [`text_len`](Layout::text_len).
    ///
    /// # Safety
    /// See [`load_at`](Self::load_at).
    ///
    /// # Errors
    /// See [`load`](Self::load).
    #[allow(unsafe_code)]
    pub unsafe fn decode_at(&mut self, coded: u64, layout: &Layout, text: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.run(Coded::Device(coded, layout.coded_len()), layout, text) }
    }

    /// The address of memory that must have `needed` bytes.
    fn settle(&self, memory: &mut impl DeviceBytes, needed: u64) -> Result<u64, Error> {
        let (found, ordinal) = (memory.bytes(), memory.ordinal());
        if ordinal != self.ordinal {
            return Err(Error::OtherDevice { decoder: self.ordinal, memory: ordinal });
        }
        if found < needed {
            return Err(Error::Room { needed, found });
        }
        Ok(memory.settle()?)
    }

    /// Decodes all blocks, as many at a time as the device takes.
    ///
    /// # Safety
    /// The addresses have as many bytes as the layout says, on this device, and nothing else uses them during the call.
    #[allow(unsafe_code)]
    unsafe fn run(&mut self, coded: Coded<'_>, layout: &Layout, text: u64) -> Result<(), Error> {
        let at_once = self.lane.size().max_blocks;
        for (part, blocks) in layout.of_device().chunks(at_once).enumerate() {
            self.damaged.clear();
            self.damaged.resize(blocks.len(), 0);
            let bytes: f64 = blocks.iter().map(|block| f64::from(block.length)).sum();
            let timeout = TIMEOUT + Duration::from_secs_f64(bytes * TIMEOUT_PER_BYTE);
            let text = (text, layout.text_len());
            // SAFETY: the caller guarantees it.
            unsafe { self.lane.decode_lz4(coded, blocks, text, &mut self.damaged, timeout) }?;
            if let Some(first) = self.damaged.iter().position(|&damaged| damaged != 0) {
                return Err(layout.damaged(part * at_once + first));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = self.lane.size().max_blocks;
        f.debug_struct("Decoder").field("ordinal", &self.ordinal).field("blocks", &blocks).finish()
    }
}

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
