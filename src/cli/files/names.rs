//! Names of compressed files, and the names they come from.

use crate::cli::args::Plan;
use hybz::Format;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub fn appended(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The suffix of a compressed file at the end of `path`, if any; the suffix that replaces it; and its format, unless
/// the suffix is that of `-S`. The longest suffix counts: with `-S 2`, `a.bz2` is still the result of `a`.
///
/// When compressing, a file in another program's format counts as an ordinary file, as in bzip2, unless this call
/// writes that format.
pub fn ending<'a>(path: &Path, plan: &'a Plan) -> Option<(&'a [u8], &'static str, Option<Format>)> {
    let counts = |format: &Format| {
        plan.formats.include(*format)
            && plan.coding.is_none_or(|coding| format.is_native() || *format == coding.encoding.format())
    };
    let suffixes = |format: Format| {
        format.suffixes().iter().map(move |&(suffix, original)| (suffix.as_bytes(), original, Some(format)))
    };
    let known = Format::all_read().filter(counts).flat_map(suffixes);
    let own = plan.suffix.as_deref().map(|own| (own.as_bytes(), "", None));
    let name = path.as_os_str().as_bytes();
    known.chain(own).filter(|(suffix, ..)| name.ends_with(suffix)).max_by_key(|(suffix, ..)| suffix.len())
}

/// The name of the file from which the compressed file `path` was made, if its suffix tells.
pub fn original_name(path: &Path, plan: &Plan) -> Option<PathBuf> {
    let (suffix, original, _) = ending(path, plan)?;
    let name = path.as_os_str().as_bytes();
    Some(OsString::from_vec([&name[..name.len() - suffix.len()], original.as_bytes()].concat()).into())
}
