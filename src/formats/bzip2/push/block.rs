//! Single blocks, wherever they begin.

use crate::block::Text;
use crate::codec::run_length::decode::Expander;
use crate::codec::{self, find_magic};
use crate::error::{DecodeError, Error};
use crate::formats::bzip2::header::MAX_BLOCK;

/// A decoded block, whose CRC has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its text: up to 46 MB, if it is nearly all runs.
    pub text: Vec<u8>,
    /// The CRC of its text. The CRC of a stream is combined from these: for each block, it is rotated left by one,
    /// then XORed with the block's.
    pub crc: u32,
    /// Its length before run-length decoding: at most 100,000 times the level of its stream.
    pub block_len: u32,
    /// The bit after its last one, where the next block or the end of the stream begins.
    pub end_bit: u64,
}

/// Decodes blocks one by one, in its own memory.
///
/// ```
/// use hybz::{Settings, push::{BlockDecoder, find_block}};
/// let coded = hybz::compress(b"to be or not to be", &Settings::new())?;
/// let bit = find_block(&coded, 0).expect("there is a block");
/// assert_eq!(bit, 32);
/// let block = BlockDecoder::new().decode(&coded, bit)?;
/// assert_eq!(block.text, b"to be or not to be");
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockDecoder(codec::Decoder);

impl BlockDecoder {
    /// A decoder of blocks of any level.
    pub fn new() -> BlockDecoder {
        BlockDecoder::default()
    }

    /// Decodes the block whose magic begins at this bit of `coded`.
    ///
    /// # Errors
    /// [`Error::Data`] if the block is damaged, [`Error::Truncated`] if `coded` ends in it. The number of the block in
    /// the errors is 1.
    pub fn decode(&mut self, coded: &[u8], bit: u64) -> Result<Block, Error> {
        let end = coded.len() as u64 * 8;
        let block = self.0.decode(coded, bit, end, MAX_BLOCK as u32).map_err(|error| match error {
            DecodeError::OutOfData => Error::Truncated { block: 1, bit_offset: end },
            DecodeError::Damaged(damage) => Error::damaged(1, bit, damage),
        })?;
        let (crc, block_len, end_bit) = (block.crc, block.block_len, block.end_bit);
        Ok(Block { text: whole(block.text), crc, block_len, end_bit })
    }
}

/// A text as bytes.
pub(in crate::formats) fn whole(text: Text) -> Vec<u8> {
    match text {
        Text::RunLength { coded, len, .. } => {
            let mut bytes = vec![0; len as usize];
            Expander::default().next(&coded, &mut bytes);
            bytes
        }
        Text::Plain(bytes) => bytes,
        other => other.plain(&mut Vec::new()).unwrap_or_default().to_vec(),
    }
}

/// The next bit at or after `from_bit` where a block may begin: the magic of a block is there, and fields that a block
/// may have. Both may also occur inside a block's data, so only the end of another block at this bit is proof.
pub fn find_block(coded: &[u8], from_bit: u64) -> Option<u64> {
    let mut from = from_bit;
    loop {
        let bit = find_magic::find(coded, from)?;
        if find_magic::plausible(coded, bit, coded.len() as u64 * 8) {
            return Some(bit);
        }
        from = bit + 1;
    }
}
