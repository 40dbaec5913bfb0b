//! The flow of a `.hbz` stream: `blocks` cuts text, `assemble` joins coded blocks; `scan` cuts the stream, `chain`
//! joins texts.

use super::piece::{Decoding, Ends, Format, connect};
use crate::Pool;
use crate::format::hbz::{LargeBlocks, MAGIC};

mod assemble;
mod blocks;
mod chain;
mod scan;

/// A first byte that no bzip2 stream has.
pub(super) const FORMAT: Format = Format { begins_with: |byte| byte == MAGIC[0], decode };

fn decode(decoding: &Decoding) -> Ends {
    connect(scan::Scanner::new(&decoding.pool), chain::Chain::new(decoding.extent))
}

/// The two ends of a stream to be written.
pub(super) fn encode(large: LargeBlocks, pool: &Pool) -> Ends {
    let stream = large.stream();
    connect(blocks::Blocks::new(stream, pool), assemble::Assembler::new(stream))
}

/// Blocks of more rows than this are decoded in stages by all stations.
const STAGED_ROWS: u32 = 1 << 24;
/// If a block is alone in its stream, that pays from this many rows on.
const STAGED_ROWS_ALONE: u32 = 1 << 20;
/// How many bytes coding a block takes for each byte of its text, all in all: the text, 4 for the suffixes, 2 for
/// symbols, 2 for tokens, 3 for columns and results.
const ENCODE_BYTES: u64 = 12;
/// How many bytes decoding a block takes for each of its rows: 4 for the vector, 2 for runs, 3 for texts.
const DECODE_BYTES: u64 = 9;
