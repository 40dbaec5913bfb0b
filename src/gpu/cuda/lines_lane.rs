//! A lane that sorts lines.
#![allow(unsafe_code)]

use super::ffi;
use super::lane::{Lane, milliseconds};
use crate::gpu::{DeviceError, DeviceLane, LaneSize, LineOrder, SortLines, SortedLines, Steps};
use std::time::Duration;

/// `HYBZ_LINES_REVERSE`, `HYBZ_LINES_UNIQUE`.
const REVERSE: u32 = 1;
const UNIQUE: u32 = 2;

/// A lane that sorts lines.
pub(super) struct LinesLane {
    lane: Lane,
    sorted_lengths: Vec<u32>,
}

impl LinesLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        let bytes = size.max_blocks * size.max_length;
        let lane = Lane::with_input(ordinal, size, ffi::LINES, bytes, bytes, 0)?;
        Ok(LinesLane { lane, sorted_lengths: vec![0; size.max_blocks] })
    }
}

impl DeviceLane for LinesLane {
    fn size(&self) -> LaneSize {
        self.lane.size
    }

    fn texts(&mut self) -> &mut [u8] {
        &mut self.lane.pinned.as_mut_slice()[self.lane.texts.clone()]
    }

    fn steps(&self) -> Steps {
        self.lane.steps
    }
}

impl SortLines for LinesLane {
    fn max_lines(&self) -> u64 {
        // SAFETY: it takes any number, and touches nothing.
        unsafe { ffi::hybz_max_lines(self.lane.texts.len() as u64) }
    }

    fn sort_lines(
        &mut self,
        lengths: &[u32],
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>, DeviceError> {
        let lane = &mut self.lane;
        lane.check_batch(lengths, !lengths.is_empty() && !lengths.contains(&0))?;
        let mut report = ffi::LinesReport::default();
        // SAFETY: `lengths` and `sorted_lengths` have as many entries as said, texts and columns room for as many bytes
        // as the lengths make (checked above), and the structure is declared as it is there (tested).
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
        lane.check(code, "sorting lines")?;
        lane.steps.batches += 1;
        lane.steps.upload += f64::from(report.upload_ms);
        lane.steps.keys += f64::from(report.find_ms + report.keys_ms);
        lane.steps.sort += f64::from(report.sort_ms);
        lane.steps.small += f64::from(report.settle_ms);
        lane.steps.large += f64::from(report.rounds_ms);
        lane.steps.columns += f64::from(report.place_ms + report.copy_ms);
        lane.steps.download += f64::from(report.download_ms);
        if self.sorted_lengths[..lengths.len()] != *lengths {
            return Err(DeviceError::Wrong("the device dropped or made lines"));
        }
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
        // SAFETY: the lane has room for so many bytes (checked above); the caller vouches for the two addresses.
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
                &mut ffi::LinesReport::default(),
            )
        };
        lane.check(code, "sorting lines on a device")?;
        Ok(sorted_length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_are_declared_alike() {
        // SAFETY: it takes and touches nothing.
        assert_eq!(unsafe { ffi::hybz_lines_report_bytes() }, size_of::<ffi::LinesReport>());
    }
}
