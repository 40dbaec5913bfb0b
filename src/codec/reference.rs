//! The reference decoder of a block: it defines what is a bzip2 block and what the block holds.
//!
//! It is written to be exact, not fast. It follows bzip2 1.0.8 field by field, in the same order, and every fast path
//! leaves all unusual cases to it. It reads from any [`BitSource`], and never a bit beyond the block, so it also reads
//! blocks whose header is longer than any buffer (a code length may go up and down without limit).
//!
//! bzip2 1.0.8 accepts some things that other decoders reject: incomplete codes; over-subscribed codes, as long as all
//! bits are codes (bzip2 recognises codes by comparison with the largest code of each length, shortest first, so any
//! set of lengths has a meaning); BWTs of more than one cycle; blocks with surplus selectors; runs of up to 259.

use super::bwt::inverse;
use super::header::{Bz2BlockHeader, read as read_bits};
use super::huffman::decode::CanonicalCodes;
use super::run_length::derandomise::derandomise;
use crate::bits::BitSource;
use crate::error::DecodeError;
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{GROUP, MAX_CODE, MAX_RUN_WEIGHT, MAX_TABLES};

/// A block before run-length decoding.
pub struct ReferenceBlock {
    /// The stored CRC.
    pub crc: u32,
    /// The block's bytes, run-length-coded.
    pub coded: Vec<u8>,
}

/// Reads one block, including its magic. `limit` is its max length before run-length decoding.
pub fn decode(bits: &mut dyn BitSource, limit: u32) -> Result<ReferenceBlock, DecodeError> {
    let mut header = Bz2BlockHeader::default();
    header.read(bits, limit)?;
    let last_column = last_column(bits, &header, limit)?;
    if header.origin as usize >= last_column.len() {
        return Err(Flaw::Origin.into());
    }
    let mut coded = inverse::plain(&last_column, header.origin);
    if header.randomised {
        derandomise(&mut coded);
    }
    Ok(ReferenceBlock { crc: header.crc, coded })
}

/// Reads the Huffman codes of a block one after the other.
struct SymbolReader<'a> {
    bits: &'a mut dyn BitSource,
    tables: [CanonicalCodes; MAX_TABLES],
    selectors: std::slice::Iter<'a, u8>,
    table: usize,
    left_in_group: usize,
}

impl SymbolReader<'_> {
    fn next(&mut self) -> Result<u16, DecodeError> {
        if self.left_in_group == 0 {
            self.table = usize::from(*self.selectors.next().ok_or(Flaw::Selectors)?);
            self.left_in_group = GROUP;
        }
        self.left_in_group -= 1;
        let table = &self.tables[self.table];
        let mut length = table.shortest();
        let mut code = read_bits(self.bits, length)?;
        loop {
            if length > MAX_CODE.into() {
                return Err(Flaw::Code.into());
            }
            if let Some(symbol) = table.symbol(length, code) {
                return Ok(symbol);
            }
            length += 1;
            code = code << 1 | read_bits(self.bits, 1)?;
        }
    }
}

/// Decodes Huffman codes, zero runs and move-to-front into the last column of the sorted rotations.
fn last_column(bits: &mut dyn BitSource, header: &Bz2BlockHeader, limit: u32) -> Result<Vec<u8>, DecodeError> {
    let symbols = header.alphabet();
    let end_of_block = symbols as u16 - 1;
    let limit = limit as usize;
    let mut codes = SymbolReader {
        bits,
        tables: std::array::from_fn(|t| CanonicalCodes::new(&header.lengths[t][..symbols])),
        selectors: header.selectors.iter(),
        table: 0,
        left_in_group: 0,
    };
    let mut list = header.used.clone();
    let mut column = Vec::new();
    let mut symbol = codes.next()?;
    while symbol != end_of_block {
        if symbol < 2 {
            let mut run = 0;
            let mut weight = 1;
            while symbol < 2 {
                if weight >= MAX_RUN_WEIGHT {
                    return Err(Flaw::RunTooLong.into());
                }
                run += weight << symbol;
                weight <<= 1;
                symbol = codes.next()?;
            }
            if run as usize > limit - column.len() {
                return Err(Flaw::BlockTooLong.into());
            }
            column.resize(column.len() + run as usize, list[0]);
        } else {
            if column.len() >= limit {
                return Err(Flaw::BlockTooLong.into());
            }
            let rank = usize::from(symbol) - 1;
            list[..=rank].rotate_right(1);
            column.push(list[0]);
            symbol = codes.next()?;
        }
    }
    Ok(column)
}
