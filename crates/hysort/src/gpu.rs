//! Lanes of GPUs that sort ranges of lines.
//!
//! A lane takes as many ranges as fit, concatenates their pieces, has the device sort all of them at once
//! (`cuda/sort_lines.cu`), and returns the result. The result is checked like any station's answer: by a core, which
//! compares neighbours and the sum of the lines. Ranges of very short lines are left to cores, because a device keeps
//! 81 bytes for each line; so are ranges that do not fit.
//!
//! A device keeps all of a long text (`resident.rs`): lanes sort parts as they come and leave them there, and then
//! sort ranges, which are slices of the parts. No other station can do that, so such jobs have a class of their own.

use super::parts::{Piece, Sorted};
use super::range::RangeText;
use super::stored::{Kept, PART, StoredRange};
use super::tasks::{KeepText, SORT, STORE, SortRange, StorePart};
use super::text::Ends;
use hybz_gpu::{
    Choice, DeviceError, DeviceLane, LaneSize, LineOrder, MIN_DEVICE_BLOCK, Pipeline, RangeInParts, Result,
};
use hybz_gpu::{GpuStation, Offloaded, Open, Times};
use hybz_queue::{Accelerators, Accepts, Class, Expected, Job, PoolBuilder, TypedJob, WorkerGroup};
use std::sync::Arc;
use std::time::Duration;

/// The GPU lanes that a pool gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineLanes {
    /// The devices: numbers, names such as `GPU-4f0b` or PCI addresses, with commas between them. All visible ones if
    /// `None`.
    pub devices: Option<String>,
    /// Lanes of each device.
    pub lanes: usize,
    /// The maximum number of bytes of text in a batch. A lane has 16 bytes of device memory and 2 of pinned memory for
    /// each. From 64 MiB on the first device also keeps long text whose length is known
    /// ([`Sorter::expect`](super::Sorter)).
    pub bytes: usize,
    /// Whether lanes are started with the first range, instead of when the work left is worth their start.
    pub at_once: bool,
}

/// The maximum number of ranges in a batch.
const RANGES: usize = 64;
/// The smallest lane that is worth having.
const MIN_BYTES: usize = 1 << 20;
/// The time that any batch may take, plus a time for each byte (20 MB/s: lines with long common prefixes take longest).
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
pub(super) const TIMEOUT_PER_BYTE: Duration = Duration::from_nanos(50);
/// The classes that lanes of the first device accept, and those of other devices: text is kept on one device only.
const FIRST_ACCEPTS: &[Class] = &[SORT, STORE];
const ACCEPTS: &[Class] = &[SORT];

impl Default for LineLanes {
    /// Eight lanes of 128 MiB on every device, because a lane's thread spends most of its time copying text in and out.
    fn default() -> Self {
        LineLanes { devices: None, lanes: 8, bytes: 128 << 20, at_once: false }
    }
}

impl LineLanes {
    /// One group for each device. No device is looked for before a group is started; a lane that cannot be opened says
    /// so in its station's report.
    fn groups(&self) -> Vec<WorkerGroup> {
        let choice = Choice::new(self.devices.as_deref());
        (0..choice.count()).map(|number| self.group(number, &choice)).collect()
    }

    fn group(&self, number: usize, choice: &Choice) -> WorkerGroup {
        // Not measured for lines: the times to start and to end are those once expected of lanes that sort blocks (now
        // 0.4 and 0.2 s).
        let expected = Expected { rate: 4e9, start: Duration::from_millis(600), end: Duration::from_millis(300) };
        // Lanes too small for a part cannot keep text.
        let keeps = number == 0 && self.bytes as u64 >= PART;
        let (accepts, least) = if keeps { (FIRST_ACCEPTS, PART as usize) } else { (ACCEPTS, MIN_BYTES) };
        let mut group = WorkerGroup::new(accepts, expected).held_bytes(3 * self.bytes as u64);
        if self.at_once {
            group = group.at_once();
        }
        let bytes = self.bytes;
        for lane in 0..self.lanes {
            let choice = choice.clone();
            group = group.member(move || {
                let (backend, device) = choice.device(number)?;
                let name = format!("gpu {} lane {lane}", device.number);
                let open: Open = Box::new(move |bytes| backend.open(&device, Pipeline::Lines, size(bytes)));
                Ok(Box::new(station(name, bytes, least, open)?))
            });
        }
        group
    }
}

