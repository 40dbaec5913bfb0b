//! Encodes one block of a `.bz2` stream: all steps in order.

use super::bwt::forward::{ForwardBwt, LastColumn};
use super::bwt::periodic::PeriodicOrigins;
use super::mtf::encode::MtfSymbols;
use super::run_length;
use super::selector::encode::HuffmanTables;
use crate::bits::{BitSource, BitWriter, SliceBits, append_bits};
use crate::block::{CodedBlock, Text};
use crate::crc;
use crate::formats::bzip2::header::{BLOCK_MAGIC, MAX_ENCODER_BLOCK, MAX_SYMBOLS};
use std::collections::TryReserveError;
use std::sync::Arc;

/// Encodes the blocks of `.bz2` streams, bit for bit as bzip2 1.0.8 does.
///
/// It owns all memory that the steps work in, about 9 bytes for each byte of the longest block so far. Encoding a
/// block therefore allocates nothing but the result.
#[derive(Debug)]
pub struct Encoder {
    /// The text of a block that came in several parts.
    text: Vec<u8>,
    block: Vec<u8>,
    bwt: ForwardBwt,
    symbols: MtfSymbols,
    tables: HuffmanTables,
}

impl Encoder {
    /// An encoder with its own store of the origins of periodic blocks.
    pub fn new() -> Self {
        Self::with_memo(Arc::default())
    }

    /// An encoder that shares the known origins of periodic blocks with other encoders.
    pub fn with_memo(origins: Arc<PeriodicOrigins>) -> Self {
        Encoder {
            text: Vec::new(),
            block: Vec::new(),
            bwt: ForwardBwt::new(origins),
            symbols: MtfSymbols::default(),
            tables: HuffmanTables::default(),
        }
    }

    /// Encodes one block.
    ///
    /// # Panics
    /// If the text is empty, or longer than [`MAX_ENCODER_BLOCK`] after run-length coding. No splitter makes such
    /// blocks.
    pub fn encode(&mut self, text: &Text) -> CodedBlock {
        self.block.clear();
        let crc = run_length_code(text, &mut self.text, &mut self.block);
        assert!((1..=MAX_ENCODER_BLOCK).contains(&self.block.len()), "a block of {} bytes", self.block.len());

        let last = self.bwt.transform(&mut self.block);
        encode_column(&mut self.symbols, &mut self.tables, last, crc, text.len())
    }

    /// The same encoder with less memory. It takes more time.
    pub fn sparing(self) -> Self {
        Encoder { bwt: self.bwt.by_libsais(), ..self }
    }

    /// An encoder whose memory can be reserved by [`try_reserve`](Self::try_reserve). It is [sparing](Self::sparing).
    pub fn reservable() -> Self {
        Self::new().sparing()
    }

    /// Reserves the memory for a block of `len` run-length-coded bytes, so that [`append`](Self::append) of a block up
    /// to this length allocates no more than some kilobytes (unless the block is periodic).
    ///
    /// # Errors
    /// If there is no memory.
    pub fn try_reserve(&mut self, len: usize) -> Result<(), TryReserveError> {
        self.bwt.try_reserve(len)?;
        self.symbols.try_reserve(len)?;
        self.tables.try_reserve(len)
    }

    /// Appends to `out` the coded form of a block that is run-length-coded already: 1 to MAX_ENCODER_BLOCK bytes, with
    /// the CRC of its text. The block grows to twice its length meanwhile; afterwards it is unchanged.
    ///
    /// Returns the length of the last code: bzip2's library hands out only the whole bytes before that code.
    pub fn append(&mut self, block: &mut Vec<u8>, crc: u32, out: &mut BitWriter) -> u32 {
        let LastColumn { bytes, origin } = self.bwt.transform(block);
        self.symbols.encode(bytes);
        self.tables.choose(&self.symbols);
        append_head(&self.symbols.used, &self.tables, self.symbols.alphabet, origin, crc, out);
        self.tables.write_codes(&self.symbols, out);
        self.tables.end_code(self.symbols.alphabet).1
    }

    /// Encodes a block whose BWT was computed elsewhere, from its last column of 1 to [`MAX_ENCODER_BLOCK`] bytes, its
    /// origin, and the CRC and length of its text.
    pub fn finish(&mut self, last: LastColumn<'_>, crc: u32, text_len: u64) -> CodedBlock {
        encode_column(&mut self.symbols, &mut self.tables, last, crc, text_len)
    }
}

