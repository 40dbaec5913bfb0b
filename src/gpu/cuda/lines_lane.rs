//! A lane that sorts lines.
#![allow(unsafe_code)]

use super::call::{check, is_lost};
use super::lane::{Lane, milliseconds};
use crate::gpu::abi as ffi;
use crate::gpu::{DeviceError, DeviceLane, KeptText, LaneSize, LineOrder, RangeInParts, SortedLines, Steps};
use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

const REVERSE: u32 = ffi::HYBZ_LINES_REVERSE as u32;
const UNIQUE: u32 = ffi::HYBZ_LINES_UNIQUE as u32;

/// A lane that sorts lines.
pub(super) struct LinesLane {
    lane: Lane,
    sorted_lengths: Vec<u32>,
}

impl LinesLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        let bytes = size.max_blocks * size.max_length;
        let lane = Lane::with_input(ordinal, size, ffi::HYBZ_LINES, bytes, bytes, 0)?;
        Ok(LinesLane { lane, sorted_lengths: vec![0; size.max_blocks] })
    }

    /// Ends a batch of these lengths.
    fn finish(&mut self, code: c_int, report: &ffi::hybz_lines_report, lengths: &[u32]) -> Result<(), DeviceError> {
        let lane = &mut self.lane;
        lane.check(code, "sorting lines")?;
        let mut ms = [0.0; ffi::HYBZ_STEPS];
        ms[ffi::HYBZ_STEP_UPLOAD] = report.upload_ms;
        ms[ffi::HYBZ_STEP_KEYS] = report.find_ms + report.keys_ms;
        ms[ffi::HYBZ_STEP_SORT] = report.sort_ms;
        ms[ffi::HYBZ_STEP_SMALL_ROUNDS] = report.settle_ms;
        ms[ffi::HYBZ_STEP_LARGE_ROUNDS] = report.rounds_ms;
        ms[ffi::HYBZ_STEP_COLUMNS] = report.place_ms + report.copy_ms;
        ms[ffi::HYBZ_STEP_DOWNLOAD] = report.download_ms;
        lane.steps.add(&ms);
        if self.sorted_lengths[..lengths.len()] != *lengths {
            return Err(DeviceError::Wrong("the device dropped or made lines"));
        }
        Ok(())
    }
}

/// Device memory shared by the device's lanes.
struct CudaText {
    ordinal: i32,
    memory: NonNull<u8>,
    bytes: u64,
}

// SAFETY: it is an address in device memory, which the host does not dereference; the device's streams order the
// accesses.
unsafe impl Send for CudaText {}
// SAFETY: as above.
unsafe impl Sync for CudaText {}

impl CudaText {
    fn new(ordinal: i32, bytes: u64) -> Result<CudaText, DeviceError> {
        let mut memory: *mut c_void = ptr::null_mut();
        // SAFETY: `memory` is valid for writes.
        check(unsafe { ffi::hybz_device_alloc(ordinal, bytes, &mut memory) }, "taking device memory for text")?;
        let memory = NonNull::new(memory.cast::<u8>());
        let memory = memory.ok_or_else(|| DeviceError::Memory("taking device memory: got none".to_owned()))?;
        Ok(CudaText { ordinal, memory, bytes })
    }

    /// The address of a part.
    fn part(&self, part: &Range<u64>) -> Option<*mut u8> {
        // A device address: it is not dereferenced here.
        (part.start <= part.end && part.end <= self.bytes)
            .then(|| self.memory.as_ptr().wrapping_add(part.start as usize))
    }
}

impl Drop for CudaText {
    fn drop(&mut self) {
        if !is_lost(self.ordinal) {
            // SAFETY: `new` allocated it, and every batch that used it has ended: no lane of the device was lost.
            let _ = unsafe { ffi::hybz_device_free(self.ordinal, self.memory.as_ptr().cast()) };
        }
    }
}

impl KeptText for CudaText {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The memory of `kept`, if it belongs to this device.
fn text_of(kept: &dyn KeptText, ordinal: i32) -> Result<&CudaText, DeviceError> {
    let text = kept.as_any().downcast_ref::<CudaText>().filter(|text| text.ordinal == ordinal);
    text.ok_or_else(|| DeviceError::Other("text of another device".to_owned()))
}

fn out_of_bounds() -> DeviceError {
    DeviceError::Other("a part that is not in the kept text".to_owned())
}

impl DeviceLane for LinesLane {
    device_lane!();

    fn max_lines(&self) -> u64 {
        ffi::HYBZ_MAX_LINES(self.lane.texts.len()) as u64
    }

