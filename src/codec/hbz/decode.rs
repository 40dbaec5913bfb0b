//! Decodes one block of a `.hbz` stream, in three stages, each of which can be divided among stations.
//!
//! 1. [`Block::runs`]: segments of the last column become runs, of list places instead of bytes.
//! 2. [`Block::segment_starts`], which is fast: each segment's first list follows from the segments before it, and the
//!    counts of bytes tell where each segment's bytes go in the vector. [`Block::fill`]: segments fill the vector.
//! 3. [`Block::walk`]: each entry point gives its part of the text.
//!
//! [`HbzDecoder`] does all of them on one core, which is the best way as long as there are as many blocks as stations.

pub use super::compact::compact;
pub use super::payload::Block;
pub use super::segment::{Runs, segment_mtf};
pub use super::vector::{FirstColumn, SegmentStart};
pub use super::vectors::{Vector, VectorCharge, Vectors};

use super::perturb;
use crate::block::Text;
use crate::codec::mtf::decode::MtfDecoder;
use crate::crc::Crc;
use crate::error::Damage;
use crate::format::hbz::{BlockHeader, StreamHeader, check};
use std::sync::Arc;
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

/// Decodes the blocks of `.hbz` streams on one core, one after the other.
#[derive(Debug)]
pub struct HbzDecoder {
    mtf: MtfDecoder,
    vectors: Arc<Vectors>,
}

impl HbzDecoder {
    /// A decoder that keeps 4 bytes for each row of the longest block so far.
    pub fn new() -> Self {
        Self::with_vectors(Vectors::of_one())
    }

    /// A decoder that shares its vectors with others.
    pub fn with_vectors(vectors: Arc<Vectors>) -> Self {
        HbzDecoder { mtf: segment_mtf(), vectors }
    }

    /// Returns the text of a block.
    pub fn decode(&mut self, stream: StreamHeader, header: BlockHeader, payload: Arc<Vec<u8>>) -> Result<Text, Damage> {
        let block = Block::parse(stream, header, payload)?;
        let runs = (0..block.segments()).map(|n| block.runs(n, &mut self.mtf)).collect::<Result<Vec<_>, _>>()?;
        let (starts, first_column) = block.segment_starts(&runs);
        // Taken only now: all rows have been decoded, so the header does not claim more than the block has.
        let vector = self.vectors.take(header.rows);
        for (number, (runs, start)) in runs.iter().zip(&starts).enumerate() {
            block.fill(number, runs, start, &vector);
        }
        drop(runs);
        let mut text = block.walk(0..block.entries(), &vector, &first_column, TextLens::new(1).of(0))?;
        drop(vector);
        if header.is_compact() {
            return compact(&block, vec![text]);
        }
        let mut text_check = TextCheck::default();
        text_check.add(&block, &mut text);
        text_check.finish(&block)?;
        Ok(Text::Plain(text))
    }
}

impl Default for HbzDecoder {
    fn default() -> Self {
        Self::new()
    }
}
