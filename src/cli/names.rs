//! Names of compressed files, and the names they come from.

use crate::cli::args::{Coding, Common};
use crate::cli::suffixes::{Known, SUFFIXES};
use hybz::Formats;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub fn appended(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The suffix of a compressed file that `path` ends in, if any, and what replaces it. The longest counts: with `-S 2`,
/// `a.bz2` still is the result of `a`. `coding` is what compressing writes; `None` when reading compressed files.
pub fn ending<'a>(path: &Path, common: &'a Common, coding: Option<&Coding>) -> Option<(&'a [u8], &'static str)> {
    let all = common.formats == Formats::All;
    let counts = |known| match known {
        Known::ToBzip2 => true,
        Known::ToHybz => all,
        Known::ForReading => all && coding.is_none(),
        Known::ForLz4 => all && coding.is_none_or(Coding::is_lz4),
    };
    let known = SUFFIXES.iter().filter(|(.., known)| counts(*known));
    let known = known.map(|&(suffix, original, _)| (suffix.as_bytes(), original));
    let own = common.suffix.as_deref().map(|own| (own.as_bytes(), ""));
    let name = path.as_os_str().as_bytes();
    known.chain(own).filter(|(suffix, _)| name.ends_with(suffix)).max_by_key(|(suffix, _)| suffix.len())
}

/// The name of the file that the compressed file `path` was made from, if its suffix says.
pub fn original_name(path: &Path, common: &Common) -> Option<PathBuf> {
    let (suffix, original) = ending(path, common, None)?;
    let name = path.as_os_str().as_bytes();
    Some(OsString::from_vec([&name[..name.len() - suffix.len()], original.as_bytes()].concat()).into())
}
