//! Text that is kept on a device, sorted in parts, and in the host's memory in its original order.
//!
//! Each part has its ranges one after another, and a core has counted the length of each. So a range is a slice of
//! every part, and a lane of that device sorts the slices together: text goes to the device once and comes back once,
//! and no core copies lines. If a lane has failed, a core must sort such a range, and the parts must be partitioned
//! after all: the first core that needs a part does that.

use super::partition::Partitioner;
use super::parts::{Parted, Piece};
use super::spill::Spilled;
use super::splitters::Splitters;
use hybz_gpu::KeptText;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The maximum length of a part: a batch of any lane that keeps text.
pub(super) const PART: u64 = if cfg!(test) { 2 << 20 } else { 64 << 20 };

/// Memory of a device for text.
#[derive(Clone)]
pub struct Kept {
    pub(crate) text: Arc<dyn KeptText>,
    /// How many lines a batch of [`PART`] bytes may have.
    pub(crate) lines: u64,
}

/// A part that is kept.
pub(super) struct Part {
    /// The part's text in its original order; empty once a core has partitioned it.
    pub chunks: Mutex<Vec<Piece>>,
    /// The start of each range in the kept text, and the end of the last one.
    pub starts: Vec<u64>,
    /// The chunks, partitioned by a core.
    pub parted: OnceLock<Vec<Parted>>,
}

/// All text that is kept.
pub(super) struct StoredText {
    pub kept: Kept,
    pub splitters: Arc<Splitters>,
    pub end: u8,
    pub parts: Vec<Part>,
    /// For each bucket, the number of lines in all parts, and their sum.
    pub counts: Vec<(u64, u64)>,
}

impl StoredText {
    /// The positions of a range's slices.
    pub fn slices(&self, bucket: usize) -> impl Iterator<Item = Range<u64>> {
        let slice = move |part: &Part| part.starts[bucket]..part.starts[bucket + 1];
        self.parts.iter().map(slice).filter(|slice| !slice.is_empty())
    }

    /// Whether each of the ranges, together with its text in `parted`, fits in a lane.
    pub fn fits(&self, parted: &[Parted]) -> bool {
        (0..self.splitters.buckets()).step_by(2).all(|number| {
            let host = parted.iter().map(|parted| parted.buckets[number]);
            let (bytes, lines) = host.fold((0, 0), |(bytes, lines), own| {
                (bytes + u64::from(own.end - own.start), lines + u64::from(own.lines))
            });
            bytes + self.len_of(number) <= PART && lines + self.counts[number].0 <= self.kept.lines
        })
    }

    /// The chunks of all parts, to be partitioned by cores.
    pub fn into_chunks(self) -> Vec<Piece> {
        let chunks = |part: Part| part.chunks.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.parts.into_iter().flat_map(chunks).collect()
    }

    /// The number of bytes of a range.
    pub fn len_of(&self, bucket: usize) -> u64 {
        self.slices(bucket).map(|slice| slice.end - slice.start).sum()
    }

    /// The part of a range that is kept, if any of it is. Adds its counts to `range`.
    pub fn range(self: &Arc<Self>, bucket: usize, range: &mut Spilled) -> Option<StoredRange> {
        let ((lines, sum), bytes) = (self.counts[bucket], self.len_of(bucket));
        range.add(lines, sum, 0);
        (bytes > 0).then(|| StoredRange { text: Arc::clone(self), bucket, bytes, lines: range.lines })
    }

    /// Appends the lines of a range, in any order, from the host's memory. The first core to need a part partitions
    /// it; cores mostly begin at different parts, so that few wait for each other.
    pub fn append(&self, bucket: usize, core: usize, partitioner: &mut Partitioner, text: &mut Vec<u8>) {
        let count = self.parts.len();
        for part in (0..count).map(|number| &self.parts[(number + 7 * core) % count]) {
            let mut partition = |chunk: &Piece| partitioner.partition(chunk.bytes(), self.end, &self.splitters, true);
            let parted = part.parted.get_or_init(|| {
                let chunks = std::mem::take(&mut *part.chunks.lock().unwrap_or_else(PoisonError::into_inner));
                chunks.iter().map(&mut partition).collect()
            });
            for Parted { text: lines, buckets, .. } in parted {
                text.extend_from_slice(&lines[buckets[bucket].start as usize..buckets[bucket].end as usize]);
            }
        }
    }
}

/// The part of a range that is kept.
#[derive(Clone)]
pub(crate) struct StoredRange {
    pub(super) text: Arc<StoredText>,
    pub(super) bucket: usize,
    pub(super) bytes: u64,
    /// Lines of the whole range.
    pub(super) lines: u64,
}
