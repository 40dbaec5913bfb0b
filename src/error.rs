//! Everything that can go wrong in the library, in one enum.

use std::{error, fmt, io};

/// What is wrong with a piece of compressed data, in bzip2's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Neither a block nor an end-of-stream magic where one must stand.
    Magic,
    /// The symbol map names no symbol.
    SymbolMap,
    /// Fewer than 2 or more than 6 Huffman tables.
    TableCount,
    /// No selector at all, a selector that names no table, or fewer selectors than groups.
    Selectors,
    /// A Huffman code length that passes outside 1..=20.
    CodeLength,
    /// Bits that are no code of the selected table.
    Code,
    /// A zero run longer than any block (CVE-2010-0405's overflow).
    RunTooLong,
    /// More bytes than the stream's level allows in one block.
    BlockTooLong,
    /// The origin pointer lies outside the block.
    Origin,
    /// The block ends in four equal bytes with no count byte after them.
    MissingRunCount,
    /// The text of a block does not have the CRC that its header states.
    BlockCrc {
        /// The CRC that the block's header states.
        stored: u32,
        /// The CRC of the bytes that came out.
        computed: u32,
    },
    /// A field of a `.hbz` stream has a value that it cannot have.
    Field(&'static str),
    /// A `.hbz` stream of a version that this library does not know.
    Version(u8),
    /// A part of a `.hbz` stream does not have the CRC that it states.
    PartCrc {
        /// Which part.
        part: &'static str,
        /// The CRC that it states.
        stored: u32,
        /// The CRC that its bytes have.
        computed: u32,
    },
    /// The combined CRC at the end of a stream is wrong.
    StreamCrc {
        /// The CRC that the end of the stream states.
        stored: u32,
        /// The CRC combined from those of the blocks.
        computed: u32,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Magic => f.write_str("bad block magic"),
            Damage::SymbolMap => f.write_str("empty symbol map"),
            Damage::TableCount => f.write_str("bad number of Huffman tables"),
            Damage::Selectors => f.write_str("bad selectors"),
            Damage::CodeLength => f.write_str("bad Huffman code length"),
            Damage::Code => f.write_str("bad Huffman code"),
            Damage::RunTooLong => f.write_str("zero run too long"),
            Damage::BlockTooLong => f.write_str("block longer than its level allows"),
            Damage::Origin => f.write_str("origin pointer outside the block"),
            Damage::MissingRunCount => f.write_str("run without its count at the end of the block"),
            Damage::Field(field) => write!(f, "bad {field}"),
            Damage::Version(version) => write!(f, "version {version} of the format is not known"),
            Damage::PartCrc { part, stored, computed } => {
                write!(f, "CRC of the {part} 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
            Damage::BlockCrc { stored, computed } => {
                write!(f, "block CRC 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
            Damage::StreamCrc { stored, computed } => {
                write!(f, "combined CRC 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
        }
    }
}

/// Why the plain decoder gave up on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The data end before the block does.
    OutOfData,
    /// The data are no bzip2 block.
    Damaged(Damage),
}

impl From<Damage> for DecodeError {
    fn from(damage: Damage) -> Self {
        DecodeError::Damaged(damage)
    }
}

/// What the library's functions fail with.
///
/// Blocks and streams are counted from 1 over the whole input; bit offsets count from its first bit.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input failed.
    Read(io::Error),
    /// Writing the output failed.
    Write(io::Error),
    /// The input does not begin with `BZh1` .. `BZh9`.
    NotBzip2,
    /// The file does not begin with the header of a `.hbz` stream ([`hbz::List::read`](crate::hbz::List::read)).
    NotHbz,
    /// The input ends in the middle of a stream.
    Truncated {
        /// The block that is cut short, or that should have followed.
        block: u64,
        /// Where the input ends.
        bit_offset: u64,
    },
    /// The compressed data are damaged.
    Data {
        /// The block in which the damage was met.
        block: u64,
        /// Where the block (or the trailer of the stream) begins.
        bit_offset: u64,
        /// What is wrong there.
        damage: Damage,
    },
    /// One block has more than 64 MiB of compressed data. bzip2 would read on; no encoder writes such a block, and memory is
    /// bounded here. Or a block of a `.hbz` stream needs more memory than the [`Pool`](crate::Pool) was allowed.
    BlockTooLarge {
        /// The block.
        block: u64,
        /// Where it begins.
        bit_offset: u64,
    },
    /// Bytes that are no stream follow the last stream, and [`Settings`](crate::Settings) forbids that.
    TrailingGarbage {
        /// Where the garbage begins, in bytes.
        offset: u64,
    },
    /// A station failed or panicked at a block, and so did the plain codec after it: a defect of hybz itself.
    Internal {
        /// The block at which it happened.
        block: u64,
        /// What the station said.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(e) | Error::Write(e) => e.fmt(f),
            Error::NotBzip2 => f.write_str("not a bzip2 file"),
            Error::NotHbz => f.write_str("not a .hbz file"),
            Error::Truncated { block, bit_offset } => {
                write!(f, "file ends unexpectedly in block {block}, at bit {bit_offset}")
            }
            Error::Data { block, bit_offset, damage } => {
                write!(f, "data integrity error in block {block} at bit {bit_offset}: {damage}")
            }
            Error::BlockTooLarge { block, bit_offset } => {
                write!(f, "block {block} at bit {bit_offset} is too large to be decoded in bounded memory")
            }
            Error::TrailingGarbage { offset } => write!(f, "trailing garbage at byte {offset}"),
            Error::Internal { block, reason } => {
                write!(f, "internal error at block {block}: {reason}")
            }
        }
    }
}

impl Error {
    /// The same error once more, for decoders that are called again after it. Of an I/O error it keeps kind and text.
    pub(crate) fn again(&self) -> Error {
        let same = |e: &io::Error| io::Error::new(e.kind(), e.to_string());
        match self {
            Error::Read(e) => Error::Read(same(e)),
            Error::Write(e) => Error::Write(same(e)),
            Error::NotBzip2 => Error::NotBzip2,
            Error::NotHbz => Error::NotHbz,
            &Error::Truncated { block, bit_offset } => Error::Truncated { block, bit_offset },
            &Error::Data { block, bit_offset, damage } => Error::Data { block, bit_offset, damage },
            &Error::BlockTooLarge { block, bit_offset } => Error::BlockTooLarge { block, bit_offset },
            &Error::TrailingGarbage { offset } => Error::TrailingGarbage { offset },
            Error::Internal { block, reason } => Error::Internal { block: *block, reason: reason.clone() },
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Read(e) | Error::Write(e) => Some(e),
            _ => None,
        }
    }
}

impl From<Error> for io::Error {
    /// Damaged data become `InvalidData`, a cut input `UnexpectedEof`, with the [`Error`] inside; an I/O error is itself.
    fn from(e: Error) -> Self {
        let kind = match e {
            Error::Read(e) | Error::Write(e) => return e,
            Error::Truncated { .. } => io::ErrorKind::UnexpectedEof,
            Error::Internal { .. } => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        io::Error::new(kind, e)
    }
}
