//! Tells a damaged CRC field from a damaged block.
//!
//! A stream ends with the combined CRC of its blocks: each block CRC is rotated by as many bits as blocks follow it,
//! and all are XORed. If exactly one stored CRC is wrong and everything else is right, the combined CRC differs from
//! the combination of the stored CRCs by exactly the wrong bits of that CRC, rotated. By chance, a computed CRC
//! explains the difference with a probability of 2^-32.

use super::marks::{MagicKind, Marks};
use crate::crc;
use crate::error::Error;
use crate::formats::bzip2::header::HEADER_BITS;
use crate::formats::bzip2::stream::items::{Head, level_at};
use crate::read_at::ReadAt;

/// The max number of blocks kept for a stream, as a bound for files made of magics.
const MAX_BLOCKS: usize = 1 << 20;

/// The stored CRCs of a stream.
pub(super) struct StoredCrcs {
    /// The positions of its block magics, true and false ones.
    blocks: Vec<u64>,
    /// The XOR of the stored combined CRC and the combination of the stored block CRCs.
    difference: u32,
}

impl StoredCrcs {
    /// Reads the stream that begins at this bit of the file. Returns `None` for a stream without an end.
    pub fn read(file: &dyn ReadAt, from: u64) -> Result<StoredCrcs, Error> {
        let mut found = StoredCrcs { blocks: Vec::new(), difference: 0 };
        let mut combined = 0;
        for mark in Marks::new(file, from) {
            let mark = mark?;
            let Some((_, stored)) = Head::at(file, mark.bit)?.whole() else { break };
            match mark.kind {
                MagicKind::End => {
                    found.difference = stored ^ combined;
                    break;
                }
                MagicKind::Block if found.blocks.len() == MAX_BLOCKS => break,
                // Another stream: this one has lost its end.
                MagicKind::Block
                    if mark.bit > from + HEADER_BITS && level_at(file, mark.bit - HEADER_BITS)?.is_some() =>
                {
                    break;
                }
                MagicKind::Block => {
                    combined = crc::combine(combined, stored);
                    found.blocks.push(mark.bit);
                }
            }
        }
        Ok(found)
    }

    /// Whether the block at this bit is good although its stored CRC differs from the computed one by `wrong`.
    pub fn explain(&self, bit: u64, wrong: u32) -> bool {
        let Ok(place) = self.blocks.binary_search(&bit) else { return false };
        let after = self.blocks.len() - 1 - place;
        self.difference != 0 && wrong.rotate_left((after % 32) as u32) == self.difference
    }
}
