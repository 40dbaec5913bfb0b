//! Names of compressed files: their suffixes, and the names they come from.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Suffixes of compressed files, and what replaces them when they are decompressed.
const SUFFIXES: [(&str, &str); 6] =
    [(".bz2", ""), (".hbz", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar"), (".tz2", ".tar")];

pub fn appended(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The suffix of a compressed file that `path` ends in, if any, and what replaces it. Of several the longest counts:
/// with `-S 2`, `a.bz2` still is the result of `a`.
pub fn ending<'a>(path: &Path, own: Option<&'a OsStr>) -> Option<(&'a [u8], &'static str)> {
    let own = own.map(|own| (own.as_bytes(), ""));
    let known = SUFFIXES.iter().map(|&(suffix, original)| (suffix.as_bytes(), original));
    let name = path.as_os_str().as_bytes();
    known.chain(own).filter(|(suffix, _)| name.ends_with(suffix)).max_by_key(|(suffix, _)| suffix.len())
}

/// The name of the file that `path` was made from, if its suffix says.
pub fn original_name(path: &Path, own: Option<&OsStr>) -> Option<PathBuf> {
    let (suffix, original) = ending(path, own)?;
    let name = path.as_os_str().as_bytes();
    Some(OsString::from_vec([&name[..name.len() - suffix.len()], original.as_bytes()].concat()).into())
}
