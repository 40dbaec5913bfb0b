//! The `.bz2` format as a tree. Each line names the code that writes or reads it.
//!
//! ```text
//! file
//! +- stream, one or more                        bzip2::stream::assemble (writes), bzip2::stream::chain (reads)
//! |  +- "BZh", level digit '1'..'9'             write_stream_header, parse_stream_header
//! |  +- block, none or more                     codec::Encoder (writes), codec::Decoder (reads)
//! |  |  +- magic 0x314159265359 (48)
//! |  |  +- CRC of the text (32)                 crc
//! |  |  +- randomised (1), set only by bzip2 0.9.0 and earlier
//! |  |  +- origin pointer (24)                  codec::bwt
//! |  |  +- symbol map (16, and 16 more for each bit that is set)
//! |  |  +- number of tables 2..6 (3), number of selectors (15), selectors in MTF form, unary
//! |  |  +- code lengths of each table: first (5), then deltas
//! |  |  '- codes: groups of 50, each in the table that its selector names; the last symbol is EOB
//! |  +- end magic 0x177245385090 (48)           write_stream_end
//! |  +- combined CRC (32): rotated left by one, then XORed with each block's CRC
//! |  '- zero bits up to a whole byte
//! '- trailing garbage, ignored
//! ```
//!
//! Nothing inside a stream is aligned to bytes. There is no length field: a block ends where its EOB symbol ends.

use crate::bits::BitWriter;
use crate::format::Magic;
use std::{error, fmt};

/// The 48 bits that end a stream: digits of the square root of pi.
pub const END_MAGIC: u64 = 0x1772_4538_5090;
/// The 48 bits that begin a block: digits of pi.
pub const BLOCK_MAGIC: u64 = 0x3141_5926_5359;
/// The number of bits of a stream's header.
pub const HEADER_BITS: u64 = 32;
/// The maximum number of compressed bits of one block. bzip2 has no such bound, because a code length may go up and
/// down for ever; an encoder's blocks stay under 20 million bits. hybz needs the bound to limit its memory.
pub const MAX_BLOCK_BITS: u64 = 512 << 20;
/// The number of bits of a stream's end: magic and CRC. Zero bits up to a whole byte follow.
pub const END_BITS: u64 = 80;
/// The maximum number of bytes of a block after run-length coding, at level 9.
pub const MAX_BLOCK: usize = Level::BEST.block_limit() as usize;
/// The longest block, after run-length coding, that the encoder accepts. The splitter stays below it (899,985 at level
/// 9), and a block of this length needs at most 18,001 of the 18,002 selectors that every reader accepts.
pub const MAX_ENCODER_BLOCK: usize = MAX_BLOCK + 4;
/// The longest run that one token of the run-length coding holds.
pub const MAX_RUN: usize = 255;
/// The maximum number of symbols in an alphabet: two run digits, 255 ranks, and end of block.
pub const MAX_SYMBOLS: usize = 258;
/// The minimum number of Huffman tables in a block.
pub const MIN_TABLES: usize = 2;
/// The maximum number of Huffman tables in a block.
pub const MAX_TABLES: usize = 6;
/// The number of symbols coded with one selector's table.
pub const GROUP: usize = 50;
/// The maximum number of selectors in use, one more than a block of 900,000 bytes needs. bzip2 1.0.8 reads further
/// selectors but ignores them.
pub const MAX_SELECTORS: usize = 18_002;
/// The longest code that a reader accepts, in bits.
pub const MAX_CODE: u8 = 20;
/// The longest code that bzip2 1.0.8 writes, in bits.
pub const MAX_WRITTEN_CODE: u8 = 17;
/// A digit of a zero run must weigh less than this, or the block is damaged (CVE-2010-0405: the sum could overflow).
pub const MAX_RUN_WEIGHT: u32 = 2 << 20;

/// The block size of a stream: 1 to 9 times 100,000 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// 100,000 bytes a block: needs the least memory.
    pub const FASTEST: Level = Level(1);
    /// 900,000 bytes a block: gives the smallest output, and is bzip2's default.
    pub const BEST: Level = Level(9);

    /// The level of this number, if it is 1 to 9.
    pub const fn try_new(level: u8) -> Option<Level> {
        if level >= 1 && level <= 9 { Some(Level(level)) } else { None }
    }

    /// The level as a number, 1 to 9.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The maximum number of bytes, after run-length coding, that a decoder accepts in a block at this level.
    pub const fn block_limit(self) -> u32 {
        self.0 as u32 * 100_000
    }

    /// The size after run-length coding at which bzip2 1.0.8 ends a block: 19 bytes below
    /// [`block_limit`](Self::block_limit).
    pub(crate) const fn fill_limit(self) -> usize {
        self.block_limit() as usize - 19
    }
}

/// The error of [`Level::try_from`]: not a number from 1 to 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidLevel(u8);

impl InvalidLevel {
    /// The number that was given.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for InvalidLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a compression level from 1 to 9", self.0)
    }
}

impl error::Error for InvalidLevel {}

impl TryFrom<u8> for Level {
    type Error = InvalidLevel;

    /// The level `level`.
    ///
    /// ```
    /// use hybz::Level;
    /// assert_eq!(Level::try_from(9), Ok(Level::BEST));
    /// assert_eq!(Level::try_from(10).unwrap_err().get(), 10);
    /// ```
    ///
    /// # Errors
    /// [`InvalidLevel`] if `level` is not 1 to 9.
    fn try_from(level: u8) -> Result<Self, InvalidLevel> {
        Level::try_new(level).ok_or(InvalidLevel(level))
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> u8 {
        level.get()
    }
}

impl Default for Level {
    fn default() -> Self {
        Level::BEST
    }
}

/// Writes `BZh` and the level's digit.
pub fn write_stream_header(bits: &mut BitWriter, level: Level) {
    for byte in [b'B', b'Z', b'h', b'0' + level.get()] {
        bits.write(byte.into(), 8);
    }
}

/// Writes the end magic and the combined CRC.
pub fn write_stream_end(bits: &mut BitWriter, combined_crc: u32) {
    bits.write(END_MAGIC, 48);
    bits.write(combined_crc.into(), 32);
}

/// The result of reading the bytes at which a stream header is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// `BZh1` to `BZh9`.
    Stream(Level),
    /// The beginning of a header, but fewer than 4 bytes.
    Short,
    /// Something else.
    Other,
}

/// Compares up to 4 bytes one after another, as bzip2 does: `BZ` at the end of the input is [`Header::Short`], not
/// [`Header::Other`].
pub fn parse_stream_header(bytes: &[u8]) -> Header {
    for (&byte, &wanted) in bytes.iter().zip(b"BZh") {
        if byte != wanted {
            return Header::Other;
        }
    }
    match bytes.get(3) {
        None => Header::Short,
        Some(&digit) => match Level::try_new(digit.wrapping_sub(b'0')) {
            Some(level) => Header::Stream(level),
            None => Header::Other,
        },
    }
}

/// How many of the data's first bytes match the header of a stream.
pub(crate) fn magic(head: &[u8]) -> Magic {
    match parse_stream_header(head) {
        Header::Stream(_) => Magic::Whole,
        Header::Short => Magic::Part(head.len()),
        Header::Other => Magic::No,
    }
}
