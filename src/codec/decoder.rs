//! Decodes one block of a `.bz2` stream: the fast path, and the reference decoder as its fallback.
//!
//! ```text
//! header -> Huffman codes -> zero runs and MTF -> T -> walk -> run lengths -> CRC
//!           \_____ 1,600 symbols at a time ___/
//! ```
//!
//! Measured on one core of a Zen 5 machine, level 9, in ns per byte of text: the kernel tarball 3.2 (header and tables
//! 0.07, codes 0.63, MTF 0.61, T 0.58, walk 0.74, run lengths and CRC 0.16; the rest is cold caches and fresh pages),
//! English prose 3.9, an executable 5.4, XML 1.9, random bytes 9. bzip2 takes 17 for the tarball, lbzip2 13.
//!
//! The fast path returns a block only if everything is regular and the CRC is right. In any other case (a randomised
//! block, over-subscribed codes, bits that are not a code, data that end early, a wrong CRC) it decides nothing: the
//! reference decoder decodes the block again, and its result counts. The reference decoder alone therefore defines
//! which blocks are accepted, and a bug in the fast path can cost time but cannot accept or reject a block.

use super::bwt::inverse;
use super::header::Bz2BlockHeader;
use super::huffman::decode::{GroupDecoder, Irregular, SYMBOL_BYTES};
use super::mtf::decode as mtf;
use super::reference;
use super::run_length::decode::decode_text;
use crate::bits::reader::BitReader;
use crate::bits::{BitSource, SliceBits};
use crate::block::DecodedBlock;
use crate::error::DecodeError;
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{GROUP, MAX_BLOCK, MAX_CODE};

/// Decodes the blocks of `.bz2` streams, one after the other, in its own memory (8 MB, of which a small block touches
/// little).
#[derive(Clone, Debug)]
pub struct Decoder {
    pub(super) header: Bz2BlockHeader,
    groups: GroupDecoder,
    symbols: Box<[u8; SYMBOL_BYTES]>,
    mtf: mtf::MtfDecoder,
    pub(super) bwt: inverse::Inverse,
    /// Memory for a text that is joined from its parts, to be compared.
    pub(super) room: Vec<u8>,
    /// Memory for a decoded block, run-length-coded, to be compared with its text.
    pub(super) coded: Vec<u8>,
    fallbacks: u64,
}

impl Decoder {
    /// A decoder for blocks of any level.
    pub fn new() -> Self {
        Decoder {
            header: Bz2BlockHeader::default(),
            groups: GroupDecoder::default(),
            symbols: Box::new([0; SYMBOL_BYTES]),
            mtf: mtf::MtfDecoder::new(0),
            bwt: inverse::Inverse::default(),
            room: Vec::new(),
            coded: Vec::new(),
            fallbacks: 0,
        }
    }

    /// Decodes the block whose magic begins at bit `start` of `data`. Bits from `end` on are ignored.
    ///
    /// `limit` is the max length of the block before run-length decoding: 100,000 times the stream's level, or 900,000
    /// if the caller does not know the level and checks [`DecodedBlock::block_len`] later. `end_bit` of the result
    /// counts from the first bit of `data`.
    ///
    /// # Errors
    /// [`DecodeError::OutOfData`] only if the data end inside the block; otherwise the damage of the block.
    pub fn decode(&mut self, data: &[u8], start: u64, end: u64, limit: u32) -> Result<DecodedBlock, DecodeError> {
        let end = end.min(data.len() as u64 * 8);
        match self.decode_fast(data, start, end, limit) {
            Ok(block) => Ok(block),
            Err(Irregular) => self.decode_reference(&mut SliceBits::new(data, start, end), limit),
        }
    }

    /// Decodes a block with the reference decoder, from any source of bits. It consumes exactly the block's bits,
    /// including its magic.
    ///
    /// # Errors
    /// The same as for [`decode`](Self::decode).
    pub fn decode_reference(&mut self, bits: &mut dyn BitSource, limit: u32) -> Result<DecodedBlock, DecodeError> {
        self.fallbacks += 1;
        let block = reference::decode(bits, limit.min(MAX_BLOCK as u32))?;
        let (text, computed) = decode_text(std::iter::once(&block.coded[..]), block.coded.len())?;
        if computed != block.crc {
            return Err(Flaw::BlockCrc { stored: block.crc, computed }.into());
        }
        Ok(DecodedBlock { text, crc: computed, block_len: block.coded.len() as u32, end_bit: bits.position() })
    }

