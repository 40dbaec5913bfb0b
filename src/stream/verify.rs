//! Coding with verification: a station other than its maker decodes every coded block before the joiner gets it
//! ([`schedule::Checked`](crate::schedule::Checked) explains the steps, and which station is blamed for a wrong block).
//!
//! The joiner has one ticket for all steps. The permit of a block's piece lives until the block is written.

use crate::codec::mismatch::Mismatch;
use crate::error::Error;
use hybz_queue::{Checked, Class, Made, Miscomputed, ProducedBy, TaskError, Ticket};
use hybz_queue::{Client, Pool};

/// Which coded blocks are decoded again before they are written.
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
    /// The part of the choice that makes a difference for this pool.
    pub(crate) fn with(self, pool: &Pool) -> Verify {
        if self == Verify::Devices && !pool.has_accelerators() { Verify::Off } else { self }
    }

    fn wants(self, maker: ProducedBy) -> bool {
        match self {
            Verify::Off => false,
            Verify::Devices => maker.is_accelerated(),
            Verify::All => true,
        }
    }
}

/// Receives a coded block that the joiner may write.
pub(crate) enum CodedTicket<C> {
    Unchecked(Ticket<C>),
    Checked(Ticket<Result<Made<C>, Miscomputed<Mismatch>>>),
}

impl<C> CodedTicket<C> {
    /// The block, if it has arrived; with `wait`, waits for the block. The block's number is for errors.
    pub fn take(&self, wait: bool, block: u64) -> Result<Option<Made<C>>, Error> {
        let made = match self {
            CodedTicket::Unchecked(ticket) => {
                ticket.take(wait).map(|output| output.map(|output| Made { output, verified: false, retried: false }))
            }
            CodedTicket::Checked(ticket) => match ticket.take(wait) {
                Some(Ok(Err(Miscomputed { station, reason }))) => {
                    return Err(Error::Miscoded { block, station, reason: reason.to_string() });
                }
                Some(Ok(Ok(made))) => Some(Ok(made)),
                Some(Err(error)) => Some(Err(error)),
                None => None,
            },
        };
        made.transpose().map_err(|TaskError(reason)| Error::Internal { block, reason })
    }
}

/// Has the first free station encode a block, and another one verify it if `verify` says so.
pub(crate) fn encode<T: Checked<Wrong = Mismatch>>(
    client: &Client,
    task: T,
    class: Class,
    bytes: u64,
    verify: Verify,
) -> CodedTicket<T::Output> {
    let submission = client.task(task).class(class, bytes);
    if verify == Verify::Off {
        return CodedTicket::Unchecked(submission.submit());
    }
    let (duty, ticket) = Ticket::with_duty();
    submission.submit_checked(move |_, by| verify.wants(by), |coded| duty.fulfil(coded));
    CodedTicket::Checked(ticket)
}
