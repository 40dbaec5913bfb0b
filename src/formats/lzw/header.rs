//! The layout of LZW data: `.Z` files of `compress`, and strips of TIFF files (the package hybz-tiff-lzw).
//!
//! ```text
//! .Z      0x1f 0x9d | flags 1: bits 0-4 the most bits of a code, bit 7 block mode | codes, least significant bit first
//! strip   codes, most significant bit first: clear, codes .., end
//! ```
//!
//! In both, the first 256 codes are the bytes, and each code but the first after a clear adds a code to the table: for
//! the string of the previous code and one byte more. A code has at least 9 bits, and more once the table outgrows
//! them: code number `m`, counted from 0 after a clear, has the smallest number of bits `w` with
//!
//! | | first code of the table | |
//! |---|---|---|
//! | `.Z`, block mode | 257 | 256 + m < 2^w |
//! | `.Z`, no block mode | 256 | 255 + m < 2^w |
//! | TIFF | 258 | 258 + m < 2^w ("early change": one code earlier than necessary) |
//! | TIFF of old libtiff, least significant bit first | 258 | 257 + m < 2^w |
//!
//! The codes of a `.Z` are written in groups of eight, each of as many bytes as a code has bits. When the width
//! changes, and after a clear, the rest of the group is padding. There is no end mark, no length and no checksum.

use crate::error::Error;
use crate::flaw::Flaw;

/// The first bytes of a `.Z` file.
pub const MAGIC: [u8; 2] = [0x1f, 0x9d];
/// The number of bytes before the codes of a `.Z` file.
pub const HEADER_LEN: usize = 3;
/// The number of bits of the first codes.
pub const MIN_BITS: u32 = 9;
/// The maximum number of bits of a code of a `.Z` file.
pub const MAX_BITS: u32 = 16;
/// The code that empties the table: always in strips, in block mode in `.Z` files.
pub const CLEAR: u32 = 256;

/// The header before the codes of a `.Z` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The maximum number of bits of a code, 9 to 16.
    pub max_bits: u32,
    /// Whether [`CLEAR`] empties the table; otherwise it is an ordinary code.
    pub block_mode: bool,
}

impl Header {
    /// The header at the beginning of `bytes`.
    ///
    /// Bits 5 and 6 of the flags mean nothing: gzip warns of them, ncompress does not, and both read on.
    pub fn parse(bytes: &[u8]) -> Result<Header, Error> {
        if !bytes.starts_with(&MAGIC) {
            return Err(Error::NotBzip2);
        }
        let bit_offset = bytes.len() as u64 * 8;
        let flags = *bytes.get(MAGIC.len()).ok_or(Error::Truncated { block: 1, bit_offset })?;
        let bits = flags & 0x1f;
        // With fewer than 9 bits, gzip and ncompress read uninitialised memory (gzip 1.12, ncompress 4.2.4.6).
        if !(MIN_BITS..=MAX_BITS).contains(&bits.into()) {
            return Err(Error::damaged(1, 16, Flaw::LzwBits(bits)));
        }
        Ok(Header { max_bits: bits.into(), block_mode: flags & 0x80 != 0 })
    }

    /// The first code of the table.
    pub fn first(self) -> u32 {
        256 + u32::from(self.block_mode)
    }

    /// The number of codes that the table can have in addition to the 256 bytes (and [`CLEAR`]).
    pub fn table_len(self) -> usize {
        (1 << self.max_bits) - self.first() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags() {
        for flags in 0..=255 {
            let header = Header { max_bits: u32::from(flags & 31), block_mode: flags >= 128 };
            let expected = (9..=16).contains(&header.max_bits).then_some(header);
            assert_eq!(Header::parse(&[0x1f, 0x9d, flags]).ok(), expected);
        }
    }
}
