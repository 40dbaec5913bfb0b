//! The flow of a `.hbz` stream: `blocks` cuts text, `assemble` joins coded blocks; `scan` cuts the stream as
//! `hbz::walk` parses it, `chain` joins texts.

use super::walk::Walker;
use crate::formats::hbz::header::LargeBlocks;
use crate::stream::coded::Verify;
use crate::stream::piece::{Decoding, Ends, StreamEndDetector, connect};
use hybz_queue::Pool;

mod assemble;
mod blocks;
mod chain;
mod scan;
mod stages;
pub(crate) mod tasks;

pub(crate) fn end() -> Option<Box<dyn StreamEndDetector>> {
    Some(Box::new(Walker::default()))
}

pub(crate) fn decode(decoding: &Decoding) -> Ends {
    connect(scan::Scanner::new(&decoding.pool), chain::Chain::new(decoding.extent))
}

/// The two ends of a stream to be written.
pub(crate) fn encode(large: LargeBlocks, pool: &Pool, verify: Verify) -> Ends {
    let stream = large.stream();
    connect(blocks::Blocks::new(stream, pool, verify), assemble::Assembler::new(stream))
}

/// The number of bytes that coding a block takes for each byte of its text: 1 for the text, 4 for the suffixes, 2 for
/// symbols, 2 for tokens, 3 for columns and results. Verifying it takes less: the text and the result, 8 for decoding,
/// and the decoded text.
const ENCODE_BYTES: u64 = 12;