impl Accelerators for LineLanes {
    /// Adds lanes of GPUs. Without a device, or a driver, the pool works on the cores.
    fn add_to(&self, builder: PoolBuilder) -> PoolBuilder {
        let groups = self.groups();
        let pool = if groups.is_empty() { builder } else { builder.cores_accept(Accepts::AllBut(&[STORE])) };
        groups.into_iter().fold(pool, PoolBuilder::group)
    }
}

/// The size of a lane for `bytes` of text.
pub(super) fn size(bytes: usize) -> LaneSize {
    LaneSize { max_blocks: RANGES, max_length: bytes.div_ceil(RANGES).max(MIN_DEVICE_BLOCK) }
}

/// One lane for `bytes` of text, or at least `least`.
pub(super) fn station(name: String, bytes: usize, least: usize, open: Open) -> Result<GpuStation<LineRanges>, String> {
    GpuStation::new(name, bytes, least, open, LineRanges)
}

/// How the lane's thread handles ranges.
pub(super) struct LineRanges;

/// Copies texts to a lane's input. Returns the number of bytes.
fn bring<'a>(texts: impl IntoIterator<Item = &'a Piece>, lane: &mut dyn DeviceLane) -> usize {
    let mut filled = 0;
    for piece in texts {
        lane.input()[filled..][..piece.range.len()].copy_from_slice(piece.bytes());
        filled += piece.range.len();
    }
    filled
}

fn timeout_of(bytes: usize) -> Duration {
    TIMEOUT + TIMEOUT_PER_BYTE * bytes as u32
}

/// Completes the jobs of a batch with their parts of the result.
fn complete(jobs: Vec<TypedJob<'_, SortRange>>, mut text: &[u8]) -> Result<()> {
    for job in jobs {
        let length = job.task().range.len();
        let Some((own, rest)) = text.split_at_checked(length) else {
            return Err(DeviceError::Other("the device gave back too little".to_owned()));
        };
        job.complete(Sorted::from(own.to_vec()));
        text = rest;
    }
    Ok(())
}

