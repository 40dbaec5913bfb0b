//! The device sorts two thirds of the rows and from these the rest, and returns both lists
//! ([`Offload::Hybrid`](crate::gpu::Offload::Hybrid), [`Offload::HybridLarge`](crate::gpu::Offload::HybridLarge)). The
//! core that codes a block merges them first (`codec::bwt::merge`). Blocks of `.bz2` streams go to the device turned to
//! their least rotations.

use super::batches::timeout;
use super::blocks::{BlockBatch, BlockOffload};
use super::columns::{check, forward};
use super::suffixes::{ENTRY_LOG, SuffixBatch, SuffixBlock, SuffixOffload, forward_large};
use super::trust::{computes_wrongly, power_sums, too_little};
use crate::codec::bwt::merge::{self, Rows, byte_count, word_count};
use crate::codec::bwt::rotation;
use crate::gpu::station::Times;
use crate::gpu::{DeviceError, DeviceLane, SortedThirds};
use hybz_queue::Job;

/// With entry points this far apart, the only one of a block of a `.bz2` stream is its beginning.
const NO_ENTRIES: u8 = 30;

#[derive(Default)]
pub(super) struct Thirds;

impl BlockOffload for Thirds {
    fn turn(block: &[u8], candidates: &mut Vec<u32>) -> usize {
        rotation::least(block, candidates)
    }

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
            || lane.thirds(&batch.lengths, &batch.turns, NO_ENTRIES, timeout(&batch.lengths)),
            |mut sorted| {
                for entry in &batch.entries {
                    let (thirds, origin) = take(&mut sorted, entry.len, 1)?;
                    check(entry, &thirds.bytes, merge::Thirds::marks(entry.len), origin[0])?;
                    forward(entry, Rows::Thirds(thirds), origin[0], jobs);
                }
                Ok(())
            },
        )
    }
}

impl SuffixOffload for Thirds {
    fn run(
        lane: &mut dyn DeviceLane,
        batch: SuffixBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        let SuffixBatch { entries, lengths, .. } = batch;
        let each = lengths.iter().max().map_or(0, |&longest| (longest as usize).div_ceil(1 << ENTRY_LOG));
        times.batch(
            entries.len(),
            || lane.thirds(&lengths, &vec![0; lengths.len()], ENTRY_LOG, timeout(&lengths)),
            |mut sorted| {
                for entry in entries {
                    let (thirds, points) = take(&mut sorted, entry.len, each)?;
                    let points = &points[..entry.len.div_ceil(1 << ENTRY_LOG)];
                    check_large(&entry, &thirds.bytes, points)?;
                    forward_large(entry, Rows::Thirds(thirds), points, jobs);
                }
                Ok(())
            },
        )
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
    if [first, second].iter().any(|half| others(half) != merge::rows(len)[1]) {
        return Err(computes_wrongly());
    }
    let thirds = merge::Thirds::new(bits.to_vec(), bytes.to_vec(), len).ok_or_else(too_little)?;
    Ok((thirds, entries))
}

/// Whether the bytes before the rows can be those of a block's codes, with these entry points.
fn check_large(entry: &SuffixBlock, rows: &[u8], entries: &[u32]) -> Result<(), DeviceError> {
    let marks = merge::Thirds::marks(entry.len);
    let marks_are_right = rows[..marks].iter().all(|&code| code == entry.last);
    // The last code goes before the first one, too.
    let before = std::iter::once(&entry.last).chain(&entry.before);
    let of_block = &rows[marks..];
    let found = |row: u32| of_block.get((row as usize).checked_sub(marks)?);
    let entries_are_right = entries.iter().zip(before).all(|(&row, code)| found(row) == Some(code));
    if marks_are_right && entries_are_right && power_sums(of_block) == entry.sums {
        Ok(())
    } else {
        Err(computes_wrongly())
    }
}
