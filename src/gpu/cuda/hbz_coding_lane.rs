//! A lane that codes blocks of `.hbz` streams.
#![allow(unsafe_code)]

use super::lane::{Lane, MIN_ENTRY_LOG, entry_count, milliseconds};
use crate::formats::hbz::codec::tally::{Prices, Tally};
use crate::formats::hbz::codec::token::TOKENS;
use crate::formats::hbz::header::SEGMENT_LOG;
use crate::gpu::abi as ffi;
use crate::gpu::{
    CodedSegment, CodedSegments, DeviceError, DeviceLane, LaneSize, SharesForDevice, Steps, Tokenized, TokensByDevice,
    segment_room,
};
use std::ptr;
use std::time::Duration;

/// A lane that codes blocks of `.hbz` streams.
pub(super) struct CodingLane {
    lane: Lane,
    about: Vec<TokensByDevice>,
    tallies: Vec<Tally>,
    segments: Vec<CodedSegment>,
    /// The current batch: the number of its blocks and segments, and the times so far.
    blocks: usize,
    segment_count: usize,
    report: ffi::hybz_report,
}

impl CodingLane {
    pub fn new(ordinal: i32, size: LaneSize) -> Result<Self, DeviceError> {
        let LaneSize { max_blocks, max_length } = size;
        let (bytes, keys) = (segment_room(max_blocks, max_blocks * max_length), entry_count(max_length, MIN_ENTRY_LOG));
        Ok(CodingLane {
            lane: Lane::with_input(
                ordinal,
                size,
                ffi::HYBZ_CODE_LARGE,
                max_blocks * max_length,
                bytes,
                max_blocks * keys,
            )?,
            about: vec![TokensByDevice::default(); max_blocks],
            tallies: vec![Tally::EMPTY; max_blocks],
            segments: vec![CodedSegment::default(); max_blocks * max_length.div_ceil(1 << SEGMENT_LOG)],
            blocks: 0,
            segment_count: 0,
            report: ffi::hybz_report::default(),
        })
    }
}

impl DeviceLane for CodingLane {
    device_lane!();

    fn tokens(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        weights: &[u32; TOKENS],
        timeout: Duration,
    ) -> Result<Tokenized<'_>, DeviceError> {
        let lane = &mut self.lane;
        let each = lengths.iter().max().map_or(0, |&longest| entry_count(longest as usize, entry_log));
        let entries = each * lengths.len();
        let segments = lengths.iter().map(|&length| (length as usize).div_ceil(1 << SEGMENT_LOG)).sum();
        let fits = !lengths.contains(&0) && entries <= lane.keys.len() / 4 && segments <= self.segments.len();
        lane.check_batch(lengths, fits)?;
        (self.blocks, self.segment_count, self.report) = (0, segments, ffi::hybz_report::default());
        // SAFETY: `lengths` has the stated number of entries, and `about` and `tallies` have room for as many; texts
        // and keys have room for the bytes and entry points that follow from the lengths (checked above); all
        // structures are declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_tokens(
                lane.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                lane.pinned.part(&lane.texts),
                entry_log.into(),
                ptr::from_ref(weights).cast(),
                self.about.as_mut_ptr(),
                self.tallies.as_mut_ptr().cast(),
                lane.pinned.part(&lane.keys).cast(),
                milliseconds(timeout),
                &mut self.report,
            )
        };
        lane.check(code, "sorting a batch")?;
        self.blocks = lengths.len();
        let (blocks, tallies) = (&self.about[..self.blocks], &self.tallies[..self.blocks]);
        Ok(Tokenized { blocks, tallies, entries: self.lane.keys(entries) })
    }

    fn choose(&mut self, prices: &[Prices], all: bool, timeout: Duration) -> Result<&[Tally], DeviceError> {
        self.lane.check_batch(&[], self.blocks > 0 && prices.len() == self.blocks)?;
        // SAFETY: the lane has this many blocks in progress, `prices` has an entry for each, and there is room for
        // their tallies; all structures are declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_choose(
                self.lane.lane.as_ptr(),
                prices.as_ptr().cast(),
                all.into(),
                self.tallies.as_mut_ptr().cast(),
                milliseconds(timeout),
                &mut self.report,
            )
        };
        self.lane.check(code, "choosing tables")?;
        Ok(&self.tallies[..self.blocks])
    }

    fn segments(&mut self, shares: &[SharesForDevice], timeout: Duration) -> Result<CodedSegments<'_>, DeviceError> {
        self.lane.check_batch(&[], self.blocks > 0 && shares.len() == self.blocks)?;
        self.blocks = 0;
        let mut filled = 0;
        // SAFETY: the lane has this many blocks in progress, and `shares` has an entry for each; there is room for
        // their segments (checked when the batch began), and columns have the stated number of bytes; all structures
        // are declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_segments(
                self.lane.lane.as_ptr(),
                shares.as_ptr(),
                self.segments.as_mut_ptr(),
                self.lane.pinned.part(&self.lane.columns),
                self.lane.columns.len() as u64,
                &mut filled,
                milliseconds(timeout),
                &mut self.report,
            )
        };
        self.lane.finish(code, "coding a batch", &self.report)?;
        Ok(CodedSegments { segments: &self.segments[..self.segment_count], bytes: self.lane.columns(filled as usize) })
    }
}
