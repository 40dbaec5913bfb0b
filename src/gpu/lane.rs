//! One lane of a GPU: a CUDA stream, its device memory, and pinned memory on the host, taken once and kept.
//!
//! Pinned memory costs 0.1 s for 256 MB and more, so it is taken on the lane's own thread. It is not write-combined: the CPU reads the
//! columns in it, which would then go at a hundredth of the speed.
#![allow(unsafe_code)]

use super::call::check;
use super::{
    CodedBatch, CodedByDevice, DeviceError, Pipeline, Sorted, SortedSuffixes, SortedThirds, Sorter, Steps, ffi,
};
use crate::codec::bwt::merge::{byte_count, key_count};
use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::slice;
use std::time::Duration;

/// Pinned memory of a lane: taking it in one piece is quicker.
struct Pinned {
    memory: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is plain memory that `Pinned` alone owns.
unsafe impl Send for Pinned {}

impl Pinned {
    fn new(device: i32, bytes: usize) -> Result<Pinned, DeviceError> {
        let mut memory: *mut c_void = ptr::null_mut();
        // SAFETY: `memory` is a place to write to.
        check(unsafe { ffi::hybz_pinned_alloc(device, bytes, &mut memory) }, "taking pinned memory")?;
        let memory = NonNull::new(memory.cast::<u8>());
        let memory = memory.ok_or_else(|| DeviceError::Memory("taking pinned memory: got none".to_owned()))?;
        Ok(Pinned { memory, bytes })
    }

    fn as_slice(&self) -> &[u8] {
        // SAFETY: `new` took that many bytes, zeroed there; the device writes to them only inside calls that have `&mut`.
        unsafe { slice::from_raw_parts(self.memory.as_ptr(), self.bytes) }
    }

    fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.memory.as_ptr(), self.bytes) }
    }

    /// Where a part of it begins.
    fn part(&self, part: &Range<usize>) -> *mut u8 {
        assert!(part.end <= self.bytes);
        // SAFETY: checked just now.
        unsafe { self.memory.as_ptr().add(part.start) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: `new` took it. What this answers changes nothing any more.
        let _ = unsafe { ffi::hybz_pinned_free(self.memory.as_ptr().cast(), self.bytes) };
    }
}

/// A lane of a GPU.
pub struct GpuLane {
    lane: NonNull<ffi::Lane>,
    /// It outlives a lost lane: the device may still write to it.
    pinned: ManuallyDrop<Pinned>,
    /// Of the pinned memory: the texts.
    texts: Range<usize>,
    /// Columns, what stands before the rows, or codes.
    columns: Range<usize>,
    /// Of thirds; of suffixes the rows of entry points; of columns there are none.
    keys: Range<usize>,
    pipeline: Pipeline,
    origins: Vec<u32>,
    coded: Vec<CodedByDevice>,
    most_blocks: usize,
    longest: usize,
    steps: Steps,
    /// Its context is lost or in use by a kernel that hangs: nothing may be given back.
    lost: bool,
}

// SAFETY: `ffi::Lane` may be used from any thread, one at a time (hybz.h); all its uses here need `&mut` or are in `drop`.
unsafe impl Send for GpuLane {}

impl GpuLane {
    /// A lane on device `ordinal`.
    pub fn new(ordinal: i32, most_blocks: usize, longest: usize, pipeline: Pipeline) -> Result<GpuLane, DeviceError> {
        let bytes = most_blocks * longest;
        let (column_bytes, keys, code) = match pipeline {
            Pipeline::Bwt => (bytes, 0, ffi::BWT),
            Pipeline::Resident => (most_blocks * CodedByDevice::most_bytes(longest), 0, ffi::RESIDENT),
            // A shorter block has no more of either.
            Pipeline::Hybrid => (most_blocks * (longest + 1), most_blocks * (key_count(longest) + 2), ffi::HYBRID),
            Pipeline::Suffixes => {
                let entries = entry_count(longest, MIN_ENTRY_LOG);
                (most_blocks * (longest + 1), most_blocks * entries, ffi::SUFFIXES)
            }
        };
        let mut end = 0;
        let mut part = |bytes: usize| {
            let begin = end;
            end = begin + bytes.next_multiple_of(4096);
            begin..begin + bytes
        };
        let (texts, columns, keys) = (part(bytes), part(column_bytes), part(4 * keys));
        let pinned = Pinned::new(ordinal, end)?;
        let mut lane: *mut ffi::Lane = ptr::null_mut();
        // SAFETY: `lane` is a place to write to; sizes out of range are refused there.
        let code = unsafe { ffi::hybz_lane_create(ordinal, most_blocks as u32, longest as u32, code, &mut lane) };
        check(code, "taking device memory")?;
        let lane = NonNull::new(lane).ok_or_else(|| DeviceError::Other("got no lane".to_owned()))?;
        Ok(GpuLane {
            lane,
            pinned: ManuallyDrop::new(pinned),
            texts,
            columns,
            keys,
            pipeline,
            origins: vec![0; most_blocks],
            coded: vec![CodedByDevice::EMPTY; if pipeline == Pipeline::Resident { most_blocks } else { 0 }],
            most_blocks,
            longest,
            steps: Steps::default(),
            lost: false,
        })
    }
}

