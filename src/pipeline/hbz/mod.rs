//! The flow of a `.hbz` stream: `blocks` cuts text, `assemble` joins coded blocks; `scan` cuts the stream, `chain` joins
//! texts, and where a block is larger than one station should decode alone has its stages done by all of them (`staged`).
//! `detect` tells such a stream from bzip2's by its first byte.

pub(crate) mod assemble;
pub(crate) mod blocks;
pub(crate) mod chain;
pub(crate) mod detect;
pub(crate) mod scan;
mod staged;

/// Blocks of more rows than this are decoded in stages by all stations.
const STAGED_ROWS: u32 = 1 << 24;
/// If a block is alone in its stream, that pays from this many rows on.
const STAGED_ROWS_ALONE: u32 = 1 << 20;
/// How many bytes coding a block takes for each byte of its text, all in all: the text, 4 for the suffixes, 2 for symbols, 2
/// for tokens, 3 for columns and results.
const ENCODE_BYTES: u64 = 12;
/// How many bytes decoding a block takes for each of its rows: 4 for the vector, 2 for runs, 3 for texts.
const DECODE_BYTES: u64 = 9;
