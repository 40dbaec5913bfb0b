//! A lane of a GPU: a CUDA stream, its device memory, and pinned memory on the host, allocated once and kept.
#![allow(unsafe_code)]

use super::call::{check, check_batch, is_lost};
use super::pinned::{Pinned, Touched};
use crate::codec::bwt::merge::{byte_count, word_count};
use crate::formats::bzip2::header::MAX_BLOCK;
use crate::gpu::abi as ffi;
use crate::gpu::{
    BlockForDevice, CodedBatch, CodedByDevice, DecodedBatch, DecodedByDevice, DeviceError, DeviceLane, LaneSize,
    Sorted, SortedSuffixes, SortedThirds, Steps, coded_room,
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

/// The common part of all kinds of lanes.
pub(super) struct Lane {
    pub(super) ordinal: i32,
    pub(super) lane: NonNull<ffi::hybz_lane>,
    /// This memory is not freed with a lost lane, because the device may still write to it.
    pub(super) pinned: ManuallyDrop<Pinned>,
    /// The part of the pinned memory for texts.
    pub(super) texts: Range<usize>,
    /// The part for columns, bytes before the rows, or codes.
    pub(super) columns: Range<usize>,
    /// The part for rows of entry points of suffixes, and for the bits of thirds before them; empty in other lanes.
    pub(super) keys: Range<usize>,
    origins: Vec<u32>,
    pub(super) size: LaneSize,
    pub(super) steps: Steps,
    /// The lane's context is lost or runs a kernel that hangs: nothing may be freed.
    lost: bool,
}

// SAFETY: `ffi::hybz_lane` may be used from any thread, one at a time (hybz.h); all its uses here need `&mut` or are in
// `drop`.
unsafe impl Send for Lane {}

impl Lane {
    /// A lane on device `ordinal` for an `offload` (a constant of `ffi`), with this many bytes for columns and this
    /// many words for keys.
    fn new(ordinal: i32, size: LaneSize, offload: usize, columns: usize, keys: usize) -> Result<Lane, DeviceError> {
        Lane::with_input(ordinal, size, offload, size.max_blocks * size.max_length, columns, keys)
    }

    /// Like [`new`](Self::new), with this many bytes of input for the device.
    pub(super) fn with_input(
        ordinal: i32,
        size: LaneSize,
        offload: usize,
        texts: usize,
        columns: usize,
        keys: usize,
    ) -> Result<Lane, DeviceError> {
        let LaneSize { max_blocks, max_length } = size;
        let mut end = 0;
        let mut part = |bytes: usize| {
            let begin = end;
            end = begin + bytes.next_multiple_of(4096);
            begin..begin + bytes
        };
        let (texts, columns, keys) = (part(texts), part(columns), part(4 * keys));
        // Freeing memory of a lost device may hang, and would hang here with the turn.
        if is_lost(ordinal) {
            return Err(DeviceError::Lost("the device has lost a lane".to_owned()));
        }
        let touched = Touched::new(end);
        // SAFETY: the call takes a number.
        check(unsafe { ffi::hybz_device_use(ordinal) }, "starting a device")?;
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let pinned = Pinned::new(ordinal, touched)?;
        let mut lane: *mut ffi::hybz_lane = ptr::null_mut();
        // SAFETY: `lane` is valid for writes; the callee refuses sizes out of range.
        let code =
            unsafe { ffi::hybz_lane_create(ordinal, max_blocks as u32, max_length as u32, offload as i32, &mut lane) };
        check(code, "taking device memory")?;
        let lane = NonNull::new(lane).ok_or_else(|| DeviceError::Other("got no lane".to_owned()))?;
        Ok(Lane {
            ordinal,
            lane,
            pinned: ManuallyDrop::new(pinned),
            texts,
            columns,
            keys,
            origins: vec![0; max_blocks],
            size,
            steps: Steps::default(),
            lost: false,
        })
    }

    /// Refuses a batch that exceeds the lane's size.
    pub(super) fn check_batch(&self, lengths: &[u32], fits: bool) -> Result<(), DeviceError> {
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        if fits && !self.lost && lengths.len() <= self.size.max_blocks && total <= self.texts.len() {
            return Ok(());
        }
        Err(DeviceError::Other("a batch that the lane was not made for".to_owned()))
    }

    /// Ends a batch: adds its times, or returns its error, after which the lane may be lost.
    pub(super) fn finish(&mut self, code: c_int, doing: &str, report: &ffi::hybz_report) -> Result<(), DeviceError> {
        self.check(code, doing)?;
        self.steps.add(&report.ms);
        Ok(())
    }

    /// Checks the return code of a step of a batch.
    pub(super) fn check(&mut self, code: c_int, doing: &str) -> Result<(), DeviceError> {
        let checked = check_batch(code, doing, self.ordinal);
        self.lost |= matches!(checked, Err(DeviceError::Lost(_)));
        checked
    }

    /// The first bytes of the columns.
    pub(super) fn columns(&self, bytes: usize) -> &[u8] {
        &self.pinned.as_slice()[self.columns.clone()][..bytes]
    }

    /// The first words of the keys.
    pub(super) fn keys(&self, words: usize) -> &[u32] {
        as_words(&self.pinned.as_slice()[self.keys.clone()][..4 * words])
    }
}

/// The timeout as the C side takes it.
pub(super) fn milliseconds(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX)
}

