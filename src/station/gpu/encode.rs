//! The device sorts and codes ([`Offload::Resident`](super::Offload::Resident)): the lane's thread checks its
//! codes and adds the blocks' heads.
//!
//! **Trust.** The column stays on the device, so its sums cannot be compared. Instead one block of each batch, a
//! different one each time, must be proven, or be decoded to its end and have its text's CRC. The other data of every
//! block must be valid (complete codes, one selector for each group, the end-of-block code last). Only then is the
//! batch replied to. A device that computes wrong results is noticed at its first batch; a single wrong bit can pass,
//! and verification finds it ([`Verify::Devices`](crate::Verify)).
//!
//! **Proof.** Where blocks are verified, the device proves each of them: it decodes the codes up to the last column,
//! and the ranks of its sort show that the column's rows lead from each byte of the text to the next one
//! (`cuda/walk.cu`). It returns the sum of all that the proof has read. The lane's thread must get the same sum from
//! the block, taken apart as it will be written, and from the run-length-coded text that it has uploaded, once it has
//! compared this with the text. A block without a proof is left to the checks of the queue.
//!
//! Measured (Zen 5, alone): head and codes 0.03 ms a block of 900 kB, 0.09 while selectors were searched; a proof 0.21
//! ms. Decoding one of 26 blocks of linux took 1.5 ms, of 2.2 for a batch.

use super::batches::{Answered, Batch, Batched, Jobs, Put, Unplaced, timeout};
use super::blocks::{BatchBlock, BatchWriter, MIN_BATCH};
use super::trust::{computes_wrongly, proof_of, right, sum_of_words, too_little};
use crate::bits::{BitWriter, append_bits_from};
use crate::block::{CodedBlock, Text};
use crate::codec::decoder::Decoder;
use crate::codec::encoder::CodedSymbols;
use crate::codec::header::Bz2BlockHeader;
use crate::codec::run_length::form::is_form_of;
use crate::codec::{Encoder, verify_head};
use crate::crc;
use crate::formats::bzip2::header::{GROUP, MAX_ENCODER_BLOCK};
use crate::formats::bzip2::stream::tasks::EncodeBlock;
use hybz_gpu::{CodedBatch, CodedByDevice, DeviceError, DeviceLane};

/// State for finishing and checking blocks, made when it is first needed. The device proves the blocks, or one of each
/// batch.
#[derive(Default)]
pub(super) struct Codes<const PROVES: bool> {
    blocks: BatchWriter,
    /// The number of batches so far, of this lane and those that it has replaced.
    batches: usize,
    /// The number of blocks in the last one.
    last: usize,
    encoder: Option<Box<Encoder>>,
    pub(super) decoder: Option<Box<Decoder>>,
    /// The header of the block that is checked.
    header: Bz2BlockHeader,
}

impl<const PROVES: bool> Batched for Codes<PROVES> {
    type Task = EncodeBlock;
    type Kept = BatchBlock;
    type Input = u32;
    type Found<'a> = CodedBatch<'a>;
    const MIN_BATCH: usize = MIN_BATCH;

    fn put(&mut self, task: &EncodeBlock, lane: &mut dyn DeviceLane, batch: &Batch<Self>) -> Put<BatchBlock, u32> {
        // The number of this batch selects one of its blocks, a different one each time while batches have as many
        // blocks as the last one. In a batch that is too short to have it, one block is decoded instead.
        let proves = PROVES || batch.kept.len() == self.batches % self.last.max(1);
        let is_coded = matches!(task.text, Text::RunLength { .. });
        let sums =
            |block: &[u8], text: &[u8], crc| if proves { proof_of_text(block, text, is_coded, crc) } else { [0; 2] };
        let placed = self.blocks.put(task, lane, batch.filled, false, sums)?;
        // What was written is not the text's form, or the CRC was computed wrongly: a core codes the block.
        if proves && !has_sum(&placed.kept) { Err(Unplaced::Never) } else { Ok(placed) }
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<CodedBatch<'a>, DeviceError> {
        let first = batch.kept.iter().position(has_sum).unwrap_or(0);
        let end = batch.kept.iter().rposition(has_sum).map_or(first, |last| last + 1);
        lane.code(&batch.inputs, first..end, timeout(&batch.inputs))
    }

    fn answer(&mut self, batch: Batch<Self>, coded: CodedBatch<'_>, jobs: &mut Jobs<'_, EncodeBlock>) -> Answered {
        let blocks = self.check_all(&batch.kept, coded)?;
        for (number, (block, by_device)) in blocks.into_iter().zip(coded.blocks).enumerate() {
            let Some(job) = jobs.get(number) else { continue };
            match block {
                Some(block) if PROVES && self.is_proven(&batch.kept[number], &block, by_device) => {
                    job.complete_proven(block);
                }
                Some(block) => job.complete(block),
                // The block has too many bits for the device's buffer: a core codes it.
                None => job.decline(),
            }
        }
        Ok(())
    }
}

