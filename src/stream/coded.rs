//! Blocks are put on the queue to be coded. With verification, another station (if any) decodes every coded block
//! before the joiner gets it, unless the lane that coded it has proven that it is right
//! ([`schedule::Checked`](crate::schedule::Checked) explains the steps, and which station is blamed for a wrong block).
//!
//! The joiner has one ticket for all steps. The permit of a block's piece lives until the block is written.

use crate::codec::mismatch::Mismatch;
use crate::error::Error;
use crate::summary::StreamSummary;
use hybz_queue::{Checked, Class, Client, Made, Miscomputed, ProducedBy, TaskError, Ticket};

/// Which coded blocks are decoded again, or proven by the device that coded them, before they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// None.
    #[default]
    Off,
    /// The blocks that an accelerator coded or sorted.
    Devices,
    /// All.
    All,
}

impl Verify {
    fn wants(self, maker: ProducedBy) -> bool {
        match self {
            Verify::Off => false,
            Verify::Devices => maker.is_accelerated(),
            Verify::All => true,
        }
    }
}

/// Receives a coded block that the joiner may write.
pub(crate) struct CodedTicket<C>(Ticket<Result<Made<C>, Miscomputed<Mismatch>>>);

impl<C> CodedTicket<C> {
    /// The next block, if it has arrived; with `wait`, waits for the block. The summary counts what was verified.
    pub fn take(&self, wait: bool, summary: &mut StreamSummary) -> Result<Option<C>, Error> {
        let block = summary.blocks + 1;
        match self.0.take(wait) {
            None => Ok(None),
            Some(Ok(Ok(Made { output, verified, retried }))) => {
                summary.verified_blocks += u64::from(verified);
                summary.recoded_blocks += u64::from(retried);
                Ok(Some(output))
            }
            Some(Ok(Err(Miscomputed { station, reason }))) => {
                Err(Error::Miscoded { block, station, reason: reason.to_string() })
            }
            Some(Err(TaskError(reason))) => Err(Error::Internal { block, reason }),
        }
    }
}

/// Lets the first free station encode a block, and another station verify it if `verify` says so.
pub(crate) fn encode<T: Checked<Wrong = Mismatch>>(
    client: &Client,
    task: T,
    class: Class,
    bytes: u64,
    verify: Verify,
) -> CodedTicket<T::Output> {
    let (duty, ticket) = Ticket::with_duty();
    let submission = client.task(task).class(class, bytes);
    submission.submit_checked(move |_, by| verify.wants(by), |coded| duty.fulfil(coded));
    CodedTicket(ticket)
}
