//! The index of a frame, which follows it in a skippable frame (docs/FORMAT.md has the layout).

use super::Frame;
use crate::formats::lz4::header::checksum;

/// The magic that we use, of the sixteen for skippable frames.
const SKIPPABLE: [u8; 4] = [0x5b, 0x2a, 0x4d, 0x18];
const MAGIC: [u8; 4] = *b"hLZ4";
const VERSION: u8 = 2;
/// The length of a skippable frame's own header, and of that header together with ours.
const FRAME_HEAD: usize = 8;
const HEAD: usize = 40;
const ENTRY: usize = 12;
/// The length of the tail: checksum, length of the skippable frame, magic.
const TAIL: usize = 12;
/// The max number of blocks (256 GiB of text). A longer frame is written without an index.
const MAX_BLOCKS: usize = 4 << 20;

/// The positions of a frame's blocks, and the lengths of their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The frame's length, without the index.
    pub frame_len: u64,
    /// For each block: the position of its length field, from the first byte of the frame, and the length of its text.
    pub blocks: Vec<(u64, u32)>,
}

impl Index {
    /// Adds a block. One too many is kept, so that [`write`](Self::write) knows that the index is too long.
    pub fn push(&mut self, offset: u64, text_len: u32) {
        if self.blocks.len() <= MAX_BLOCKS {
            self.blocks.push((offset, text_len));
        }
    }

    /// The skippable frame, or `None` if there are too many blocks.
    pub fn write(&self) -> Option<Vec<u8>> {
        if self.blocks.len() > MAX_BLOCKS {
            return None;
        }
        let len = HEAD + self.blocks.len() * ENTRY + TAIL;
        let text_len: u64 = self.blocks.iter().map(|&(_, text_len)| u64::from(text_len)).sum();
        let mut bytes = Vec::with_capacity(len);
        bytes.extend(SKIPPABLE);
        bytes.extend(((len - FRAME_HEAD) as u32).to_le_bytes());
        bytes.extend(MAGIC);
        bytes.extend([VERSION, 0, 0, 0]);
        bytes.extend(Frame::BLOCK_SIZE.to_le_bytes());
        bytes.extend((self.blocks.len() as u32).to_le_bytes());
        bytes.extend(text_len.to_le_bytes());
        bytes.extend(self.frame_len.to_le_bytes());
        for (offset, text_len) in &self.blocks {
            bytes.extend(offset.to_le_bytes());
            bytes.extend(text_len.to_le_bytes());
        }
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes.extend((len as u32).to_le_bytes());
        bytes.extend(MAGIC);
        Some(bytes)
    }
}

#[cfg(any(test, feature = "internals"))]
impl Index {
    /// Whether a whole skippable frame claims to be an index of this version. (One of another version is not read.)
    pub fn claims(frame: &[u8]) -> bool {
        frame.starts_with(&SKIPPABLE)
            && frame[FRAME_HEAD..].starts_with(&MAGIC)
            && frame.get(FRAME_HEAD + MAGIC.len()) == Some(&VERSION)
    }

    /// Parses a whole skippable frame as an index. Its offsets may still be those of another frame.
    pub fn parse(bytes: &[u8]) -> Result<Index, &'static str> {
        let end = bytes.len().checked_sub(TAIL).filter(|&end| end >= HEAD).ok_or("it is cut")?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        let block = |entry: &[u8]| (number(&entry[..8]), number(&entry[8..]) as u32);
        let blocks: Vec<_> = bytes[HEAD..end].chunks_exact(ENTRY).map(block).collect();
        if !blocks.iter().all(|&(_, text_len)| (1..=Frame::BLOCK_SIZE).contains(&text_len)) {
            return Err("a block has too much text, or none");
        }
        let index = Index { frame_len: number(&bytes[HEAD - 8..HEAD]), blocks };
        // All other fields follow from these.
        if index.write().is_some_and(|same| same == bytes) {
            Ok(index)
        } else {
            Err("its checksum or a field is wrong")
        }
    }
}
