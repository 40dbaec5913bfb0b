//! The input and output of a device that codes blocks of `.hbz` streams
//! ([`Pipeline::CodeLarge`](super::Pipeline::CodeLarge)).

pub use super::abi::{
    hybz_coded_segment as CodedSegment, hybz_prices as PricesForDevice, hybz_shares as SharesForDevice,
    hybz_tally as TallyByDevice, hybz_tokens as TokensByDevice,
};

/// A batch that was sorted and turned into tokens.
#[derive(Clone, Copy, Debug)]
pub struct Tokenized<'a> {
    /// Its blocks.
    pub blocks: &'a [TokensByDevice],
    /// The first choices.
    pub tallies: &'a [TallyByDevice],
    /// The rows of the entry points. Each block has as many entries as the longest block needs.
    pub entries: &'a [u32],
}

impl SharesForDevice {
    /// Converts tables of tokens and tables of selectors.
    pub fn new(tokens: &[Vec<u16>], selectors: &[Vec<u16>]) -> SharesForDevice {
        let mut new = SharesForDevice::default();
        new.tokens.iter_mut().zip(tokens).for_each(|(to, from)| to.copy_from_slice(from));
        new.selectors.iter_mut().zip(selectors).for_each(|(to, from)| to[..from.len()].copy_from_slice(from));
        new
    }
}

/// An encoded batch.
#[derive(Clone, Copy, Debug)]
pub struct CodedSegments<'a> {
    /// The segments of all blocks.
    pub segments: &'a [CodedSegment],
    /// The bytes of the segments; empty if they did not fit the output.
    pub bytes: &'a [u8],
}

/// The max number of bytes of segments that a lane returns for `bytes` bytes of codes. Random codes take less: 1.01
/// bytes a code.
pub const fn segment_room(blocks: usize, bytes: usize) -> usize {
    bytes + bytes / 16 + 1024 * blocks
}