fn total(lengths: &[u32]) -> usize {
    lengths.iter().map(|&length| length as usize).sum()
}

/// A lane that sorts rotations.
pub(super) struct ColumnLane {
    lane: Lane,
}

impl ColumnLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        Ok(ColumnLane { lane: Lane::new(ordinal, size, ffi::HYBZ_BWT, size.max_blocks * size.max_length, 0)? })
    }
}

impl DeviceLane for ColumnLane {
    device_lane!();

    fn sort(&mut self, lengths: &[u32], timeout: Duration) -> Result<Sorted<'_>, DeviceError> {
        let lane = &mut self.lane;
        lane.check_batch(lengths, true)?;
        let mut report = ffi::hybz_report::default();
        // SAFETY: `lengths` has the stated number of entries; texts and columns have room for their sum, origins for
        // one each (checked above); `report` is declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_bwt(
                lane.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                lane.pinned.part(&lane.texts),
                lane.pinned.part(&lane.columns),
                lane.origins.as_mut_ptr(),
                milliseconds(timeout),
                &mut report,
            )
        };
        lane.finish(code, "sorting a batch", &report)?;
        Ok(Sorted { columns: lane.columns(total(lengths)), origins: &lane.origins[..lengths.len()] })
    }
}

/// A lane that sorts two lists of suffixes.
pub(super) struct ThirdsLane {
    lane: Lane,
}

impl ThirdsLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        let LaneSize { max_blocks, max_length } = size;
        // Shorter blocks need no more.
        let words = word_count(max_length) + entry_count(max_length, MIN_ENTRY_LOG);
        let (columns, keys) = (max_blocks * (max_length + 1), max_blocks * words);
        Ok(ThirdsLane { lane: Lane::new(ordinal, size, ffi::HYBZ_HYBRID, columns, keys)? })
    }
}

impl DeviceLane for ThirdsLane {
    device_lane!();

    fn thirds(
        &mut self,
        lengths: &[u32],
        turns: &[u32],
        entry_log: u8,
        timeout: Duration,
    ) -> Result<SortedThirds<'_>, DeviceError> {
        let lane = &mut self.lane;
        let sum = |count: fn(usize) -> usize| lengths.iter().map(|&length| count(length as usize)).sum::<usize>();
        let (bytes, words) = (sum(byte_count), sum(word_count));
        let each = lengths.iter().max().map_or(0, |&longest| entry_count(longest as usize, entry_log));
        let keys = words + each * lengths.len();
        let fits = turns.len() == lengths.len() && bytes <= lane.columns.len() && keys <= lane.keys.len() / 4;
        lane.check_batch(lengths, fits)?;
        let mut report = ffi::hybz_report::default();
        let room = lane.pinned.part(&lane.keys).cast::<u32>();
        // SAFETY: `lengths` and `turns` have the stated number of entries; texts, columns, and keys (for bits and
        // entry points) have the room that follows from the lengths (checked above); `report` is declared as in C
        // (tested).
        let code = unsafe {
            ffi::hybz_lane_thirds(
                lane.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                turns.as_ptr(),
                lane.pinned.part(&lane.texts),
                entry_log.into(),
                room,
                lane.pinned.part(&lane.columns),
                room.add(words),
                milliseconds(timeout),
                &mut report,
            )
        };
        lane.finish(code, "sorting a batch", &report)?;
        let (bits, entries) = lane.keys(keys).split_at(words);
        Ok(SortedThirds { bits, bytes: lane.columns(bytes), entries })
    }
}

/// A lane that codes blocks.
pub(super) struct CodeLane {
    lane: Lane,
    coded: Vec<CodedByDevice>,
}

impl CodeLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        let columns = size.max_blocks * coded_room(size.max_length);
        let lane = Lane::new(ordinal, size, ffi::HYBZ_RESIDENT, columns, 0)?;
        Ok(CodeLane { lane, coded: vec![CodedByDevice::default(); size.max_blocks] })
    }
}

impl DeviceLane for CodeLane {
    device_lane!();

    fn code(&mut self, lengths: &[u32], timeout: Duration) -> Result<CodedBatch<'_>, DeviceError> {
        let lane = &mut self.lane;
        lane.check_batch(lengths, lengths.iter().all(|&length| length as usize <= lane.size.max_length))?;
        let mut report = ffi::hybz_report::default();
        let mut filled = 0;
        // SAFETY: `lengths` has the stated number of entries, and `coded` has room for as many; texts have room for
        // their sum, columns for the max number of bytes of codes of blocks up to these lengths (checked above; no more
        // is copied); `report` and `coded` are declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_code(
                lane.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                lane.pinned.part(&lane.texts),
                self.coded.as_mut_ptr(),
                lane.pinned.part(&lane.columns),
                &mut filled,
                milliseconds(timeout),
                &mut report,
            )
        };
        lane.finish(code, "coding a batch", &report)?;
        Ok(CodedBatch { blocks: &self.coded[..lengths.len()], bytes: lane.columns(filled as usize) })
    }
}

