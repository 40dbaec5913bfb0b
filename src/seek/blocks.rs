//! The blocks of a `.bz2` or `.hbz` file as its index lists them, and how one is decoded.

use super::cache::Cache;
use super::text::Decoded;
use crate::Client;
use crate::block::DecodedBlock;
use crate::codec::hbz::decode::{VectorCharge, Vectors};
use crate::error::{Damage, DecodeError, Error};
use crate::format::hbz::{BlockHeader, HEADER_LEN};
use crate::hbz::List;
use crate::index::{Block, Index, bits_of};
use crate::schedule::TaskError;
use crate::stream::bzip2::tasks::{DECODE, DecodeBlock};
use crate::stream::hbz::tasks::{DECODE_LARGE, DecodeLarge};
use std::ops::Range;
use std::sync::Arc;

/// `.hbz` blocks of more rows than this are decoded in stages by all stations: a block that is read alone has no others
/// to keep the cores busy.
const STAGED_ROWS: u32 = 1 << 20;

/// The list of a file's blocks.
pub(super) enum Blocks {
    Bzip2(Index),
    Hbz(List),
}

/// A block to be decoded.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Its number, from 1.
    pub number: u64,
    /// A key that no other block of the file has, whatever the index claims.
    pub key: u64,
    pub text_offset: u64,
    text_len: u64,
    /// Its bytes in the file.
    pub bytes: Range<u64>,
    /// The index entry of a `.bz2` block.
    block: Option<Block>,
}

impl Wanted {
    pub fn text_end(&self) -> u64 {
        self.text_offset.saturating_add(self.text_len)
    }

    /// The max number of bytes it takes in the cache. (Longer texts of a `.bz2` file are kept run-length coded.)
    pub fn cost(&self) -> u64 {
        if self.block.is_some() { self.text_len.min(2 << 20) } else { self.text_len }
    }

    /// The error for a file that ends at this byte, before the block does.
    pub fn cut(&self, end: u64) -> Error {
        Error::Truncated { block: self.number, bit_offset: end * 8 }
    }
}

impl Blocks {
    pub fn text_len(&self) -> u64 {
        match self {
            Blocks::Bzip2(index) => index.text_len(),
            Blocks::Hbz(list) => list.text_len(),
        }
    }

    /// The block that contains this byte of the text.
    pub fn find(&self, offset: u64) -> Result<Option<Wanted>, Error> {
        match self {
            Blocks::Bzip2(index) => Ok(index.find(offset)?.map(of_index)),
            Blocks::Hbz(list) => {
                let after = list.blocks().partition_point(|block| block.text_at <= offset);
                Ok(of_list(list, after as u64).filter(|block| offset < block.text_end()))
            }
        }
    }

    /// The block after this one.
    pub fn next(&self, block: &Wanted) -> Result<Option<Wanted>, Error> {
        match (self, &block.block) {
            (Blocks::Bzip2(index), Some(block)) => Ok(index.next(block)?.map(of_index)),
            (Blocks::Bzip2(_), None) => Ok(None),
            (Blocks::Hbz(list), _) => Ok(of_list(list, block.number + 1)),
        }
    }

    /// Submits the block with these bytes for decoding into the cache.
    pub fn submit(&self, wanted: &Wanted, bytes: &[u8], client: &Client, cache: &Arc<Cache>) -> Result<(), Error> {
        let (number, key, cache) = (wanted.number, wanted.key, Arc::clone(cache));
        match (self, wanted.block) {
            (Blocks::Hbz(list), _) => {
                let (task, charge) = large(list, number, bytes, client)?;
                let Wanted { text_len, bytes, .. } = wanted.clone();
                let work = task.bytes();
                client.task(task).class(DECODE_LARGE, work).submit_then(move |_, decoded, _| {
                    let text = match decoded {
                        Ok(Ok(text)) if text.len() == text_len => Ok(Decoded::new(text)),
                        Ok(Ok(_)) => Err(data(number, bytes.start * 8, Damage::Field("index"))),
                        Ok(Err(damage)) => Err(data(number, bytes.start * 8, damage)),
                        Err(TaskError(reason)) => Err(Error::Internal { block: number, reason }),
                    };
                    drop(charge);
                    cache.put(key, text);
                });
            }
            (Blocks::Bzip2(_), Some(block)) => {
                let start = block.bit_offset % 8;
                if !block.begins(bits_of(bytes, start)) {
                    return Err(Error::ForeignIndex { bit_offset: block.bit_offset });
                }
                let end = start + (block.end_bit - block.bit_offset);
                let task = DecodeBlock { data: Arc::new(bytes.to_vec()), start, end };
                let submission = client.task(task).class(DECODE, bytes.len() as u64);
                submission.submit_then(move |_, decoded, _| cache.put(key, judge(&block, start, decoded)));
            }
            (Blocks::Bzip2(_), None) => {}
        }
        Ok(())
    }
}

