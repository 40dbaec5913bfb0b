//! The header of a block of a `.bz2` stream: everything before its Huffman codes.
//!
//! ```text
//! 48  magic 0x314159265359            24  origin pointer
//! 32  CRC of the text                 16  which sixteenths of the 256 symbols are in use
//!  1  randomised                      16  for each of these: which of its symbols
//!  3  number of tables, 2..=6         ..  each table: 5 bits, then +1 (10), -1 (11), next symbol (0)
//! 15  number of selectors, >= 1       ..  before the tables: each selector as its MTF rank, in unary
//! ```
//!
//! The checks have the order and the strictness of bzip2 1.0.8, because the first of several errors decides whether a
//! truncated block counts as damaged or as short. A code length is compared with 1..=20 before each bit of its delta
//! (it may go up and down any number of times), and selectors after the 18,002nd are read and checked but not kept.

use super::mtf::to_front;
use crate::bits::BitSource;
use crate::bits::reader::BitReader;
use crate::error::DecodeError;
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{BLOCK_MAGIC, MAX_CODE, MAX_SELECTORS, MAX_SYMBOLS, MAX_TABLES, MIN_TABLES};

/// The header of a block, checked as far as possible without the codes.
#[derive(Clone, Debug)]
pub struct Bz2BlockHeader {
    /// The stored CRC of the text.
    pub crc: u32,
    /// Whether the block's bytes are randomised (bzip2 0.9.0 and earlier).
    pub randomised: bool,
    /// The row of the sorted rotations that holds the block itself. It is not yet compared with the block's length.
    pub origin: u32,
    /// The symbols in use, ascending: the first MTF list.
    pub used: Vec<u8>,
    /// Code lengths by table and symbol. Only the first `used.len() + 2` symbols count.
    pub lengths: [[u8; MAX_SYMBOLS]; MAX_TABLES],
    /// The number of tables.
    pub tables: usize,
    /// The table of each group; at most [`MAX_SELECTORS`].
    pub selectors: Vec<u8>,
}

impl Default for Bz2BlockHeader {
    fn default() -> Self {
        Bz2BlockHeader {
            crc: 0,
            randomised: false,
            origin: 0,
            used: Vec::with_capacity(256),
            lengths: [[0; MAX_SYMBOLS]; MAX_TABLES],
            tables: 0,
            selectors: Vec::new(),
        }
    }
}

impl Bz2BlockHeader {
    /// The number of symbols in the codes' alphabet.
    pub fn alphabet(&self) -> usize {
        self.used.len() + 2
    }

    /// Reads a header, including its magic, into `self`, and reuses its memory. `limit` is the max length of the block:
    /// 100,000 times the stream's level.
    pub fn read<B: BitSource + ?Sized>(&mut self, bits: &mut B, limit: u32) -> Result<(), DecodeError> {
        let selectors = self.read_fields(bits, limit)?;
        self.read_selectors(bits, selectors)?;
        self.read_lengths(bits)
    }

    /// Reads the fields before the selectors. Returns the number of selectors.
    pub(crate) fn read_fields<B: BitSource + ?Sized>(
        &mut self,
        bits: &mut B,
        limit: u32,
    ) -> Result<usize, DecodeError> {
        for shift in (0..48).step_by(8).rev() {
            if u64::from(read(bits, 8)?) != BLOCK_MAGIC >> shift & 0xff {
                return Err(Flaw::Magic.into());
            }
        }
        self.crc = read(bits, 32)?;
        self.randomised = read(bits, 1)? == 1;
        self.origin = read(bits, 24)?;
        if self.origin > limit.saturating_add(10) {
            return Err(Flaw::Origin.into());
        }
        self.read_map(bits)?;
        self.tables = read(bits, 3)? as usize;
        if !(MIN_TABLES..=MAX_TABLES).contains(&self.tables) {
            return Err(Flaw::TableCount.into());
        }
        let selectors = read(bits, 15)? as usize;
        if selectors == 0 {
            return Err(Flaw::Selectors.into());
        }
        self.selectors.clear();
        self.selectors.reserve(selectors.min(MAX_SELECTORS));
        Ok(selectors)
    }

    fn read_map<B: BitSource + ?Sized>(&mut self, bits: &mut B) -> Result<(), DecodeError> {
        self.used.clear();
        let sixteenths = read(bits, 16)?;
        for high in (0..16u8).filter(|high| sixteenths << high & 0x8000 != 0) {
            let sixteen = read(bits, 16)?;
            self.used.extend((0..16u8).filter(|low| sixteen << low & 0x8000 != 0).map(|low| high << 4 | low));
        }
        if self.used.is_empty() {
            return Err(Flaw::SymbolMap.into());
        }
        Ok(())
    }

    fn read_selectors<B: BitSource + ?Sized>(&mut self, bits: &mut B, count: usize) -> Result<(), DecodeError> {
        // A byte for each table, the first one lowest: moving bytes in a word takes no call and no branch.
        let mut list = 0x0504_0302_0100;
        for i in 0..count {
            let rank = bits.unary(self.tables as u32).ok_or(DecodeError::OutOfData)?;
            if rank == self.tables as u32 {
                return Err(Flaw::Selectors.into());
            }
            if i < MAX_SELECTORS {
                let table;
                (list, table) = to_front(list, rank);
                self.selectors.push(table as u8);
            }
        }
        Ok(())
    }

    fn read_lengths<B: BitSource + ?Sized>(&mut self, bits: &mut B) -> Result<(), DecodeError> {
        let symbols = self.alphabet();
        for table in &mut self.lengths[..self.tables] {
            let mut length = read(bits, 5)?;
            for symbol in &mut table[..symbols] {
                loop {
                    if !(1..=MAX_CODE.into()).contains(&length) {
                        return Err(Flaw::CodeLength.into());
                    }
                    if read(bits, 1)? == 0 {
                        break;
                    }
                    if read(bits, 1)? == 0 {
                        length += 1;
                    } else {
                        length -= 1;
                    }
                }
                *symbol = length as u8;
            }
        }
        Ok(())
    }
}

/// For headers that are likely to be good: `SliceBits` loads a word for each field (headers and tables of linux: 0.045
/// ns a byte, here 0.037). Past the data it reads zeros, which end any header, at a position beyond the end.
impl BitSource for BitReader<'_> {
    #[inline(always)]
    fn bits(&mut self, n: u32) -> Option<u32> {
        self.refill();
        Some(self.read(n))
    }

    fn position(&self) -> u64 {
        BitReader::position(self)
    }

    #[inline(always)]
    fn unary(&mut self, max: u32) -> Option<u32> {
        self.refill();
        let ones = (self.peek(max) << (32 - max)).leading_ones();
        self.skip((ones + 1).min(max));
        Some(ones)
    }
}

/// Returns the next `n` bits, or [`DecodeError::OutOfData`].
#[inline(always)]
pub fn read<B: BitSource + ?Sized>(bits: &mut B, n: u32) -> Result<u32, DecodeError> {
    bits.bits(n).ok_or(DecodeError::OutOfData)
}
