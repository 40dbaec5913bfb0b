//! The input and output of a device that codes blocks of `.hbz` streams
//! ([`Offload::CodeLarge`](super::Offload::CodeLarge)).

pub use super::abi::{
    hybz_coded_segment as CodedSegment, hybz_shares as SharesForDevice, hybz_tokens as TokensByDevice,
};
use super::{DeviceError, DeviceLane};
use crate::formats::hbz::codec::ans::Shares;
use crate::formats::hbz::codec::tally::{Prices, Tally};
use crate::formats::hbz::codec::token::TOKENS;
use std::time::Duration;

/// A lane that codes blocks of `.hbz` streams. A batch takes several calls, in this order.
pub trait CodeLargeBlocks: DeviceLane {
    /// Sorts all suffixes of each block in [`texts`](DeviceLane::texts), makes tokens of the last columns, and makes
    /// the first choice of selectors. There are entry points at multiples of 2^`entry_log`; the tokens have these
    /// weights.
    ///
    /// After any error the lane must not be used again, only dropped. The same holds for the other methods.
    fn tokens(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        weights: &[u32; TOKENS],
        timeout: Duration,
    ) -> Result<Tokenized<'_>, DeviceError>;

    /// Chooses again, with these prices for each block: in all segments, or only in the sampled ones.
    fn choose(&mut self, prices: &[Prices], all: bool, timeout: Duration) -> Result<&[Tally], DeviceError>;

    /// Encodes all segments with these shares for each block.
    fn segments(&mut self, shares: &[SharesForDevice], timeout: Duration) -> Result<CodedSegments<'_>, DeviceError>;
}

/// A batch that was sorted and turned into tokens.
#[derive(Clone, Copy, Debug)]
pub struct Tokenized<'a> {
    /// Its blocks.
    pub blocks: &'a [TokensByDevice],
    /// The first choices.
    pub tallies: &'a [Tally],
    /// The rows of the entry points. Each block has as many entries as the longest one.
    pub entries: &'a [u32],
}

impl SharesForDevice {
    /// Converts tables of tokens and tables of selectors.
    pub fn new(tokens: &[Shares], selectors: &[Shares]) -> SharesForDevice {
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
    /// The bytes of the segments; empty if there was no room for them.
    pub bytes: &'a [u8],
}

/// The max number of bytes of segments that a lane returns for `bytes` bytes of codes. Random codes take less: 1.01
/// bytes a code.
pub const fn segment_room(blocks: usize, bytes: usize) -> usize {
    bytes + bytes / 16 + 1024 * blocks
}
