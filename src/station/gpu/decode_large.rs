//! Decodes blocks of `.hbz` streams ([`Offload::DecodeLarge`](super::Offload::DecodeLarge)).
//!
//! The lane's thread reads the payloads up to their segments, the device does everything from there to the codes, and
//! the lane's thread replaces the codes by text, which it has to copy out of pinned memory anyway. A batch therefore
//! returns one byte for each of its rows, although a block of few rows may stand for 1 GiB.
//!
//! **Trust.** A block's text must have the CRC of its header. Only a core may report damage: blocks that cannot be
//! read, or that the device finds odd, are declined. If a CRC is wrong, the lane's thread decodes the first such block
//! of a batch itself: either the data are damaged, or the device computes wrong results and gets no more work.

use super::batches::{Answered, Batch, Batched, Doubt, Jobs, Placed, Put, Unplaced, timeout};
use super::payload;
use super::trust::too_little;
use crate::formats::hbz::codec::decode::PayloadBlock;
use crate::formats::hbz::stream::tasks::DecodeLarge;
use hybz_gpu::{
    DecodedCodes, DeviceError, DeviceLane, LaneSize, LargeForDevice, MAX_ENTRY_LOG, MAX_ROWS, ROW_UNIT, input_room,
};
use hybz_queue::Task;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of bytes of pinned memory that the lanes of one device may still take for longer blocks.
#[derive(Default)]
pub(super) struct Growth(AtomicU64);

impl Growth {
    pub fn new(bytes: u64) -> Growth {
        Growth(AtomicU64::new(bytes))
    }

    /// Takes `bytes`, if that many are left.
    fn take(&self, bytes: u64) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.0.fetch_add(bytes, Relaxed);
    }
}

/// The pinned memory of a lane: its input, and a code for each row.
fn pinned(blocks: usize, rows: usize) -> u64 {
    (input_room(blocks, rows) + rows) as u64
}

/// State for making a lane larger.
pub(super) struct Large {
    growth: Arc<Growth>,
    /// The number of these bytes that the lane has taken.
    taken: u64,
    /// The most rows that a block may have, once there was no memory for a longer one.
    most_rows: Option<usize>,
}

impl Batched for Large {
    type Task = DecodeLarge;
    type Kept = PayloadBlock;
    type Input = LargeForDevice;
    type Found<'a> = DecodedCodes<'a>;
    const MIN_BATCH: usize = 4;

    /// The number of bytes of input for a lane's rows, if four rows take a byte, as in source code.
    fn max_bytes(size: LaneSize) -> u64 {
        (size.max_blocks * size.max_length / 4) as u64
    }

    fn lane_is_gone(&mut self) {
        self.growth.give_back(std::mem::take(&mut self.taken));
        self.most_rows = None;
    }

    fn put(
        &mut self,
        task: &DecodeLarge,
        lane: &mut dyn DeviceLane,
        batch: &Batch<Self>,
    ) -> Put<PayloadBlock, LargeForDevice> {
        let DecodeLarge { payload, header, stream, .. } = task;
        if stream.entry_log > MAX_ENTRY_LOG {
            return Err(Unplaced::Never); // no encoder writes such blocks
        }
        let block = PayloadBlock::parse(*stream, *header, Arc::clone(payload)).map_err(|_| Unplaced::Never)?;
        if !block.tokens_fit_rows() {
            return Err(Unplaced::Never);
        }
        let (rows, bytes) = (block.header.rows as usize, payload::input_len(&block));
        let size = lane.size();
        let before = batch.inputs.last().map_or(0, |last| last.base as usize + last.rows as usize);
        let base = before.next_multiple_of(ROW_UNIT);
        if base + rows > size.max_blocks * size.max_length || batch.filled + bytes > lane.input().len() {
            // There are half as many bytes of input as rows.
            if !batch.inputs.is_empty() || !self.grow(lane, rows.max(2 * bytes))? {
                return Err(Unplaced::NotNow);
            }
        }
        let input = payload::write(&block, base as u32, lane.input(), batch.filled);
        Ok(Placed { kept: block, input, bytes })
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<DecodedCodes<'a>, DeviceError> {
        let rows: Vec<u32> = batch.inputs.iter().map(|block| block.rows).collect();
        lane.codes(&batch.inputs, batch.filled, timeout(&rows))
    }

    /// Turns the codes into text, and checks it.
    fn answer(&mut self, batch: Batch<Self>, decoded: DecodedCodes<'_>, jobs: &mut Jobs<'_, DecodeLarge>) -> Answered {
        for (number, (block, input)) in batch.kept.iter().zip(&batch.inputs).enumerate() {
            let from = input.base as usize;
            let odd = decoded.odd.get(number).ok_or_else(too_little)?;
            let codes = decoded.codes.get(from..from + input.rows as usize).ok_or_else(too_little)?;
            let text = |_: &DecodeLarge| match odd {
                0 => block.text(Cow::Borrowed(codes)).map_err(|_| Doubt::Suspect),
                _ => Err(Doubt::Odd),
            };
            jobs.complete(number, text, |task, core| task.run(core))?;
        }
        Ok(())
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        self.lane_is_gone();
    }
}

impl Large {
    /// A lane that shares `growth`, the pinned memory that lanes may still take, with others.
    pub fn new(growth: Arc<Growth>) -> Large {
        Large { growth, taken: 0, most_rows: None }
    }

    /// Makes the lane larger, for `rows` rows. Returns whether there was memory for that.
    fn grow(&mut self, lane: &mut dyn DeviceLane, rows: usize) -> Result<bool, DeviceError> {
        if rows > self.most_rows.unwrap_or(MAX_ROWS) {
            return Ok(false);
        }
        let LaneSize { max_blocks: blocks, max_length } = lane.size();
        // The next block may be a little longer.
        let enough = (rows + rows / 8).min(MAX_ROWS);
        let more = pinned(blocks, enough).saturating_sub(pinned(blocks, blocks * max_length));
        // This failure is not remembered, because other lanes may give back the memory that they have taken.
        if !self.growth.take(more) {
            return Ok(false);
        }
        self.taken += more;
        let grown = lane.reserve(enough)?;
        if !grown {
            self.most_rows = Some(rows - 1);
            self.taken -= more;
            self.growth.give_back(more);
        }
        Ok(grown)
    }
}
