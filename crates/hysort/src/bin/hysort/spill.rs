//! Temporary files for what does not fit into memory. They have no names, so nothing is left of them, whatever ends the
//! process.

use crate::args::Plan;
use crate::failure::{Failure, errno_text};
use crate::names::{quoted, quoted_if_needed};
use hybz_files::file;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::{env, io};
use tempfile::NamedTempFile;

/// The directories for temporary files.
fn directories(plan: &Plan) -> Vec<PathBuf> {
    if !plan.temporary.is_empty() {
        return plan.temporary.clone();
    }
    vec![env::var_os("TMPDIR").filter(|dir| !dir.is_empty()).unwrap_or_else(|| "/tmp".into()).into()]
}

/// Makes files for writing and reading, in one directory after the other.
pub fn maker(plan: &Plan) -> impl FnMut() -> io::Result<File> + Send + 'static {
    let (directories, mut made) = (directories(plan), 0);
    move || {
        made += 1;
        create(&directories[(made - 1) % directories.len()])
    }
}

/// Creates a file for its owner alone, which can get no name. If the file system has no such files, the file has a
/// name for a moment.
fn create(directory: &Path) -> io::Result<File> {
    let named = || NamedTempFile::new_in(directory).map(NamedTempFile::into_file);
    file::create_nameless(directory).map_or_else(named, Ok).map_err(|e| {
        // tempfile adds the path, which GNU's message has in another place.
        let e = os_error(&e).map_or(e, io::Error::from_raw_os_error);
        let (directory, why) = (quoted(directory.as_os_str()), errno_text(&e));
        let text = [b"cannot create temporary file in ", &directory[..], b": ", why.as_bytes()].concat();
        io::Error::other(Failure::sentence(text))
    })
}

/// The message about an error of a file that was made.
pub fn failure(plan: &Plan, error: io::Error) -> Failure {
    let names: Vec<Vec<u8>> = directories(plan).iter().map(|name| quoted_if_needed(name.as_os_str())).collect();
    let file = [&b"temporary file in "[..], &names.join(&b" or "[..])].concat();
    Failure::System { what: "write failed", file, error }
}

/// The number of the system's error, which may be inside of others.
fn os_error(e: &(dyn Error + 'static)) -> Option<i32> {
    let own = e.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
    own.or_else(|| os_error(e.source()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn files_are_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = create(folder.path()).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600);
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        let linked = linkat(CWD, own, CWD, folder.path().join("name"), AtFlags::SYMLINK_FOLLOW);
        assert!(linked.is_err(), "it was given a name");
    }
}
