//! Decodes blocks of `.bz2` streams ([`Offload::Decode`](super::Offload::Decode)).
//!
//! The lane's thread reads the headers (5 ms for 27 MB of text), the device does everything from the first Huffman code
//! to the text, and the lane's thread copies the text out of pinned memory and checks it. A block may stand for 46 MB
//! of text: a long one comes back run-length-coded (and so does one for which a batch has no room, or whose runs the
//! device cannot find), and the lane's thread expands it. (When it expanded all blocks, four cores with an H200 took
//! 1.18 s for 4 GB instead of 1.08, and on a slower host 1.57 instead of 1.41; 16 cores are sometimes faster, sometimes
//! 2 % slower.)
//!
//! **Trust.** A block's text must have the CRC of its header, and the block must end where the span ends, or where a
//! stream ends. Only a core may report damage: blocks that the device finds odd are declined. If a CRC is wrong, the
//! lane's thread decodes the first such block of a batch itself: either the data are damaged, or the device computes
//! wrong results and gets no more work.
//!
//! The length of an expanded block in run-length-coded bytes is the device's word. It only tells whether the stream's
//! level allows the block: if it does not, the reference decoder has the last word.

use super::batches::{Answered, Batch, Batched, Doubt, Jobs, Placed, Put, Unplaced, timeout};
use super::trust::too_little;
use crate::bits::{BitSource, SliceBits};
use crate::block::{DecodedBlock, MAX_PLAIN_TEXT, Text};
use crate::codec::header::Bz2BlockHeader;
use crate::codec::run_length::decode::decode_text;
use crate::crc;
use crate::formats::bzip2::header::{END_MAGIC, MAX_BLOCK};
use crate::formats::bzip2::stream::tasks::DecodeBlock;
use hybz_gpu::{BlockForDevice, DecodedBatch, DecodedByDevice, DeviceError, DeviceLane};
use hybz_queue::Task;

/// The number of bytes that the device may read past a block's bits.
const PADDING: usize = 8;

/// A block in the batch.
pub(super) struct PreparedSpan {
    crc: u32,
    /// The bit of the span's data that the device counts as bit 0.
    at: u64,
}

/// State for reading headers.
#[derive(Default)]
pub(super) struct Spans(Bz2BlockHeader);

impl Batched for Spans {
    type Task = DecodeBlock;
    type Kept = PreparedSpan;
    type Input = BlockForDevice;
    type Found<'a> = DecodedBatch<'a>;
    const MIN_BATCH: usize = 4;

    fn put(
        &mut self,
        span: &DecodeBlock,
        lane: &mut dyn DeviceLane,
        batch: &Batch<Self>,
    ) -> Put<PreparedSpan, BlockForDevice> {
        let mut bits = SliceBits::new(&span.data, span.start, span.end);
        // The level is unknown: the joiner compares the block's length with it.
        self.0.read(&mut bits, MAX_BLOCK as u32).map_err(|_| Unplaced::Never)?;
        let header = &self.0;
        if header.randomised {
            return Err(Unplaced::Never);
        }
        let codes = bits.position()..span.end.min(span.data.len() as u64 * 8);
        let (room, filled, from) = (lane.input(), batch.filled, (codes.start / 8) as usize);
        let coded = &span.data[from..codes.end.div_ceil(8) as usize];
        let selectors_at = filled + coded.len().next_multiple_of(4) + PADDING;
        let bytes = selectors_at + header.selectors.len().next_multiple_of(4) - filled;
        if bytes > room.len() - filled {
            return Err(Unplaced::NotNow);
        }
        room[filled..filled + coded.len()].copy_from_slice(coded);
        room[filled + coded.len()..selectors_at].fill(0);
        room[selectors_at..selectors_at + header.selectors.len()].copy_from_slice(&header.selectors);
        let mut input = BlockForDevice {
            at: filled as u32,
            first_bit: (codes.start % 8) as u32,
            end_bit: (codes.end - from as u64 * 8) as u32,
            selectors_at: selectors_at as u32,
            selectors: header.selectors.len() as u32,
            origin: header.origin,
            limit: MAX_BLOCK as u32,
            symbols: header.alphabet() as u32,
            tables: header.tables as u32,
            used: [0; 256],
            lengths: header.lengths,
        };
        input.used[..header.used.len()].copy_from_slice(&header.used);
        Ok(Placed { kept: PreparedSpan { crc: header.crc, at: from as u64 * 8 }, input, bytes })
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<DecodedBatch<'a>, DeviceError> {
        let rows: Vec<u32> = batch.inputs.iter().map(|block| block.limit).collect();
        let decoded = lane.decode(&batch.inputs, batch.filled, timeout(&rows))?;
        if decoded.blocks.len() == batch.inputs.len() { Ok(decoded) } else { Err(too_little()) }
    }

