//! A lane as a station of the queue, whatever it does with its tasks: failures, smaller lanes, times.

use super::{DeviceError, DeviceLane};
use crate::Result;
use hybz_queue::{Job, Station, StationError};
use std::time::{Duration, Instant};

/// How a lane's thread handles tasks and a device.
pub trait Offloaded: Send {
    /// The number of tasks, and of bytes in them, that a lane of this size should take in one batch. The kind of work
    /// decides whether the size counts blocks or bytes.
    fn limits(size: usize, lane: &dyn DeviceLane) -> (usize, u64);

    /// The lane has failed and been dropped. Another may come, of half the size.
    fn lane_is_gone(&mut self) {}

    /// Does some tasks: completes, forwards or declines them.
    fn work(&mut self, size: usize, lane: &mut dyn DeviceLane, jobs: &mut [Job], times: &mut Times) -> Result<()>;
}

/// Opens a lane of a size.
pub type Open = Box<dyn FnMut(usize) -> Result<Box<dyn DeviceLane>> + Send>;

/// One lane.
pub struct GpuStation<O: Offloaded> {
    name: String,
    size: usize,
    /// The minimum size: a smaller lane is not worth having.
    least: usize,
    open: Open,
    /// `None` after a failure, from which a lane may only be dropped.
    lane: Option<Box<dyn DeviceLane>>,
    offloaded: O,
    times: Times,
    /// Whether the device computes wrongly.
    wrong: bool,
}

/// The times that the lane's thread spent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Batches.
    pub batches: u32,
    /// The number of blocks in all batches.
    pub blocks: usize,
    /// The time before the device was called.
    pub prepare: Duration,
    /// The time that the device took.
    pub device: Duration,
    /// The time after it.
    pub reply: Duration,
}

impl Times {
    /// Has the device do a batch of `blocks` blocks, and then calls `answer`.
    pub fn batch<T>(
        &mut self,
        blocks: usize,
        device: impl FnOnce() -> Result<T>,
        reply: impl FnOnce(T) -> Result<()>,
    ) -> Result<()> {
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

impl<O: Offloaded> GpuStation<O> {
    /// Opens a lane of this size; while there is too little memory, halves the size, down to `least`.
    pub fn new(name: String, size: usize, least: usize, open: Open, offloaded: O) -> Result<Self, String> {
        let times = Times::default();
        let mut station = GpuStation { name, size, least, open, lane: None, offloaded, times, wrong: false };
        station.reopen().map_err(|error| error.to_string())?;
        Ok(station)
    }

    fn reopen(&mut self) -> Result<()> {
        loop {
            match (self.open)(self.size) {
                Ok(lane) => {
                    self.lane = Some(lane);
                    return Ok(());
                }
                Err(DeviceError::Memory(_)) if self.size / 2 >= self.least => self.size /= 2,
                Err(error) => return Err(error),
            }
        }
    }

    fn limits(&self) -> (usize, u64) {
        self.lane.as_ref().map_or((1, u64::MAX), |lane| O::limits(self.size, &**lane))
    }
}

impl<O: Offloaded> Station for GpuStation<O> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn max_batch(&self) -> usize {
        self.limits().0
    }

    fn max_bytes(&self) -> u64 {
        self.limits().1
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

    fn ends_group(&self) -> bool {
        self.wrong
    }

    fn work(&mut self, jobs: &mut [Job]) -> Result<(), StationError> {
        // Put back only after success: after a failure (or a panic) a lane may only be dropped.
        let Some(mut lane) = self.lane.take() else {
            return Err(StationError { reason: "the lane is closed".to_owned(), retire: true });
        };
        let Err(error) = self.offloaded.work(self.size, &mut *lane, jobs, &mut self.times) else {
            self.lane = Some(lane);
            return Ok(());
        };
        drop(lane);
        self.offloaded.lane_is_gone();
        self.wrong |= matches!(error, DeviceError::Wrong(_));
        let lost = self.wrong || matches!(error, DeviceError::Lost(_));
        let mut retire = lost || self.size / 2 < self.least;
        if !retire {
            self.size /= 2;
            retire = self.reopen().is_err();
        }
        Err(StationError { reason: error.to_string(), retire })
    }
}
