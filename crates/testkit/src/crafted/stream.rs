//! A stream of blocks with its header and trailer.

use super::bits::Bits;
use super::block::{Block, END_MAGIC};

/// A stream. `Stream::of(level, blocks)` makes a valid one; to make a field invalid, set it.
#[derive(Clone, Debug)]
pub struct Stream {
    /// `BZh9`.
    pub header: Vec<u8>,
    pub blocks: Vec<Block>,
    pub end_magic: u64,
    /// The combined CRC, by default of the CRCs that the blocks state.
    pub combined: u32,
    /// The bit that pads the end to a whole byte.
    pub padding: bool,
}

impl Stream {
    pub fn of(level: u8, blocks: Vec<Block>) -> Stream {
        let combined = combined(&blocks);
        Stream { header: vec![b'B', b'Z', b'h', b'0' + level], blocks, end_magic: END_MAGIC, combined, padding: false }
    }

    /// A stream of one block, at level 9.
    pub fn single(block: Block) -> Stream {
        Stream::of(9, vec![block])
    }

    /// The text to which it decodes.
    pub fn text(&self) -> Vec<u8> {
        self.blocks.iter().flat_map(|block| block.text.iter().copied()).collect()
    }

    /// The stream up to its last bit, without padding.
    pub fn bits(&self) -> Bits {
        let mut bits = Bits::of(&self.header);
        for block in &self.blocks {
            bits.extend(&block.bits());
        }
        bits.push(self.end_magic, 48);
        bits.push(self.combined.into(), 32);
        bits
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bits = self.bits();
        bits.align(self.padding);
        bits.bytes().to_vec()
    }
}

/// The combined CRC of `blocks`, which depends on their order.
pub fn combined(blocks: &[Block]) -> u32 {
    blocks.iter().fold(0u32, |sum, block| sum.rotate_left(1) ^ block.crc)
}
