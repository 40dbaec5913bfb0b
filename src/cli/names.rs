//! Names of compressed files: their suffixes, and the names they come from.

use crate::cli::args::{Mode, Plan};
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
/// The longest counts: with `-S 2`, `a.bz2` still is the result of `a`.
///
/// When compressing, a file of another program's format is one like others, as in bzip2, unless such are written.
pub fn ending<'a>(path: &Path, plan: &'a Plan) -> Option<(&'a [u8], &'static str, Option<Format>)> {
    let counts = |format: &Format| {
        let result = format.is_native() || *format == plan.encoding.format();
        plan.formats.include(*format) && (plan.mode != Mode::Compress || result)
    };
    let suffixes = |format: Format| {
        format.suffixes().iter().map(move |&(suffix, original)| (suffix.as_bytes(), original, Some(format)))
    };
    let known = Format::all_read().filter(counts).flat_map(suffixes);
    let own = plan.suffix.as_deref().map(|own| (own.as_bytes(), "", None));
    let name = path.as_os_str().as_bytes();
    known.chain(own).filter(|(suffix, ..)| name.ends_with(suffix)).max_by_key(|(suffix, ..)| suffix.len())
}

/// The name of the file that `path` was made from, if its suffix says.
pub fn original_name(path: &Path, plan: &Plan) -> Option<PathBuf> {
    let (suffix, original, _) = ending(path, plan)?;
    let name = path.as_os_str().as_bytes();
    Some(OsString::from_vec([&name[..name.len() - suffix.len()], original.as_bytes()].concat()).into())
}
