//! Decodes blocks of `.bz2` streams ([`Offload::Decode`](crate::gpu::Offload::Decode)).
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

use super::batches::{Added, Batched, timeout};
use super::trust::{computes_wrongly, too_little};
use crate::bits::{BitSource, SliceBits};
use crate::block::{DecodedBlock, MAX_PLAIN_TEXT, Text};
use crate::codec::decoder::Decoder;
use crate::codec::header::Bz2BlockHeader;
use crate::codec::run_length::decode::decode_text;
use crate::crc;
use crate::formats::bzip2::header::{END_MAGIC, MAX_BLOCK};
use crate::formats::bzip2::stream::tasks::DecodeBlock;
use crate::gpu::station::Times;
use crate::gpu::{BlockForDevice, DecodedBatch, DecodedByDevice, DeviceError, DeviceLane};
use hybz_queue::Job;
use std::ops::Range;

/// The number of bytes that the device may read past a block's bits.
const PADDING: usize = 8;

/// A block in the batch.
struct PreparedSpan {
    index: usize,
    crc: u32,
    /// The bit of the span's data that the device counts as bit 0.
    at: u64,
}

/// The blocks in a lane's input.
#[derive(Default)]
pub(super) struct CodesOfBlocks {
    pub blocks: Vec<BlockForDevice>,
    /// The number of bytes in use.
    pub filled: usize,
}

/// A batch.
#[derive(Default)]
pub(super) struct SpanBatch {
    entries: Vec<PreparedSpan>,
    input: CodesOfBlocks,
}

/// State for reading headers, and for checking a block that the device got wrong.
#[derive(Default)]
pub(super) struct Spans {
    header: Bz2BlockHeader,
    decoder: Option<Box<Decoder>>,
}

impl Batched for Spans {
    type Batch = SpanBatch;
    const MIN_BATCH: usize = 4;

    fn add(
        &mut self,
        index: usize,
        job: &Job,
        lane: &mut dyn DeviceLane,
        batch: &mut SpanBatch,
    ) -> Result<Added, DeviceError> {
        let Some(span) = job.task() else { return Ok(Added::Never) };
        let full = batch.entries.len() == lane.size().max_blocks;
        Ok(if full { Added::NotNow } else { self.add_span(index, span, lane, batch) })
    }

    fn is_empty(batch: &SpanBatch) -> bool {
        batch.entries.is_empty()
    }

    /// Has the device decode a batch, and answers.
    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        batch: SpanBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        let SpanBatch { entries, input } = batch;
        times.batch(
            entries.len(),
            || input.decode(lane, true),
            |decoded| {
                let mut suspects = 1;
                for (entry, found) in entries.iter().zip(decoded.blocks) {
                    let Some(job) = jobs[entry.index].of::<DecodeBlock>() else { continue };
                    match finish(entry, found, decoded.output, job.task()) {
                        Outcome::Done(block) => job.complete(Ok(block)),
                        Outcome::Odd => job.decline(),
                        Outcome::WrongCrc if suspects == 0 => job.decline(),
                        Outcome::WrongCrc => {
                            suspects -= 1;
                            let DecodeBlock { data, start, end } = job.task();
                            let decoder = self.decoder.get_or_insert_default();
                            let judged = decoder.decode(data, *start, *end, MAX_BLOCK as u32);
                            let right = judged.is_ok();
                            job.complete(judged);
                            if right {
                                return Err(computes_wrongly());
                            }
                        }
                    }
                }
                Ok(())
            },
        )
    }
}

impl Spans {
    /// Appends a block to the batch.
    fn add_span(
        &mut self,
        index: usize,
        span: &DecodeBlock,
        lane: &mut dyn DeviceLane,
        batch: &mut SpanBatch,
    ) -> Added {
        let mut bits = SliceBits::new(&span.data, span.start, span.end);
        // The level is unknown: the joiner compares the block's length with it.
        let header = &mut self.header;
        if header.read(&mut bits, MAX_BLOCK as u32).is_err() || header.randomised {
            return Added::Never;
        }
        let (first, end) = (bits.position(), span.end.min(span.data.len() as u64 * 8));
        let Some(at) = batch.input.add(header, &span.data, first..end, lane.texts()) else {
            return if batch.entries.is_empty() { Added::Never } else { Added::NotNow };
        };
        batch.entries.push(PreparedSpan { index, crc: header.crc, at });
        Added::Yes
    }
}

impl CodesOfBlocks {
    /// Appends a block, whose header has been read and whose codes are these bits of `data`. Returns the bit of `data`
    /// that the device counts as bit 0, or `None` if the lane has no room for the block.
    pub fn add(&mut self, header: &Bz2BlockHeader, data: &[u8], codes: Range<u64>, room: &mut [u8]) -> Option<u64> {
        let from = (codes.start / 8) as usize;
        let bytes = &data[from..codes.end.div_ceil(8) as usize];
        let needed = bytes.len().next_multiple_of(4) + PADDING + header.selectors.len().next_multiple_of(4);
        if needed > room.len() - self.filled {
            return None;
        }
        let at = self.filled;
        let selectors_at = at + bytes.len().next_multiple_of(4) + PADDING;
        room[at..at + bytes.len()].copy_from_slice(bytes);
        room[at + bytes.len()..selectors_at].fill(0);
        room[selectors_at..selectors_at + header.selectors.len()].copy_from_slice(&header.selectors);
        self.filled += needed;
        let mut block = BlockForDevice {
            at: at as u32,
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
        block.used[..header.used.len()].copy_from_slice(&header.used);
        self.blocks.push(block);
        Some(from as u64 * 8)
    }

    /// Has the device decode the blocks, which are returned in the same order.
    pub fn decode<'a>(&self, lane: &'a mut dyn DeviceLane, expand: bool) -> Result<DecodedBatch<'a>, DeviceError> {
        let rows: Vec<u32> = self.blocks.iter().map(|block| block.limit).collect();
        let decoded = lane.decode(&self.blocks, self.filled, expand, timeout(&rows))?;
        if decoded.blocks.len() == self.blocks.len() { Ok(decoded) } else { Err(too_little()) }
    }
}

/// The verdict on a decoded block.
enum Outcome {
    Done(DecodedBlock),
    /// A core must decode the block.
    Odd,
    /// The text does not have the CRC of the header.
    WrongCrc,
}

/// Expands, unless the device has, and checks what it has decoded.
fn finish(entry: &PreparedSpan, found: &DecodedByDevice, output: &[u8], span: &DecodeBlock) -> Outcome {
    // The other results for an odd block mean nothing.
    if found.odd != 0 {
        return Outcome::Odd;
    }
    let Some((text, crc)) = text_of(found, output) else { return Outcome::WrongCrc };
    if crc != entry.crc {
        return Outcome::WrongCrc;
    }
    let end_bit = entry.at + u64::from(found.end_bit);
    if !may_end_at(span, end_bit) {
        return Outcome::Odd;
    }
    Outcome::Done(DecodedBlock { text, crc, block_len: found.rows, end_bit })
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
pub(super) fn coded_text_of<'a>(found: &DecodedByDevice, output: &'a [u8]) -> Option<&'a [u8]> {
    let coded = output_of(found, output).filter(|_| found.expanded == 0);
    coded.filter(|coded| coded.len() == found.rows as usize && coded.len() <= MAX_BLOCK)
}

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
