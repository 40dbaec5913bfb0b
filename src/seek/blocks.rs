//! The blocks of a file, from its index, and the decoding of a `.bz2` file's blocks.

use super::cache::Cache;
use super::text::Decoded;
use crate::block::DecodedBlock;
use crate::error::{DecodeError, Error};
use crate::flaw::Flaw;
use crate::formats::bzip2::stream::items::Head;
use crate::formats::bzip2::stream::tasks::{DECODE, DecodeBlock};
use crate::index::{Block, Index};
use hybz_queue::{Client, TaskError};
use std::ops::Range;
use std::sync::Arc;

/// The positions of a file's blocks, and a way to decode one.
pub(crate) trait BlockMap: Send + Sync {
    /// The number of bytes of text in the file.
    fn text_len(&self) -> u64;
    /// The block with this byte of the text.
    fn find(&self, offset: u64) -> Result<Option<Wanted>, Error>;
    /// The block after this one.
    fn next(&self, block: &Wanted) -> Result<Option<Wanted>, Error>;
    /// Submits the block that has these bytes: it is decoded for the cache.
    fn submit(&self, wanted: &Wanted, bytes: &[u8], client: &Client, cache: &Arc<Cache>) -> Result<(), Error>;
    /// The index, if it is in another file.
    fn index(&self) -> Option<&Index> {
        None
    }
}

/// A block to be decoded.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// From 1.
    pub number: u64,
    /// A key that no other block of the file has, whatever the index claims.
    pub key: u64,
    pub text_offset: u64,
    pub text_len: u64,
    /// The range of bytes of the file that contains the block.
    pub bytes: Range<u64>,
    /// The block's entry in a `.bz2` file's index.
    pub block: Option<Block>,
}

impl Wanted {
    /// A block, from the index of a `.bz2` file.
    pub fn of_index(block: Block) -> Wanted {
        let Block { number, text_offset, text_len, .. } = block;
        Wanted { number, key: block.record, text_offset, text_len, bytes: block.bytes(), block: Some(block) }
    }

    pub fn text_end(&self) -> u64 {
        self.text_offset.saturating_add(self.text_len)
    }

    /// The max number of bytes that the block takes in the cache. (Longer texts of a `.bz2` file are kept run-length
    /// coded.)
    pub fn cost(&self) -> u64 {
        if self.block.is_some() { self.text_len.min(2 << 20) } else { self.text_len }
    }

    /// The error for a file that ends at this byte, before the block does.
    pub fn cut(&self, end: u64) -> Error {
        Error::Truncated { block: self.number, bit_offset: end * 8 }
    }
}

impl BlockMap for Index {
    fn text_len(&self) -> u64 {
        self.text_len()
    }

    fn find(&self, offset: u64) -> Result<Option<Wanted>, Error> {
        Ok(self.find(offset)?.map(Wanted::of_index))
    }

    fn next(&self, block: &Wanted) -> Result<Option<Wanted>, Error> {
        Ok(match &block.block {
            Some(block) => self.next(block)?.map(Wanted::of_index),
            None => None,
        })
    }

    fn submit(&self, wanted: &Wanted, bytes: &[u8], client: &Client, cache: &Arc<Cache>) -> Result<(), Error> {
        submit(wanted, bytes, client, cache)
    }

    fn index(&self) -> Option<&Index> {
        Some(self)
    }
}

/// Submits the block of a `.bz2` file that has these bytes: it is decoded for the cache.
pub(crate) fn submit(wanted: &Wanted, bytes: &[u8], client: &Client, cache: &Arc<Cache>) -> Result<(), Error> {
    let Some(block) = wanted.block else { return Ok(()) };
    let (key, cache, start) = (wanted.key, Arc::clone(cache), block.bit_offset % 8);
    if !block.begins(Head::of(bytes, start)) {
        return Err(Error::ForeignIndex { bit_offset: block.bit_offset });
    }
    let end = start + (block.end_bit - block.bit_offset);
    let task = DecodeBlock { data: bytes.to_vec().into(), start, end };
    let submission = client.task(task).class(DECODE, bytes.len() as u64);
    submission.submit_then(move |_, decoded, _| cache.put(key, judge(&block, start, decoded)));
    Ok(())
}

/// Compares a decoded block with its index entry. `start` is the bit at which the block began in its data.
fn judge(
    block: &Block,
    start: u64,
    answer: Result<Result<DecodedBlock, DecodeError>, TaskError>,
) -> Result<Decoded, Error> {
    let damaged = |flaw| Err(Error::damaged(block.number, block.bit_offset, flaw));
    let decoded = match answer {
        Ok(Ok(decoded)) => decoded,
        // Magic and CRC are where the index has them, and the index's record has its own checksum, so the file is
        // damaged. This holds even if the codes run past the end that the index gives.
        Ok(Err(DecodeError::Damaged(damage))) => return damaged(damage),
        Ok(Err(DecodeError::OutOfData)) => return damaged(Flaw::Code),
        Err(TaskError(reason)) => return Err(Error::Internal { block: block.number, reason }),
    };
    if decoded.block_len > block.level.block_limit() {
        return damaged(Flaw::BlockTooLong);
    }
    let bits = block.end_bit - block.bit_offset;
    let fits = (decoded.crc, decoded.text.len(), decoded.end_bit) == (block.crc, block.text_len, start + bits);
    if fits { Ok(Decoded::new(decoded.text)) } else { Err(Error::ForeignIndex { bit_offset: block.bit_offset }) }
}
