//! A lane that decodes blocks of `.hbz` streams. It grows for a longer block: the length of blocks is unknown before
//! the first one comes.
#![allow(unsafe_code)]

use super::lane::{Lane, milliseconds};
use crate::gpu::abi as ffi;
use crate::gpu::{
    DecodedCodes, DeviceError, DeviceLane, LaneSize, LargeForDevice, MAX_LARGE, MAX_ROWS, Steps, input_room,
};
use std::time::Duration;

/// A lane that decodes blocks of `.hbz` streams.
pub(super) struct LargeLane {
    /// `None` only after a failure to allocate memory again.
    lane: Option<Lane>,
    ordinal: i32,
    odd: Vec<u32>,
}

/// Allocates a lane.
fn take(ordinal: i32, size: LaneSize) -> Result<Lane, DeviceError> {
    let rows = size.max_blocks * size.max_length;
    Lane::with_input(ordinal, size, ffi::HYBZ_DECODE_LARGE, input_room(size.max_blocks, rows), rows, 0)
}

impl LargeLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        let size = LaneSize { max_blocks: size.max_blocks.min(MAX_LARGE), ..size };
        Ok(LargeLane { lane: Some(take(ordinal, size)?), ordinal, odd: vec![0; size.max_blocks] })
    }
}

fn gone() -> DeviceError {
    DeviceError::Other("the lane has no memory".to_owned())
}

impl DeviceLane for LargeLane {
    fn size(&self) -> LaneSize {
        self.lane.as_ref().map_or(LaneSize { max_blocks: 0, max_length: 0 }, |lane| lane.size)
    }

    fn input(&mut self) -> &mut [u8] {
        match &mut self.lane {
            Some(lane) => &mut lane.pinned.as_mut_slice()[lane.texts.clone()],
            None => &mut [],
        }
    }

    fn steps(&self) -> Steps {
        self.lane.as_ref().map_or_else(Steps::default, |lane| lane.steps)
    }

    fn codes(
        &mut self,
        blocks: &[LargeForDevice],
        bytes: usize,
        timeout: Duration,
    ) -> Result<DecodedCodes<'_>, DeviceError> {
        let lane = self.lane.as_mut().ok_or_else(gone)?;
        let rows = blocks.last().map_or(0, |block| block.base as usize + block.rows as usize);
        let fits = rows <= lane.columns.len() && blocks.len() <= self.odd.len();
        lane.check_batch(&[], fits && bytes <= lane.texts.len())?;
        let mut report = ffi::hybz_report::default();
        // SAFETY: `blocks` has the stated number of entries, and `odd` has room for as many; texts hold that many
        // bytes, and columns have room for the rows (checked above; the callee checks the offsets and rows in
        // `blocks`); all structures are declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_decode_large(
                lane.lane.as_ptr(),
                blocks.len() as u32,
                blocks.as_ptr(),
                lane.pinned.part(&lane.texts),
                bytes as u64,
                self.odd.as_mut_ptr(),
                lane.pinned.part(&lane.columns),
                milliseconds(timeout),
                &mut report,
            )
        };
        lane.finish(code, "decoding a batch", &report)?;
        Ok(DecodedCodes { odd: &self.odd[..blocks.len()], codes: lane.columns(rows) })
    }

    fn reserve(&mut self, rows: usize) -> Result<bool, DeviceError> {
        let old = self.lane.take().ok_or_else(gone)?;
        let (size, steps) = (old.size, old.steps);
        let larger = LaneSize { max_length: rows.div_ceil(size.max_blocks), ..size };
        if larger.max_blocks * larger.max_length > MAX_ROWS {
            self.lane = Some(old);
            return Ok(false);
        }
        // The old lane goes first: there may not be memory for both.
        drop(old);
        let (mut lane, grown) = match take(self.ordinal, larger) {
            Err(DeviceError::Memory(_)) => (take(self.ordinal, size)?, false),
            taken => (taken?, true),
        };
        lane.steps = steps;
        self.lane = Some(lane);
        Ok(grown)
    }
}
