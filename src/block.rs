//! The data that the parts of the program pass to each other: a block's text, the coded block, and the decoded block.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Text of up to this many bytes is passed on as plain bytes. A longer text of one block is nearly all runs (a block
/// of 900,000 bytes can expand to 46,620,000); it stays run-length-coded, and is expanded piece by piece when it is
/// written.
pub const MAX_PLAIN_TEXT: usize = 2 << 20;

/// A range of bytes in a buffer that several blocks share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedBytes {
    /// The shared buffer: bytes of the input.
    pub bytes: Arc<Vec<u8>>,
    /// The range in that buffer.
    pub range: Range<usize>,
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> SharedBytes {
        SharedBytes { range: 0..bytes.len(), bytes: Arc::new(bytes) }
    }
}

impl SharedBytes {
    /// The bytes of the range, without copying them if no other part shares the buffer.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        let SharedBytes { bytes, range } = self;
        if range != (0..bytes.len()) {
            return bytes[range].to_vec();
        }
        Arc::try_unwrap(bytes).unwrap_or_else(|shared| shared.to_vec())
    }
}

/// The text (uncompressed bytes) of one block.
///
/// The text of a `.bz2` block that is longer than 2 MiB is mostly runs. It is passed on in its coded form, so that the
/// memory in use stays small for any input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// The bytes themselves.
    Plain(Vec<u8>),
    /// The bytes themselves, in the buffers into which they were read: one part, or a few in order.
    Parts(Vec<SharedBytes>),
    /// Run-length-coded text (bzip2's first step), in whole tokens.
    RunLength {
        /// The coded bytes, which are the input of the BWT.
        coded: Vec<u8>,
        /// The number of bytes of text.
        len: u64,
        /// The CRC of the text.
        crc: u32,
    },
    /// Text that takes much more memory than its coded form: it is decoded piece by piece when it is written.
    Compact(Compact),
}

/// The compact form of a text, from which its pieces are decoded.
pub trait Expand: fmt::Debug + Send + Sync {
    /// The number of bytes of text.
    fn text_len(&self) -> u64;
    /// The text in pieces of at most a few hundred kilobytes.
    fn pieces(self: Arc<Self>) -> Box<dyn Iterator<Item = Vec<u8>> + Send + Sync>;
}

/// Text in its compact form.
#[derive(Clone, Debug)]
pub struct Compact(pub Arc<dyn Expand>);

impl Compact {
    /// The text in pieces of at most a few hundred kilobytes.
    pub fn pieces(&self) -> impl Iterator<Item = Vec<u8>> + Send + Sync + use<> {
        Arc::clone(&self.0).pieces()
    }
}

/// Equal if the texts are.
impl PartialEq for Compact {
    fn eq(&self, other: &Self) -> bool {
        self.pieces().flatten().eq(other.pieces().flatten())
    }
}

impl Eq for Compact {}

impl Text {
    /// The number of bytes of text.
    pub fn len(&self) -> u64 {
        match self {
            Text::Plain(bytes) => bytes.len() as u64,
            Text::Parts(parts) => parts.iter().map(|part| part.range.len() as u64).sum(),
            Text::RunLength { len, .. } => *len,
            Text::Compact(compact) => compact.0.text_len(),
        }
    }

    /// The text as one slice, or `None` if it is run-length-coded. Parts, and compact text, are copied to `room`.
    pub fn plain<'a>(&'a self, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        match self {
            Text::Plain(bytes) => Some(bytes),
            Text::Parts(parts) => match &parts[..] {
                [part] => Some(part),
                parts => {
                    room.clear();
                    parts.iter().for_each(|part| room.extend_from_slice(part));
                    Some(room)
                }
            },
            Text::Compact(compact) => {
                room.clear();
                compact.pieces().for_each(|piece| room.extend_from_slice(&piece));
                Some(room)
            }
            Text::RunLength { .. } => None,
        }
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A coded block as a `.bz2` stream holds it: from its magic to its last Huffman code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodedBlock {
    /// The bits, first bit in the top of the first byte. The unused bits of the last byte are zero.
    pub bytes: Vec<u8>,
    /// The number of bits.
    pub bit_len: u64,
    /// The CRC of the text.
    pub crc: u32,
    /// The number of bytes of text.
    pub text_len: u64,
    /// The number of bytes after run-length coding, which a stream's level limits.
    pub block_len: u32,
}

/// A decoded block whose CRC has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedBlock {
    /// The text. It takes at most a few megabytes of memory: see [`Text`].
    pub text: Text,
    /// The CRC of the text, which is also the stored one.
    pub crc: u32,
    /// The number of bytes before run-length decoding, which a stream's level limits.
    pub block_len: u32,
    /// The position after the block's last bit, counted from the first bit of the data that the block was decoded from.
    pub end_bit: u64,
}
