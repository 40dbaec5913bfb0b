//! Who does the work: the [`Station`] trait and the loop that every station thread runs.

use crate::block::{CodedBlock, DecodedBlock, Text};
pub use crate::error::Fault;
use std::sync::Arc;

/// One block's worth of work, as it lies on the queue. Stations only read it: a station that fails has lost nothing.
#[derive(Clone, Debug)]
pub enum Work {
    /// Code this text as one block.
    Compress(Text),
    /// Decode the block whose magic begins at bit `start` of `data` (which may hold more than the block, or too little).
    Decompress {
        /// Compressed bytes.
        data: Arc<Vec<u8>>,
        /// Where in them the block's magic begins, in bits.
        start: u64,
        /// The first bit that does not belong to these data (the last byte may be shared with the next span).
        end: u64,
    },
}

impl Work {
    /// How many bytes go in: text when compressing, compressed bytes when decompressing.
    pub fn bytes_in(&self) -> u64 {
        match self {
            Work::Compress(text) => text.len(),
            Work::Decompress { data, .. } => data.len() as u64,
        }
    }
}

/// What a station made of one [`Work`].
#[derive(Debug)]
pub enum Done {
    /// A block, coded.
    Coded(CodedBlock),
    /// A block, decoded and its CRC right; or what the plain decoder says is wrong with it.
    Decoded(Result<DecodedBlock, Fault>),
}

/// A station could not do (all of) its batch. The blocks it did not reply to are done by the CPU codec, and counted.
#[derive(Debug)]
pub struct StationFailure {
    /// What happened, for the user.
    pub reason: String,
    /// Whether the station must not be given work again.
    pub retire: bool,
}

/// Somebody who can code and decode blocks: a CPU core, a lane of a GPU, or a fake in a test.
///
/// A station runs on a thread of its own, which takes work from the queue, calls [`work`](Station::work) and replies.
/// It never waits for anything but the queue: this is why the pipeline cannot deadlock.
pub trait Station: Send {
    /// A short name for reports, such as `cpu 3` or `gpu 0 lane 1`.
    fn name(&self) -> String;

    /// How many blocks it would like to take at once.
    fn most(&self) -> usize {
        1
    }

    /// Whether it can do work of this direction at all; what it cannot do it is not given.
    fn can(&self, work: &Work) -> bool {
        let _ = work;
        true
    }

    /// Does a batch and hands each result to `reply` under its index in `batch`, in any order, each once.
    ///
    /// What has no reply when this returns (with `Ok` or `Err`) or panics is done by the CPU codec.
    fn work(&mut self, batch: &[Work], reply: &mut dyn FnMut(usize, Done)) -> Result<(), StationFailure>;
}
