//! The workers' interface.

use super::core::Core;
use super::job::Job;
use std::fmt;

/// A worker: a CPU core ([`Core`](super::Core)), a lane of a GPU, or a fake in a test.
///
/// A station runs on a thread of its own, which takes jobs from the queue and calls [`work`](Station::work). It never
/// waits for anything but the queue (and its own device), so there is no deadlock.
pub trait Station: Send {
    /// A short name for reports, such as `cpu 3` or `gpu 0 lane 1`.
    fn name(&self) -> String;

    /// The number of jobs that it can take in one batch.
    fn max_batch(&self) -> usize {
        1
    }

    /// The maximum number of bytes of a batch of several jobs.
    fn max_bytes(&self) -> u64 {
        u64::MAX
    }

    /// A sentence about its work, for reports.
    fn details(&self) -> Option<String> {
        None
    }

    /// Whether its whole [`WorkerGroup`](super::WorkerGroup) must retire because their device computes wrong results.
    /// The queue asks this when the station retires.
    fn ends_group(&self) -> bool {
        false
    }

    /// Does a batch, in any order: completes each job, forwards it, or declines it. [`Job::of`] gives a job with its
    /// task, if the station knows the task's type. [`Job::run`] does any job as a core does it, with a [`Core`] that
    /// the station keeps.
    ///
    /// # Errors
    /// If the station could not do all of its batch. Whatever happens (an error, a panic, a job left open), a CPU core
    /// does the jobs that are still open, and they are counted as fallbacks. The station then gets more work, unless
    /// the error says that it retires.
    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError>;
}

/// The error of a station that could not do its batch, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StationError {
    /// The cause, for the user.
    pub reason: String,
    /// Whether the station must not be given work again.
    pub retire: bool,
}

impl fmt::Display for StationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for StationError {}

/// A core as a station: each task defines how a core runs it.
impl Station for Core {
    fn name(&self) -> String {
        format!("cpu {}", self.number())
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        batch.iter_mut().for_each(|job| job.run(self));
        Ok(())
    }
}
