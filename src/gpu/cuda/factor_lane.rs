//! A lane that finds factors.
#![allow(unsafe_code)]

use super::lane::{Lane, milliseconds};
use crate::gpu::abi as ffi;
use crate::gpu::{
    DeviceError, DeviceLane, FactorByDevice, FactorsByDevice, LaneSize, MAX_FETCHED, MIN_DEVICE_BLOCK, Steps,
};
use std::time::Duration;

/// A lane that finds factors.
pub(super) struct FactorLane {
    lane: Lane,
    fetched: Vec<FactorByDevice>,
}

impl FactorLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        // Texts are copied from unpinned memory: pinning takes longer than one copy.
        let lane = Lane::with_input(ordinal, size, ffi::HYBZ_FACTOR, 0, MAX_FETCHED * size_of::<FactorByDevice>(), 0)?;
        Ok(FactorLane { lane, fetched: Vec::with_capacity(MAX_FETCHED) })
    }
}

impl DeviceLane for FactorLane {
    fn size(&self) -> LaneSize {
        self.lane.size
    }

    fn input(&mut self) -> &mut [u8] {
        &mut []
    }

    fn steps(&self) -> Steps {
        self.lane.steps
    }

    fn find(
        &mut self,
        text: &[u8],
        divisions: u32,
        runs: bool,
        timeout: Duration,
    ) -> Result<FactorsByDevice, DeviceError> {
        let lane = &mut self.lane;
        lane.check_batch(&[], (MIN_DEVICE_BLOCK..=lane.size.max_length).contains(&text.len()))?;
        let (mut counts, mut report) = (ffi::hybz_factor_counts::default(), ffi::hybz_factor_report::default());
        // SAFETY: the text has the stated number of bytes; `counts` and `report` are declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_factor(
                lane.lane.as_ptr(),
                text.len() as u32,
                text.as_ptr(),
                divisions,
                runs.into(),
                &mut counts,
                milliseconds(timeout),
                &mut report,
            )
        };
        lane.check(code, "finding factors")?;
        let mut ms = [0.0; ffi::HYBZ_STEPS];
        (ms[ffi::HYBZ_STEP_UPLOAD], ms[ffi::HYBZ_STEP_SORT]) = (report.upload_ms, report.sort_ms);
        lane.steps.add(&ms);
        let times =
            [report.upload_ms, report.sort_ms, report.neighbours_ms, report.longest_ms, report.path_ms, report.runs_ms];
        Ok(FactorsByDevice { factors: counts.factors, runs: counts.runs, times })
    }

    fn fetch(&mut self, from: u32, count: usize, timeout: Duration) -> Result<&[FactorByDevice], DeviceError> {
        let lane = &mut self.lane;
        lane.check_batch(&[], count <= MAX_FETCHED)?;
        let pinned = lane.pinned.part(&lane.columns);
        // SAFETY: the columns have room for MAX_FETCHED factors and are page-aligned; the callee knows how many the
        // device has.
        let code = unsafe {
            ffi::hybz_lane_factors(lane.lane.as_ptr(), from, count as u32, pinned.cast(), milliseconds(timeout))
        };
        lane.check(code, "fetching factors")?;
        let words = lane.columns(count * size_of::<FactorByDevice>()).as_chunks::<8>().0;
        self.fetched.clear();
        self.fetched.extend(words.iter().map(|factor| {
            let [a, b, c, d, e, f, g, h] = *factor;
            FactorByDevice { source: u32::from_ne_bytes([a, b, c, d]), length: u32::from_ne_bytes([e, f, g, h]) }
        }));
        Ok(&self.fetched)
    }
}
