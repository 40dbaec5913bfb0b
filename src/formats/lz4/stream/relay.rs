//! Makes stations decode the blocks of a linked frame, one job after another, because a match may begin in the text of
//! the previous job.

use super::tasks::{DECODE_LZ4, DecodeLz4};
use crate::formats::lz4::block::{Blocks, DecodedBlocks, window};
use crate::stream::relay::Relay;
use hybz_queue::{Submitter, Ticket};
use std::sync::Arc;

/// The end of the text of a frame so far.
pub(super) type History = Arc<Vec<u8>>;

/// Makes a station decode blocks once the blocks before them are decoded.
pub(super) fn add(relay: &Arc<Relay<History>>, blocks: Blocks, submitter: &Submitter) -> Ticket<DecodedBlocks> {
    let (duty, ticket) = Ticket::with_duty();
    let submitter = submitter.clone();
    relay.add(move |relay, history| {
        let task = DecodeLz4 { blocks, history };
        let bytes = task.bytes();
        submitter.task(task).class(DECODE_LZ4, bytes).submit_then(move |DecodeLz4 { history, .. }, decoded, _| {
            // After damage no block is decoded: the joiner ends there.
            let good = decoded.as_ref().ok().filter(|decoded| decoded.wrong.is_none());
            let history = good.map(|decoded| Arc::new(window(&history, &decoded.text)));
            duty.fulfil(decoded);
            history.into_iter().for_each(|history| relay.pass(history));
        });
    });
    ticket
}
