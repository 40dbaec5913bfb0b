//! The suffixes of compressed files.

/// A suffix, what replaces it when the file is decompressed, and who knows it.
pub type Suffix = (&'static str, &'static str, Known);

/// Who knows a suffix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// bzip2 itself.
    ToBzip2,
    /// hybz, unless it is called as bzip2.
    ToHybz,
    /// The same, but not when compressing: then such a file is one like others, as in bzip2.
    ForReading,
    /// The same, and when writing LZ4 frames.
    ForLz4,
}

pub const SUFFIXES: [Suffix; 9] = [
    (".bz2", "", Known::ToBzip2),
    (".bz", "", Known::ToBzip2),
    (".tbz2", ".tar", Known::ToBzip2),
    (".tbz", ".tar", Known::ToBzip2),
    (".tz2", ".tar", Known::ToBzip2),
    (".hbz", "", Known::ToHybz),
    (".Z", "", Known::ForReading),
    (".taz", ".tar", Known::ForReading),
    (".lz4", "", Known::ForLz4),
];
