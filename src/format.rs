//! The list of formats. The layout of each on disk (magics, headers, every limit once) is in
//! `formats/*/header.rs`; the limits of the index of LZ4 frames are in `formats/lz4/index.rs`. The table in `table.rs`
//! has a row for each format.

/// A format of compressed data.
///
/// ```
/// use hybz::Format;
/// assert_eq!(Format::of(b"BZh9"), Some(Format::Bzip2));
/// assert_eq!(Format::of(&[0x1f, 0x8b, 8, 0]), Some(Format::Gzip));
/// assert_eq!(Format::of(b"to be or not to be"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `.bz2`.
    Bzip2,
    /// `.hbz`.
    Hbz,
    /// LZ4 frames. Their blocks have no CRCs, and no [`BlockInfo`](crate::BlockInfo).
    Lz4,
    /// `.Z`. It has neither blocks nor CRCs.
    Lzw,
    /// gzip, which is recognised but not read.
    Gzip,
    /// xz, which is recognised but not read.
    Xz,
    /// zstd, which is recognised but not read.
    Zstd,
}

/// The formats that a decoder reads.
///
/// ```
/// use hybz::{Error, Formats, Settings};
/// let z = [0x1f, 0x9d, 0x90, 0x61, 0x02, 0x02];
/// assert_eq!(hybz::decompress(&z, &Settings::new())?, b"aaa");
/// let strict = hybz::decompress(&z, &Settings::new().formats(Formats::Bzip2));
/// assert!(matches!(strict, Err(Error::NotBzip2)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Formats {
    /// All that hybz reads, recognised by their first bytes.
    #[default]
    All,
    /// `.bz2` only, like bzip2: the text of a perturbed one ([`Encoding::Perturbed`](crate::Encoding::Perturbed)) has
    /// the inserted bytes.
    Bzip2,
}

/// The meaning of a format's blocks to its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blocks {
    /// Each block has a CRC, and is listed.
    Listed,
    /// The blocks have no checksums that tell them apart, so they are only counted.
    Counted,
    /// There are none.
    None,
}

/// The place of a file's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexKind {
    /// In another file, which hybz makes ([`index`](mod@crate::index)).
    Beside,
    /// In the file itself; for this reason, no other index is made.
    Within(&'static str),
    /// Nowhere; for this reason, no index is made.
    None(&'static str),
}

/// How many of the data's first bytes match a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magic {
    /// The whole magic.
    Whole,
    /// The first bytes of its magic, this many, after which the data end.
    Part(usize),
    /// The bytes do not match.
    No,
}

impl Magic {
    /// Compares data that begin with `head` with a `magic` that is always the same.
    pub fn of(head: &[u8], magic: &[u8]) -> Magic {
        match head.len().min(magic.len()) {
            len if head[..len] != magic[..len] => Magic::No,
            len if len == magic.len() => Magic::Whole,
            len => Magic::Part(len),
        }
    }
}
