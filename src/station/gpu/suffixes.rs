//! Sorts blocks of `.hbz` streams: the lane's thread turns each text into codes, the device sorts, and a core codes the
//! last column; or it merges the lists of `thirds` first.
//!
//! A core alone takes 21.5 ns a byte, 14.6 of them for the sort. The remaining work is divided: the lane's thread does
//! 2 ns before the sort, and cores do the rest after it. (These figures are of a Zen 5. On 16 busy cores of a Sapphire
//! Rapids host the two parts take 4 and 7.5 ns: 8 GB in 7.6 s, while the device works for less than half of the time.)
//!
//! **Trust.** The column must hold the same bytes as the codes (sums, compared), each entry point must have the right
//! byte before it, and the first entry point must be the origin.

use super::batches::{Added, Batched, timeout};
use super::columns::Columns;
use super::trust::{computes_wrongly, power_sums, too_little};
use crate::codec::bwt::merge::Rows;
use crate::formats::hbz::codec::encode::{HbzEncoder, Prepared};
pub(super) use crate::formats::hbz::header::ENTRY_LOG;
use crate::formats::hbz::stream::tasks::{EncodeLarge, SortedLarge};
use crate::gpu::station::Times;
use crate::gpu::{self, DeviceError, DeviceLane, SortedSuffixes};
use hybz_queue::Job;
use std::marker::PhantomData;

/// How a kind of lane handles a batch.
pub(super) trait SuffixOffload: Send + Default {
    /// Has the device sort a batch, which is not empty, and forwards it.
    fn run(
        lane: &mut dyn DeviceLane,
        batch: SuffixBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError>;
}

/// A block in the batch.
pub(super) struct SuffixBlock {
    index: usize,
    prepared: Prepared,
    pub len: usize,
    pub sums: [u64; 2],
    pub last: u8,
    /// The code before each entry point except the first.
    pub before: Vec<u8>,
}

/// The blocks in a lane's texts.
#[derive(Default)]
pub(super) struct SuffixBatch {
    pub entries: Vec<SuffixBlock>,
    pub lengths: Vec<u32>,
    filled: usize,
}

/// State for preparing blocks.
#[derive(Default)]
pub(super) struct Suffixes<B> {
    offload: PhantomData<B>,
    /// The encoder sorts nothing, so it needs little memory; for a perturbed block, as much as the block.
    encoder: HbzEncoder,
    codes: Vec<u8>,
}

impl<B: SuffixOffload> Suffixes<B> {
    /// Appends the codes of a block to the batch. Returns whether the block is for the device.
    fn add_block(
        &mut self,
        index: usize,
        block: &EncodeLarge,
        lane: &mut dyn DeviceLane,
        batch: &mut SuffixBatch,
    ) -> bool {
        let EncodeLarge { text, number, stream } = block;
        if stream.entry_log != ENTRY_LOG {
            return false; // no encoder writes such blocks
        }
        let prepared = self.encoder.prepare(text, *number, stream, &mut self.codes);
        let len = self.codes.len();
        if !(gpu::MIN_DEVICE_BLOCK..=lane.size().max_length).contains(&len) {
            return false;
        }
        lane.texts()[batch.filled..batch.filled + len].copy_from_slice(&self.codes);
        batch.filled += len;
        batch.lengths.push(len as u32);
        let before = self.codes.chunks_exact(1 << ENTRY_LOG).map(|chunk| chunk[chunk.len() - 1]).collect();
        let (sums, last) = (power_sums(&self.codes), self.codes[len - 1]);
        batch.entries.push(SuffixBlock { index, prepared, len, sums, last, before });
        true
    }
}

impl<B: SuffixOffload> Batched for Suffixes<B> {
    type Batch = SuffixBatch;
    const MIN_BATCH: usize = 1;

    fn add(
        &mut self,
        index: usize,
        job: &Job,
        lane: &mut dyn DeviceLane,
        batch: &mut SuffixBatch,
    ) -> Result<Added, DeviceError> {
        let Some(block) = job.task() else { return Ok(Added::Never) };
        if batch.entries.len() == lane.size().max_blocks {
            return Ok(Added::NotNow);
        }
        Ok(if self.add_block(index, block, lane, batch) { Added::Yes } else { Added::Never })
    }

    fn is_empty(batch: &SuffixBatch) -> bool {
        batch.entries.is_empty()
    }

    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        batch: SuffixBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        B::run(lane, batch, jobs, times)
    }
}

impl SuffixOffload for Columns {
    fn run(
        lane: &mut dyn DeviceLane,
        batch: SuffixBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        let SuffixBatch { entries, lengths, .. } = batch;
        times.batch(
            entries.len(),
            || lane.suffixes(&lengths, ENTRY_LOG, timeout(&lengths)),
            |sorted| forward(entries, sorted, jobs),
        )
    }
}

fn forward(entries: Vec<SuffixBlock>, sorted: SortedSuffixes<'_>, jobs: &mut [Job]) -> Result<(), DeviceError> {
    let each = sorted.entries.len() / entries.len();
    let (mut columns, mut rows) = (sorted.columns, sorted.entries);
    for (entry, &origin) in entries.into_iter().zip(sorted.origins) {
        let for_columns = columns.split_at_checked(entry.len + 1).ok_or_else(too_little)?;
        let for_rows = rows.split_at_checked(each).ok_or_else(too_little)?;
        (columns, rows) = (for_columns.1, for_rows.1);
        let points = for_rows.0.get(..entry.len.div_ceil(1 << ENTRY_LOG)).ok_or_else(too_little)?;
        check(&entry, for_columns.0, origin, points)?;
        let (above, below) = for_columns.0.split_at(origin as usize);
        let column = [above, &below[1..]].concat();
        forward_large(entry, Rows::Column(column), points, jobs);
    }
    Ok(())
}

/// Forwards a sorted block to the cores.
pub(super) fn forward_large(entry: SuffixBlock, rows: Rows, entries: &[u32], jobs: &mut [Job]) {
    if let Some(job) = jobs[entry.index].of::<EncodeLarge>() {
        job.forward(SortedLarge { prepared: entry.prepared, rows, entries: entries.to_vec() });
    }
}

/// Whether the column can be the last column of a block's codes, with `origin` as the end mark's row and these entry
/// points.
fn check(entry: &SuffixBlock, column: &[u8], origin: u32, entries: &[u32]) -> Result<(), DeviceError> {
    let before = |row: u32| column.get(row as usize + 1).copied();
    // The end mark's own row is the first, so no other suffix is the whole block.
    let ends_are_right = column[0] == entry.last && origin > 0 && column.get(origin as usize) == Some(&0);
    let first_is_right = entries.first().is_some_and(|&row| row.checked_add(1) == Some(origin));
    let others_are_right = entries.iter().skip(1).zip(&entry.before).all(|(&row, &code)| before(row) == Some(code));
    if ends_are_right && first_is_right && others_are_right && power_sums(column) == entry.sums {
        Ok(())
    } else {
        Err(computes_wrongly())
    }
}
