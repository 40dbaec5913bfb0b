//! Divides a lane's jobs into batches, for every kind of lane.

use crate::gpu::station::{GpuStation, Offloaded, Open, Times};
use crate::gpu::{self, DeviceError, DeviceLane, LaneSize};
use hybz_queue::{Job, Station};
use std::time::{Duration, Instant};

/// The time that any batch may take, plus a time for each byte (50 MB/s: the slowest batches seen run at 500).
const TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT_PER_BYTE: Duration = Duration::from_nanos(20);

/// The maximum time of a batch.
pub(super) fn timeout(lengths: &[u32]) -> Duration {
    TIMEOUT + TIMEOUT_PER_BYTE * lengths.iter().sum()
}

/// The outcome of adding a block to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    Yes,
    /// The block is left to a core.
    Never,
    /// The batch has no room for it.
    NotNow,
}

/// How a lane's thread handles batches of blocks.
pub(super) trait Batched: Send {
    /// The blocks in a lane's texts.
    type Batch: Default;

    /// The minimum number of blocks for which a lane is worth having.
    const MIN_BATCH: usize;

    /// The number of bytes of jobs that such a lane should take in one batch.
    fn max_bytes(size: LaneSize) -> u64 {
        let _ = size;
        u64::MAX
    }

    /// Adds a job's block to the batch. An empty batch has room for every block that can be added at all.
    ///
    /// # Errors
    /// The lane failed.
    fn add(
        &mut self,
        index: usize,
        job: &Job,
        lane: &mut dyn DeviceLane,
        batch: &mut Self::Batch,
    ) -> Result<Added, DeviceError>;

    /// The lane has failed and been dropped. Another may come, of half the size.
    fn lane_is_gone(&mut self) {}

    /// Whether the batch has no blocks.
    fn is_empty(batch: &Self::Batch) -> bool;

    /// Has the device do a batch, which is not empty, and completes, forwards or declines its jobs.
    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        batch: Self::Batch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError>;
}

/// A lane for `blocks` blocks, or for as many as memory allows.
pub(super) fn station<B: Batched + 'static>(
    name: String,
    blocks: usize,
    open: Open,
    batched: B,
) -> Result<Box<dyn Station>, String> {
    Ok(Box::new(GpuStation::new(name, blocks.clamp(1, gpu::MAX_BATCH), B::MIN_BATCH, open, Batches(batched))?))
}

/// Work that is done in batches of blocks.
pub(super) struct Batches<B>(B);

impl<B: Batched> Offloaded for Batches<B> {
    fn limits(blocks: usize, lane: &dyn DeviceLane) -> (usize, u64) {
        (blocks, B::max_bytes(lane.size()))
    }

    fn lane_is_gone(&mut self) {
        self.0.lane_is_gone();
    }

    /// Does the jobs in as many batches as the lane needs.
    fn work(
        &mut self,
        _: usize,
        lane: &mut dyn DeviceLane,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        let mut began = Instant::now();
        let mut batch = B::Batch::default();
        for index in 0..jobs.len() {
            loop {
                match self.0.add(index, &jobs[index], lane, &mut batch)? {
                    Added::Yes => break,
                    Added::NotNow if !B::is_empty(&batch) => {
                        times.prepare += began.elapsed();
                        self.0.run(lane, std::mem::take(&mut batch), jobs, times)?;
                        began = Instant::now();
                    }
                    Added::Never | Added::NotNow => {
                        jobs[index].decline();
                        break;
                    }
                }
            }
        }
        times.prepare += began.elapsed();
        if B::is_empty(&batch) { Ok(()) } else { self.0.run(lane, batch, jobs, times) }
    }
}
