//! Names of compressed files, and the names they come from.

use crate::cli::args::{Coding, Common};
use hybz::Format;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub fn appended(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The suffix of a compressed file that `path` ends in, if any, what replaces it, and its format unless it is `-S`'s.
/// The longest counts: with `-S 2`, `a.bz2` still is the result of `a`. `coding` is what compressing writes; it is
/// `None` when compressed files are read.
///
/// When compressing, a file of another program's format is one like others, as in bzip2, unless such are written.
pub fn ending<'a>(
    path: &Path,
    common: &'a Common,
    coding: Option<&Coding>,
) -> Option<(&'a [u8], &'static str, Option<Format>)> {
    let counts = |format: &Format| {
        let is_result = |coding: &Coding| format.is_native() || *format == coding.encoding.format();
        common.formats.include(*format) && coding.is_none_or(is_result)
    };
    let suffixes = |format: Format| {
        format.suffixes().iter().map(move |&(suffix, original)| (suffix.as_bytes(), original, Some(format)))
    };
    let known = Format::all_read().filter(counts).flat_map(suffixes);
    let own = common.suffix.as_deref().map(|own| (own.as_bytes(), "", None));
    let name = path.as_os_str().as_bytes();
    known.chain(own).filter(|(suffix, ..)| name.ends_with(suffix)).max_by_key(|(suffix, ..)| suffix.len())
}

/// The name of the file that the compressed file `path` was made from, if its suffix says.
pub fn original_name(path: &Path, common: &Common) -> Option<PathBuf> {
    let (suffix, original, _) = ending(path, common, None)?;
    let name = path.as_os_str().as_bytes();
    Some(OsString::from_vec([&name[..name.len() - suffix.len()], original.as_bytes()].concat()).into())
}
