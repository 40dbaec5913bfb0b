//! Sorts blocks of `.hbz` streams: the lane's thread turns each text into codes, the device sorts, and a core codes the
//! last column; or it merges the lists of `thirds` first.
//!
//! A core alone takes 21.5 ns a byte, 14.6 of them for the sort. The remaining work is divided: the lane's thread does
//! 2 ns before the sort, and cores do the rest after it. (These figures are of a Zen 5. On 16 busy cores of a Sapphire
//! Rapids host the two parts take 4 and 7.5 ns: 8 GB in 7.6 s, while the device works for less than half of the time.)
//!
//! **Trust.** The column must hold the same bytes as the codes (sums, compared), each entry point must have the right
//! byte before it, and the first entry point must be the origin.

use super::batches::{Answered, Batch, Batched, Jobs, Placed, Put, Unplaced, timeout};
use super::trust::{power_sums, right, too_little};
use crate::codec::bwt::merge::Rows;
use crate::formats::hbz::codec::encode::{HbzEncoder, Prepared};
pub(super) use crate::formats::hbz::header::ENTRY_LOG;
use crate::formats::hbz::stream::tasks::{EncodeLarge, SortedLarge};
use hybz_gpu::{self as gpu, DeviceError, DeviceLane, SortedSuffixes};
use hybz_queue::TypedJob;

/// A block in the batch.
pub(super) struct SuffixBlock {
    prepared: Prepared,
    pub len: usize,
    pub sums: [u64; 2],
    pub last: u8,
    /// The code before each entry point except the first.
    pub before: Vec<u8>,
}

impl SuffixBlock {
    pub fn new(prepared: Prepared, codes: &[u8]) -> SuffixBlock {
        let before = codes.chunks_exact(1 << ENTRY_LOG).map(|chunk| chunk[chunk.len() - 1]).collect();
        let (len, last) = (codes.len(), codes[codes.len() - 1]);
        SuffixBlock { prepared, len, sums: power_sums(codes), last, before }
    }

    /// The number of entry points.
    pub fn points(&self) -> usize {
        self.len.div_ceil(1 << ENTRY_LOG)
    }
}

/// The common part of all kinds of lanes that code blocks of `.hbz` streams.
#[derive(Default)]
pub(super) struct Preparer {
    /// The encoder sorts nothing, so it needs little memory; for a perturbed block, as much as the block.
    encoder: HbzEncoder,
    codes: Vec<u8>,
}

impl Preparer {
    /// Writes the codes of a block into the texts of a lane at `at`, if they are for the device.
    pub fn put<K>(
        &mut self,
        task: &EncodeLarge,
        lane: &mut dyn DeviceLane,
        at: usize,
        keep: impl FnOnce(Prepared, &[u8]) -> K,
    ) -> Put<K, u32> {
        let EncodeLarge { text, number, stream } = task;
        if stream.entry_log != ENTRY_LOG {
            return Err(Unplaced::Never); // no encoder writes such blocks
        }
        let prepared = self.encoder.prepare(text, *number, stream, &mut self.codes);
        let bytes = self.codes.len();
        if !(gpu::MIN_DEVICE_BLOCK..=lane.size().max_length).contains(&bytes) {
            return Err(Unplaced::Never);
        }
        lane.input()[at..at + bytes].copy_from_slice(&self.codes);
        Ok(Placed { kept: keep(prepared, &self.codes), input: bytes as u32, bytes })
    }
}

#[derive(Default)]
pub(super) struct Suffixes(Preparer);

impl Batched for Suffixes {
    type Task = EncodeLarge;
    type Kept = SuffixBlock;
    type Input = u32;
    type Found<'a> = SortedSuffixes<'a>;
    const MIN_BATCH: usize = 1;

    fn put(&mut self, task: &EncodeLarge, lane: &mut dyn DeviceLane, batch: &Batch<Self>) -> Put<SuffixBlock, u32> {
        self.0.put(task, lane, batch.filled, SuffixBlock::new)
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<SortedSuffixes<'a>, DeviceError> {
        lane.suffixes(&batch.inputs, ENTRY_LOG, timeout(&batch.inputs))
    }

    fn answer(&mut self, batch: Batch<Self>, sorted: SortedSuffixes<'_>, jobs: &mut Jobs<'_, EncodeLarge>) -> Answered {
        let each = sorted.entries.len() / batch.kept.len();
        let (mut columns, mut rows) = (sorted.columns, sorted.entries);
        for (number, (block, &origin)) in batch.kept.into_iter().zip(sorted.origins).enumerate() {
            let column = columns.split_off(..block.len + 1).ok_or_else(too_little)?;
            let rows = rows.split_off(..each).ok_or_else(too_little)?;
            let points = rows.get(..block.points()).ok_or_else(too_little)?;
            check(&block, column, origin, points)?;
            let (above, below) = column.split_at(origin as usize);
            forward_large(block, Rows::Column([above, &below[1..]].concat()), points, jobs.get(number));
        }
        Ok(())
    }
}

/// Forwards a sorted block to the cores.
pub(super) fn forward_large(block: SuffixBlock, rows: Rows, entries: &[u32], job: Option<TypedJob<'_, EncodeLarge>>) {
    if let Some(job) = job {
        job.forward(SortedLarge { prepared: block.prepared, rows, entries: entries.to_vec() });
    }
}

/// Checks that the column can be the last column of a block's codes, with `origin` as the end mark's row and these
/// entry points.
fn check(entry: &SuffixBlock, column: &[u8], origin: u32, entries: &[u32]) -> Result<(), DeviceError> {
    let before = |row: u32| column.get(row as usize + 1).copied();
    // The end mark's own row is the first, so no other suffix is the whole block.
    let ends_are_right = column[0] == entry.last && origin > 0 && column.get(origin as usize) == Some(&0);
    let first_is_right = entries.first().is_some_and(|&row| row.checked_add(1) == Some(origin));
    let others_are_right = entries.iter().skip(1).zip(&entry.before).all(|(&row, &code)| before(row) == Some(code));
    right(ends_are_right && first_is_right && others_are_right && power_sums(column) == entry.sums)
}
