//! Names of compressed files: their suffixes, and the names they come from.

use crate::cli::args::{Mode, Plan};
use hybz::Formats;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A suffix of compressed files, what replaces it when they are decompressed, and who knows it.
pub type Suffix = (&'static str, &'static str, Known);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// bzip2 itself.
    ToBzip2,
    /// hybz, unless it is called as bzip2.
    ToHybz,
    /// The same, where something is decompressed. When compressing, such a file is one like others, as in bzip2.
    ForReading,
    /// The same, and where such files are written.
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

pub fn appended(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The suffix of a compressed file that `path` ends in, if any, and what replaces it. Of several the longest counts:
/// with `-S 2`, `a.bz2` still is the result of `a`.
pub fn ending<'a>(path: &Path, plan: &'a Plan) -> Option<(&'a [u8], &'static str)> {
    let counts = |known| match known {
        Known::ToBzip2 => true,
        Known::ToHybz => plan.formats == Formats::All,
        Known::ForReading => plan.formats == Formats::All && plan.mode != Mode::Compress,
        Known::ForLz4 => plan.formats == Formats::All && (plan.mode != Mode::Compress || plan.lz4.is_some()),
    };
    let known = SUFFIXES.iter().filter(|(.., known)| counts(*known));
    let known = known.map(|&(suffix, original, _)| (suffix.as_bytes(), original));
    let own = plan.suffix.as_deref().map(|own| (own.as_bytes(), ""));
    let name = path.as_os_str().as_bytes();
    known.chain(own).filter(|(suffix, _)| name.ends_with(suffix)).max_by_key(|(suffix, _)| suffix.len())
}

/// The name of the file that `path` was made from, if its suffix says.
pub fn original_name(path: &Path, plan: &Plan) -> Option<PathBuf> {
    let (suffix, original) = ending(path, plan)?;
    let name = path.as_os_str().as_bytes();
    Some(OsString::from_vec([&name[..name.len() - suffix.len()], original.as_bytes()].concat()).into())
}
