//! Decodes one block of a `.hbz` stream, in three stages, each of which can be divided among stations.
//!
//! 1. [`PayloadBlock::runs`]: segments of the last column become runs of list positions instead of runs of bytes.
//! 2. [`PayloadBlock::segment_starts`], which is fast: each segment's first list follows from the segments before it,
//!    and the counts of bytes tell where each segment's bytes go in the vector. [`PayloadBlock::fill`]: segments fill
//!    the vector.
//! 3. [`PayloadBlock::walk`]: each entry point gives its part of the text.
//!
//! [`HbzDecoder`] does all of them on one core, which is the best way as long as there are as many blocks as stations.

pub use super::compact::compact;
pub use super::payload::{PayloadBlock, SegmentSpan, TableShares};
pub use super::segment::{Runs, segment_mtf};
pub use super::text_check::{TextCheck, TextLens};
pub use super::vector::{FirstColumn, SegmentStart};
pub use super::vectors::{Vector, VectorCharge, Vectors};

use crate::block::Text;
use crate::codec::mtf::decode::MtfDecoder;
use crate::flaw::Flaw;
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use std::borrow::Cow;
use std::sync::Arc;

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

    /// Decodes a block to its text.
    pub fn decode(&mut self, stream: StreamHeader, header: BlockHeader, payload: Arc<Vec<u8>>) -> Result<Text, Flaw> {
        let block = PayloadBlock::parse(stream, header, payload)?;
        block.text(self.codes(&block)?.into())
    }

    /// All codes of a block, one for each row.
    pub fn codes(&mut self, block: &PayloadBlock) -> Result<Vec<u8>, Flaw> {
        let runs = (0..block.segments.len()).map(|n| block.runs(n, &mut self.mtf)).collect::<Result<Vec<_>, _>>()?;
        let (starts, first_column) = block.segment_starts(&runs);
        // The vector is taken only now: all rows have been decoded, so the header does not claim more than the block
        // has.
        let vector = self.vectors.take(block.header.rows);
        for (number, (runs, start)) in runs.iter().zip(&starts).enumerate() {
            block.fill(number, runs, start, &vector);
        }
        drop(runs);
        Ok(block.codes(0..block.entries.len(), &vector, &first_column))
    }
}

impl PayloadBlock {
    /// The text of all codes of the block, verified.
    pub fn text(&self, codes: Cow<'_, [u8]>) -> Result<Text, Flaw> {
        if self.header.is_compact() {
            return compact(self, vec![codes.into_owned()]);
        }
        // The length is known, so no pass is needed to count it: such a pass takes half as long as this one.
        let most = self.max_perturbed_len() as usize;
        let text = self.expander.expand(&codes, 1 << self.stream.entry_log, most);
        let mut text = text.ok_or(Flaw::BlockTooLong)?;
        let mut text_check = TextCheck::default();
        text_check.add(self, &mut text);
        text_check.finish(self)?;
        Ok(Text::Plain(text))
    }
}

impl Default for HbzDecoder {
    fn default() -> Self {
        Self::new()
    }
}
