//! What can be wrong in compressed data, format by format.

use crate::format::Format;
use std::fmt;

/// The kind of damage in a piece of compressed data. Callers of the library see it as [`Damage`](crate::Damage).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// There is neither a block magic nor an end magic where one is required.
    Magic,
    /// The empty streams that mark the next stream as perturbed spell only half of a mark.
    PerturbationMark,
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
    /// The index within a stream, although intact itself, lists other blocks than the stream has.
    Index {
        /// The number of blocks in the stream.
        blocks: u32,
        /// The number of blocks in the index.
        listed: u32,
    },
    /// A field of a header has a value that is not allowed.
    Field(&'static str),
    /// The stream has a version that this library does not know.
    Version(u8),
    /// The CRC of a part of a stream is not the one stored with it.
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
    /// The checksum of a part of an LZ4 frame is not the one stored with it.
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

impl Flaw {
    /// The format to which the damage belongs, if only one format can have it.
    pub fn format(&self) -> Option<Format> {
        match self {
            Flaw::LzwBits(_) | Flaw::LzwStart | Flaw::LzwCode { .. } | Flaw::LzwTable | Flaw::LzwLength { .. } => {
                Some(Format::Lzw)
            }
            Flaw::Lz4Block
            | Flaw::Lz4Checksum { .. }
            | Flaw::Lz4Dictionary(_)
            | Flaw::Lz4Field(_)
            | Flaw::Lz4Length { .. }
            | Flaw::Lz4TextLength { .. } => Some(Format::Lz4),
            _ => None,
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Magic => f.write_str("bad block magic"),
            Flaw::PerturbationMark => f.write_str("the mark of a perturbed text is wrong"),
            Flaw::SymbolMap => f.write_str("empty symbol map"),
            Flaw::TableCount => f.write_str("bad number of Huffman tables"),
            Flaw::Selectors => f.write_str("bad selectors"),
            Flaw::CodeLength => f.write_str("bad Huffman code length"),
            Flaw::Code => f.write_str("bad Huffman code"),
            Flaw::RunTooLong => f.write_str("zero run too long"),
            Flaw::BlockTooLong => f.write_str("block longer than its level allows"),
            Flaw::Origin => f.write_str("origin pointer outside the block"),
            Flaw::MissingRunCount => f.write_str("run without its count at the end of the block"),
            Flaw::Index { blocks, listed } if blocks == listed => {
                write!(f, "the index lists {listed} blocks, but not those that the stream has")
            }
            Flaw::Index { blocks, listed } => write!(f, "the stream has {blocks} blocks, but its index lists {listed}"),
            Flaw::Field(field) => write!(f, "bad {field}"),
            Flaw::Version(version) => write!(f, "version {version} of the format is unknown"),
            Flaw::PartCrc { part, stored, computed } => {
                write!(f, "CRC of the {part} 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
            Flaw::LzwBits(bits) => write!(f, "codes of up to {bits} bits, but only 9 to 16 are known"),
            Flaw::LzwStart => f.write_str("the strip does not begin with the code that clears the table"),
            Flaw::LzwCode { code, end } => write!(f, "code {code}, but only those below {end} are known"),
            Flaw::LzwTable => f.write_str("the table of codes is full, and is not cleared"),
            Flaw::LzwLength { wanted, found } => write!(f, "the strip ends after {found} of {wanted} bytes"),
            Flaw::Lz4Field(field) => write!(f, "bad {field}"),
            Flaw::Lz4Dictionary(number) => {
                write!(f, "dictionary {number} is needed, but dictionaries are not supported")
            }
            Flaw::Lz4Length { len, max } => write!(f, "a block of {len} bytes, but {max} are allowed"),
            Flaw::Lz4Block => f.write_str("bad LZ4 block"),
            Flaw::Lz4Checksum { part, stored, computed } => {
                write!(f, "checksum of the {part} 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
            Flaw::Lz4TextLength { stated, found } => {
                write!(f, "the frame has {found} bytes of text, but {stated} are stated")
            }
            Flaw::BlockCrc { stored, computed } => {
                write!(f, "block CRC 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
            Flaw::StreamCrc { stored, computed } => {
                write!(f, "combined CRC 0x{computed:08x}, but 0x{stored:08x} is stored")
            }
        }
    }
}
