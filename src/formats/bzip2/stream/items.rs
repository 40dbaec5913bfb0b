//! One parse: the bits of a `.bz2` file with which an item begins.
//!
//! A `.bz2` has four kinds of items: the header of a stream (32 bits), blocks, the end of a stream (80 bits) and
//! garbage. Whatever is at a bit, the next 80 bits tell what it is, and a block or an end has its CRC in them. All
//! readers parse items here: the chain that accepts decoded blocks, parts of a file that begin anywhere, recovery, and
//! indexes. These readers differ in what they expect, and in what they forgive.

use crate::codec::find_magic::plausible;
use crate::error::Error;
use crate::formats::bzip2::header::{BLOCK_MAGIC, END_BITS, END_MAGIC, Header, Level, parse_stream_header};
use crate::read_at::{ReadAt, fill_at};

/// The number of bytes that contain the 80 bits from any bit on.
const BYTES: usize = 11;

/// The 80 bits from some bit on, with zeros after the end of the data.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    /// The bits; the first is the most significant.
    word: u128,
    /// How many of them the data have.
    have: u64,
}

impl Head {
    /// The first bits of `word`, of which the data have only `have`.
    pub fn new(word: u128, have: u64) -> Head {
        Head { word, have: have.min(END_BITS) }
    }

    /// The bits of a file from `bit` on.
    pub fn at(file: &(impl ReadAt + ?Sized), bit: u64) -> Result<Head, Error> {
        let mut bytes = [0; BYTES];
        let len = fill_at(file, &mut bytes, bit / 8).map_err(Error::Read)?;
        Ok(Head::of(&bytes[..len], bit % 8))
    }

    /// The bits of `bytes` from bit `skew` (0 to 7) on.
    pub fn of(bytes: &[u8], skew: u64) -> Head {
        let mut word = [0; 16];
        let len = bytes.len().min(BYTES);
        word[..len].copy_from_slice(&bytes[..len]);
        Head::new(u128::from_be_bytes(word) << skew, (len as u64 * 8).saturating_sub(skew))
    }

    /// The header of a stream, if the first bit is on a byte boundary.
    pub fn header(&self) -> Header {
        parse_stream_header(&self.word.to_be_bytes()[..4.min(self.have as usize / 8)])
    }

    /// The magic of a block or of the end of a stream.
    pub fn magic(&self) -> u64 {
        (self.word >> 80) as u64
    }

    /// The CRC after the magic.
    pub fn crc(&self) -> u32 {
        (self.word >> 48) as u32
    }

    /// The number of bits that the data have, at most 80.
    pub fn len(&self) -> u64 {
        self.have
    }

    /// The magic and the CRC, if the data have them.
    pub fn whole(&self) -> Option<(u64, u32)> {
        (self.have == END_BITS).then_some((self.magic(), self.crc()))
    }

    /// Whether the magic is that of a block or of an end, as far as the data go. Compares byte by byte, as bzip2 does,
    /// so that a wrong byte is damage even if the data end before the sixth byte.
    pub fn may_be_magic(&self) -> bool {
        let missing = 48 - self.have.min(48) / 8 * 8;
        [BLOCK_MAGIC, END_MAGIC].iter().any(|magic| magic >> missing == self.magic() >> missing)
    }
}

/// The level of the stream whose header begins at this bit of a file, if one does.
pub(crate) fn level_at(file: &(impl ReadAt + ?Sized), bit: u64) -> Result<Option<Level>, Error> {
    match Head::at(file, bit)?.header() {
        Header::Stream(level) if bit.is_multiple_of(8) => Ok(Some(level)),
        _ => Ok(None),
    }
}

/// Whether a block could begin at this bit of a file, judged by its first fields.
pub(crate) fn is_plausible(file: &(impl ReadAt + ?Sized), bit: u64) -> Result<bool, Error> {
    let mut head = [0; 64];
    let len = fill_at(file, &mut head, bit / 8).map_err(Error::Read)?;
    Ok(plausible(&head[..len], bit % 8, len as u64 * 8))
}
