//! All errors of the library, as types.

use crate::flaw::Flaw;
use crate::format::Format;
use std::{error, fmt, io};

/// Damage in a piece of compressed data. It is displayed in words, such as `bad Huffman code` or
/// `block CRC 0x00000000, but 0x5a55c41e is stored`.
///
/// ```
/// let mut coded = hybz::compress(b"to be or not to be", &hybz::Settings::new())?;
/// coded[10] ^= 1; // in the CRC of the block
/// let error = hybz::decompress(&coded, &hybz::Settings::new()).unwrap_err();
/// let hybz::Error::Data { block: 1, damage, .. } = error else { panic!("{error}") };
/// assert!(damage.to_string().starts_with("block CRC 0x"));
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage(pub(crate) Flaw);

impl Damage {
    /// The format to which the damage belongs, if only one format can have it.
    pub fn format(&self) -> Option<Format> {
        self.0.format()
    }

    /// The damage as the codec describes it.
    #[cfg(feature = "internals")]
    pub fn flaw(&self) -> Flaw {
        self.0
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The reason why the reference decoder rejects a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The data end before the block does.
    OutOfData,
    /// The data are not a bzip2 block.
    Damaged(Flaw),
}

impl From<Flaw> for DecodeError {
    fn from(damage: Flaw) -> Self {
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
    /// The input does not begin with `BZh1` to `BZh9`, and is of no other format that may be read.
    NotBzip2,
    /// The input does not begin like a stream of the only format that the called function reads. An example of such a
    /// function is [`hbz::List::read`](crate::hbz::List::read).
    NotFormat {
        /// That format.
        format: Format,
    },
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
    /// The index is damaged.
    BadIndex(&'static str),
    /// The index has a version that this library does not know: a newer library has made it.
    NewerIndex {
        /// That version.
        version: u8,
    },
    /// The index does not fit the compressed file: it belongs to another file, or the file has changed since.
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
    /// The text of a `.bz2` is perturbed ([`Encoding::Perturbed`](crate::Encoding::Perturbed)): it is decoded from its
    /// beginning only.
    Perturbed,
    /// The text does not have the length that was stated for it.
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
            Error::NotFormat { format } => {
                write!(f, "not a {} file", format.suffixes().first().map_or("", |(suffix, _)| suffix))
            }
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
                // The number of MB is rounded up, so that allowing that many is enough.
                let (needs, allowed) = (needs.div_ceil(1 << 20), allowed >> 20);
                write!(f, "block {block} needs {needs} MB of memory, but {allowed} are allowed")
            }
            Error::TrailingGarbage { offset } => write!(f, "trailing garbage at byte {offset}"),
            Error::NotAnIndex => f.write_str("not an index"),
            Error::BadIndex(what) => write!(f, "the index is damaged: {what}"),
            Error::NewerIndex { version } => {
                write!(f, "this index has a newer version ({version}) than this program knows")
            }
            Error::ForeignIndex { bit_offset } => {
                write!(
                    f,
                    "the index belongs to another file, or is older than the file: it does not fit at bit {bit_offset}"
                )
            }
            Error::NoIndex { why, .. } => f.write_str(why),
            Error::Perturbed => f.write_str("the text is perturbed: it can only be decoded from its beginning"),
            Error::TextLength { stated, found } => {
                write!(f, "there are {found} bytes of text, but {stated} were stated")
            }
            Error::Forked => f.write_str("the stream was begun in the process that forked this one"),
            Error::Miscoded { block, station, reason } => {
                write!(f, "block {block} was coded wrong twice, the second time by {station}: {reason}")
            }
            Error::Internal { block, reason } => write!(f, "internal error at block {block}: {reason}"),
        }
    }
}

impl Error {
    /// The error for a block (or trailer) that begins at `bit_offset` and is damaged.
    pub(crate) fn damaged(block: u64, bit_offset: u64, flaw: Flaw) -> Error {
        Error::Data { block, bit_offset, damage: Damage(flaw) }
    }

    /// A copy of the error, for decoders that are called again after it. For an I/O error it keeps kind and text.
    pub(crate) fn again(&self) -> Error {
        let same = |e: &io::Error| io::Error::new(e.kind(), e.to_string());
        match self {
            Error::Read(e) => Error::Read(same(e)),
            Error::Write(e) => Error::Write(same(e)),
            Error::NotBzip2 => Error::NotBzip2,
            &Error::NotFormat { format } => Error::NotFormat { format },
            &Error::Truncated { block, bit_offset } => Error::Truncated { block, bit_offset },
            &Error::Data { block, bit_offset, damage } => Error::Data { block, bit_offset, damage },
            &Error::BlockTooLarge { block, bit_offset } => Error::BlockTooLarge { block, bit_offset },
            &Error::Memory { block, needs, allowed } => Error::Memory { block, needs, allowed },
            &Error::TrailingGarbage { offset } => Error::TrailingGarbage { offset },
            Error::NotAnIndex => Error::NotAnIndex,
            &Error::BadIndex(what) => Error::BadIndex(what),
            &Error::NewerIndex { version } => Error::NewerIndex { version },
            &Error::ForeignIndex { bit_offset } => Error::ForeignIndex { bit_offset },
            &Error::NoIndex { format, why } => Error::NoIndex { format, why },
            Error::Perturbed => Error::Perturbed,
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
