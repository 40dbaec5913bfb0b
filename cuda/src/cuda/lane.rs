//! A lane of a GPU: a CUDA stream, its device memory, and pinned memory on the host, allocated once and kept.
#![allow(unsafe_code)]

use super::call::{check, check_batch, is_lost};
use super::kept::CudaText;
use super::pinned::{Pinned, Touched};
use crate::abi as ffi;
use crate::lane::other_lane;
use crate::{
    CodedByDevice, CodedSegment, DecodedByDevice, DeviceError, FactorByDevice, LaneSize, MAX_FETCHED, MAX_LARGE,
    Pipeline, Result, Steps, TallyByDevice, TokensByDevice, coded_room, input_room, segment_room,
};
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Held while a lane gets its memory and streams from the driver, which does one thing at a time: the first lanes are
/// ready, and work, while the others wait. Without it all of them are ready when the last one is: of an H200's 24 lanes
/// that decode, the first after 0.28 s instead of 0.34. 8 GB took 1.07 s instead of 1.14, 24 GB with two devices 2.04
/// instead of 2.17 (medians of six).
static TURN: Mutex<()> = Mutex::new(());

/// A lane, of any pipeline.
pub(super) struct CudaLane {
    pub ordinal: i32,
    pub pipeline: Pipeline,
    lane: NonNull<ffi::hybz_lane>,
    /// This memory is not freed with a lost lane, because the device may still write to it.
    pinned: ManuallyDrop<Option<Pinned>>,
    /// The part of the pinned memory for texts or other input.
    pub input: Range<usize>,
    /// The part for columns, bytes before the rows, codes, or other output.
    pub output: Range<usize>,
    /// The part for rows of entry points of suffixes, and for the bits of thirds before them; empty in other lanes.
    pub keys: Range<usize>,
    pub size: LaneSize,
    pub steps: Steps,
    pub results: Results,
    /// The lane's context is lost or runs a kernel that hangs: nothing may be freed. Or all of it is freed already.
    lost: bool,
}

// SAFETY: `ffi::hybz_lane` may be used from any thread, one at a time (hybz.h); all its uses here need `&mut` or are in
// `drop`.
unsafe impl Send for CudaLane {}

/// What a batch returns besides output and keys. A lane allocates only those vectors that its pipeline fills.
#[derive(Default)]
pub(super) struct Results {
    /// For each block: its origin, whether it is odd, or its length.
    pub numbers: Vec<u32>,
    pub coded: Vec<CodedByDevice>,
    pub decoded: Vec<DecodedByDevice>,
    pub fetched: Vec<FactorByDevice>,
    pub about: Vec<TokensByDevice>,
    pub tallies: Vec<TallyByDevice>,
    pub segments: Vec<CodedSegment>,
    /// The blocks and segments of the batch that is being coded, and its times so far.
    pub blocks: usize,
    pub segment_count: usize,
    pub report: ffi::hybz_report,
    /// The memory of a lane for strips whose codes and texts are in host memory.
    pub room: Option<CudaText>,
}

impl Results {
    fn new(pipeline: Pipeline, LaneSize { max_blocks, max_length }: LaneSize) -> Results {
        let mut new = Results::default();
        match pipeline {
            Pipeline::Bwt | Pipeline::Suffixes | Pipeline::DecodeLarge | Pipeline::Lines => {
                new.numbers = vec![0; max_blocks];
            }
            Pipeline::Resident => new.coded = vec![CodedByDevice::default(); max_blocks],
            Pipeline::Decode => new.decoded = vec![DecodedByDevice::default(); max_blocks],
            Pipeline::CodeLarge => {
                new.about = vec![TokensByDevice::default(); max_blocks];
                new.tallies = vec![TallyByDevice::default(); max_blocks];
                new.segments =
                    vec![CodedSegment::default(); max_blocks * max_length.div_ceil(1 << ffi::HYBZ_SEGMENT_LOG)];
            }
            Pipeline::Hybrid | Pipeline::Factor | Pipeline::Lz4 | Pipeline::Strips => {}
        }
        new
    }
}

