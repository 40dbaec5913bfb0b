//! Checks a block's text: its length before it is made, its CRC as its parts come in.

use super::payload::PayloadBlock;
use crate::codec::perturb;
use crate::crc::Crc;
use crate::flaw::Flaw;
use crate::formats::hbz::header::check;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Checks the text of a block while its parts come in.
#[derive(Debug, Default)]
pub struct TextCheck {
    perturbed_len: u64,
    text_len: u64,
    crc: Crc,
}

impl TextCheck {
    /// The number of bytes so far, including perturbation bytes.
    pub fn perturbed_len(&self) -> u64 {
        self.perturbed_len
    }

    /// Adds the next part of the text of `block`, as [`walk`](PayloadBlock::walk) returned it, and removes the part's
    /// perturbation bytes.
    pub fn add(&mut self, block: &PayloadBlock, part: &mut Vec<u8>) {
        let before = self.perturbed_len;
        self.perturbed_len += part.len() as u64;
        if block.stream.interval > 0 {
            perturb::remove(part, block.stream.interval as usize, before);
        }
        self.text_len += part.len() as u64;
        self.crc.update(part);
    }

    /// Compares the whole text's length and CRC with the header of `block`.
    pub fn finish(&self, block: &PayloadBlock) -> Result<(), Flaw> {
        check("length of the text", self.text_len == u64::from(block.header.text_len))?;
        let (stored, computed) = (block.header.crc, self.crc.finish());
        if stored == computed { Ok(()) } else { Err(Flaw::BlockCrc { stored, computed }) }
    }
}

/// The length of the text of each walk of a block. A phrase has up to 255 bytes, so a small damaged block can expand to
/// a lot of text: no walk makes text before the total of all walks is known to stay within the block's bound.
#[derive(Debug)]
pub struct TextLens(Vec<AtomicU64>);

impl TextLens {
    /// An entry for each of `walks` walks.
    pub fn new(walks: usize) -> Self {
        TextLens((0..walks).map(|_| AtomicU64::new(0)).collect())
    }

    /// Sets the length of walk `number` to `len` bytes. Returns whether all walks so far have at most `max` in total. A
    /// repeated walk sets its length again.
    pub(super) fn set(&self, number: usize, len: u64, max: u64) -> bool {
        self.0[number].store(len, Relaxed);
        self.0.iter().map(|len| len.load(Relaxed)).sum::<u64>() <= max
    }
}
