//! Decodes one block of a `.hbz` stream, in three stages, each of which can be divided among stations.
//!
//! 1. [`Block::runs`]: segments of the last column become runs, of list places instead of bytes.
//! 2. [`Block::segment_starts`], which is fast: each segment's first list follows from the segments before it, and the
//!    counts of bytes tell where each segment's bytes go in the vector. [`Block::fill`]: segments fill the vector.
//! 3. [`Block::walk`]: each entry point gives its part of the text.
//!
//! [`HbzDecoder`] does all of them on one core, which is the best way as long as there are as many blocks as stations.

pub use super::payload::Block;
pub use super::segment::{Runs, segment_mtf};
pub use super::vector::{FirstColumn, SegmentStart, new_vector};

use super::perturb;
use crate::codec::mtf::decode::MtfDecoder;
use crate::crc::Crc;
use crate::error::Damage;
use crate::format::hbz::{BlockHeader, StreamHeader, check};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

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

/// Decodes the blocks of `.hbz` streams on one core, one after the other, in its own memory: 4 bytes for each row of
/// the longest block so far.
#[derive(Debug)]
pub struct HbzDecoder {
    mtf: MtfDecoder,
    vector: Vec<AtomicU32>,
}

impl HbzDecoder {
    /// A decoder.
    pub fn new() -> Self {
        HbzDecoder { mtf: segment_mtf(), vector: Vec::new() }
    }

    /// Returns the text of a block.
    pub fn decode(
        &mut self,
        stream: StreamHeader,
        header: BlockHeader,
        payload: Arc<Vec<u8>>,
    ) -> Result<Vec<u8>, Damage> {
        let block = Block::parse(stream, header, payload)?;
        let runs = (0..block.segments()).map(|n| block.runs(n, &mut self.mtf)).collect::<Result<Vec<_>, _>>()?;
        let (starts, first_column) = block.segment_starts(&runs);
        // Allocated only now: all rows have been decoded, so the header does not claim more than the block has.
        let rows = header.rows as usize;
        if self.vector.len() < rows {
            self.vector = new_vector(rows);
        }
        for (number, (runs, start)) in runs.iter().zip(&starts).enumerate() {
            block.fill(number, runs, start, &self.vector[..rows]);
        }
        drop(runs);
        let mut text = block.walk(0..block.entries(), &self.vector, &first_column)?;
        let mut text_check = TextCheck::default();
        text_check.add(&block, &mut text);
        text_check.finish(&block)?;
        Ok(text)
    }
}

impl Default for HbzDecoder {
    fn default() -> Self {
        Self::new()
    }
}