/// The addresses for a call, and its timeout.
pub(super) struct At {
    pub lane: *mut ffi::hybz_lane,
    pub input: *mut u8,
    pub output: *mut u8,
    pub keys: *mut u32,
    pub ms: u32,
}

/// The bytes of pinned memory of a lane: for input, output and keys.
fn pinned_bytes(pipeline: Pipeline, LaneSize { max_blocks, max_length }: LaneSize) -> [usize; 3] {
    let bytes = max_blocks.saturating_mul(max_length);
    let (columns, entries) = (bytes.saturating_add(max_blocks), entry_count(max_length, MIN_ENTRY_LOG));
    match pipeline {
        Pipeline::Bwt | Pipeline::Lines => [bytes, bytes, 0],
        // Shorter blocks do not need more.
        Pipeline::Hybrid => [bytes, columns, 4 * max_blocks * (ffi::HYBZ_THIRDS_WORDS(max_length) + entries)],
        Pipeline::Resident => [bytes, max_blocks * coded_room(max_length), 0],
        Pipeline::Suffixes => [bytes, columns, 4 * max_blocks * entries],
        Pipeline::CodeLarge => [bytes, segment_room(max_blocks, bytes), 4 * max_blocks * entries],
        // The text of linux is an eighth longer than its blocks.
        Pipeline::Decode => [bytes, max_blocks * ffi::HYBZ_MAX_ROWS * 5 / 4, 0],
        Pipeline::DecodeLarge => [input_room(max_blocks, bytes), bytes, 0],
        // Texts are copied from unpinned memory: pinning takes longer than one copy.
        Pipeline::Factor => [0, MAX_FETCHED * size_of::<FactorByDevice>(), 0],
        Pipeline::Lz4 | Pipeline::Strips => [0; 3],
    }
}

impl CudaLane {
    pub fn open(ordinal: i32, pipeline: Pipeline, mut size: LaneSize) -> Result<CudaLane> {
        if pipeline == Pipeline::DecodeLarge {
            size.max_blocks = size.max_blocks.min(MAX_LARGE);
        }
        let blocks = u32::try_from(size.max_blocks);
        let blocks = blocks.map_err(|_| DeviceError::Other(format!("{} blocks at once", size.max_blocks)))?;
        let mut end = 0;
        let [input, output, keys] = pinned_bytes(pipeline, size).map(|bytes| {
            let begin = end;
            end = begin + bytes.next_multiple_of(4096);
            begin..begin + bytes
        });
        // Freeing memory of a lost device may hang, and here it would hang while this thread holds `TURN`.
        if is_lost(ordinal) {
            return Err(DeviceError::Lost("the device has lost a lane".to_owned()));
        }
        let touched = (end > 0).then(|| Touched::new(end));
        // SAFETY: the call takes a number.
        check(unsafe { ffi::hybz_device_use(ordinal) }, "starting a device")?;
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let pinned = touched.map(|touched| Pinned::new(ordinal, touched)).transpose()?;
        let mut lane: *mut ffi::hybz_lane = ptr::null_mut();
        // SAFETY: `lane` is valid for writes; the callee refuses sizes out of range.
        let code =
            unsafe { ffi::hybz_lane_create(ordinal, blocks, size.max_length as u64, pipeline as i32, &mut lane) };
        check(code, "taking device memory")?;
        let lane = NonNull::new(lane).ok_or_else(|| DeviceError::Other("got no lane".to_owned()))?;
        Ok(CudaLane {
            ordinal,
            pipeline,
            lane,
            pinned: ManuallyDrop::new(pinned),
            input,
            output,
            keys,
            size,
            steps: Steps::default(),
            results: Results::new(pipeline, size),
            lost: false,
        })
    }