    fn sort_lines(
        &mut self,
        lengths: &[u32],
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>, DeviceError> {
        let lane = &mut self.lane;
        lane.check_batch(lengths, !lengths.is_empty() && !lengths.contains(&0))?;
        let mut report = ffi::hybz_lines_report::default();
        // SAFETY: `lengths` and `sorted_lengths` have the stated number of entries, texts and columns have room for the
        // sum of the lengths (checked above), and the structure is declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_lines(
                lane.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                lane.pinned.part(&lane.texts),
                order.end.into(),
                if order.reverse { REVERSE } else { 0 },
                lane.pinned.part(&lane.columns),
                self.sorted_lengths.as_mut_ptr(),
                milliseconds(timeout),
                &mut report,
            )
        };
        self.finish(code, &report, lengths)?;
        let bytes = lengths.iter().map(|&length| length as usize).sum();
        Ok(SortedLines { text: self.lane.columns(bytes) })
    }

    fn keep(&mut self, bytes: u64) -> Result<Arc<dyn KeptText>, DeviceError> {
        Ok(Arc::new(CudaText::new(self.lane.ordinal, bytes)?))
    }

    fn sort_and_keep(
        &mut self,
        length: u32,
        end: u8,
        kept: &dyn KeptText,
        at: u64,
        timeout: Duration,
    ) -> Result<(), DeviceError> {
        let text = text_of(kept, self.lane.ordinal)?;
        let to = text.part(&(at..at.saturating_add(length.into()))).ok_or_else(out_of_bounds)?;
        let lane = &mut self.lane;
        lane.check_batch(&[length], length > 0)?;
        let mut report = ffi::hybz_lines_report::default();
        // SAFETY: the lane's texts and the device's memory at `to` have that many bytes (checked above), and no other
        // batch uses these bytes of it, which the caller of `keep` ensures.
        let code = unsafe {
            ffi::hybz_lane_lines_keep(
                lane.lane.as_ptr(),
                length,
                lane.pinned.part(&lane.texts),
                end.into(),
                to,
                milliseconds(timeout),
                &mut report,
            )
        };
        self.sorted_lengths[0] = length;
        self.finish(code, &report, &[length])
    }

    fn sort_parts(
        &mut self,
        ranges: &[RangeInParts],
        kept: &dyn KeptText,
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>, DeviceError> {
        let text = text_of(kept, self.lane.ordinal)?;
        let lengths: Vec<u32> = ranges
            .iter()
            .map(|range| u32::try_from(range.bytes()).map_err(|_| out_of_bounds()))
            .collect::<Result<_, _>>()?;
        let host: Vec<u32> = ranges.iter().map(|range| range.host).collect();
        let counts: Vec<u32> = ranges.iter().map(|range| range.kept.len() as u32).collect();
        let slice = |part: &Range<u64>| {
            let from = text.part(part).ok_or_else(out_of_bounds)?;
            Ok(ffi::hybz_slice { text: from, length: part.end - part.start })
        };
        let slices: Vec<ffi::hybz_slice> =
            ranges.iter().flat_map(|range| &range.kept).map(slice).collect::<Result<_, DeviceError>>()?;
        let lane = &mut self.lane;
        lane.check_batch(&lengths, !lengths.is_empty() && !lengths.contains(&0))?;
        let mut report = ffi::hybz_lines_report::default();
        // SAFETY: all lists have as many entries as there are ranges, `slices` as many as `counts` add up to; the lane
        // has room for the bytes, and each slice is within the kept text (checked above).
        let code = unsafe {
            ffi::hybz_lane_lines_gather(
                lane.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                host.as_ptr(),
                lane.pinned.part(&lane.texts),
                counts.as_ptr(),
                slices.as_ptr(),
                order.end.into(),
                if order.reverse { REVERSE } else { 0 },
                lane.pinned.part(&lane.columns),
                self.sorted_lengths.as_mut_ptr(),
                milliseconds(timeout),
                &mut report,
            )
        };
        self.finish(code, &report, &lengths)?;
        let bytes = lengths.iter().map(|&length| length as usize).sum();
        Ok(SortedLines { text: self.lane.columns(bytes) })
    }

    unsafe fn sort_on_device(
        &mut self,
        text: u64,
        length: u32,
        order: LineOrder,
        unique: bool,
        sorted: u64,
        timeout: Duration,
    ) -> Result<u32, DeviceError> {
        let lane = &mut self.lane;
        lane.check_batch(&[length], length > 0)?;
        let mut sorted_length = 0;
        // SAFETY: the lane has room for the bytes (checked above); the caller guarantees the two addresses.
        let code = unsafe {
            ffi::hybz_lane_lines_on_device(
                lane.lane.as_ptr(),
                length,
                text as *const u8,
                order.end.into(),
                if order.reverse { REVERSE } else { 0 } | if unique { UNIQUE } else { 0 },
                sorted as *mut u8,
                &mut sorted_length,
                milliseconds(timeout),
                &mut ffi::hybz_lines_report::default(),
            )
        };
        lane.check(code, "sorting lines on a device")?;
        Ok(sorted_length)
    }
}
