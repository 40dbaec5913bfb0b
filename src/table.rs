//! The table of formats: one row holds all that the library and the command know of a format. A format is a folder and
//! a row.

use crate::error::Error;
use crate::format::{Blocks, Format, Formats, IndexKind, Magic};
use crate::formats::bzip2::header::magic as bzip2_magic;
use crate::formats::hbz::archive::List;
use crate::formats::hbz::header::MAGIC as HBZ_MAGIC;
#[cfg(feature = "lz4")]
use crate::formats::lz4;
use crate::formats::lz4::header::magic as lz4_magic;
use crate::formats::lzw::header::MAGIC as LZW_MAGIC;
use crate::formats::{bzip2, hbz, lzw};
use crate::read_at::ReadAt;
use crate::seek::blocks::BlockMap;
use crate::seek::hbz::open as open_hbz;
use crate::stream::piece::{Decoding, Ends, StreamEndDetector};
use std::io;

/// A `.bz2` may be perturbed; no other format has marks.
pub(crate) use bzip2::perturbed::{MarkFinder, Restorer};

/// The properties of a format.
pub(crate) struct Row {
    pub format: Format,
    /// The format's name in reports and messages.
    pub name: &'static str,
    /// The name of a file of this format in messages.
    pub file: &'static str,
    /// The suffixes of its files' names, each with the text that replaces it when a file is decompressed. hybz writes
    /// the first suffix.
    pub suffixes: &'static [(&'static str, &'static str)],
    /// How many of the data's first bytes match this format. The first byte selects the decoder ([`first`]), so no two
    /// formats that are read may begin with the same byte.
    pub magic: fn(&[u8]) -> Magic,
    /// For hybz's own formats: how much of the magic must follow a stream of another format to count as a stream that
    /// was cut. A shorter part of it counts as garbage, which bzip2 ignores.
    pub native: Option<usize>,
    pub blocks: Blocks,
    pub index: IndexKind,
    /// The decoder; `None` if the format is only recognised.
    pub coding: Option<Coding>,
    /// How a file of this format is read by the index in it.
    pub by_index: Option<ByIndex>,
}

/// Finds the blocks of a file through the index in it.
type OpenBlocks = fn(&dyn ReadAt) -> Result<Box<dyn BlockMap>, Error>;

/// The way to read a file by the index in it.
#[derive(Clone, Copy)]
pub(crate) struct ByIndex {
    /// Reads at any offset.
    pub seek: OpenBlocks,
    /// Lists its blocks.
    pub list: fn(&mut dyn ReadSeek) -> Result<List, Error>,
}

/// A file that supports reading and seeking.
pub(crate) trait ReadSeek: io::Read + io::Seek {}
impl<R: io::Read + io::Seek> ReadSeek for R {}

/// How a format is decoded.
#[derive(Clone, Copy)]
pub(crate) struct Coding {
    /// The input and the output end of a stream to be decoded.
    pub decode: fn(&Decoding) -> Ends,
    /// Makes the detector of a stream's end; `None` if a stream ends where its input does.
    pub end: fn() -> Option<Box<dyn StreamEndDetector>>,
}

/// The defaults for other programs' formats.
const FOREIGN: Row = Row {
    format: Format::Gzip,
    name: "",
    file: "",
    suffixes: &[],
    magic: |_| Magic::No,
    native: None,
    blocks: Blocks::None,
    index: IndexKind::None("its format is only recognised"),
    coding: None,
    by_index: None,
};

/// The decoder for data that match no other format: it reports what is wrong with them.
const BZIP2: Coding = Coding { decode: bzip2::stream::decode, end: bzip2::stream::end };

/// liblz4 decodes frames.
#[cfg(feature = "lz4")]
const LZ4: Option<Coding> = Some(Coding { decode: lz4::stream::decode, end: lz4::stream::end });
#[cfg(not(feature = "lz4"))]
const LZ4: Option<Coding> = None;

