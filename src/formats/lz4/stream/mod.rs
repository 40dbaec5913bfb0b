//! The flow of LZ4 frames: `texts` cuts text, `assemble` joins coded blocks; `scan` finds the blocks of frames,
//! `relay` makes stations decode linked blocks one after another, `chain` joins texts and checks them.

use crate::formats::lz4::Frame;
use crate::formats::lz4::walk::Walker;
use crate::stream::piece::{Decoding, Ends, StreamEndDetector, connect};

mod assemble;
mod chain;
mod relay;
mod scan;
pub(crate) mod tasks;
mod texts;

pub(crate) fn end() -> Option<Box<dyn StreamEndDetector>> {
    Some(Box::new(Walker::default()))
}

pub(crate) fn decode(decoding: &Decoding) -> Ends {
    connect(scan::Scanner::new(decoding.chunk, decoding.extent), chain::Chain::new(decoding.extent))
}

/// The two ends of a frame to be written.
pub(crate) fn encode(frame: Frame) -> Ends {
    connect(texts::Texts::new(frame), assemble::Assembler::new(frame))
}
