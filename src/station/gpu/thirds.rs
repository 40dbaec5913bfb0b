//! The device sorts two thirds of the rows and from these the rest, and returns both lists
//! ([`Offload::Hybrid`](super::Offload::Hybrid), [`Offload::HybridLarge`](super::Offload::HybridLarge)). The
//! core that codes a block merges them first (`codec::bwt::merge`). Blocks of `.bz2` streams go to the device turned to
//! their least rotations.

use super::batches::{Answered, Batch, Batched, Jobs, Put, timeout};
use super::blocks::{BatchBlock, BatchWriter, MIN_BATCH};
use super::columns::{check, forward};
use super::suffixes::{ENTRY_LOG, Preparer, SuffixBlock, forward_large};
use super::trust::{power_sums, right, too_little};
use crate::codec::bwt::merge::{self, Rows, byte_count, word_count};
use crate::formats::bzip2::stream::tasks::EncodeBlock;
use crate::formats::hbz::stream::tasks::EncodeLarge;
use hybz_gpu::{DeviceError, DeviceLane, SortedThirds};

/// With entry points this far apart, the only one of a block of a `.bz2` stream is its beginning.
const NO_ENTRIES: u8 = 30;

#[derive(Default)]
pub(super) struct Thirds(BatchWriter);

impl Batched for Thirds {
    type Task = EncodeBlock;
    type Kept = BatchBlock;
    type Input = u32;
    type Found<'a> = SortedThirds<'a>;
    const MIN_BATCH: usize = MIN_BATCH;

    fn put(&mut self, task: &EncodeBlock, lane: &mut dyn DeviceLane, batch: &Batch<Self>) -> Put<BatchBlock, u32> {
        self.0.put(task, lane, batch.filled, true, |block, _, _| power_sums(block))
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<SortedThirds<'a>, DeviceError> {
        let turns: Vec<u32> = batch.kept.iter().map(|block| block.turn).collect();
        lane.thirds(&batch.inputs, &turns, NO_ENTRIES, timeout(&batch.inputs))
    }

    fn answer(
        &mut self,
        batch: Batch<Self>,
        mut sorted: SortedThirds<'_>,
        jobs: &mut Jobs<'_, EncodeBlock>,
    ) -> Answered {
        for (number, block) in batch.kept.iter().enumerate() {
            let (thirds, origin) = take(&mut sorted, block.len, 1)?;
            check(block, &thirds.bytes, merge::Thirds::marks(block.len), origin[0])?;
            forward(block, Rows::Thirds(thirds), origin[0], jobs.get(number));
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct LargeThirds(Preparer);

impl Batched for LargeThirds {
    type Task = EncodeLarge;
    type Kept = SuffixBlock;
    type Input = u32;
    type Found<'a> = SortedThirds<'a>;
    const MIN_BATCH: usize = 1;

    fn put(&mut self, task: &EncodeLarge, lane: &mut dyn DeviceLane, batch: &Batch<Self>) -> Put<SuffixBlock, u32> {
        self.0.put(task, lane, batch.filled, SuffixBlock::new)
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<SortedThirds<'a>, DeviceError> {
        lane.thirds(&batch.inputs, &vec![0; batch.inputs.len()], ENTRY_LOG, timeout(&batch.inputs))
    }

    fn answer(
        &mut self,
        batch: Batch<Self>,
        mut sorted: SortedThirds<'_>,
        jobs: &mut Jobs<'_, EncodeLarge>,
    ) -> Answered {
        let each = batch.kept.iter().map(|block| block.points()).max().unwrap_or(0);
        for (number, block) in batch.kept.into_iter().enumerate() {
            let (thirds, points) = take(&mut sorted, block.len, each)?;
            let points = &points[..block.points()];
            check_large(&block, &thirds.bytes, points)?;
            forward_large(block, Rows::Thirds(thirds), points, jobs.get(number));
        }
        Ok(())
    }
}

/// Takes the lists of the next block of a batch, and its entry points: `each` of them, if there are that many.
fn take<'a>(sorted: &mut SortedThirds<'a>, len: usize, each: usize) -> Result<(merge::Thirds, &'a [u32]), DeviceError> {
    let bits = sorted.bits.split_off(..word_count(len)).ok_or_else(too_little)?;
    let bytes = sorted.bytes.split_off(..byte_count(len)).ok_or_else(too_little)?;
    let entries = sorted.entries.split_off(..each).ok_or_else(too_little)?;
    // Each of the others is once in both orders.
    let (first, second) = bits.split_at(bits.len() / 2);
    let others = |half: &[u32]| half.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    right([first, second].iter().all(|half| others(half) == merge::rows(len)[1]))?;
    let thirds = merge::Thirds::new(bits.to_vec(), bytes.to_vec(), len).ok_or_else(too_little)?;
    Ok((thirds, entries))
}

/// Checks that the bytes before the rows can be those of a block's codes, with these entry points.
fn check_large(entry: &SuffixBlock, rows: &[u8], entries: &[u32]) -> Result<(), DeviceError> {
    let marks = merge::Thirds::marks(entry.len);
    let marks_are_right = rows[..marks].iter().all(|&code| code == entry.last);
    // The last code goes before the first one, too.
    let before = std::iter::once(&entry.last).chain(&entry.before);
    let of_block = &rows[marks..];
    let found = |row: u32| of_block.get((row as usize).checked_sub(marks)?);
    let entries_are_right = entries.iter().zip(before).all(|(&row, code)| found(row) == Some(code));
    right(marks_are_right && entries_are_right && power_sums(of_block) == entry.sums)
}