/// The table.
static TABLE: &[Row] = &[
    Row {
        format: Format::Bzip2,
        name: "bz2",
        file: "a .bz2",
        suffixes: &[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar"), (".tz2", ".tar")],
        magic: bzip2_magic,
        native: Some(1),
        blocks: Blocks::Listed,
        index: IndexKind::Beside,
        coding: Some(BZIP2),
        by_index: None,
    },
    Row {
        format: Format::Hbz,
        name: "hbz",
        file: "a .hbz",
        suffixes: &[(".hbz", "")],
        magic: |head| Magic::of(head, &HBZ_MAGIC),
        native: Some(4),
        blocks: Blocks::Listed,
        index: IndexKind::Within(".hbz streams have indexes of their own"),
        coding: Some(Coding { decode: hbz::stream::decode, end: hbz::stream::end }),
        by_index: Some(ByIndex { seek: open_hbz, list: |mut file| List::read(&mut file) }),
    },
    Row {
        format: Format::Lzw,
        name: "Z",
        file: "a .Z",
        suffixes: &[(".Z", ""), (".taz", ".tar")],
        magic: |head| Magic::of(head, &LZW_MAGIC),
        index: IndexKind::None("a .Z file has no blocks, and so no index"),
        coding: Some(Coding { decode: lzw::stream::decode, end: || None }),
        ..FOREIGN
    },
    Row {
        format: Format::Lz4,
        name: "lz4",
        file: "an .lz4",
        suffixes: &[(".lz4", "")],
        magic: lz4_magic,
        blocks: Blocks::Counted,
        index: IndexKind::None("LZ4 frames have indexes of their own"),
        coding: LZ4,
        ..FOREIGN
    },
    Row { name: "gzip", magic: |head| Magic::of(head, b"\x1f\x8b"), ..FOREIGN },
    Row { format: Format::Xz, name: "xz", magic: |head| Magic::of(head, b"\xfd7zXZ\0"), ..FOREIGN },
    Row { format: Format::Zstd, name: "zstd", magic: |head| Magic::of(head, b"\x28\xb5\x2f\xfd"), ..FOREIGN },
];

/// The rows of formats that are read.
fn read(formats: Formats) -> impl Iterator<Item = (&'static Row, Coding)> {
    let included = TABLE.iter().filter(move |row| formats.include(row.format));
    included.filter_map(|row| Some((row, row.coding?)))
}

/// The decoder for data that begin with this byte. The byte alone decides; if the rest does not fit, the decoder
/// reports the error.
pub(crate) fn first(formats: Formats, byte: Option<u8>) -> Coding {
    let fits = |row: &Row| byte.is_some_and(|byte| (row.magic)(&[byte]) != Magic::No);
    read(formats).find(|(row, _)| fits(row)).map_or(BZIP2, |(_, coding)| coding)
}

/// The way to open a file by the index in it, if the format of these first bytes has one.
pub(crate) fn by_index(head: &[u8]) -> Option<ByIndex> {
    TABLE.iter().find(|row| (row.magic)(head) == Magic::Whole)?.by_index
}

/// The kind of data after the streams of one format.
pub(crate) enum Next {
    /// A stream of a format.
    Stream(Coding),
    /// A few more bytes will tell.
    Unknown,
    /// A stream that is cut by the end of the input.
    Cut,
    /// Data that no decoder reads.
    Garbage,
}

/// Classifies the bytes that follow the streams of one format. `ended` says that no more bytes come.
pub(crate) fn next(formats: Formats, bytes: &[u8], ended: bool) -> Next {
    let mut next = Next::Garbage;
    for (row, coding) in read(formats) {
        let Some(certain) = row.native else { continue };
        match (row.magic)(bytes) {
            Magic::Whole => return Next::Stream(coding),
            Magic::Part(_) if !ended => next = Next::Unknown,
            Magic::Part(len) if len >= certain => next = Next::Cut,
            _ => {}
        }
    }
    next
}

impl Format {
    pub(crate) fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.format == self).unwrap_or(&FOREIGN)
    }

    /// The format of data that begin with these bytes. [`HEAD_LEN`](Self::HEAD_LEN) of them are enough.
    ///
    /// ```
    /// use hybz::Format;
    /// assert_eq!(Format::of(&[0x1f, 0x9d, 0x90]), Some(Format::Lzw));
    /// ```
    pub fn of(head: &[u8]) -> Option<Format> {
        TABLE.iter().find(|row| (row.magic)(head) == Magic::Whole).map(|row| row.format)
    }

    /// The number of bytes that is enough to recognise the format of data.
    pub const HEAD_LEN: usize = 8;

    /// The formats that hybz reads.
    ///
    /// ```
    /// use hybz::Format;
    /// let suffixes: Vec<&str> = Format::all_read().flat_map(Format::suffixes).map(|(suffix, _)| *suffix).collect();
    /// assert_eq!(suffixes, [".bz2", ".bz", ".tbz2", ".tbz", ".tz2", ".hbz", ".Z", ".taz", ".lz4"]);
    /// ```
    pub fn all_read() -> impl Iterator<Item = Format> {
        read(Formats::All).map(|(row, _)| row.format)
    }

    /// A short name, such as `bz2`. For a format that hybz does not read, it is the name of the program that does.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The suffixes of its files' names, the usual one first, each with the text that replaces it when a file is
    /// decompressed.
    pub fn suffixes(self) -> &'static [(&'static str, &'static str)] {
        self.row().suffixes
    }

    /// The blocks of a file of this format, from the index in it; `None` if its files have none.
    ///
    /// # Errors
    /// Those of [`List::read`].
    pub fn list(self, file: &mut (impl io::Read + io::Seek)) -> Option<Result<List, Error>> {
        self.row().by_index.map(|by_index| (by_index.list)(file))
    }

    /// The reason why no index is made for its files.
    pub(crate) fn no_index(self) -> &'static str {
        match self.row().index {
            IndexKind::Within(why) | IndexKind::None(why) => why,
            IndexKind::Beside => "",
        }
    }
}

