//! Lanes of GPUs that sort ranges of lines.
//!
//! A lane takes as many ranges as fit, puts their pieces one behind the other, has the device sort all of them at once
//! (`cuda/sort_lines.cu`), and answers. What comes back is checked like any station's answer: by a core, which compares
//! neighbours and the sum of the lines. Ranges of very short lines are left to cores, because a device keeps 81 bytes
//! for each line; so are those that do not fit.

use super::text::Ends;
use super::work::{LineJob, Lines, RangeText, SORT, SortRange};
use crate::gpu::{Choice, DeviceError, LaneSize, LineOrder, MIN_DEVICE_BLOCK, SortLines};
use crate::schedule::{Class, Crew, Expected, Job, PoolBuilder, Station, StationError};
use std::time::Duration;

/// What a pool is to have of GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineLanes {
    /// Which devices, as [`gpu::select`](crate::gpu::select) takes them; all that are visible if `None`.
    pub devices: Option<String>,
    /// Lanes of each device.
    pub lanes: usize,
    /// How many bytes of text a batch may have. A lane has 16 bytes of device memory and 2 of pinned memory for each.
    pub bytes: usize,
    /// Whether lanes are started with the first range, and not only when the work left is worth their start.
    pub at_once: bool,
}

/// The most ranges in a batch.
const RANGES: usize = 64;
/// With less a lane is not worth having.
const MIN_BYTES: usize = 1 << 20;
/// How long a batch may take, whatever its size, and per byte (20 MB/s: lines that are alike for long take longest).
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
pub(super) const TIMEOUT_PER_BYTE: Duration = Duration::from_nanos(50);
const ACCEPTS: &[Class] = &[SORT];

impl Default for LineLanes {
    /// Eight lanes of 128 MiB on every device: the lane's thread copies text in and out for most of the time.
    fn default() -> Self {
        LineLanes { devices: None, lanes: 8, bytes: 128 << 20, at_once: false }
    }
}

impl LineLanes {
    /// One crew for each device. Nothing is looked for before a crew is started; a lane that cannot be had says so in
    /// its station's report.
    fn crews(&self) -> Vec<Crew<LineJob>> {
        let choice = Choice::new(self.devices.as_deref());
        (0..choice.count()).map(|number| self.crew(number, &choice)).collect()
    }

    fn crew(&self, number: usize, choice: &Choice) -> Crew<LineJob> {
        // Not measured: a quarter of what docs/ALGORITHMS.md expects of an H200 with its links; the start is that of
        // lanes that sort blocks.
        let expected = Expected { rate: 4e9, start: Duration::from_millis(600), end: Duration::from_millis(300) };
        let mut crew = Crew::new(ACCEPTS, expected).held_bytes(3 * self.bytes as u64);
        if self.at_once {
            crew = crew.at_once();
        }
        let bytes = self.bytes;
        for lane in 0..self.lanes {
            let choice = choice.clone();
            crew = crew.member(move || {
                let (backend, device) = choice.device(number)?;
                let name = format!("gpu {} lane {lane}", device.ordinal);
                let open: Open = Box::new(move |bytes| backend.open_lines(&device, size(bytes)));
                Ok(Box::new(LineStation::new(name, bytes, open)?))
            });
        }
        crew
    }
}

impl PoolBuilder<Lines> {
    /// Adds lanes of GPUs. Without a device, or a driver, the pool works on the cores.
    pub fn gpus(self, lanes: &LineLanes) -> Self {
        lanes.crews().into_iter().fold(self, PoolBuilder::crew)
    }
}

/// The size of a lane for so many bytes of text.
pub(super) fn size(bytes: usize) -> LaneSize {
    LaneSize { max_blocks: RANGES, max_length: bytes.div_ceil(RANGES).max(MIN_DEVICE_BLOCK) }
}

/// Opens a lane for so many bytes of text.
type Open = Box<dyn FnMut(usize) -> Result<Box<dyn SortLines>, DeviceError> + Send>;

/// One lane.
pub(super) struct LineStation {
    name: String,
    bytes: usize,
    open: Open,
    /// `None` after a failure, from which a lane may only be dropped.
    lane: Option<Box<dyn SortLines>>,
    /// Whether the device computes wrongly.
    wrong: bool,
}

impl LineStation {
    pub fn new(name: String, bytes: usize, open: Open) -> Result<Self, String> {
        let mut station = LineStation { name, bytes, open, lane: None, wrong: false };
        station.reopen().map_err(|error| error.to_string())?;
        Ok(station)
    }

