//! The device sorts two thirds of the rotations and from these the rest, and returns both lists
//! ([`Offload::Hybrid`](crate::gpu::Offload::Hybrid)). The core that codes a block merges them first
//! (`codec::bwt::merge`). Blocks go to the device turned to their least rotations.

use super::batches::timeout;
use super::blocks::{BlockBatch, BlockOffload};
use super::columns::{check, forward};
use super::trust::{power_sums, too_little};
use crate::codec::bwt::merge::{self, byte_count, key_count};
use crate::codec::bwt::rotation;
use crate::formats::bzip2::stream::tasks::Rows;
use crate::gpu::station::Times;
use crate::gpu::{DeviceError, SortThirds};
use hybz_queue::Job;

#[derive(Default)]
pub(super) struct Thirds;

impl BlockOffload for Thirds {
    type Lane = dyn SortThirds;

    fn turn(block: &[u8], candidates: &mut Vec<u32>) -> usize {
        rotation::least(block, candidates)
    }

    fn sums(block: &[u8]) -> [u64; 2] {
        power_sums(block)
    }

    fn run(
        &mut self,
        lane: &mut (dyn SortThirds + 'static),
        batch: &BlockBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        times.batch(
            batch.entries.len(),
            || lane.thirds(&batch.lengths, &batch.turns, timeout(&batch.lengths)),
            |sorted| {
                let (mut keys, mut bytes) = (sorted.keys, sorted.bytes);
                for (entry, &origin) in batch.entries.iter().zip(sorted.origins) {
                    let for_keys = keys.split_at_checked(key_count(entry.len)).ok_or_else(too_little)?;
                    let for_bytes = bytes.split_at_checked(byte_count(entry.len)).ok_or_else(too_little)?;
                    (keys, bytes) = (for_keys.1, for_bytes.1);
                    check(entry, for_bytes.0, merge::Thirds::marks(entry.len), origin)?;
                    if let Some(thirds) = merge::Thirds::new(for_keys.0.to_vec(), for_bytes.0.to_vec(), entry.len) {
                        forward(entry, Rows::Thirds(thirds), origin, jobs);
                    }
                }
                Ok(())
            },
        )
    }
}