impl Formats {
    /// Whether this format is included.
    ///
    /// ```
    /// use hybz::{Format, Formats};
    /// assert!(Formats::All.include(Format::Hbz) && !Formats::Bzip2.include(Format::Hbz));
    /// ```
    pub fn include(self, format: Format) -> bool {
        (self == Formats::All || format == Format::Bzip2) && format.row().coding.is_some()
    }

    /// The format of data that begin with these bytes, if it is one of these formats.
    ///
    /// ```
    /// use hybz::{Format, Formats};
    /// assert_eq!(Formats::All.of(&[0x1f, 0x9d, 0x90]), Some(Format::Lzw));
    /// assert_eq!(Formats::Bzip2.of(&[0x1f, 0x9d, 0x90]), None);
    /// assert_eq!(Formats::All.of(&[0x1f, 0x8b, 8]), None);
    /// ```
    pub fn of(self, head: &[u8]) -> Option<Format> {
        read(self).find(|(row, _)| (row.magic)(head) == Magic::Whole).map(|(row, _)| row.format)
    }
}

/// What the command asks of formats.
#[cfg(any(test, feature = "internals"))]
impl Format {
    /// Whether data that begin with `head`, which may be cut short, may be of this format.
    pub fn fits(self, head: &[u8]) -> bool {
        (self.row().magic)(head) != Magic::No
    }

    /// The name of a file of this format in a sentence: `a .bz2`.
    pub fn file(self) -> &'static str {
        self.row().file
    }

    /// Whether it is one of hybz's own formats, whose streams may follow others, and whose files are not compressed
    /// again.
    pub fn is_native(self) -> bool {
        self.row().native.is_some()
    }

    /// The meaning of its blocks to users.
    pub fn blocks(self) -> Blocks {
        self.row().blocks
    }

    /// The place of a file's index.
    pub fn index(self) -> IndexKind {
        self.row().index
    }
}

#[cfg(any(test, feature = "internals"))]
impl Formats {
    /// Whether data that begin with `head`, which may be cut short, can be of one of these formats. `-dcf` copies all
    /// other data. This follows bzip2's rule, which accepts data that begin as one of its files does, even a file of a
    /// single `B`. For formats that are not hybz's own the whole magic must match.
    pub fn may_begin_with(self, head: &[u8]) -> bool {
        read(self).any(|(row, _)| match (row.magic)(head) {
            Magic::Whole => true,
            Magic::Part(_) => row.native.is_some(),
            Magic::No => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decoder is chosen by the first byte ([`first`]).
    #[test]
    fn first_bytes_differ() {
        for byte in 0..=u8::MAX {
            let formats: Vec<Format> = Format::all_read().filter(|format| format.fits(&[byte])).collect();
            assert!(formats.len() <= 1, "{byte:#x}: {formats:?}");
        }
    }
}
