//! Whether a block's stored CRC is what is damaged, and not the block.
//!
//! A stream ends with the CRCs of its blocks combined: each is rotated by as many bits as blocks follow it, and all are
//! XORed. So if one stored CRC is wrong and all else is right, what is stored at the end differs from what the stored
//! CRCs give by exactly the wrong bits of that one, rotated. That the computed CRC makes up for it by chance has a
//! probability of 2^-32.

use super::marks::{Kind, Marks};
use crate::crc;
use crate::error::Error;
use crate::index::bits_at;
use crate::read_at::ReadAt;

/// The most blocks of a stream that are kept, for files made of magics.
const MAX_BLOCKS: usize = 1 << 20;

/// What the stored CRCs of a stream say.
pub(super) struct StoredCrcs {
    /// Where its magics are, true and false ones.
    blocks: Vec<u64>,
    /// By which bits the combined CRC at its end differs from what the CRCs of its blocks give.
    difference: u32,
}

impl StoredCrcs {
    /// Of the stream that begins at this bit of the file. Nothing is known of a stream without an end.
    pub fn read(file: &dyn ReadAt, from: u64) -> Result<StoredCrcs, Error> {
        let mut found = StoredCrcs { blocks: Vec::new(), difference: 0 };
        let mut combined = 0;
        for mark in Marks::new(file, from) {
            let mark = mark?;
            let Some((_, stored)) = bits_at(file, mark.bit)? else { break };
            match mark.kind {
                Kind::End => {
                    found.difference = stored ^ combined;
                    break;
                }
                Kind::Block if found.blocks.len() == MAX_BLOCKS => break,
                Kind::Block => {
                    combined = crc::combine(combined, stored);
                    found.blocks.push(mark.bit);
                }
            }
        }
        Ok(found)
    }

    /// Whether the block that begins at this bit is good, if its stored CRC differs from the computed one by these.
    pub fn explain(&self, bit: u64, wrong: u32) -> bool {
        let Ok(place) = self.blocks.binary_search(&bit) else { return false };
        let behind = self.blocks.len() - 1 - place;
        self.difference != 0 && wrong.rotate_left((behind % 32) as u32) == self.difference
    }
}
