//! The flow of a `.bz2` stream. To compress, `split` cuts text where bzip2 does (by the rule in `cutter`) and
//! `assemble` appends the coded blocks to each other, bit by bit; `streams` begins new streams if they are asked for.
//! To decompress, `scan` (or `parallel_scan`) cuts the input at everything that looks like a block and `chain` accepts
//! the results that fit. `items` parses what lies between the blocks, also for code that reads a file from any bit.

use crate::formats::bzip2::header::Level;
use crate::formats::bzip2::perturbed::Perturbing;
use crate::stream::piece::{Decoding, Ends, StreamEndDetector, connect};

pub(crate) mod ahead;
pub(crate) mod assemble;
pub(crate) mod chain;
pub(crate) mod cutter;
mod end;
pub(crate) mod items;
mod parallel_scan;
pub(crate) mod readers;
pub(crate) mod scan;
pub(crate) mod span;
pub(crate) mod split;
mod streams;
pub(crate) mod tasks;
pub(crate) mod walk;

use split::BlockOptions;
use std::num::NonZeroU32;
pub use streams::Streams;

pub(crate) fn end() -> Option<Box<dyn StreamEndDetector>> {
    Some(Box::new(end::Tail::default()))
}

pub(crate) fn decode(decoding: &Decoding) -> Ends {
    let scanner = scan::Scanner::new(0, decoding.chunk);
    connect(scanner, chain::Chain::new(chain::Place::START, u64::MAX, decoding.extent, decoding.lines))
}

/// The two ends of a perturbed stream to be written.
pub(crate) fn encode_perturbed(level: Level, interval: NonZeroU32, seed: u64, options: BlockOptions) -> Ends {
    let splitter = split::Splitter::new(level, BlockOptions { count_lines: false, ..options });
    connect(Perturbing::new(splitter, interval, seed), assemble::Assembler::new(level, Some(interval)))
}

/// The two ends of a stream to be written, or of several.
pub(crate) fn encode(level: Level, streams: Option<Streams>, options: BlockOptions) -> Ends {
    let (splitter, assembler) = (split::Splitter::new(level, options), assemble::Assembler::new(level, None));
    match streams {
        None => connect(splitter, assembler),
        Some(streams) => connect(streams::StreamSplitter::new(splitter, streams), assembler),
    }
}
