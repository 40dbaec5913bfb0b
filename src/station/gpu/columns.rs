//! The device sorts, and returns last columns ([`Offload::Bwt`](super::Offload::Bwt)); cores code them. Blocks
//! whose suffixes are sorted: `suffixes`.

use super::batches::{Answered, Batch, Batched, Jobs, Put, timeout};
use super::blocks::{BatchBlock, BatchWriter, MIN_BATCH};
use super::trust::{power_sums, right, too_little};
use crate::codec::bwt::merge::Rows;
use crate::formats::bzip2::stream::tasks::{EncodeBlock, SortedBlock};
use hybz_gpu::{DeviceError, DeviceLane, Sorted};
use hybz_queue::TypedJob;

#[derive(Default)]
pub(super) struct Columns(BatchWriter);

impl Batched for Columns {
    type Task = EncodeBlock;
    type Kept = BatchBlock;
    type Input = u32;
    type Found<'a> = Sorted<'a>;
    const MIN_BATCH: usize = MIN_BATCH;

    fn put(&mut self, task: &EncodeBlock, lane: &mut dyn DeviceLane, batch: &Batch<Self>) -> Put<BatchBlock, u32> {
        self.0.put(task, lane, batch.filled, false, |block, _, _| power_sums(block))
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<Sorted<'a>, DeviceError> {
        lane.sort(&batch.inputs, timeout(&batch.inputs))
    }

    fn answer(&mut self, batch: Batch<Self>, sorted: Sorted<'_>, jobs: &mut Jobs<'_, EncodeBlock>) -> Answered {
        let mut columns = sorted.columns;
        for (number, (block, &origin)) in batch.kept.iter().zip(sorted.origins).enumerate() {
            let column = columns.split_off(..block.len).ok_or_else(too_little)?;
            check(block, column, 0, origin)?;
            forward(block, Rows::Column(column.to_vec()), origin, jobs.get(number));
        }
        Ok(())
    }
}

/// Checks that the bytes before the rows are the block's bytes, and that the byte at the origin is the block's last.
/// The first `marks` of them precede the end mark.
pub(super) fn check(entry: &BatchBlock, rows: &[u8], marks: usize, origin: u32) -> Result<(), DeviceError> {
    // The sums leave out the byte before the end mark, but the merge needs it.
    let mark_is_right = rows[..marks].iter().all(|&byte| byte == entry.turned_last);
    let of_block = &rows[marks..];
    let origin_is_right = (origin as usize).checked_sub(marks).and_then(|at| of_block.get(at)) == Some(&entry.last);
    right(mark_is_right && origin_is_right && power_sums(of_block) == entry.sums)
}

/// Forwards a sorted block to the cores.
pub(super) fn forward(block: &BatchBlock, rows: Rows, origin: u32, job: Option<TypedJob<'_, EncodeBlock>>) {
    if let Some(job) = job {
        job.forward(SortedBlock { rows, origin, crc: block.crc, text_len: block.text_len });
    }
}
