//! Blocks of `.bz2` streams are run-length-coded into the texts of a lane, batch by batch, for a device to sort.

use super::batches::{Added, Batched};
use crate::block::Text;
use crate::codec::bwt::rotation;
use crate::codec::encoder::run_length_code;
use crate::formats::bzip2::stream::tasks::EncodeBlock;
use crate::gpu::station::Times;
use crate::gpu::{self, DeviceError, DeviceLane};
use hybz_queue::Job;

/// How a kind of lane handles a batch.
pub(super) trait BlockOffload: Send + Default {
    /// The position to which a block is rotated before it goes to the device; `candidates` is working memory.
    fn turn(block: &[u8], candidates: &mut Vec<u32>) -> usize {
        let _ = (block, candidates);
        0
    }

    /// Sums for comparing the result with the block, if this kind of lane compares them.
    fn sums(block: &[u8]) -> [u64; 2];

    /// Has the device do a batch, which is not empty, and replies to its jobs.
    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        batch: &BlockBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError>;
}

/// A block in the batch.
pub(super) struct BatchBlock {
    /// Its index among the jobs.
    pub index: usize,
    pub crc: u32,
    pub text_len: u64,
    pub len: usize,
    pub sums: [u64; 2],
    pub last: u8,
    /// The last byte of the turned block, which precedes the end mark.
    pub turned_last: u8,
}

/// The blocks in a lane's texts.
#[derive(Default)]
pub(super) struct BlockBatch {
    pub entries: Vec<BatchBlock>,
    pub lengths: Vec<u32>,
    /// The original start of each block in its turned text.
    pub turns: Vec<u32>,
    pub filled: usize,
}

/// The common part of all kinds of lanes for `.bz2`.
#[derive(Default)]
pub(super) struct BlockStation<B> {
    offload: B,
    /// A text assembled from its parts and run-length-coded.
    text: Vec<u8>,
    coded: Vec<u8>,
    candidates: Vec<u32>,
}

impl<B: BlockOffload> BlockStation<B> {
    /// Appends a block to the batch. Returns whether the block is for the device.
    fn add_block(
        &mut self,
        index: usize,
        task: &EncodeBlock,
        lane: &mut dyn DeviceLane,
        batch: &mut BlockBatch,
    ) -> bool {
        let EncodeBlock { text, runs } = task;
        let (block, crc): (&[u8], u32) = match text {
            Text::RunLength { coded, crc, .. } => (coded, *crc),
            plain => {
                self.coded.clear();
                let crc = run_length_code(plain, runs.as_deref(), &mut self.text, &mut self.coded);
                (&self.coded, crc)
            }
        };
        let usual = (gpu::MIN_DEVICE_BLOCK..=lane.size().max_length).contains(&block.len());
        if !usual || rotation::period(block) != block.len() {
            return false;
        }
        let start = B::turn(block, &mut self.candidates);
        let place = &mut lane.texts()[batch.filled..batch.filled + block.len()];
        let (before, from) = block.split_at(start);
        place[..from.len()].copy_from_slice(from);
        place[from.len()..].copy_from_slice(before);
        batch.filled += block.len();
        batch.lengths.push(block.len() as u32);
        batch.turns.push(if start == 0 { 0 } else { (block.len() - start) as u32 });
        let (len, last) = (block.len(), block[block.len() - 1]);
        let turned_last = before.last().copied().unwrap_or(last);
        let (sums, text_len) = (B::sums(block), text.len());
        batch.entries.push(BatchBlock { index, crc, text_len, len, sums, last, turned_last });
        true
    }
}

impl<B: BlockOffload> Batched for BlockStation<B> {
    type Batch = BlockBatch;
    const MIN_BATCH: usize = 16;

    fn add(
        &mut self,
        index: usize,
        job: &Job,
        lane: &mut dyn DeviceLane,
        batch: &mut BlockBatch,
    ) -> Result<Added, DeviceError> {
        let Some(task) = job.task::<EncodeBlock>() else { return Ok(Added::Never) };
        if batch.entries.len() == lane.size().max_blocks {
            return Ok(Added::NotNow);
        }
        Ok(if self.add_block(index, task, lane, batch) { Added::Yes } else { Added::Never })
    }

    fn is_empty(batch: &BlockBatch) -> bool {
        batch.entries.is_empty()
    }

    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        batch: BlockBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        self.offload.run(lane, &batch, jobs, times)
    }
}
