//! All errors of the library, as types.

use crate::format::Format;
use std::{error, fmt, io};

/// The kind of damage in a piece of compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// There is neither a block magic nor an end magic where one is required.
    Magic,
    /// The symbol map contains no symbol.
    SymbolMap,
    /// The number of Huffman tables is below 2 or above 6.
    TableCount,
    /// There is no selector, a selector that names no table, or fewer selectors than groups.
    Selectors,
    /// A Huffman code length leaves the range 1..=20.
    CodeLength,
    /// The bits are not a code of the selected table.
    Code,
    /// A zero run is longer than any block (the overflow of CVE-2010-0405).
    RunTooLong,
    /// A block has more bytes than the stream's level allows.
    BlockTooLong,
    /// The origin pointer lies outside the block.
    Origin,
    /// The block ends in four equal bytes without the count byte that must follow them.
    MissingRunCount,
    /// The text of a block does not have the CRC that the block's header states.
    BlockCrc {
        /// The CRC that the block's header states.
        stored: u32,
        /// The CRC of the decoded text.
        computed: u32,
    },
    /// The index of a `.hbz` stream, although intact itself, lists other blocks than the stream has.
    Index {
        /// The number of blocks in the stream.
        blocks: u32,
        /// The number of blocks in the index.
        listed: u32,
    },
    /// A field of a `.hbz` stream has a value that is not allowed.
    Field(&'static str),
    /// The `.hbz` stream has a version that this library does not know.
    Version(u8),
    /// A part of a `.hbz` stream does not have the CRC stored with it.
    PartCrc {
        /// The name of the part.
        part: &'static str,
        /// The CRC stored with the part.
        stored: u32,
        /// The CRC of the part's bytes.
        computed: u32,
    },
    /// LZW codes have more bits than any decoder accepts, or fewer than any encoder writes.
    LzwBits(u8),
    /// The codes of an LZW strip do not begin with the one that clears the table.
    LzwStart,
    /// An LZW code that is not defined yet.
    LzwCode {
        /// The code.
        code: u16,
        /// The first undefined code.
        end: u32,
    },
    /// More LZW codes follow each other without a clear than any table has room for.
    LzwTable,
    /// An LZW strip ends before its text is complete.
    LzwLength {
        /// The number of bytes of text that the strip must have.
        wanted: usize,
        /// The number of bytes that it has.
        found: usize,
    },
    /// A field of an LZ4 frame has a value that is not allowed.
    Lz4Field(&'static str),
    /// The blocks of an LZ4 frame need a dictionary, which hybz does not support.
    Lz4Dictionary(u32),
    /// A block of an LZ4 frame is longer than the frame allows.
    Lz4Length {
        /// The number of bytes of the block.
        len: u32,
        /// The maximum that the frame allows.
        max: u32,
    },
    /// The bytes of an LZ4 block are invalid.
    Lz4Block,
    /// A part of an LZ4 frame does not have the checksum stored with it.
    Lz4Checksum {
        /// The name of the part.
        part: &'static str,
        /// The checksum stored with it.
        stored: u32,
        /// The checksum of the part's bytes.
        computed: u32,
    },
    /// The text of an LZ4 frame does not have the length that its header states.
    Lz4TextLength {
        /// The length in the header.
        stated: u64,
        /// The length of the text.
        found: u64,
    },
    /// The combined CRC at the end of a stream is wrong.
    StreamCrc {
        /// The CRC that the end of the stream states.
        stored: u32,
        /// The CRC combined from the CRCs of the blocks.
        computed: u32,
    },
}

impl Damage {
    /// The format to which the damage belongs, if only one format can have it.
    pub fn format(&self) -> Option<Format> {
        match self {
            Damage::LzwBits(_)
            | Damage::LzwStart
            | Damage::LzwCode { .. }
            | Damage::LzwTable
            | Damage::LzwLength { .. } => Some(Format::Lzw),
            Damage::Lz4Block
            | Damage::Lz4Checksum { .. }
            | Damage::Lz4Dictionary(_)
            | Damage::Lz4Field(_)
            | Damage::Lz4Length { .. }
            | Damage::Lz4TextLength { .. } => Some(Format::Lz4),
            _ => None,
        }
    }
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
            Damage::Index { blocks, listed } if blocks == listed => {
                write!(f, "the index lists {listed} blocks, but not those that the stream has")
            }
            Damage::Index { blocks, listed } => {
                write!(f, "the stream has {blocks} blocks, but its index lists {listed}")
            }
            Damage::Field(field) => write!(f, "bad {field}"),
            Damage::Version(version) => write!(f, "version {version} of the format is unknown"),
            Damage::PartCrc { part, stored, computed } => {
                write!(f, "CRC of the {part} 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
            Damage::LzwBits(bits) => write!(f, "codes of up to {bits} bits, but only 9 to 16 are known"),
            Damage::LzwStart => f.write_str("the strip does not begin with the code that clears the table"),
            Damage::LzwCode { code, end } => write!(f, "code {code}, but only those below {end} are known"),
            Damage::LzwTable => f.write_str("the table of codes is full, and is not cleared"),
            Damage::LzwLength { wanted, found } => write!(f, "the strip ends after {found} of {wanted} bytes"),
            Damage::Lz4Field(field) => write!(f, "bad {field}"),
            Damage::Lz4Dictionary(number) => {
                write!(f, "dictionary {number} is needed, but dictionaries are not supported")
            }
            Damage::Lz4Length { len, max } => write!(f, "a block of {len} bytes, but {max} are allowed"),
            Damage::Lz4Block => f.write_str("bad LZ4 block"),
            Damage::Lz4Checksum { part, stored, computed } => {
                write!(f, "checksum of the {part} 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
            Damage::Lz4TextLength { stated, found } => {
                write!(f, "the frame has {found} bytes of text, but {stated} are stated")
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

/// The reason why the reference decoder rejects a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The data end before the block does.
    OutOfData,
    /// The data are not a bzip2 block.
    Damaged(Damage),
}

impl From<Damage> for DecodeError {
    fn from(damage: Damage) -> Self {
        DecodeError::Damaged(damage)
    }
}

/// The error type of the library.
///
/// Block numbers count from 1 over all streams of the input; bit offsets count from the first bit of the input.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input failed.
    Read(io::Error),
    /// Writing the output failed.
    Write(io::Error),
    /// The input does not begin with `BZh1` to `BZh9`.
    NotBzip2,
    /// The file does not begin with the header of a `.hbz` stream ([`hbz::List::read`](crate::hbz::List::read)).
    NotHbz,
    /// The input ends in the middle of a stream.
    Truncated {
        /// The block that is cut short, or that should have followed.
        block: u64,
        /// The position at which the input ends.
        bit_offset: u64,
    },
    /// The compressed data are damaged.
    Data {
        /// The block in which the damage was found.
        block: u64,
        /// The position at which the block (or the trailer of the stream) begins.
        bit_offset: u64,
        /// The kind of damage.
        damage: Damage,
    },
    /// A block has more than 64 MiB of compressed data. bzip2 would read on, but no encoder writes such a block, and
    /// hybz bounds its memory.
    BlockTooLarge {
        /// The block.
        block: u64,
        /// The position at which it begins.
        bit_offset: u64,
    },
    /// A block of a `.hbz` stream needs more memory than the [`Pool`](crate::Pool) may use. The data may be good.
    Memory {
        /// The block.
        block: u64,
        /// The bytes that decoding it takes, according to its header.
        needs: u64,
        /// The bytes that one block may take.
        allowed: u64,
    },
    /// Bytes that are not a stream follow the last stream, and [`Settings`](crate::Settings) do not allow that.
    TrailingGarbage {
        /// The offset of these bytes, in bytes.
        offset: u64,
    },
    /// The file is not an index: neither a `.bzi` nor lines of offsets ([`index`](crate::index)).
    NotAnIndex,
    /// The index is damaged, or of an unknown version.
    BadIndex(&'static str),
    /// The index does not fit the compressed file: it is another file's, or the file has changed since.
    ForeignIndex {
        /// The position in the compressed file, in bits, at which the file differs from the index.
        bit_offset: u64,
    },
    /// No index is made for a file with streams of another format than `.bz2`.
    NoIndex {
        /// The other format.
        format: Format,
        /// The reason: files of that format have no indexes, or have them inside.
        why: &'static str,
    },
    /// The text does not have the length that was stated for it ([`Frame::text_len`](crate::lz4::Frame::text_len)).
    TextLength {
        /// The stated length, which may have been written already.
        stated: u64,
        /// The length of the text.
        found: u64,
    },
    /// The stream was begun before a fork, and this is the child: the threads that have its blocks belong to the
    /// parent. New streams work.
    Forked,
    /// A block was verified ([`Verify`](crate::Verify)), found wrong, coded again, and found wrong again. This is a
    /// defect of hybz or of the machine: no part of the block has been written.
    Miscoded {
        /// The block.
        block: u64,
        /// The station that coded the block the second time.
        station: String,
        /// The way in which the block is wrong.
        reason: String,
    },
    /// A station failed or panicked on a block, and the CPU codec then failed on it as well. This is a bug in hybz.
    Internal {
        /// The block on which it happened.
        block: u64,
        /// The station's message.
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
            Error::Memory { block, needs, allowed } => {
                // The number of MB is rounded so that allowing that many is enough.
                let (needs, allowed) = (needs.div_ceil(1 << 20), allowed >> 20);
                write!(f, "block {block} needs {needs} MB of memory, but {allowed} are allowed")
            }
            Error::TrailingGarbage { offset } => write!(f, "trailing garbage at byte {offset}"),
            Error::NotAnIndex => f.write_str("not an index"),
            Error::BadIndex(what) => write!(f, "the index is damaged: {what}"),
            Error::ForeignIndex { bit_offset } => {
                write!(
                    f,
                    "the index belongs to another file, or is older than the file: it does not fit at bit {bit_offset}"
                )
            }
            Error::NoIndex { why, .. } => f.write_str(why),
            Error::TextLength { stated, found } => {
                write!(f, "there are {found} bytes of text, but {stated} were stated")
            }
            Error::Forked => f.write_str("the stream was begun in the process that forked this one"),
            Error::Miscoded { block, station, reason } => {
                write!(f, "block {block} was coded wrong twice, the second time by {station}: {reason}")
            }
            Error::Internal { block, reason } => {
                write!(f, "internal error at block {block}: {reason}")
            }
        }
    }
}

impl Error {
    /// A copy of the error, for decoders that are called again after it. For an I/O error it keeps kind and text.
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
            &Error::Memory { block, needs, allowed } => Error::Memory { block, needs, allowed },
            &Error::TrailingGarbage { offset } => Error::TrailingGarbage { offset },
            Error::NotAnIndex => Error::NotAnIndex,
            &Error::BadIndex(what) => Error::BadIndex(what),
            &Error::ForeignIndex { bit_offset } => Error::ForeignIndex { bit_offset },
            &Error::NoIndex { format, why } => Error::NoIndex { format, why },
            &Error::TextLength { stated, found } => Error::TextLength { stated, found },
            Error::Forked => Error::Forked,
            Error::Miscoded { block, station, reason } => {
                Error::Miscoded { block: *block, station: station.clone(), reason: reason.clone() }
            }
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
    /// Damaged data become `InvalidData`, a truncated input `UnexpectedEof`, [`Error::Memory`]
    /// `OutOfMemory`, and errors that are not caused by the data `Other`, with the [`Error`] inside. An I/O error is
    /// returned unchanged.
    fn from(e: Error) -> Self {
        let kind = match e {
            Error::Read(e) | Error::Write(e) => return e,
            Error::Truncated { .. } => io::ErrorKind::UnexpectedEof,
            Error::Forked | Error::Miscoded { .. } | Error::Internal { .. } => io::ErrorKind::Other,
            Error::Memory { .. } => io::ErrorKind::OutOfMemory,
            _ => io::ErrorKind::InvalidData,
        };
        io::Error::new(kind, e)
    }
}
