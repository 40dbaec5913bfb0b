//! Verifies blocks of `.bz2` streams that a device has coded ([`Offload::Verify`](crate::gpu::Offload::Verify)).
//!
//! The device does everything between the first Huffman code and the run-length-coded text. The lane's
//! thread run-length-codes the original text as well, compares the two, and checks the head of the block.
//!
//! **Trust.** What is compared is the block as it will be written and the text as it was read, on the host. A lane can
//! therefore only say that a block is right, and only if it is: whatever else it finds, it declines the block, and a
//! core judges it. If a core's decoder confirms the first such block of a batch, the device computes wrong results and
//! gets no more work.

use super::batches::{Added, Batched};
use super::spans::{CodesOfBlocks, coded_text_of};
use super::trust::computes_wrongly;
use crate::block::CodedBlock;
use crate::codec::decoder::Decoder;
use crate::codec::{DecodedVerifier, Proof};
use crate::formats::bzip2::stream::tasks::EncodeBlock;
use crate::gpu::station::Times;
use crate::gpu::{DecodedByDevice, DeviceError, DeviceLane};
use hybz_queue::{Check, Job};

/// A block in the batch.
struct CodedAgain {
    index: usize,
    /// The bit of the block that the device counts as bit 0.
    at: u64,
}

/// A batch.
#[derive(Default)]
pub(super) struct CheckBatch {
    entries: Vec<CodedAgain>,
    input: CodesOfBlocks,
}

/// State for checking blocks.
#[derive(Default)]
pub(super) struct Checks {
    verifier: DecodedVerifier,
    decoder: Option<Box<Decoder>>,
}

impl Batched for Checks {
    type Batch = CheckBatch;
    const MIN_BATCH: usize = 4;

    fn add(
        &mut self,
        index: usize,
        job: &Job,
        lane: &mut dyn DeviceLane,
        batch: &mut CheckBatch,
    ) -> Result<Added, DeviceError> {
        let Some(check) = job.task::<Check<EncodeBlock>>() else { return Ok(Added::Never) };
        if batch.entries.len() == lane.size().max_blocks {
            return Ok(Added::NotNow);
        }
        Ok(check.with_output(|block| self.add_block(index, block, lane, batch)))
    }

    fn is_empty(batch: &CheckBatch) -> bool {
        batch.entries.is_empty()
    }

    fn run(
        &mut self,
        lane: &mut dyn DeviceLane,
        batch: CheckBatch,
        jobs: &mut [Job],
        times: &mut Times,
    ) -> Result<(), DeviceError> {
        let CheckBatch { entries, input } = batch;
        times.batch(
            entries.len(),
            || input.decode(lane, false),
            |decoded| {
                let mut suspects = 1;
                for (entry, found) in entries.iter().zip(decoded.blocks) {
                    let Some(job) = jobs[entry.index].of::<Check<EncodeBlock>>() else { continue };
                    if self.confirms(entry, found, decoded.output, job.task()) {
                        job.complete(Ok(()));
                        continue;
                    }
                    let doubted = found.odd == 0 && suspects > 0;
                    suspects -= usize::from(doubted);
                    if doubted && self.is_right(job.task()) {
                        job.complete(Ok(()));
                        return Err(computes_wrongly());
                    }
                    job.decline();
                }
                Ok(())
            },
        )
    }
}

impl Checks {
    /// Appends a block to the batch.
    fn add_block(
        &mut self,
        index: usize,
        block: &CodedBlock,
        lane: &mut dyn DeviceLane,
        batch: &mut CheckBatch,
    ) -> Added {
        let Ok((header, first)) = self.verifier.open(block) else { return Added::Never };
        if header.randomised {
            return Added::Never;
        }
        match batch.input.add(header, &block.bytes, first..block.bit_len, lane.texts()) {
            Some(at) => batch.entries.push(CodedAgain { index, at }),
            None if batch.entries.is_empty() => return Added::Never,
            None => return Added::NotNow,
        }
        Added::Yes
    }

    /// Whether the device has decoded the block to its text.
    fn confirms(
        &mut self,
        entry: &CodedAgain,
        found: &DecodedByDevice,
        output: &[u8],
        check: &Check<EncodeBlock>,
    ) -> bool {
        let end_bit = entry.at + u64::from(found.end_bit);
        let decoded = coded_text_of(found, output).filter(|_| found.odd == 0);
        let mut confirms =
            |block: &CodedBlock, decoded| self.verifier.confirms(block, &check.task.text, decoded, end_bit);
        decoded.is_some_and(|decoded| check.with_output(|block| confirms(block, decoded)))
    }

    /// The verdict of this thread's own decoder.
    fn is_right(&mut self, check: &Check<EncodeBlock>) -> bool {
        let decoder = self.decoder.get_or_insert_default();
        check.with_output(|block| decoder.verify(block, &check.task.text)) == Ok(Proof::Whole)
    }
}
