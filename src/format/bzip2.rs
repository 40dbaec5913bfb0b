//! The `.bz2` format, drawn as a tree; each line names what writes it and what reads it.
//!
//! ```text
//! file
//! +- stream, one or more                        pipeline::chain (reading), pipeline::assemble (writing)
//! |  +- "BZh", level digit '1'..'9'             write_stream_header, parse_stream_header
//! |  +- block, none or more                     codec::Encoder, codec::Decoder
//! |  |  +- magic 0x314159265359 (48)
//! |  |  +- CRC of the text (32)                 codec::crc
//! |  |  +- randomised (1), only ever set by 0.9.x
//! |  |  +- origin pointer (24)                  codec::bwt
//! |  |  +- symbol map (16 + 16 for each bit set)
//! |  |  +- number of tables 2..6 (3), number of selectors (15), selectors in MTF form, unary
//! |  |  +- code lengths of each table: first (5), then deltas
//! |  |  '- codes: groups of 50, each with the table its selector names, the last symbol is EOB
//! |  +- end magic 0x177245385090 (48)           write_stream_end
//! |  +- combined CRC (32): rotated left by one, then XORed with each block's CRC
//! |  '- zero bits up to a whole byte
//! '- trailing garbage, ignored
//! ```
//!
//! Nothing inside a stream is byte-aligned. There is no length field: a block ends where its EOB symbol ends.

use crate::bits::BitWriter;
use std::{error, fmt};

/// The 48 bits that end a stream: the square root of pi.
pub const END_MAGIC: u64 = 0x1772_4538_5090;
/// The 48 bits that begin a block: pi.
pub const BLOCK_MAGIC: u64 = 0x3141_5926_5359;
/// The most bytes that a block has after run-length coding, at level 9.
pub const MAX_BLOCK: usize = 900_000;
/// The most symbols of an alphabet: two run digits, 255 ranks, end of block.
pub const MAX_SYMBOLS: usize = 258;
/// The most Huffman tables of a block.
pub const MAX_TABLES: usize = 6;
/// How many symbols one selector stands for.
pub const GROUP: usize = 50;
/// The most selectors that a block of 900,000 bytes needs. bzip2 1.0.8 reads and ignores those after them.
pub const MAX_SELECTORS: usize = 18_002;
/// The longest code that bzip2 1.0.8 writes, in bits; readers accept 20.
pub const MAX_WRITTEN_CODE: u8 = 17;

/// How large a block is: 1 to 9 times 100,000 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// 100,000 bytes a block: least memory.
    pub const FASTEST: Level = Level(1);
    /// 900,000 bytes a block: smallest output, and bzip2's default.
    pub const BEST: Level = Level(9);

    /// The level `level`, if it is one of 1 to 9.
    pub const fn try_new(level: u8) -> Option<Level> {
        if level >= 1 && level <= 9 { Some(Level(level)) } else { None }
    }

    /// The digit, 1 to 9, as it stands in the stream's header.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The most bytes (run-length-coded) that a decoder accepts in one block at this level.
    pub const fn block_limit(self) -> u32 {
        self.0 as u32 * 100_000
    }

    /// The run-length-coded size at which bzip2 1.0.8 ends a block: 19 bytes below [`block_limit`](Self::block_limit).
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
    /// [`InvalidLevel`] if it is not 1 to 9.
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

/// What the bytes at the place of a stream header turn out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// `BZh1` to `BZh9`.
    Stream(Level),
    /// So far it could be one, but there are fewer than 4 bytes.
    Short,
    /// Something else.
    Other,
}

/// Looks at up to 4 bytes, one after the other as bzip2 does: `BZ` cut short is a short header, not something else.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_byte_by_byte() {
        assert_eq!(parse_stream_header(b"BZh7"), Header::Stream(Level::try_new(7).unwrap()));
        for short in [&b""[..], b"B", b"BZ", b"BZh"] {
            assert_eq!(parse_stream_header(short), Header::Short);
        }
        for other in [&b"b"[..], b"Bz", b"BZ0", b"BZh0", b"BZh:", b"\0\0\0\0"] {
            assert_eq!(parse_stream_header(other), Header::Other);
        }
    }

    #[test]
    fn the_smallest_stream_is_bzip2s() {
        let mut bits = BitWriter::new();
        write_stream_header(&mut bits, Level::BEST);
        write_stream_end(&mut bits, 0);
        assert_eq!(bits.finish(), [b'B', b'Z', b'h', b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0]);
    }
}
