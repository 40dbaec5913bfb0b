//! A lane as a station, whatever it offloads: batches, failures, times.

use crate::gpu::{self, DeviceError, DeviceLane, LaneSize};
use crate::schedule::{Job, Station, StationError};
use std::time::{Duration, Instant};

/// How long a batch may take, whatever its size, and per byte (50 MB/s: the slowest batches seen run at 500).
const TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT_PER_BYTE: Duration = Duration::from_nanos(20);

/// What a lane's thread does with jobs and a device.
pub(super) trait Offloaded: Send {
    /// The lane that it needs.
    type Lane: DeviceLane + ?Sized;

    /// The fewest blocks for which such a lane is worth having.
    const MIN_BATCH: usize;

    /// How many bytes of jobs such a lane should take at once.
    fn max_bytes(size: LaneSize) -> u64 {
        let _ = size;
        u64::MAX
    }

    /// Does some jobs: answers them, passes them on or declines them.
    fn work(&mut self, lane: &mut Self::Lane, jobs: &mut [Job], times: &mut Times) -> Result<(), DeviceError>;
}

/// Opens a lane for so many blocks.
pub(super) type Open<L> = Box<dyn FnMut(usize) -> Result<Box<L>, DeviceError> + Send>;

/// One lane.
pub(super) struct GpuStation<O: Offloaded> {
    name: String,
    max_batch: usize,
    open: Open<O::Lane>,
    /// `None` after a failure, from which a lane may only be dropped.
    lane: Option<Box<O::Lane>>,
    offloaded: O,
    times: Times,
    /// Whether the device computes wrongly.
    wrong: bool,
}

/// What the lane's thread was busy with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub batches: u32,
    pub blocks: usize,
    pub prepare: Duration,
    pub device: Duration,
    pub reply: Duration,
}

impl Times {
    /// Has the device do a batch of so many blocks, and then answers.
    pub fn batch<T>(
        &mut self,
        blocks: usize,
        device: impl FnOnce() -> Result<T, DeviceError>,
        reply: impl FnOnce(T) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let began = Instant::now();
        let result = device()?;
        self.batches += 1;
        self.blocks += blocks;
        self.device += began.elapsed();
        let began = Instant::now();
        reply(result)?;
        self.reply += began.elapsed();
        Ok(())
    }
}

/// How long a batch may take.
pub(super) fn timeout(lengths: &[u32]) -> Duration {
    TIMEOUT + TIMEOUT_PER_BYTE * lengths.iter().sum()
}

impl<O: Offloaded> GpuStation<O> {
    /// A lane for `max_batch` blocks, or as many as there is memory for.
    pub fn new(name: String, max_batch: usize, open: Open<O::Lane>, offloaded: O) -> Result<Self, String> {
        let max_batch = max_batch.clamp(1, gpu::MAX_BATCH);
        let mut station =
            GpuStation { name, max_batch, open, lane: None, offloaded, times: Times::default(), wrong: false };
        station.reopen().map_err(|error| error.to_string())?;
        Ok(station)
    }

    /// Opens the lane, with half as many blocks as long as there is too little memory.
    fn reopen(&mut self) -> Result<(), DeviceError> {
        loop {
            match (self.open)(self.max_batch) {
                Ok(lane) => {
                    self.lane = Some(lane);
                    return Ok(());
                }
                Err(DeviceError::Memory(_)) if self.max_batch / 2 >= O::MIN_BATCH => self.max_batch /= 2,
                Err(error) => return Err(error),
            }
        }
    }
}

impl<O: Offloaded> Station for GpuStation<O> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn max_batch(&self) -> usize {
        self.max_batch
    }

    fn max_bytes(&self) -> u64 {
        self.lane.as_ref().map_or(u64::MAX, |lane| O::max_bytes(lane.size()))
    }

    fn details(&self) -> Option<String> {
        let Times { batches, blocks, prepare, device, reply } = self.times;
        let steps = self.lane.as_ref().map(|lane| lane.steps()).unwrap_or_default();
        let steps: Vec<String> = steps.named().map(|(name, time)| format!("{name} {time:.0}")).collect();
        Some(format!(
            "{batches} batches of {:.0} blocks; prepare {:.3} s, device {:.3} s, reply {:.3} s; device, in ms: {}",
            blocks as f64 / f64::from(batches.max(1)),
            prepare.as_secs_f64(),
            device.as_secs_f64(),
            reply.as_secs_f64(),
            steps.join(", "),
        ))
    }

    fn ends_crew(&self) -> bool {
        self.wrong
    }

    fn work(&mut self, jobs: &mut [Job]) -> Result<(), StationError> {
        // Put back only after success: after a failure (or a panic) a lane may only be dropped.
        let Some(mut lane) = self.lane.take() else {
            return Err(StationError { reason: "the lane is closed".to_owned(), retire: true });
        };
        let Err(error) = self.offloaded.work(&mut *lane, jobs, &mut self.times) else {
            self.lane = Some(lane);
            return Ok(());
        };
        drop(lane);
        self.wrong |= matches!(error, DeviceError::Wrong(_));
        let lost = self.wrong || matches!(error, DeviceError::Lost(_));
        let mut retire = lost || self.max_batch / 2 < O::MIN_BATCH;
        if !retire {
            self.max_batch /= 2;
            retire = self.reopen().is_err();
        }
        Err(StationError { reason: error.to_string(), retire })
    }
}
