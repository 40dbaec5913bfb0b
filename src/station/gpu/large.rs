//! Decodes blocks of `.hbz` streams ([`Offload::DecodeLarge`](crate::gpu::Offload::DecodeLarge)).
//!
//! The lane's thread reads the payloads up to their segments, the device does everything from there to the codes, and
//! the lane's thread replaces the codes by text, which it has to copy out of pinned memory anyway. A batch therefore
//! returns one byte for each of its rows, although a block of few rows may stand for 1 GiB.
//!
//! **Trust.** A block's text must have the CRC of its header. Only a core may report damage: blocks that cannot be
//! read, or that the device finds odd, are declined. If a CRC is wrong, the lane's thread decodes the first such block
//! of a batch itself: either the data are damaged, or the device computes wrong results and gets no more work.

use super::batches::{Added, Batched, timeout};
use super::trust::{computes_wrongly, too_little};
use crate::formats::hbz::codec::decode::{HbzDecoder, PayloadBlock};
use crate::formats::hbz::stream::tasks::DecodeLarge;
use crate::gpu::station::Times;
use crate::gpu::{
    DecodedCodes, DeviceError, DeviceLane, LaneSize, LargeForDevice, MAX_ENTRY_LOG, MAX_ROWS, ROW_UNIT, input_room,
};
use hybz_queue::Job;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A block in the batch.
struct PreparedBlock {
    index: usize,
    block: PayloadBlock,
}

/// The blocks in a lane's input.
#[derive(Default)]
pub(super) struct DecodingBatch {
    entries: Vec<PreparedBlock>,
    blocks: Vec<LargeForDevice>,
    /// The numbers of bytes of input, and of rows.
    filled: usize,
    rows: usize,
}

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

/// State for making a lane larger, and for checking a block that the device got wrong.
pub(super) struct Large {
    growth: Arc<Growth>,
    /// The number of these bytes that the lane has taken.
    taken: u64,
    decoder: Option<HbzDecoder>,
    /// The most rows that a block may have, once there was no memory for a longer one.
    most_rows: Option<usize>,
}

impl Batched for Large {
    type Batch = DecodingBatch;
    const MIN_BATCH: usize = 4;

    /// The number of bytes of input for a lane's rows, if four rows take a byte, as in source code.
    fn max_bytes(size: LaneSize) -> u64 {
        (size.max_blocks * size.max_length / 4) as u64
    }

    fn add(
        &mut self,
        index: usize,
        job: &Job,
        lane: &mut dyn DeviceLane,
        batch: &mut DecodingBatch,
    ) -> Result<Added, DeviceError> {
        let Some(DecodeLarge { payload, header, stream, .. }) = job.task() else { return Ok(Added::Never) };
        if stream.entry_log > MAX_ENTRY_LOG {
            return Ok(Added::Never); // no encoder writes such blocks
        }
        let Ok(block) = PayloadBlock::parse(*stream, *header, Arc::clone(payload)) else { return Ok(Added::Never) };
        if !block.tokens_fit_rows() {
            return Ok(Added::Never);
        }
        let (rows, bytes) = (block.rows() as usize, LargeForDevice::input_len(&block.parts()));
        let size = lane.size();
        let base = batch.rows.next_multiple_of(ROW_UNIT);
        let has_room = base + rows <= size.max_blocks * size.max_length && batch.filled + bytes <= lane.texts().len();
        if !has_room || batch.entries.len() == size.max_blocks {
            if !batch.entries.is_empty() {
                return Ok(Added::NotNow);
            }
            // There are half as many bytes of input as rows.
            if !self.grow(lane, rows.max(2 * bytes))? {
                return Ok(Added::Never);
            }
        }
        batch.blocks.push(LargeForDevice::write(&block, base as u32, lane.texts(), batch.filled));
        batch.entries.push(PreparedBlock { index, block });
        (batch.filled, batch.rows) = (batch.filled + bytes, base + rows);
        Ok(Added::Yes)
    }

    fn lane_is_gone(&mut self) {
        self.growth.give_back(std::mem::take(&mut self.taken));
        self.most_rows = None;
    }

    fn is_empty(batch: &DecodingBatch) -> bool {
        batch.entries.is_empty()
    }

    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        batch: DecodingBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        let DecodingBatch { entries, blocks, filled, .. } = batch;
        let rows: Vec<u32> = blocks.iter().map(|block| block.rows).collect();
        times.batch(
            blocks.len(),
            || lane.codes(&blocks, filled, timeout(&rows)),
            |decoded| self.answer(&entries, &blocks, decoded, jobs),
        )
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
        Large { growth, taken: 0, decoder: None, most_rows: None }
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

    /// Turns the codes into text, checks it, and answers.
    fn answer(
        &mut self,
        entries: &[PreparedBlock],
        blocks: &[LargeForDevice],
        decoded: DecodedCodes<'_>,
        jobs: &mut [Job],
    ) -> Result<(), DeviceError> {
        let mut suspects = 1;
        for (number, (PreparedBlock { index, block }, for_device)) in entries.iter().zip(blocks).enumerate() {
            let Some(job) = jobs[*index].of::<DecodeLarge>() else { continue };
            let from = for_device.base as usize;
            let odd = decoded.odd.get(number).ok_or_else(too_little)?;
            let codes = decoded.codes.get(from..from + for_device.rows as usize).ok_or_else(too_little)?;
            if *odd != 0 {
                job.decline();
                continue;
            }
            match block.text(Cow::Borrowed(codes)) {
                Ok(text) => job.complete(Ok(text)),
                Err(_) if suspects == 0 => job.decline(),
                Err(_) => {
                    suspects -= 1;
                    let DecodeLarge { payload, header, stream, .. } = job.task();
                    let judged = self.decoder.get_or_insert_default().decode(*stream, *header, Arc::clone(payload));
                    let right = judged.is_ok();
                    job.complete(judged);
                    if right {
                        return Err(computes_wrongly());
                    }
                }
            }
        }
        Ok(())
    }
}