/// Allocates memory for text that is kept, if the device has it.
fn keep(job: TypedJob<'_, KeepText>, lane: &mut dyn DeviceLane, batch: usize) -> Result<()> {
    match lane.keep(job.task().bytes) {
        Ok(text) => job.complete(Some(Kept { text, lines: lane.max_lines() * PART / (batch as u64).max(PART) })),
        Err(DeviceError::Memory(_)) => job.complete(None),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Sorts a part and keeps it, unless it has too many lines.
fn store(job: TypedJob<'_, StorePart>, lane: &mut dyn DeviceLane, batch: usize) -> Result<()> {
    let StorePart { kept, chunks, bytes, at, end } = job.task();
    if *bytes > batch as u64 {
        job.decline();
        return Ok(());
    }
    let filled = bring(chunks.iter(), lane);
    let lines = lane.input()[..filled].iter().filter(|&byte| byte == end).count();
    if lines as u64 > lane.max_lines() {
        job.decline();
        return Ok(());
    }
    lane.sort_and_keep(filled as u32, *end, &*kept.text, *at, timeout_of(filled))?;
    job.complete(true);
    Ok(())
}

/// Ranges that are sorted together on the device: all are of one order, and of one kept text or of none.
#[derive(Default)]
struct Batch<'a> {
    jobs: Vec<TypedJob<'a, SortRange>>,
    bytes: usize,
    lines: u64,
}

impl<'a> Batch<'a> {
    /// Whether a range with this number of lines fits in, too.
    fn takes(&self, range: &RangeText, lines: u64, lane: &dyn DeviceLane, bytes: usize) -> bool {
        let text_of = |range: &RangeText| range.stored.as_ref().map(|stored| Arc::as_ptr(&stored.text));
        let is_alike = |first: &RangeText| order_of(first) == order_of(range) && text_of(first) == text_of(range);
        self.jobs.first().is_none_or(|job| is_alike(&job.task().range))
            && self.jobs.len() < lane.size().max_blocks
            && self.bytes + range.len() <= bytes
            && self.lines + lines <= lane.max_lines()
    }

    /// Adds a range, or leaves it to cores. If the batch is full, it is sorted first.
    fn add(
        &mut self,
        job: TypedJob<'a, SortRange>,
        lane: &mut dyn DeviceLane,
        bytes: usize,
        times: &mut Times,
    ) -> Result<()> {
        let range = &job.task().range;
        let (len, lines) = (range.len(), range.stored.as_ref().map_or_else(|| lines_of(range), |stored| stored.lines));
        if len == 0 || !Batch::default().takes(range, lines, lane, bytes) {
            job.decline();
            return Ok(());
        }
        if !self.takes(range, lines, lane, bytes) {
            std::mem::take(self).work(lane, times)?;
        }
        self.bytes += len;
        self.lines += lines;
        self.jobs.push(job);
        Ok(())
    }

    /// Has the device sort the ranges, and completes their jobs.
    fn work(self, lane: &mut dyn DeviceLane, times: &mut Times) -> Result<()> {
        let Batch { jobs, bytes, .. } = self;
        let Some(first) = jobs.first().map(|job| Arc::clone(&job.task().range)) else { return Ok(()) };
        bring(jobs.iter().flat_map(|job| &job.task().range.pieces), lane);
        let (order, timeout, count) = (order_of(&first), timeout_of(bytes), jobs.len());
        let Some(StoredRange { text, .. }) = &first.stored else {
            let lengths: Vec<u32> = jobs.iter().map(|job| job.task().range.len() as u32).collect();
            return times.batch(
                count,
                || lane.sort_lines(&lengths, order, timeout),
                |sorted| complete(jobs, sorted.text),
            );
        };
        let parts = |job: &TypedJob<'_, SortRange>| {
            let range = &job.task().range;
            let host = range.pieces.iter().map(|piece| piece.range.len() as u32).sum();
            let kept = range.stored.iter().flat_map(|stored| stored.text.slices(stored.bucket)).collect();
            RangeInParts { host, kept }
        };
        let ranges: Vec<RangeInParts> = jobs.iter().map(parts).collect();
        times.batch(
            count,
            || lane.sort_parts(&ranges, &*text.kept.text, order, timeout),
            |sorted| complete(jobs, sorted.text),
        )
    }
}

fn order_of(range: &RangeText) -> LineOrder {
    LineOrder { end: range.order.end_byte(), reverse: range.order.is_reverse() }
}

/// The number of lines of a range.
fn lines_of(range: &RangeText) -> u64 {
    range.pieces.iter().map(|piece| Ends::new(piece.bytes(), range.order.end_byte()).count() as u64).sum()
}

impl Offloaded for LineRanges {
    fn limits(bytes: usize, _: &dyn DeviceLane) -> (usize, u64) {
        (RANGES, bytes as u64)
    }

    fn work(&mut self, size: usize, lane: &mut dyn DeviceLane, jobs: &mut [Job], times: &mut Times) -> Result<()> {
        let (mut batch, mut stored) = (Batch::default(), Batch::default());
        for job in jobs {
            if let Some(job) = job.of::<KeepText>() {
                keep(job, lane, size)?;
                continue;
            }
            if let Some(job) = job.of::<StorePart>() {
                store(job, lane, size)?;
                continue;
            }
            let Some(job) = job.of::<SortRange>() else { continue };
            let batch = if job.task().range.stored.is_some() { &mut stored } else { &mut batch };
            batch.add(job, lane, size, times)?;
        }
        stored.work(lane, times)?;
        batch.work(lane, times)
    }
}
