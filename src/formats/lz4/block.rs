//! Codes and decodes blocks on a core with the library `lz4`: its decoder is the fastest on cores, and it refuses
//! exactly the blocks that the command `lz4` refuses.

use super::Frame;
use crate::flaw::Flaw;
use crate::formats::lz4::header::{STORED, WINDOW, checksum};
use std::ops::Range;

/// From this level on, `lz4` looks for better matches.
const FIRST_HC: u8 = 3;
/// The max ratio of text to coded bytes: a byte adds at most 255 to the length of a match. `MARGIN` covers
/// the last bytes, and keeps the decoder clear of its special rules at the end of the buffer.
const MAX_RATIO: usize = 255;
const MARGIN: usize = 64;

/// Some coded blocks of a frame, each preceded by its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodedBlocks {
    pub(crate) bytes: Vec<u8>,
    /// For each block: its position in `bytes`, and the length of its text.
    pub(crate) blocks: Vec<(usize, u32)>,
}

/// Codes a text as blocks.
pub(crate) fn encode(text: &[u8], frame: Frame) -> CodedBlocks {
    let mut coded = CodedBlocks::default();
    coded.bytes.reserve(text.len() / 2);
    let mut room = vec![0; Frame::BLOCK_SIZE as usize];
    for block in text.chunks(Frame::BLOCK_SIZE as usize) {
        // A block that does not become smaller is stored.
        let room = &mut room[..block.len() - 1];
        let len = match frame.level {
            _ if room.is_empty() => None,
            level if level < FIRST_HC => lzzzz::lz4::compress(block, room, lzzzz::lz4::ACC_LEVEL_DEFAULT).ok(),
            level => lzzzz::lz4_hc::compress(block, room, level.into()).ok(),
        };
        let at = coded.bytes.len();
        match len.filter(|&len| len > 0) {
            Some(len) => {
                coded.bytes.extend((len as u32).to_le_bytes());
                coded.bytes.extend(&room[..len]);
            }
            None => {
                coded.bytes.extend((block.len() as u32 | STORED).to_le_bytes());
                coded.bytes.extend(block);
            }
        }
        coded.blocks.push((at, block.len() as u32));
    }
    coded
}

/// A block to decode.
#[derive(Clone, Debug)]
pub(crate) struct ToDecode {
    /// Its range in the bytes of all blocks.
    pub range: Range<usize>,
    /// Its bytes are the text, uncoded.
    pub stored: bool,
    pub checksum: Option<u32>,
    /// The position of its length field in the input.
    pub at: u64,
}

/// Consecutive blocks of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    pub bytes: Vec<u8>,
    pub blocks: Vec<ToDecode>,
    /// The max text length of a block.
    pub block_size: usize,
    /// Matches may reach into the block before.
    pub linked: bool,
}

/// The result of decoding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodedBlocks {
    /// The text of all blocks, or of those before the first bad one.
    pub(crate) text: Vec<u8>,
    /// The first bad block: its number, its position in the input, and its damage.
    pub(crate) wrong: Option<(usize, u64, Flaw)>,
}

impl Blocks {
    /// The max text length of a block of `len` bytes.
    pub fn max_text(&self, len: usize, stored: bool) -> usize {
        if stored { len } else { self.block_size.min(MAX_RATIO * len + MARGIN) }
    }

    /// Decodes the blocks. `history` is the text before them, if they are linked.
    pub fn decode(&self, history: &[u8]) -> DecodedBlocks {
        let most: usize = self.blocks.iter().map(|block| self.max_text(block.range.len(), block.stored)).sum();
        let before = history.len();
        let mut text = vec![0; before + most];
        text[..before].copy_from_slice(history);
        let mut to = before;
        let mut wrong = None;
        for (number, block) in self.blocks.iter().enumerate() {
            match self.one(block, &mut text, to) {
                Ok(len) => to += len,
                Err(damage) => {
                    wrong = Some((number, block.at, damage));
                    break;
                }
            }
        }
        text.truncate(to);
        text.drain(..before);
        DecodedBlocks { text, wrong }
    }

    /// Decodes a block into `text` from `to` on. Returns the length of its text.
    fn one(&self, block: &ToDecode, text: &mut [u8], to: usize) -> Result<usize, Flaw> {
        let coded = &self.bytes[block.range.clone()];
        if let Some(stored) = block.checksum {
            let computed = checksum(coded);
            if stored != computed {
                return Err(Flaw::Lz4Checksum { part: "block", stored, computed });
            }
        }
        let (before, room) = text.split_at_mut(to);
        let room = &mut room[..self.max_text(coded.len(), block.stored)];
        if block.stored {
            room.copy_from_slice(coded);
            return Ok(coded.len());
        }
        let decoded = if self.linked {
            lzzzz::lz4::decompress_with_dict(coded, room, &before[before.len().saturating_sub(WINDOW)..])
        } else {
            lzzzz::lz4::decompress(coded, room)
        };
        // `lz4` would decode an empty block to an empty text.
        decoded.ok().filter(|_| !coded.is_empty()).ok_or(Flaw::Lz4Block)
    }
}

/// The history that linked blocks after this text need: its end, and if it is short, that of the history before it.
pub(crate) fn window(history: &[u8], text: &[u8]) -> Vec<u8> {
    let old = WINDOW.saturating_sub(text.len()).min(history.len());
    [&history[history.len() - old..], &text[text.len().saturating_sub(WINDOW)..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows() {
        let text: Vec<u8> = (0..200_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        for (history, len) in
            [(0, 10), (10, 10), (65_530, 10), (65_536, 10), (65_536, 65_535), (5, 65_536), (5, 99_999)]
        {
            let all = &text[..history + len];
            assert!(window(&all[..history], &all[history..]) == all[all.len().saturating_sub(1 << 16)..]);
        }
    }
}
