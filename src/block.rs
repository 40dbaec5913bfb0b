//! What travels between the rooms: the text of a block, the block coded, and what decoding it gave.

use std::ops::Range;
use std::sync::Arc;

/// Some of the bytes that several blocks share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes of the input.
    pub bytes: Arc<Vec<u8>>,
    /// Which of them.
    pub range: Range<usize>,
}

impl Part {
    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// The text (uncompressed bytes) of one block on its way through the pipeline.
///
/// A block of 900,000 run-length-coded bytes can stand for 46 MB of text, so text that is mostly runs travels in the
/// coded form: what is alive stays small whatever the input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// The bytes themselves.
    Plain(Vec<u8>),
    /// The bytes themselves, where they were read: one part or a few, one after the other.
    Parts(Vec<Part>),
    /// Run-length-coded (bzip2's first step), whole tokens.
    RunLength {
        /// The coded bytes, as they enter the BWT.
        coded: Vec<u8>,
        /// How many bytes they stand for.
        len: u64,
        /// The CRC of those bytes.
        crc: u32,
    },
}

impl Text {
    /// How many bytes of text this stands for.
    pub fn len(&self) -> u64 {
        match self {
            Text::Plain(bytes) => bytes.len() as u64,
            Text::Parts(parts) => parts.iter().map(|part| part.range.len() as u64).sum(),
            Text::RunLength { len, .. } => *len,
        }
    }

    /// The bytes, if they stand anywhere; `room` is for putting parts together.
    pub fn plain<'a>(&'a self, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        match self {
            Text::Plain(bytes) => Some(bytes),
            Text::Parts(parts) => match &parts[..] {
                [part] => Some(part.as_slice()),
                parts => {
                    room.clear();
                    parts.iter().for_each(|part| room.extend_from_slice(part.as_slice()));
                    Some(room)
                }
            },
            Text::RunLength { .. } => None,
        }
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One block as it stands in a `.bz2` stream: from its magic to its last Huffman code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodedBlock {
    /// The bits, first bit in the top of the first byte; the spare bits of the last byte are zero.
    pub bytes: Vec<u8>,
    /// How many bits count.
    pub bit_len: u64,
    /// The CRC of the text.
    pub crc: u32,
    /// How many bytes of text it holds.
    pub text_len: u64,
    /// How many bytes that text has after run-length coding: what a level limits.
    pub block_len: u32,
}

/// One block decoded, its CRC checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedBlock {
    /// The text. Never larger in memory than a few megabytes: see [`Text`].
    pub text: Text,
    /// The CRC of the text; the stored one is the same.
    pub crc: u32,
    /// How many bytes the block had before run-length decoding: what a stream's level limits.
    pub block_len: u32,
    /// The bit after the block's last, counted from the first bit of the data it was decoded from.
    pub end_bit: u64,
}
