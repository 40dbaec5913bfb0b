//! The flow of a `.hbz` stream: `blocks` cuts text, `assemble` joins coded blocks; `scan` cuts the stream, `chain`
//! joins texts and compares the `index`.

use super::piece::{Begins, Decoding, Ends, Format, connect};
use super::verify::Verify;
use crate::Pool;
use crate::format::hbz::{LargeBlocks, MAGIC};

mod assemble;
mod blocks;
mod chain;
pub(crate) mod index;
mod scan;
mod stages;
pub(crate) mod tasks;

/// A first byte that no bzip2 stream has.
pub(super) const FORMAT: Format = Format { begins_with: |byte| byte == MAGIC[0], begins, decode };

/// How much of the magic must be there, behind a stream of another format, to be called a stream that was cut: what has
/// less of it is garbage to bzip2, which ignores it.
const CERTAIN: usize = 4;

fn begins(bytes: &[u8], ended: bool) -> Begins {
    let len = bytes.len().min(MAGIC.len());
    if bytes[..len] != MAGIC[..len] {
        Begins::No
    } else if len == MAGIC.len() {
        Begins::Yes
    } else if !ended {
        Begins::Perhaps
    } else if len >= CERTAIN {
        Begins::Cut
    } else {
        Begins::No
    }
}

fn decode(decoding: &Decoding) -> Ends {
    connect(scan::Scanner::new(&decoding.pool), chain::Chain::new(decoding.extent))
}

/// The two ends of a stream to be written.
pub(super) fn encode(large: LargeBlocks, pool: &Pool, verify: Verify) -> Ends {
    let stream = large.stream();
    connect(blocks::Blocks::new(stream, pool, verify), assemble::Assembler::new(stream))
}

/// How many bytes coding a block takes for each byte of its text, all in all: the text, 4 for the suffixes, 2 for
/// symbols, 2 for tokens, 3 for columns and results. Verifying it takes less: the text and the result, 8 for decoding,
/// and the decoded text.
const ENCODE_BYTES: u64 = 12;