    /// The number of blocks that the reference decoder has decoded or rejected.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }

    fn decode_fast(&mut self, data: &[u8], start: u64, end: u64, limit: u32) -> Result<DecodedBlock, Irregular> {
        let (rows, end_bit) = self.open(data, start, end, limit)?;
        let (text, crc) = decode_text(self.bwt.pieces(), rows).map_err(|_| Irregular)?;
        if crc != self.header.crc {
            return Err(Irregular);
        }
        Ok(DecodedBlock { text, crc, block_len: rows as u32, end_bit })
    }

    /// Decodes a block up to its run-length-coded text, whose pieces are then in `self.bwt`. Returns the length of that
    /// text, and the bit after the last code.
    pub(super) fn open(&mut self, data: &[u8], start: u64, end: u64, limit: u32) -> Result<(usize, u64), Irregular> {
        let limit = limit.min(MAX_BLOCK as u32);
        let mut reader = BitReader::new(data, start);
        self.header.read(&mut reader, limit).map_err(|_| Irregular)?;
        if self.header.randomised {
            return Err(Irregular);
        }
        self.decode_codes(reader, end, limit)
    }

    /// Decodes the codes after the header in `self`, up to the run-length-coded text, whose pieces are then in
    /// `self.bwt`. Returns the length of that text, and the bit after the last code.
    fn decode_codes(&mut self, mut reader: BitReader<'_>, end: u64, limit: u32) -> Result<(usize, u64), Irregular> {
        self.groups.start_block(&self.header)?;
        self.mtf.begin(&self.header.used, limit);
        loop {
            let (len, last) = self.groups.decode_groups(&self.header.selectors, &mut reader, &mut self.symbols)?;
            if reader.position() > end {
                return Err(Irregular);
            }
            self.mtf.push(&self.symbols[..len])?;
            if last {
                break;
            }
        }
        let (runs, rows) = self.mtf.finish();
        if self.header.origin as usize >= rows {
            return Err(Irregular);
        }
        self.bwt.build(runs, rows);
        self.bwt.walk(self.header.origin);
        Ok((rows, reader.position()))
    }

    /// Finds the end of the block whose magic begins at bit `start` of `data`, by its codes alone: this takes a fifth
    /// of the time of decoding it, and the CRC is not checked. Returns `None` early for a block that certainly ends
    /// before bit `from`.
    ///
    /// # Errors
    /// [`Irregular`] if the data end in the block, or if only the reference decoder can tell.
    pub fn find_end(&mut self, data: &[u8], start: u64, from: u64) -> Result<Option<u64>, Irregular> {
        let end = data.len() as u64 * 8;
        let mut reader = BitReader::new(data, start);
        self.header.read(&mut reader, MAX_BLOCK as u32).map_err(|_| Irregular)?;
        let lengths = &self.header.lengths[..self.header.tables];
        let longest = lengths.iter().flat_map(|lengths| &lengths[..self.header.alphabet()]).max().copied();
        let codes = (self.header.selectors.len() * GROUP) as u64;
        if reader.position() + codes * u64::from(longest.unwrap_or(MAX_CODE)) < from {
            return Ok(None);
        }
        self.groups.start_block(&self.header)?;
        loop {
            let (_, last) = self.groups.decode_groups(&self.header.selectors, &mut reader, &mut self.symbols)?;
            if reader.position() > end {
                return Err(Irregular);
            }
            if last {
                return Ok(Some(reader.position()).filter(|&end| end >= from));
            }
        }
    }

    /// Does what a device does: returns the run-length-coded text of a block whose header has been read, and the bit
    /// after its last code.
    #[cfg(test)]
    pub fn coded_text(&mut self, header: Bz2BlockHeader, data: &[u8], start: u64, end: u64) -> Option<(Vec<u8>, u64)> {
        self.header = header;
        let (rows, end_bit) = self.decode_codes(BitReader::new(data, start), end, MAX_BLOCK as u32).ok()?;
        let mut text = Vec::with_capacity(rows);
        self.bwt.pieces().for_each(|piece| text.extend_from_slice(piece));
        Some((text, end_bit))
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}