/// Appends the run-length-coded form of a text to `block` and returns the CRC of the text. A text of several parts is
/// joined in `room`.
pub fn run_length_code(text: &Text, room: &mut Vec<u8>, block: &mut Vec<u8>) -> u32 {
    if let Text::RunLength { coded, crc, .. } = text {
        block.extend_from_slice(coded);
        return *crc;
    }
    let plain = text.plain(room).unwrap_or_default();
    run_length::encode(plain, block);
    crc::checksum(plain)
}

/// Encodes a block after its BWT.
fn encode_column(
    symbols: &mut MtfSymbols,
    tables: &mut HuffmanTables,
    last: LastColumn<'_>,
    crc: u32,
    text_len: u64,
) -> CodedBlock {
    symbols.encode(last.bytes);
    tables.choose(symbols);
    let mut out = write_head(&symbols.used, tables, symbols.alphabet, last.origin, crc);
    tables.write_codes(symbols, &mut out);
    let bit_len = out.bit_len();
    CodedBlock { bytes: out.finish(), bit_len, crc, text_len, block_len: last.bytes.len() as u32 }
}

/// A block whose symbols were coded elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct CodedSymbols<'a> {
    /// The row that holds the block itself.
    pub origin: u32,
    /// For each byte, whether it occurs in the block.
    pub used: &'a [bool; 256],
    /// The number of symbols, EOB included.
    pub symbols: usize,
    /// The code lengths of each table.
    pub lengths: &'a [[u8; MAX_SYMBOLS]],
    /// The table of each group.
    pub selectors: &'a [u8],
    /// The codes of all symbols.
    pub codes: &'a [u8],
    /// The number of bits of these codes.
    pub code_bits: u64,
}

impl Encoder {
    /// Writes a block from its parts: the head of the block, then the codes.
    ///
    /// Returns `None` if no block of `block_len` bytes (before run-length decoding) can have these parts. Does not
    /// check whether the parts are those of this block.
    pub fn assemble(
        &mut self,
        coded: &CodedSymbols<'_>,
        block_len: u32,
        crc: u32,
        text_len: u64,
    ) -> Option<CodedBlock> {
        let alphabet = coded.used.iter().filter(|used| **used).count() + 2;
        let CodedSymbols { symbols, lengths, selectors, codes, code_bits, .. } = *coded;
        let possible = coded.origin < block_len
            && symbols <= block_len as usize + 1
            && code_bits.div_ceil(8) <= codes.len() as u64
            && self.tables.try_set(lengths, selectors, symbols, alphabet, code_bits);
        if !possible {
            return None;
        }
        let mut out = write_head(coded.used, &self.tables, alphabet, coded.origin, crc);
        append_bits(&mut out, codes, code_bits);
        let bit_len = out.bit_len();
        let bytes = out.finish();
        let (end, len) = self.tables.end_code(alphabet);
        let last = SliceBits::new(&bytes, bit_len - u64::from(len), bit_len).bits(len);
        (last == Some(end)).then_some(CodedBlock { bytes, bit_len, crc, text_len, block_len })
    }
}

/// Writes the head of a block into a buffer that also has room for the codes.
fn write_head(used: &[bool; 256], tables: &HuffmanTables, alphabet: usize, origin: u32, crc: u32) -> BitWriter {
    let mut out = BitWriter::with_capacity(HEAD_BITS + tables.bits_needed(alphabet));
    append_head(used, tables, alphabet, origin, crc, &mut out);
    out
}

/// The maximum number of bits from the magic to the symbol map, both included.
const HEAD_BITS: u64 = 48 + 32 + 1 + 24 + 16 + 256;

fn append_head(
    used: &[bool; 256],
    tables: &HuffmanTables,
    alphabet: usize,
    origin: u32,
    crc: u32,
    out: &mut BitWriter,
) {
    out.write(BLOCK_MAGIC, 48);
    out.write(crc.into(), 32);
    out.write(0, 1); // not randomised
    out.write(origin.into(), 24);
    write_used(used, out);
    tables.write_head(alphabet, out);
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes the set of used bytes: a bit for each group of sixteen, then sixteen bits for each group in which any byte is
/// used.
fn write_used(used: &[bool; 256], out: &mut BitWriter) {
    let bits = |flags: &mut dyn Iterator<Item = bool>| flags.fold(0, |word, flag| word << 1 | u64::from(flag));
    out.write(bits(&mut used.chunks(16).map(|part| part.contains(&true))), 16);
    for part in used.chunks(16).filter(|part| part.contains(&true)) {
        out.write(bits(&mut part.iter().copied()), 16);
    }
}