impl<const PROVES: bool> Codes<PROVES> {
    /// Finishes and checks a batch. The result is `None` for a block that the device did not keep.
    pub fn check_all(
        &mut self,
        entries: &[BatchBlock],
        coded: CodedBatch<'_>,
    ) -> Result<Vec<Option<CodedBlock>>, DeviceError> {
        if coded.blocks.len() != entries.len() {
            return Err(too_little());
        }
        let mut blocks = Vec::with_capacity(entries.len());
        for (entry, block) in entries.iter().zip(coded.blocks) {
            blocks.push(match block.bits {
                0 => None,
                _ => Some(self.finish(entry, block, coded.bytes).ok_or_else(computes_wrongly)?),
            });
        }
        let count = blocks.len();
        let sample = entries.iter().position(has_sum).unwrap_or(self.batches);
        let sampled = (0..if PROVES { 0 } else { count })
            .map(|i| (sample + i) % count)
            .find_map(|i| Some((&entries[i], blocks[i].as_ref()?, &coded.blocks[i])));
        right(sampled.is_none_or(|(entry, block, by_device)| {
            self.is_proven(entry, block, by_device) || self.is_right(entry, block)
        }))?;
        self.batches += 1;
        self.last = count;
        Ok(blocks)
    }

    /// One block with its head; `None` if its data are invalid.
    fn finish(&mut self, entry: &BatchBlock, block: &CodedByDevice, bytes: &[u8]) -> Option<CodedBlock> {
        let bytes = bytes.get(block.at as usize..)?;
        let (codes, rest) = bytes.split_at_checked(block.bits.div_ceil(32) as usize * 4)?;
        let coded = CodedSymbols {
            origin: block.origin,
            used: &std::array::from_fn(|byte| block.used[byte / 32] >> (byte % 32) & 1 == 1),
            symbols: block.symbols as usize,
            lengths: block.lengths.get(..block.tables as usize)?,
            selectors: rest.get(..block.symbols.div_ceil(GROUP as u32) as usize)?,
            codes,
            code_bits: block.bits.into(),
        };
        let encoder = self.encoder.get_or_insert_default();
        encoder.assemble(&coded, entry.len as u32, entry.crc, entry.text_len)
    }

    /// Whether the block decodes to its text.
    fn is_right(&mut self, entry: &BatchBlock, block: &CodedBlock) -> bool {
        let decoder = self.decoder.get_or_insert_default();
        let decoded = decoder.decode(&block.bytes, 0, block.bit_len, MAX_ENCODER_BLOCK as u32);
        decoded.is_ok_and(|decoded| {
            decoded.crc == entry.crc
                && decoded.text.len() == entry.text_len
                && decoded.block_len as usize == entry.len
                && decoded.end_bit == block.bit_len
        })
    }

    /// Whether what the device has proven are this block, as it will be written, and its text, as it was read. (No lane
    /// takes a periodic block, so only one origin makes the text.)
    pub fn is_proven(&mut self, entry: &BatchBlock, block: &CodedBlock, by_device: &CodedByDevice) -> bool {
        if by_device.proof == 0 || !has_sum(entry) {
            return false;
        }
        let head = verify_head(&mut self.header, block, entry.crc, entry.text_len, entry.len);
        let (Ok(from), header) = (head, &self.header) else { return false };
        let &CodedByDevice { symbols, at, proof, .. } = by_device;
        let (code_bits, origin, tables) = (block.bit_len - from, header.origin, header.tables as u32);
        let bits = code_bits as u32;
        let mut found = CodedByDevice { origin, symbols, tables, bits, at, ..CodedByDevice::default() };
        header.used.iter().for_each(|&byte| found.used[usize::from(byte) / 32] |= 1 << (byte % 32));
        for (to, table) in found.lengths.iter_mut().zip(&header.lengths[..header.tables]) {
            to[..header.alphabet()].copy_from_slice(&table[..header.alphabet()]);
        }
        let mut codes = BitWriter::with_capacity(code_bits + 32);
        append_bits_from(&mut codes, &block.bytes, from, code_bits);
        let mut codes = codes.finish();
        codes.resize(codes.len().next_multiple_of(4), 0);
        codes.extend(&header.selectors);
        let groups = symbols.div_ceil(GROUP as u32) as usize;
        header.selectors.len() == groups && proof == entry.sums[0].wrapping_add(proof_of(&found, &codes))
    }
}

/// Whether a block has the text's part of its proof.
fn has_sum(entry: &BatchBlock) -> bool {
    entry.sums[1] == 1
}

/// The text's part of the proof of `block`; and 1 if the block is right: equal to `text` if that `is_coded` (its CRC
/// was computed when it was read), otherwise the run-length-coded form of `text`, which must have this CRC. (Both are
/// in the cache: the block has just been written.)
pub(super) fn proof_of_text(block: &[u8], text: &[u8], is_coded: bool, crc: u32) -> [u64; 2] {
    let is_right = if is_coded { block == text } else { is_form_of(block, text) && crc::checksum(text) == crc };
    [sum_of_words(block, 0), u64::from(is_right)]
}
