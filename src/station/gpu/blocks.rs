//! Blocks of `.bz2` streams are run-length-coded into the texts of a lane, batch by batch, for a device to sort.

use super::batches::{Placed, Put, Unplaced};
use crate::block::Text;
use crate::codec::bwt::rotation;
use crate::codec::encoder::run_length_code;
use crate::formats::bzip2::stream::tasks::EncodeBlock;
use hybz_gpu::{self as gpu, DeviceLane};

/// With fewer blocks in a batch, a lane that sorts them is not worth having.
pub(super) const MIN_BATCH: usize = 16;

/// A block in the batch.
pub(super) struct BatchBlock {
    pub crc: u32,
    pub text_len: u64,
    pub len: usize,
    /// The original start of the block in its turned text.
    pub turn: u32,
    /// For comparing the result with the block, if this kind of lane compares it.
    pub sums: [u64; 2],
    pub last: u8,
    /// The last byte of the turned block, which precedes the end mark.
    pub turned_last: u8,
}

/// The common part of all kinds of lanes for `.bz2`.
#[derive(Default)]
pub(super) struct BatchWriter {
    /// A text assembled from its parts and run-length-coded.
    text: Vec<u8>,
    coded: Vec<u8>,
    candidates: Vec<u32>,
}

impl BatchWriter {
    /// Writes a block into the texts of a lane at `at`, if it is for the device. With `turn`, the block is turned to
    /// its least rotation.
    pub fn put(
        &mut self,
        task: &EncodeBlock,
        lane: &mut dyn DeviceLane,
        at: usize,
        turn: bool,
        sums: fn(&[u8]) -> [u64; 2],
    ) -> Put<BatchBlock, u32> {
        let EncodeBlock { text, runs } = task;
        let (block, crc): (&[u8], u32) = match text {
            Text::RunLength { coded, crc, .. } => (coded, *crc),
            plain => {
                self.coded.clear();
                let crc = run_length_code(plain, runs.as_deref(), &mut self.text, &mut self.coded);
                (&self.coded, crc)
            }
        };
        let (len, text_len) = (block.len(), text.len());
        if !(gpu::MIN_DEVICE_BLOCK..=lane.size().max_length).contains(&len) || rotation::period(block) != len {
            return Err(Unplaced::Never);
        }
        let start = if turn { rotation::least(block, &mut self.candidates) } else { 0 };
        let place = &mut lane.input()[at..at + len];
        let (before, from) = block.split_at(start);
        place[..from.len()].copy_from_slice(from);
        place[from.len()..].copy_from_slice(before);
        let turn = if start == 0 { 0 } else { (len - start) as u32 };
        let last = block[len - 1];
        let turned_last = before.last().copied().unwrap_or(last);
        let kept = BatchBlock { crc, text_len, len, turn, sums: sums(block), last, turned_last };
        Ok(Placed { kept, input: len as u32, bytes: len })
    }
}