    /// Opens the lane, for half as much as long as there is too little memory.
    fn reopen(&mut self) -> Result<(), DeviceError> {
        loop {
            match (self.open)(self.bytes) {
                Ok(lane) => {
                    self.lane = Some(lane);
                    return Ok(());
                }
                Err(DeviceError::Memory(_)) if self.bytes / 2 >= MIN_BYTES => self.bytes /= 2,
                Err(error) => return Err(error),
            }
        }
    }
}

/// The ranges that go to the device together.
#[derive(Default)]
struct Batch<'a> {
    jobs: Vec<&'a mut Job<SortRange>>,
    lengths: Vec<u32>,
    bytes: usize,
    lines: u64,
}

impl<'a> Batch<'a> {
    fn order(&self) -> Option<LineOrder> {
        self.jobs.first().map(|job| order_of(&job.question().range))
    }

    /// Whether a range with so many lines fits in, too.
    fn takes(&self, range: &RangeText, lines: u64, lane: &dyn SortLines, bytes: usize) -> bool {
        self.order().is_none_or(|order| order == order_of(range))
            && self.jobs.len() < lane.size().max_blocks
            && self.bytes + range.len() <= bytes
            && self.lines + lines <= lane.max_lines()
    }

    fn add(&mut self, job: &'a mut Job<SortRange>, lines: u64) {
        let len = job.question().range.len();
        self.lengths.push(len as u32);
        self.bytes += len;
        self.lines += lines;
        self.jobs.push(job);
    }

    /// Has the device sort the ranges, and answers.
    fn work(&mut self, lane: &mut dyn SortLines) -> Result<(), DeviceError> {
        let Some(order) = self.order() else { return Ok(()) };
        let mut place = 0;
        for job in &self.jobs {
            for piece in &job.question().range.pieces {
                lane.texts()[place..][..piece.range.len()].copy_from_slice(piece.bytes());
                place += piece.range.len();
            }
        }
        let timeout = TIMEOUT + TIMEOUT_PER_BYTE * self.bytes as u32;
        let mut text = lane.sort_lines(&self.lengths, order, timeout)?.text;
        for (job, &length) in self.jobs.iter_mut().zip(&self.lengths) {
            let Some((own, rest)) = text.split_at_checked(length as usize) else {
                return Err(DeviceError::Other("the device gave back too little".to_owned()));
            };
            job.answer(own.to_vec().into());
            text = rest;
        }
        Ok(())
    }
}

fn order_of(range: &RangeText) -> LineOrder {
    LineOrder { end: range.order.end_byte(), reverse: range.order.is_reverse() }
}

/// How many lines a range has.
fn lines_of(range: &RangeText) -> u64 {
    range.pieces.iter().map(|piece| Ends::new(piece.bytes(), range.order.end_byte()).count() as u64).sum()
}

impl Station<LineJob> for LineStation {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn max_batch(&self) -> usize {
        RANGES
    }

    fn max_bytes(&self) -> u64 {
        self.bytes as u64
    }

    fn details(&self) -> Option<String> {
        let steps = self.lane.as_ref().map(|lane| lane.steps()).unwrap_or_default();
        let named: Vec<String> = steps.named().map(|(name, time)| format!("{name} {time:.0}")).collect();
        Some(format!("{} batches; device, in ms: {}", steps.batches, named.join(", ")))
    }

    fn ends_crew(&self) -> bool {
        self.wrong
    }

    fn work(&mut self, jobs: &mut [LineJob]) -> Result<(), StationError> {
        // Put back only after success: after a failure (or a panic) a lane may only be dropped.
        let Some(mut lane) = self.lane.take() else {
            return Err(StationError { reason: "the lane is closed".to_owned(), retire: true });
        };
        let bytes = self.bytes;
        let sort = || {
            let mut batch = Batch::default();
            for job in jobs {
                let LineJob::Sort(job) = job else { continue };
                let lines = lines_of(&job.question().range);
                let range = &job.question().range;
                if !Batch::default().takes(range, lines, &*lane, bytes) || range.is_empty() {
                    job.decline();
                    continue;
                }
                if !batch.takes(range, lines, &*lane, bytes) {
                    std::mem::take(&mut batch).work(&mut *lane)?;
                }
                batch.add(job, lines);
            }
            batch.work(&mut *lane)
        };
        let Err(error) = sort() else {
            self.lane = Some(lane);
            return Ok(());
        };
        drop(lane);
        self.wrong |= matches!(error, DeviceError::Wrong(_));
        let mut retire = self.wrong || matches!(error, DeviceError::Lost(_)) || self.bytes / 2 < MIN_BYTES;
        if !retire {
            self.bytes /= 2;
            retire = self.reopen().is_err();
        }
        Err(StationError { reason: error.to_string(), retire })
    }
}
