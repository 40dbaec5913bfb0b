//! What was done, by whom, and how long it took.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One station's share of the work so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StationReport {
    /// The station's name, such as `cpu 0`.
    pub name: String,
    /// Blocks it did, or at least began.
    pub blocks: u64,
    /// Blocks that other stations had begun and it finished.
    pub finished: u64,
    /// Bytes that went in: text when compressing, compressed bytes when decompressing.
    pub bytes_in: u64,
    /// Bytes that came out.
    pub bytes_out: u64,
    /// How long it worked.
    pub busy: Duration,
    /// How long it waited for work.
    pub waited: Duration,
    /// Blocks that it failed at and that a CPU core did in its place.
    pub fallbacks: u64,
    /// Whether it only begins blocks for others to finish, as the lanes of a GPU do.
    pub only_begins: bool,
    /// What went wrong the last time that something did.
    pub failure: Option<String>,
    /// Why it was given no more work, if so.
    pub retired: Option<String>,
    /// What it was busy with, in words, if it says.
    pub details: Option<String>,
}

/// What a [`Pool`](crate::Pool) has done since it was built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// One entry for every station that was started, in the order of their start.
    pub stations: Vec<StationReport>,
    /// The most bytes that blocks on their way may take.
    pub window: u64,
}

/// What became of one stream of input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamSummary {
    /// Bytes read (up to the trailing garbage, if there is any).
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Blocks in it.
    pub blocks: u64,
    /// bzip2 streams in it: 1 when compressing; at least 1 when decompressing.
    pub streams: u64,
    /// The combined CRC of the last stream.
    pub combined_crc: u32,
    /// Where trailing garbage begins, if there is any (a byte offset into the input).
    pub trailing_garbage: Option<u64>,
}

/// One block that went through, in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInfo {
    /// Counted from 1 over the whole input.
    pub number: u64,
    /// The CRC of its text.
    pub crc: u32,
    /// The combined CRC of its stream up to here.
    pub combined_crc: u32,
    /// Bytes of text in it.
    pub text_len: u64,
    /// Bytes in it after run-length coding.
    pub block_len: u32,
    /// Bytes of this input done with so far.
    pub bytes_in: u64,
}

/// The counters of one station. The station's own thread writes them, anybody reads them.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub blocks: AtomicU64,
    pub finished: AtomicU64,
    pub bytes_in: AtomicU64,
    pub bytes_out: AtomicU64,
    pub busy_ns: AtomicU64,
    pub waited_ns: AtomicU64,
    pub fallbacks: AtomicU64,
    /// Of `busy_ns`, what went into finishing blocks that others began.
    pub finishing_ns: AtomicU64,
    details: Mutex<Option<String>>,
    failure: Mutex<Option<String>>,
}

impl Counters {
    pub fn report(&self, name: &str, retired: Option<String>) -> StationReport {
        StationReport {
            name: name.to_owned(),
            blocks: self.blocks.load(Relaxed),
            finished: self.finished.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            busy: Duration::from_nanos(self.busy_ns.load(Relaxed)),
            waited: Duration::from_nanos(self.waited_ns.load(Relaxed)),
            fallbacks: self.fallbacks.load(Relaxed),
            only_begins: false,
            failure: self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            retired,
            details: self.details.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Keeps what the station says about its work.
    pub fn say(&self, details: String) {
        *self.details.lock().unwrap_or_else(PoisonError::into_inner) = Some(details);
    }

    /// Keeps why a batch, or a part of it, was not done.
    pub fn fail(&self, reason: &str) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.to_owned());
    }

    /// Bytes in per second of work, or 0 before the first block. What it finished for others does not count.
    pub fn rate(&self) -> f64 {
        let busy = self.busy_ns.load(Relaxed).saturating_sub(self.finishing_ns.load(Relaxed));
        if busy == 0 { 0.0 } else { self.bytes_in.load(Relaxed) as f64 * 1e9 / busy as f64 }
    }
}