    /// Begins a call of a pipeline's method, for blocks of these lengths in the input. Refuses a batch that exceeds
    /// the lane's size, and a call for another pipeline.
    pub fn begin(&mut self, pipeline: Pipeline, lengths: &[u32], fits: bool, timeout: Duration) -> Result<At> {
        if self.pipeline != pipeline {
            return Err(other_lane());
        }
        if !fits || self.lost || lengths.len() > self.size.max_blocks || total(lengths) > self.input.len() {
            return Err(DeviceError::Other("a batch that the lane was not made for".to_owned()));
        }
        let part = |part| self.pinned.as_ref().map_or(ptr::null_mut(), |pinned| pinned.part(part));
        let (input, output, keys) = (part(&self.input), part(&self.output), part(&self.keys).cast());
        let ms = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        Ok(At { lane: self.lane.as_ptr(), input, output, keys, ms })
    }

    /// Ends a batch: adds its times, or returns its error, after which the lane may be lost.
    pub fn finish(&mut self, code: c_int, doing: &str, ms: &[f32; ffi::HYBZ_STEPS]) -> Result<()> {
        self.check(code, doing)?;
        self.steps.add(ms);
        Ok(())
    }

    /// Checks the return code of a step of a batch.
    pub fn check(&mut self, code: c_int, doing: &str) -> Result<()> {
        let checked = check_batch(code, doing, self.ordinal);
        self.lost |= matches!(checked, Err(DeviceError::Lost(_)));
        checked
    }

    /// The whole input.
    pub fn input_bytes(&mut self) -> &mut [u8] {
        match self.pinned.as_mut().filter(|_| !self.lost) {
            Some(pinned) => &mut pinned.as_mut_slice()[self.input.clone()],
            None => &mut [],
        }
    }

    /// The first bytes of the output.
    pub fn output_bytes(&self, bytes: usize) -> &[u8] {
        &self.pinned.as_ref().map_or(&[][..], |pinned| &pinned.as_slice()[self.output.clone()])[..bytes]
    }

    /// The first words of the keys.
    pub fn key_words(&self, words: usize) -> &[u32] {
        let bytes = self.pinned.as_ref().map_or(&[][..], |pinned| &pinned.as_slice()[self.keys.clone()]);
        // SAFETY: any four bytes are a valid number.
        let (before, all, _) = unsafe { bytes.align_to() };
        debug_assert!(before.is_empty());
        &all[..words]
    }

    /// Opens the lane again with this max length, or, if there is too little memory, with its old one. Returns whether
    /// it has grown. After an error nothing is left of the lane.
    pub fn reopen(&mut self, max_length: usize) -> Result<bool> {
        // The old lane goes first: there may not be memory for both.
        self.free();
        let larger = CudaLane::open(self.ordinal, self.pipeline, LaneSize { max_length, ..self.size });
        let (mut lane, grown) = match larger {
            Err(DeviceError::Memory(_)) => (CudaLane::open(self.ordinal, self.pipeline, self.size)?, false),
            opened => (opened?, true),
        };
        lane.steps = self.steps;
        *self = lane;
        Ok(grown)
    }

    fn free(&mut self) {
        if self.lost {
            return;
        }
        self.lost = true;
        // SAFETY: `open` created it and nothing uses it any more; after the call no copy to or from the pinned memory
        // is in flight.
        let code = unsafe { ffi::hybz_lane_destroy(self.lane.as_ptr()) };
        if check(code, "").is_ok() {
            // SAFETY: nothing uses it after this, because the lane counts as lost.
            unsafe { ManuallyDrop::drop(&mut self.pinned) };
        }
    }
}

/// The sum of lengths.
pub(super) fn total(lengths: &[u32]) -> usize {
    lengths.iter().map(|&length| length as usize).sum()
}

/// The min distance of entry points, as a base-2 logarithm, for which their buffer is large enough.
const MIN_ENTRY_LOG: u8 = 12;

/// The number of entry points of a block of `length` bytes.
pub(super) fn entry_count(length: usize, entry_log: u8) -> usize {
    length.div_ceil(1 << entry_log)
}

impl Drop for CudaLane {
    fn drop(&mut self) {
        self.free();
    }
}
