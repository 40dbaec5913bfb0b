//! Reports on the stations of a pool: their work and their speed.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The work that one station has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StationReport {
    /// The station's name, such as `cpu 0`.
    pub name: String,
    /// Whether it is an accelerator, such as a lane of a GPU.
    pub accelerator: bool,
    /// The number of blocks that it did, or began and forwarded.
    pub blocks: u64,
    /// The number of blocks that it finished after other stations had begun them.
    pub finished: u64,
    /// The number of input bytes: text when compressing, compressed bytes when decompressing.
    pub bytes_in: u64,
    /// The number of output bytes.
    pub bytes_out: u64,
    /// The time for which it worked.
    pub busy: Duration,
    /// The time for which it waited for work.
    pub waited: Duration,
    /// The time from the pool's build until the station could take work: until a device had started, say.
    pub ready: Duration,
    /// The time from the pool's build until the station had done its last job so far.
    pub ended: Duration,
    /// The number of blocks at which it failed and that a CPU core did in its place.
    pub fallbacks: u64,
    /// The number of other stations' blocks that it verified, and of its own that it has proven right.
    pub verified: u64,
    /// The number of its blocks that another station found wrong. They were made again.
    pub wrong: u64,
    /// The reason for its latest failure.
    pub failure: Option<String>,
    /// The reason why it was given no more work, if that happened.
    pub retired: Option<String>,
    /// A sentence about its work, if it has one.
    pub details: Option<String>,
}

/// The work that a [`Pool`](super::Pool) has done since it was built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// One entry for each station that was started, in the order of their starts.
    pub stations: Vec<StationReport>,
    /// The memory limit for blocks in flight, in bytes.
    pub memory: u64,
}

/// The report of one station as it grows. The station's own thread writes it; any thread may read it.
#[derive(Debug)]
pub(crate) struct Counters {
    /// The station's number.
    pub station: usize,
    report: Mutex<StationReport>,
    /// The part of `bytes_in` whose jobs other tasks continue ([`Start::Later`](super::Start::Later)).
    pub deferred: AtomicU64,
}

impl Counters {
    pub fn new(station: usize, accelerator: bool) -> Counters {
        let report = StationReport { name: "starting".to_owned(), accelerator, ..StationReport::default() };
        Counters { station, report: Mutex::new(report), deferred: AtomicU64::new(0) }
    }

    pub fn report(&self) -> MutexGuard<'_, StationReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a block that was done (or begun, if this was its `first_stage`).
    pub fn count_output(&self, first_stage: bool, bytes_in: u64, bytes_out: u64) {
        let mut report = self.report();
        if first_stage {
            report.blocks += 1;
            report.bytes_in += bytes_in;
        } else {
            report.finished += 1;
        }
        report.bytes_out += bytes_out;
    }

    /// The reason why the station gets no more work after it or its device gave a wrong answer.
    pub fn why_distrusted(&self) -> String {
        let StationReport { failure, wrong, .. } = self.report().clone();
        failure.filter(|_| wrong > 0).unwrap_or_else(|| "its device computed wrong results".to_owned())
    }

    /// The report so far. A `distrusted` station gets no more work, even if its thread has not noticed yet.
    pub fn so_far(&self, distrusted: bool) -> StationReport {
        let report = self.report().clone();
        let retired = report.retired.or_else(|| distrusted.then(|| self.why_distrusted()));
        StationReport { retired, ..report }
    }
}