    fn answer(&mut self, batch: Batch<Self>, decoded: DecodedBatch<'_>, jobs: &mut Jobs<'_, DecodeBlock>) -> Answered {
        for (number, (entry, found)) in batch.kept.iter().zip(decoded.blocks).enumerate() {
            let find = |span: &DecodeBlock| finish(entry, found, decoded.output, span);
            jobs.complete(number, find, |span, core| span.run(core))?;
        }
        Ok(())
    }
}

/// Expands, unless the device has, and checks what it has decoded.
fn finish(
    entry: &PreparedSpan,
    found: &DecodedByDevice,
    output: &[u8],
    span: &DecodeBlock,
) -> Result<DecodedBlock, Doubt> {
    // The other results for an odd block mean nothing.
    if found.odd != 0 {
        return Err(Doubt::Odd);
    }
    let Some((text, crc)) = text_of(found, output) else { return Err(Doubt::Suspect) };
    if crc != entry.crc {
        return Err(Doubt::Suspect);
    }
    let end_bit = entry.at + u64::from(found.end_bit);
    if !may_end_at(span, end_bit) {
        return Err(Doubt::Odd);
    }
    Ok(DecodedBlock { text, crc, block_len: found.rows, end_bit })
}

/// The text of a block that is not odd, and its CRC, if it can be one.
fn text_of(found: &DecodedByDevice, output: &[u8]) -> Option<(Text, u32)> {
    if found.expanded != 0 {
        let text =
            output_of(found, output).filter(|text| text.len() <= MAX_PLAIN_TEXT && may_make(found.rows, text))?;
        let text = text.to_vec();
        let crc = crc::checksum(&text);
        return Some((Text::Plain(text), crc));
    }
    let coded = coded_text_of(found, output)?;
    decode_text(std::iter::once(coded), coded.len()).ok()
}

/// Whether `rows` bytes of run-length-coded text can make this text: five make 4 to 259 where they are a run.
fn may_make(rows: u32, text: &[u8]) -> bool {
    let (rows, len) = (rows as usize, text.len());
    (1..=MAX_BLOCK).contains(&rows) && 4 * rows <= 5 * len && 5 * len <= 259 * rows
}

/// The run-length-coded text of a block that is not odd, if that is its output.
fn coded_text_of<'a>(found: &DecodedByDevice, output: &'a [u8]) -> Option<&'a [u8]> {
    let coded = output_of(found, output).filter(|_| found.expanded == 0);
    coded.filter(|coded| coded.len() == found.rows as usize && coded.len() <= MAX_BLOCK)
}

/// The output for a block, if it is there.
fn output_of<'a>(found: &DecodedByDevice, output: &'a [u8]) -> Option<&'a [u8]> {
    let at = found.at as usize;
    at.checked_add(found.length as usize).and_then(|end| output.get(at..end))
}

/// Whether a block of the span may end here: at the start of the next block, or at the end of the stream.
fn may_end_at(span: &DecodeBlock, bit: u64) -> bool {
    let mut bits = SliceBits::new(&span.data, bit, span.end);
    let mut half = || bits.bits(24).map(u64::from);
    bit == span.end || half().zip(half()).is_some_and(|(high, low)| high << 24 | low == END_MAGIC)
}
