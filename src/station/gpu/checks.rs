//! Verifies blocks of `.bz2` streams that a device has coded ([`Offload::Verify`](super::Offload::Verify)).
//!
//! The device does everything between the first Huffman code and the text. The lane's thread compares it with the
//! original text, and checks the head of the block. A block that the device has not expanded is compared in its
//! run-length-coded form, for which the thread codes the text again.
//!
//! **Trust.** The block as it will be written is compared with the text as it was read, on the host. The text does not
//! show whether runs are cut where bzip2 cuts them: only the device checks this. A lane can only say that a block is
//! right: whatever else it finds, it declines the block, and a core judges it. If a core's decoder confirms the first
//! such block of a batch, the device computes wrong results and gets no more work.

use super::batches::{Answered, Batch, Batched, Doubt, Jobs, Put, Unplaced};
use super::spans::{coded_text_of, decode, output_of, put_codes};
use crate::block::CodedBlock;
use crate::codec::decoder::Decoder;
use crate::codec::{DecodedForm, DecodedVerifier, Proof};
use crate::formats::bzip2::stream::tasks::EncodeBlock;
use hybz_gpu::{BlockForDevice, DecodedBatch, DecodedByDevice, DeviceError, DeviceLane};
use hybz_queue::{Check, Core};

/// State for checking blocks.
#[derive(Default)]
pub(super) struct Checks(DecodedVerifier);

impl Batched for Checks {
    type Task = Check<EncodeBlock>;
    /// The bit of the block that the device counts as bit 0.
    type Kept = u64;
    type Input = BlockForDevice;
    type Found<'a> = DecodedBatch<'a>;
    const MIN_BATCH: usize = 4;

    fn put(
        &mut self,
        check: &Check<EncodeBlock>,
        lane: &mut dyn DeviceLane,
        batch: &Batch<Self>,
    ) -> Put<u64, BlockForDevice> {
        check.with_output(|block| {
            let (header, first) = self.0.open(block).map_err(|_| Unplaced::Never)?;
            put_codes(header, &block.bytes, first..block.bit_len, lane.input(), batch.filled)
        })
    }

    fn device<'a>(lane: &'a mut dyn DeviceLane, batch: &Batch<Self>) -> Result<DecodedBatch<'a>, DeviceError> {
        decode(lane, &batch.inputs, batch.filled, true)
    }

    fn answer(&mut self, batch: Batch<Self>, decoded: DecodedBatch<'_>, jobs: &mut Jobs<'_, Self::Task>) -> Answered {
        for (number, (at, found)) in batch.kept.iter().zip(decoded.blocks).enumerate() {
            let find = |check: &Check<EncodeBlock>| match self.confirms(*at, found, decoded.output, check) {
                true => Ok(()),
                false if found.odd == 0 => Err(Doubt::Suspect),
                false => Err(Doubt::Odd),
            };
            jobs.complete(number, find, |check, core| is_right(check, core).then_some(Ok(())))?;
        }
        Ok(())
    }
}

impl Checks {
    /// Whether the device has decoded the block to its text.
    fn confirms(&mut self, at: u64, found: &DecodedByDevice, output: &[u8], check: &Check<EncodeBlock>) -> bool {
        let end_bit = at + u64::from(found.end_bit);
        let decoded = match found.expanded {
            0 => coded_text_of(found, output).map(DecodedForm::RunLength),
            _ => output_of(found, output).map(|bytes| DecodedForm::Text { bytes, rows: found.rows }),
        };
        let mut confirms = |block: &CodedBlock, decoded| self.0.confirms(block, &check.task.text, decoded, end_bit);
        let usual = decoded.filter(|_| found.odd == 0 && found.cut == 0);
        usual.is_some_and(|decoded| check.with_output(|block| confirms(block, decoded)))
    }
}

/// The verdict of this thread's own decoder.
fn is_right(check: &Check<EncodeBlock>, core: &mut Core) -> bool {
    let decoder = core.state::<Decoder>();
    check.with_output(|block| decoder.verify(block, &check.task.text)) == Ok(Proof::Whole)
}
