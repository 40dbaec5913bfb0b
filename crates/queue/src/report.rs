//! Reports on the stations of a pool: their work and their speed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
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
    /// The number of other stations' blocks that it verified.
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

/// The name of a station that is still being made.
const STARTING: &str = "starting";

/// The counters of one station. The station's own thread writes them; any thread may read them.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The station's number.
    pub station: usize,
    /// Whether it is an accelerator.
    pub accelerator: AtomicBool,
    pub blocks: AtomicU64,
    pub finished: AtomicU64,
    pub bytes_in: AtomicU64,
    /// The part of `bytes_in` whose jobs other tasks continue ([`Start::Later`](super::Start::Later)).
    pub deferred: AtomicU64,
    pub bytes_out: AtomicU64,
    pub busy_ns: AtomicU64,
    pub waited_ns: AtomicU64,
    pub ready_ns: AtomicU64,
    pub ended_ns: AtomicU64,
    pub fallbacks: AtomicU64,
    pub verified: AtomicU64,
    pub wrong: AtomicU64,
    words: Mutex<Words>,
}

#[derive(Clone, Debug, Default)]
struct Words {
    name: Option<String>,
    details: Option<String>,
    failure: Option<String>,
    retired: Option<String>,
}

impl Counters {
    pub fn new(station: usize, accelerator: bool) -> Counters {
        Counters { station, accelerator: accelerator.into(), ..Counters::default() }
    }

    /// Counts a block that was done (or begun, if this was its `first_stage`).
    pub fn count_output(&self, first_stage: bool, bytes_in: u64, bytes_out: u64) {
        if first_stage {
            self.blocks.fetch_add(1, Relaxed);
            self.bytes_in.fetch_add(bytes_in, Relaxed);
        } else {
            self.finished.fetch_add(1, Relaxed);
        }
        self.bytes_out.fetch_add(bytes_out, Relaxed);
    }

    /// Counts a block of another station that this one has verified, whatever the outcome.
    pub fn count_verified(&self) {
        self.verified.fetch_add(1, Relaxed);
    }

    /// Counts a block of this station that another one has found wrong.
    pub fn count_wrong(&self, reason: &str) {
        self.wrong.fetch_add(1, Relaxed);
        self.set_failure(reason);
    }

    /// The reason why the station gets no more work after it or its device gave a wrong answer.
    pub fn why_distrusted(&self) -> String {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let own = words.failure.clone().filter(|_| self.wrong.load(Relaxed) > 0);
        own.unwrap_or_else(|| "its device computed wrong results".to_owned())
    }

    /// Counts a job of `bytes` that other tasks continue.
    pub fn count_deferred(&self, bytes: u64) {
        self.deferred.fetch_add(bytes, Relaxed);
    }

    /// Records when the station could take work.
    pub fn set_ready(&self, at: Duration) {
        self.ready_ns.store(at.as_nanos() as u64, Relaxed);
    }

    /// Counts the time of a batch, which has ended now.
    pub fn count_time(&self, waited: Duration, busy: Duration, now: Duration) {
        self.ended_ns.store(now.as_nanos() as u64, Relaxed);
        self.waited_ns.fetch_add(waited.as_nanos() as u64, Relaxed);
        self.busy_ns.fetch_add(busy.as_nanos() as u64, Relaxed);
    }

    fn words(&self, change: impl FnOnce(&mut Words)) {
        change(&mut self.words.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Records the station's name.
    pub fn set_name(&self, name: String) {
        self.words(|words| words.name = Some(name));
    }

    /// Records the station's sentence about its work.
    pub fn set_details(&self, details: String) {
        self.words(|words| words.details = Some(details));
    }

    /// Records why a batch, or a part of it, was not done.
    pub fn set_failure(&self, reason: &str) {
        self.words(|words| words.failure = Some(reason.to_owned()));
    }

    /// Records why the station was given no more work.
    pub fn set_retired(&self, reason: String) {
        self.words(|words| words.retired = Some(reason));
    }

    /// The station's name.
    pub fn name(&self) -> String {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        words.name.clone().unwrap_or_else(|| STARTING.to_owned())
    }

    /// The report. A `distrusted` station gets no more work, even if its thread has not noticed yet.
    pub fn report(&self, distrusted: bool) -> StationReport {
        let distrust = distrusted.then(|| self.why_distrusted());
        let Words { name, details, failure, retired } =
            self.words.lock().unwrap_or_else(PoisonError::into_inner).clone();
        StationReport {
            name: name.unwrap_or_else(|| STARTING.to_owned()),
            accelerator: self.accelerator.load(Relaxed),
            blocks: self.blocks.load(Relaxed),
            finished: self.finished.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            busy: Duration::from_nanos(self.busy_ns.load(Relaxed)),
            waited: Duration::from_nanos(self.waited_ns.load(Relaxed)),
            ready: Duration::from_nanos(self.ready_ns.load(Relaxed)),
            ended: Duration::from_nanos(self.ended_ns.load(Relaxed)),
            fallbacks: self.fallbacks.load(Relaxed),
            verified: self.verified.load(Relaxed),
            wrong: self.wrong.load(Relaxed),
            failure,
            retired: retired.or(distrust),
            details,
        }
    }
}