fn of_index(block: Block) -> Wanted {
    let Block { number, text_offset, text_len, .. } = block;
    Wanted { number, key: block.record, text_offset, text_len, bytes: block.bytes(), block: Some(block) }
}

/// The block with this number, counted from 1.
fn of_list(list: &List, number: u64) -> Option<Wanted> {
    let block = list.blocks().get(usize::try_from(number.checked_sub(1)?).ok()?)?;
    let bytes = block.at..block.at + HEADER_LEN as u64 + u64::from(block.coded_len);
    Some(Wanted {
        number,
        key: number,
        text_offset: block.text_at,
        text_len: block.text_len.into(),
        bytes,
        block: None,
    })
}

fn data(block: u64, bit_offset: u64, damage: Damage) -> Error {
    Error::Data { block, bit_offset, damage }
}

/// Compares a decoded block with its index entry. `start` is the bit at which the block began in its data.
fn judge(
    block: &Block,
    start: u64,
    answer: Result<Result<DecodedBlock, DecodeError>, TaskError>,
) -> Result<Decoded, Error> {
    let damaged = |damage| Err(data(block.number, block.bit_offset, damage));
    let decoded = match answer {
        Ok(Ok(decoded)) => decoded,
        // Magic and CRC are where the index has them, and its record has a checksum of its own, so the file is damaged.
        // This holds even if the codes run past the end that the index gives.
        Ok(Err(DecodeError::Damaged(damage))) => return damaged(damage),
        Ok(Err(DecodeError::OutOfData)) => return damaged(Damage::Code),
        Err(TaskError(reason)) => return Err(Error::Internal { block: block.number, reason }),
    };
    if decoded.block_len > block.level.block_limit() {
        return damaged(Damage::BlockTooLong);
    }
    let bits = block.end_bit - block.bit_offset;
    let fits = (decoded.crc, decoded.text.len(), decoded.end_bit) == (block.crc, block.text_len, start + bits);
    if fits { Ok(Decoded::new(decoded.text)) } else { Err(Error::ForeignIndex { bit_offset: block.bit_offset }) }
}

/// The task for a block of a `.hbz` file, and the charge for its memory.
fn large(list: &List, number: u64, bytes: &[u8], client: &Client) -> Result<(DecodeLarge, VectorCharge), Error> {
    let missing = || Error::Internal { block: number, reason: "the list has no such block".to_owned() };
    let listed = number.checked_sub(1).and_then(|at| list.blocks().get(at as usize)).ok_or_else(missing)?;
    let damaged = |damage| data(number, listed.at * 8, damage);
    let (header, payload) = bytes.split_first_chunk::<HEADER_LEN>().ok_or_else(missing)?;
    let header = BlockHeader::parse(header, &listed.stream, listed.number).map_err(damaged)?;
    if (header.text_len, header.coded_len, header.crc) != (listed.text_len, listed.coded_len, listed.crc) {
        return Err(damaged(Damage::Field("index")));
    }
    let (needs, allowed) = (header.decoding_bytes(&listed.stream), client.pool().budget().most());
    if needs > allowed {
        return Err(Error::Memory { block: number, needs, allowed });
    }
    let stages = (header.rows > STAGED_ROWS).then(|| client.submitter().clone());
    let charge = client.pool().shared_value::<Vectors>().charge(header.rows);
    Ok((DecodeLarge { payload: Arc::new(payload.to_vec()), header, stream: listed.stream, stages }, charge))
}
