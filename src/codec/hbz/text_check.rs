//! What is checked of a block's text, while its parts come in and before they are made.

use super::payload::Block;
use super::perturb;
use crate::crc::Crc;
use crate::error::Damage;
use crate::format::hbz::check;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Checks the text of a block while its parts come in.
#[derive(Debug, Default)]
pub struct TextCheck {
    perturbed_len: u64,
    text_len: u64,
    crc: Crc,
}

impl TextCheck {
    /// The number of bytes so far, perturbation's included.
    pub fn perturbed_len(&self) -> u64 {
        self.perturbed_len
    }

    /// Takes the next part of the text of `block` as [`walk`](Block::walk) returned it, and drops perturbation's bytes
    /// from it.
    pub fn add(&mut self, block: &Block, part: &mut Vec<u8>) {
        let before = self.perturbed_len;
        self.perturbed_len += part.len() as u64;
        if block.stream.interval > 0 {
            perturb::remove(part, block.stream.interval as usize, before);
        }
        self.text_len += part.len() as u64;
        self.crc.update(part);
    }

    /// Compares the whole text's length and CRC with the header of `block`.
    pub fn finish(&self, block: &Block) -> Result<(), Damage> {
        check("length of the text", self.text_len == u64::from(block.header.text_len))?;
        let (stored, computed) = (block.header.crc, self.crc.finish());
        if stored == computed { Ok(()) } else { Err(Damage::BlockCrc { stored, computed }) }
    }
}

/// How much text each walk of a block gives. A phrase has up to 255 bytes, so damaged blocks can claim little and give
/// much: no walk makes text before all of them together are known to stay within what the block may have.
#[derive(Debug)]
pub struct TextLens(Vec<AtomicU64>);

impl TextLens {
    /// For so many walks.
    pub fn new(walks: usize) -> Self {
        TextLens((0..walks).map(|_| AtomicU64::new(0)).collect())
    }

    /// The place of walk `number`.
    pub fn of(&self, number: usize) -> WalkLen<'_> {
        WalkLen { lens: self, number }
    }
}

/// The place of one walk in [`TextLens`].
#[derive(Clone, Copy, Debug)]
pub struct WalkLen<'a> {
    lens: &'a TextLens,
    number: usize,
}

impl WalkLen<'_> {
    /// Says that the walk gives `len` bytes. Returns whether all walks so far give at most `max`. A walk that is done
    /// again says it again.
    pub(super) fn set(self, len: u64, max: u64) -> bool {
        self.lens.0[self.number].store(len, Relaxed);
        self.lens.0.iter().map(|len| len.load(Relaxed)).sum::<u64>() <= max
    }
}
