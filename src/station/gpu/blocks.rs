//! Blocks of `.bz2` streams are run-length-coded into the texts of a lane, batch by batch, for a device to sort.

use super::batches::{Placed, Put, Unplaced};
use crate::block::Text;
use crate::codec::bwt::rotation;
use crate::codec::run_length::encode::{self, encode_into};
use crate::crc;
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
    /// For comparing the result with the block, as this kind of lane compares it.
    pub sums: [u64; 2],
    pub last: u8,
    /// The last byte of the turned block, which precedes the end mark.
    pub turned_last: u8,
}

/// The common part of all kinds of lanes for `.bz2`.
#[derive(Default)]
pub(super) struct BatchWriter {
    /// A text assembled from its parts.
    text: Vec<u8>,
    candidates: Vec<u32>,
}

impl BatchWriter {
    /// Writes a block into the texts of a lane at `at`, if it is for the device. With `turn`, the block is turned to
    /// its least rotation. `sums` gets the block as it has been written, the text as the task holds it (plain or
    /// run-length-coded), and the text's CRC.
    pub fn put(
        &mut self,
        task: &EncodeBlock,
        lane: &mut dyn DeviceLane,
        at: usize,
        turn: bool,
        sums: impl Fn(&[u8], &[u8], u32) -> [u64; 2],
    ) -> Put<BatchBlock, u32> {
        let EncodeBlock { text, runs } = task;
        let max_length = lane.size().max_length;
        let place = &mut lane.input()[at..at + max_length];
        let (bytes, len, crc) = match text {
            Text::RunLength { coded, crc, .. } => (&coded[..], encode_into(coded, [], place), *crc),
            plain => {
                let plain = plain.plain(&mut self.text).unwrap_or_default();
                let len = match runs {
                    Some(runs) => encode_into(plain, runs.iter().copied(), place),
                    None => encode_into(plain, encode::runs(plain), place),
                };
                (plain, len, crc::checksum(plain))
            }
        };
        let block = &mut place[..len.ok_or(Unplaced::Never)?];
        let (len, text_len) = (block.len(), text.len());
        if len < gpu::MIN_DEVICE_BLOCK || rotation::period(block) != len {
            return Err(Unplaced::Never);
        }
        let last = block[len - 1];
        let start = if turn { rotation::least(block, &mut self.candidates) } else { 0 };
        block.rotate_left(start);
        let turn = if start == 0 { 0 } else { (len - start) as u32 };
        let turned_last = block[len - 1];
        let kept = BatchBlock { crc, text_len, len, turn, sums: sums(block, bytes, crc), last, turned_last };
        Ok(Placed { kept, input: len as u32, bytes: len })
    }
}
