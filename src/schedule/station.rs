//! Who does the work, and what kind of work it is.

use super::job::{AnyJob, Class};
use std::fmt;

/// A kind of work: what lies on the queue, and how a CPU core does it.
///
/// The scheduler knows nothing else of it. The codec of this crate is one kind; `examples/station.rs` is another.
pub trait Work: Send + Sync + 'static {
    /// What lies on the queue: a [`Job`](super::Job), or an enum of jobs.
    type Job: AnyJob;

    /// How many [`Class`]es of jobs there are.
    const CLASSES: usize = 1;

    /// The station of one CPU core. It accepts every job, and it is the last resort: what every other station failed
    /// at, a fresh one does.
    fn core(&self, number: usize) -> Box<dyn Station<Self::Job>>;

    /// The same kind of work for a process that was forked from this one.
    ///
    /// It may not share anything with this one that a lock guards: another thread may have held the lock at the fork.
    fn after_fork(&self) -> Self
    where
        Self: Sized;

    /// How many bytes of input a second one core is expected to do, until it has been measured.
    fn core_rate(&self, class: Class) -> f64 {
        let _ = class;
        50e6
    }

    /// How many bytes the memory budget has for each core, unless the builder of the pool sets another one.
    fn memory_per_core(&self) -> u64 {
        16 << 20
    }
}

/// Somebody who does jobs: a CPU core, a lane of a GPU, or a fake in a test.
///
/// A station runs on a thread of its own, which takes jobs from the queue and calls [`work`](Station::work). It never
/// waits for anything but the queue (and its own device): this is why nothing locks up.
pub trait Station<J>: Send {
    /// A short name for reports, such as `cpu 3` or `gpu 0 lane 1`.
    fn name(&self) -> String;

    /// How many jobs it can take at once.
    fn max_batch(&self) -> usize {
        1
    }

    /// How many bytes of jobs it should be given at once, if more than one job.
    fn max_bytes(&self) -> u64 {
        u64::MAX
    }

    /// What it was busy with, in words, for reports.
    fn details(&self) -> Option<String> {
        None
    }

    /// When it retires: whether all of its [`Crew`](super::Crew) must, because their device computes wrongly.
    fn ends_crew(&self) -> bool {
        false
    }

    /// Does a batch, in any order: answers each job, passes it on, or declines it.
    ///
    /// # Errors
    /// If it could not do all of its batch. Whatever happens (an error, a panic, silence), a CPU core does the jobs
    /// that it has not answered, and they are counted as fallbacks.
    fn work(&mut self, batch: &mut [J]) -> Result<(), StationError>;
}

/// A station could not do (all of) its batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StationError {
    /// What happened, for the user.
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