impl GpuLane {
    /// What a batch came to: its times, or a failure, after which the lane may be lost.
    fn settle(&mut self, code: c_int, doing: &str, report: &ffi::Report) -> Result<(), DeviceError> {
        let checked = check(code, doing);
        self.lost |= matches!(checked, Err(DeviceError::Lost(_)));
        checked?;
        self.steps.add(report);
        Ok(())
    }
}

impl Sorter for GpuLane {
    fn most_blocks(&self) -> usize {
        self.most_blocks
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn texts(&mut self) -> &mut [u8] {
        &mut self.pinned.as_mut_slice()[self.texts.clone()]
    }

    fn sort(&mut self, lengths: &[u32], patience: Duration) -> Result<Sorted<'_>, DeviceError> {
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        if self.lost || self.pipeline != Pipeline::Bwt || lengths.len() > self.most_blocks || total > self.texts.len() {
            return Err(DeviceError::Other("a batch that the lane was not made for".to_owned()));
        }
        let patience = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
        let mut report = ffi::Report::default();
        // SAFETY: `lengths` has as many entries as said; texts and columns have room for their sum, origins for one each
        // (checked above); `report` is declared as it is there (tested).
        let code = unsafe {
            ffi::hybz_lane_bwt(
                self.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                self.pinned.part(&self.texts),
                self.pinned.part(&self.columns),
                self.origins.as_mut_ptr(),
                patience,
                &mut report,
            )
        };
        self.settle(code, "sorting a batch", &report)?;
        Ok(Sorted {
            columns: &self.pinned.as_slice()[self.columns.clone()][..total],
            origins: &self.origins[..lengths.len()],
        })
    }

