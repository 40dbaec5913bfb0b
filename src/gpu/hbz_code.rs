//! What goes to a device that codes blocks of `.hbz` streams, and what comes back
//! ([`Offload::CodeLarge`](super::Offload::CodeLarge)).

use super::{DeviceError, DeviceLane};
use crate::codec::hbz::ans::Shares;
use crate::codec::hbz::tally::{Prices, Tally};
use crate::codec::hbz::token::{CLASSES, TOKENS};
use crate::format::hbz::MAX_TABLES;
use std::time::Duration;

/// A lane that codes blocks of `.hbz` streams. A batch takes several calls, in this order.
pub trait CodeLargeBlocks: DeviceLane {
    /// Sorts all suffixes of each block that [`texts`](DeviceLane::texts) holds, makes tokens of the last columns, and
    /// chooses selectors for the first time. There are entry points at multiples of 2^`entry_log`; the tokens have
    /// these weights.
    ///
    /// After any error the lane must not be used again, only dropped; so it is with the others.
    fn tokens(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        weights: &[u32; TOKENS],
        timeout: Duration,
    ) -> Result<Tokenized<'_>, DeviceError>;

    /// Chooses again, with these prices of each block: in all segments or in those that are looked at.
    fn choose(&mut self, prices: &[Prices], all: bool, timeout: Duration) -> Result<&[Tally], DeviceError>;

    /// Encodes all segments with these shares of each block.
    fn segments(&mut self, shares: &[SharesForDevice], timeout: Duration) -> Result<CodedSegments<'_>, DeviceError>;
}

/// A block's tokens: `struct hybz_tokens` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct TokensByDevice {
    /// Whether code c occurs: bit c % 32 of word c / 32.
    pub used: [u32; 8],
    /// How many tokens.
    pub tokens: u32,
    /// How many selectors.
    pub selectors: u32,
    /// One segment of so many is looked at, but for the last rounds.
    pub step: u32,
}

/// A batch, sorted, in tokens.
#[derive(Clone, Copy, Debug)]
pub struct Tokenized<'a> {
    /// Its blocks.
    pub blocks: &'a [TokensByDevice],
    /// What was chosen first.
    pub tallies: &'a [Tally],
    /// The rows of the entry points: for each block as many as the longest one has.
    pub entries: &'a [u32],
}

/// The shares of a block's tables: `struct hybz_shares` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SharesForDevice {
    /// By selector and class.
    pub tokens: [[u16; TOKENS]; MAX_TABLES * CLASSES],
    /// By the selector before.
    pub selectors: [[u16; MAX_TABLES]; MAX_TABLES],
}

impl SharesForDevice {
    /// From the tables of tokens and those of selectors.
    pub fn new(tokens: &[Shares], selectors: &[Shares]) -> SharesForDevice {
        let mut new =
            SharesForDevice { tokens: [[0; TOKENS]; MAX_TABLES * CLASSES], selectors: [[0; MAX_TABLES]; MAX_TABLES] };
        new.tokens.iter_mut().zip(tokens).for_each(|(to, from)| to.copy_from_slice(from));
        new.selectors.iter_mut().zip(selectors).for_each(|(to, from)| to[..from.len()].copy_from_slice(from));
        new
    }
}

/// A segment, encoded: `struct hybz_coded_segment` of `cuda/hybz.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CodedSegment {
    /// It has so many bits, and zeros up to a whole byte.
    pub bits: u32,
    /// Its tokens.
    pub tokens: u32,
}

/// A batch, encoded.
#[derive(Clone, Copy, Debug)]
pub struct CodedSegments<'a> {
    /// The segments of all blocks.
    pub segments: &'a [CodedSegment],
    /// Their bytes; none if there was no room for them.
    pub bytes: &'a [u8],
}

/// The most bytes of segments that a lane for so many bytes of codes returns: more than random ones make, which take
/// 1.01 bytes a code.
pub const fn segment_room(blocks: usize, bytes: usize) -> usize {
    bytes + bytes / 16 + 1024 * blocks
}
