//! The flow of LZ4 frames: `texts` cuts text, `assemble` joins coded blocks; `scan` finds the blocks of frames, `relay`
//! has those decoded one after the other that are linked, `chain` joins texts and checks them.

use super::piece::{Begins, Decoding, Ends, Format, connect};
use crate::format::lz4::begins_with;
use crate::lz4::Frame;

mod assemble;
mod chain;
mod relay;
mod scan;
pub(crate) mod tasks;
mod texts;

/// First bytes that no bzip2 stream has. Behind streams of other formats they are garbage to bzip2, and they are here.
pub(super) const FORMAT: Format = Format { begins_with, begins: |_, _| Begins::No, decode };

fn decode(decoding: &Decoding) -> Ends {
    connect(scan::Scanner::new(decoding.chunk, decoding.extent), chain::Chain::new(decoding.extent))
}

/// The two ends of a frame to be written.
pub(super) fn encode(frame: Frame) -> Ends {
    connect(texts::Texts::new(frame), assemble::Assembler::new(frame))
}