    fn thirds(&mut self, lengths: &[u32], turns: &[u32], patience: Duration) -> Result<SortedThirds<'_>, DeviceError> {
        let sum = |count: fn(usize) -> usize| lengths.iter().map(|&length| count(length as usize)).sum::<usize>();
        let (total, bytes, keys) = (sum(|length| length), sum(byte_count), sum(key_count));
        if self.lost
            || self.pipeline != Pipeline::Hybrid
            || lengths.len() > self.most_blocks
            || turns.len() != lengths.len()
            || total > self.texts.len()
            || bytes > self.columns.len()
            || keys > self.keys.len() / 4
        {
            return Err(DeviceError::Other("a batch that the lane was not made for".to_owned()));
        }
        let patience = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
        let mut report = ffi::Report::default();
        // SAFETY: `lengths` and `turns` have as many entries as said; texts, keys and columns have room for what the lengths
        // make of them, origins for one each (checked above); `report` is declared as it is there (tested).
        let code = unsafe {
            ffi::hybz_lane_thirds(
                self.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                turns.as_ptr(),
                self.pinned.part(&self.texts),
                self.pinned.part(&self.keys).cast(),
                self.pinned.part(&self.columns),
                self.origins.as_mut_ptr(),
                patience,
                &mut report,
            )
        };
        self.settle(code, "sorting a batch", &report)?;
        Ok(SortedThirds {
            keys: words(&self.pinned.as_slice()[self.keys.clone()][..4 * keys]),
            bytes: &self.pinned.as_slice()[self.columns.clone()][..bytes],
            origins: &self.origins[..lengths.len()],
        })
    }

    fn code(&mut self, lengths: &[u32], patience: Duration) -> Result<CodedBatch<'_>, DeviceError> {
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        let fits = lengths.iter().all(|&length| length as usize <= self.longest) && total <= self.texts.len();
        if self.lost || self.pipeline != Pipeline::Resident || lengths.len() > self.most_blocks || !fits {
            return Err(DeviceError::Other("a batch that the lane was not made for".to_owned()));
        }
        let patience = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
        let mut report = ffi::Report::default();
        let mut filled = 0;
        // SAFETY: `lengths` has as many entries as said, and `coded` room for as many; texts have room for their sum, columns
        // for as many bytes of codes as blocks no longer than these can have (checked above; more are not copied); `report` and
        // `coded` are declared as they are there (tested).
        let code = unsafe {
            ffi::hybz_lane_code(
                self.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                self.pinned.part(&self.texts),
                self.coded.as_mut_ptr(),
                self.pinned.part(&self.columns),
                &mut filled,
                patience,
                &mut report,
            )
        };
        self.settle(code, "coding a batch", &report)?;
        Ok(CodedBatch {
            blocks: &self.coded[..lengths.len()],
            bytes: &self.pinned.as_slice()[self.columns.clone()][..filled as usize],
        })
    }

    fn suffixes(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        patience: Duration,
    ) -> Result<SortedSuffixes<'_>, DeviceError> {
        let rows: usize = lengths.iter().map(|&length| length as usize + 1).sum();
        let each = lengths.iter().max().map_or(0, |&longest| entry_count(longest as usize, entry_log));
        let entries = each * lengths.len();
        if self.lost
            || self.pipeline != Pipeline::Suffixes
            || lengths.len() > self.most_blocks
            || lengths.contains(&0)
            || rows - lengths.len() > self.texts.len()
            || rows > self.columns.len()
            || entries > self.keys.len() / 4
        {
            return Err(DeviceError::Other("a batch that the lane was not made for".to_owned()));
        }
        let patience = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
        let mut report = ffi::Report::default();
        // SAFETY: `lengths` has as many entries as said; texts, columns and keys have room for the bytes, rows and entry points that
        // these make, origins for one each (checked above); `report` is declared as it is there (tested).
        let code = unsafe {
            ffi::hybz_lane_suffixes(
                self.lane.as_ptr(),
                lengths.len() as u32,
                lengths.as_ptr(),
                self.pinned.part(&self.texts),
                entry_log.into(),
                self.pinned.part(&self.columns),
                self.origins.as_mut_ptr(),
                self.pinned.part(&self.keys).cast(),
                patience,
                &mut report,
            )
        };
        self.settle(code, "sorting a batch", &report)?;
        Ok(SortedSuffixes {
            columns: &self.pinned.as_slice()[self.columns.clone()][..rows],
            origins: &self.origins[..lengths.len()],
            entries: words(&self.pinned.as_slice()[self.keys.clone()][..4 * entries]),
        })
    }

    fn steps(&self) -> Steps {
        self.steps
    }
}

/// There is room for entry points as near to each other as this.
const MIN_ENTRY_LOG: u8 = 12;

/// How many entry points a block of so many bytes has.
fn entry_count(length: usize, entry_log: u8) -> usize {
    length.div_ceil(1 << entry_log)
}

/// Bytes that the device has written as numbers, at an address that is a multiple of four.
fn words(bytes: &[u8]) -> &[u32] {
    // SAFETY: any four bytes are a number.
    let (before, words, after) = unsafe { bytes.align_to() };
    debug_assert!(before.is_empty() && after.is_empty());
    words
}

impl Steps {
    fn add(&mut self, report: &ffi::Report) {
        self.batches += 1;
        self.upload += f64::from(report.upload_ms);
        self.keys += f64::from(report.keys_ms);
        self.sort += f64::from(report.sort_ms);
        self.group += f64::from(report.group_ms);
        self.thirds += f64::from(report.thirds_ms);
        self.mtf += f64::from(report.mtf_ms);
        self.tables += f64::from(report.tables_ms);
        self.bits += f64::from(report.bits_ms);
        self.download += f64::from(report.download_ms);
        for round in report.round.iter().take(report.rounds as usize) {
            self.small += f64::from(round.small_ms);
            self.large += f64::from(round.large_ms);
            self.commit += f64::from(round.commit_ms);
        }
    }
}

impl Drop for GpuLane {
    fn drop(&mut self) {
        if self.lost {
            return;
        }
        // SAFETY: `new` made it and nobody uses it any more; after that no copy to or from the pinned memory is under way.
        let code = unsafe { ffi::hybz_lane_destroy(self.lane.as_ptr()) };
        if check(code, "").is_ok() {
            // SAFETY: it is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.pinned) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_are_declared_alike() {
        // SAFETY: it takes and touches nothing.
        assert_eq!(unsafe { ffi::hybz_report_bytes() }, size_of::<ffi::Report>());
        // SAFETY: as above.
        assert_eq!(unsafe { ffi::hybz_coded_bytes() }, size_of::<CodedByDevice>());
    }
}