/// A lane that sorts suffixes.
pub(super) struct SuffixLane {
    lane: Lane,
}

impl SuffixLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        let LaneSize { max_blocks, max_length } = size;
        let (columns, keys) = (max_blocks * (max_length + 1), max_blocks * entry_count(max_length, MIN_ENTRY_LOG));
        Ok(SuffixLane { lane: Lane::new(ordinal, size, ffi::HYBZ_SUFFIXES, columns, keys)? })
    }
}

impl DeviceLane for SuffixLane {
    device_lane!();

    fn suffixes(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        timeout: Duration,
    ) -> Result<SortedSuffixes<'_>, DeviceError> {
        let lane = &mut self.lane;
        let rows: usize = lengths.iter().map(|&length| length as usize + 1).sum();
        let each = lengths.iter().max().map_or(0, |&longest| entry_count(longest as usize, entry_log));
        let entries = each * lengths.len();
        let fits = !lengths.contains(&0) && rows <= lane.columns.len() && entries <= lane.keys.len() / 4;
        lane.check_batch(lengths, fits)?;
        let mut report = ffi::hybz_report::default();
        // SAFETY: `lengths` has the stated number of entries; texts, columns and keys have room for the bytes, rows and
        // entry points that follow, origins for one each (checked above); `report` is declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_suffixes(
                lane.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                lane.pinned.part(&lane.texts),
                entry_log.into(),
                lane.pinned.part(&lane.columns),
                lane.origins.as_mut_ptr(),
                lane.pinned.part(&lane.keys).cast(),
                milliseconds(timeout),
                &mut report,
            )
        };
        lane.finish(code, "sorting a batch", &report)?;
        let origins = &lane.origins[..lengths.len()];
        Ok(SortedSuffixes { columns: lane.columns(rows), origins, entries: lane.keys(entries) })
    }
}

/// A lane that decodes blocks.
pub(super) struct DecodeLane {
    lane: Lane,
    decoded: Vec<DecodedByDevice>,
}

impl DecodeLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        // The text of linux is an eighth longer than its blocks.
        let rows = size.max_blocks * MAX_BLOCK;
        let lane = Lane::new(ordinal, size, ffi::HYBZ_DECODE, rows + rows / 4, 0)?;
        Ok(DecodeLane { lane, decoded: vec![DecodedByDevice::default(); size.max_blocks] })
    }
}

impl DeviceLane for DecodeLane {
    device_lane!();

    fn decode(
        &mut self,
        blocks: &[BlockForDevice],
        bytes: usize,
        expand: bool,
        timeout: Duration,
    ) -> Result<DecodedBatch<'_>, DeviceError> {
        let lane = &mut self.lane;
        lane.check_batch(&[], blocks.len() <= lane.size.max_blocks && bytes <= lane.texts.len())?;
        let mut report = ffi::hybz_report::default();
        let mut filled = 0;
        // SAFETY: `blocks` has the stated number of entries, and `decoded` has room for as many; texts hold that many
        // bytes, and columns have the stated room (the callee checks it and the offsets in `blocks`); all structures
        // are declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_decode(
                lane.lane.as_ptr(),
                blocks.len() as u32,
                blocks.as_ptr(),
                lane.pinned.part(&lane.texts),
                bytes as u64,
                i32::from(expand),
                self.decoded.as_mut_ptr(),
                lane.pinned.part(&lane.columns),
                lane.columns.len() as u64,
                &mut filled,
                milliseconds(timeout),
                &mut report,
            )
        };
        lane.finish(code, "decoding a batch", &report)?;
        Ok(DecodedBatch { blocks: &self.decoded[..blocks.len()], output: lane.columns(filled as usize) })
    }
}

/// The min distance of entry points, as a base-2 logarithm, for which there is room.
pub(super) const MIN_ENTRY_LOG: u8 = 12;

/// The number of entry points of a block of `length` bytes.
pub(super) fn entry_count(length: usize, entry_log: u8) -> usize {
    length.div_ceil(1 << entry_log)
}

/// Bytes that the device has written, as numbers; their address must be a multiple of four.
fn as_words(bytes: &[u8]) -> &[u32] {
    // SAFETY: any four bytes are a valid number.
    let (before, words, after) = unsafe { bytes.align_to() };
    debug_assert!(before.is_empty() && after.is_empty());
    words
}

impl Drop for Lane {
    fn drop(&mut self) {
        if self.lost {
            return;
        }
        // SAFETY: `new` created it and nothing uses it any more; after the call no copy to or from the pinned memory is
        // in flight.
        let code = unsafe { ffi::hybz_lane_destroy(self.lane.as_ptr()) };
        if check(code, "").is_ok() {
            // SAFETY: it is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.pinned) };
        }
    }
}
