//! How a lane divides its jobs into batches, whatever it does with them.

use super::lane::{Offloaded, Times};
use crate::gpu::{DeviceError, DeviceLane, LaneSize};
use crate::schedule::Job;
use std::time::Instant;

/// Whether a block goes to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    Yes,
    /// It is one for a core.
    Never,
    /// There is no room for it in this batch.
    NotNow,
}

/// What a lane's thread does with batches of blocks.
pub(super) trait Batched: Send {
    /// The lane that it needs.
    type Lane: DeviceLane + ?Sized;

    /// The blocks that are in the texts of a lane.
    type Batch: Default;

    /// The fewest blocks for which such a lane is worth having.
    const MIN_BATCH: usize;

    /// How many bytes of jobs such a lane should take at once.
    fn max_bytes(size: LaneSize) -> u64 {
        let _ = size;
        u64::MAX
    }

    /// Adds a job's block to the batch. An empty batch has room for whatever can be added at all.
    ///
    /// # Errors
    /// The lane failed.
    fn add(
        &mut self,
        index: usize,
        job: &Job,
        lane: &mut Self::Lane,
        batch: &mut Self::Batch,
    ) -> Result<Added, DeviceError>;

    /// Whether the batch has no blocks.
    fn is_empty(batch: &Self::Batch) -> bool;

    /// Has the device do a batch, which is not empty, and answers its jobs, passes them on or declines them.
    fn run(
        &mut self,
        lane: &mut Self::Lane,
        batch: Self::Batch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError>;
}

impl<B: Batched> Offloaded for B {
    type Lane = B::Lane;
    const MIN_BATCH: usize = B::MIN_BATCH;

    fn max_bytes(size: LaneSize) -> u64 {
        B::max_bytes(size)
    }

    /// Does the jobs in as many batches as the lane needs.
    fn work(&mut self, lane: &mut B::Lane, jobs: &mut [Job], times: &mut Times) -> Result<(), DeviceError> {
        let mut began = Instant::now();
        let mut batch = B::Batch::default();
        for index in 0..jobs.len() {
            loop {
                match self.add(index, &jobs[index], lane, &mut batch)? {
                    Added::Yes => break,
                    Added::NotNow if !B::is_empty(&batch) => {
                        times.prepare += began.elapsed();
                        self.run(lane, std::mem::take(&mut batch), jobs, times)?;
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
        if B::is_empty(&batch) { Ok(()) } else { self.run(lane, batch, jobs, times) }
    }
}
