//! The device sorts, and returns last columns ([`Offload::Bwt`](crate::gpu::Offload::Bwt)); cores code them. Blocks
//! whose suffixes are sorted: `suffixes`.

use super::batches::timeout;
use super::blocks::{BatchBlock, BlockBatch, BlockOffload};
use super::trust::{computes_wrongly, power_sums, too_little};
use crate::codec::bwt::merge::Rows;
use crate::formats::bzip2::stream::tasks::{EncodeBlock, SortedBlock};
use crate::gpu::station::Times;
use crate::gpu::{DeviceError, DeviceLane};
use hybz_queue::Job;

#[derive(Default)]
pub(super) struct Columns;

impl BlockOffload for Columns {
    fn sums(block: &[u8]) -> [u64; 2] {
        power_sums(block)
    }

    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        batch: &BlockBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        times.batch(
            batch.entries.len(),
            || lane.sort(&batch.lengths, timeout(&batch.lengths)),
            |sorted| {
                let mut columns = sorted.columns;
                for (entry, &origin) in batch.entries.iter().zip(sorted.origins) {
                    let (column, rest) = columns.split_at_checked(entry.len).ok_or_else(too_little)?;
                    columns = rest;
                    check(entry, column, 0, origin)?;
                    forward(entry, Rows::Column(column.to_vec()), origin, jobs);
                }
                Ok(())
            },
        )
    }
}

/// Whether the bytes before the rows are the block's bytes, and the byte at the origin is the block's last. The first
/// `marks` of them precede the end mark.
pub(super) fn check(entry: &BatchBlock, rows: &[u8], marks: usize, origin: u32) -> Result<(), DeviceError> {
    // The sums leave out the byte before the end mark, but the merge needs it.
    let mark_is_right = rows[..marks].iter().all(|&byte| byte == entry.turned_last);
    let of_block = &rows[marks..];
    let origin_is_right = (origin as usize).checked_sub(marks).and_then(|at| of_block.get(at)) == Some(&entry.last);
    if mark_is_right && origin_is_right && power_sums(of_block) == entry.sums {
        Ok(())
    } else {
        Err(computes_wrongly())
    }
}

/// Forwards a sorted block to the cores.
pub(super) fn forward(entry: &BatchBlock, rows: Rows, origin: u32, jobs: &mut [Job]) {
    if let Some(job) = jobs[entry.index].of::<EncodeBlock>() {
        job.forward(SortedBlock { rows, origin, crc: entry.crc, text_len: entry.text_len });
    }
}
