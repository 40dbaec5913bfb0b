//! Temporary files for what does not fit into memory. They have no names, so nothing is left of them, whatever ends the
//! process.

use crate::args::Plan;
use crate::failure::{Failure, errno_text};
use crate::names::{quoted, quoted_if_needed};
use hybz_files::file;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{env, io};
use tempfile::NamedTempFile;

/// The directories for temporary files.
pub struct Spill {
    directories: Vec<PathBuf>,
    made: AtomicUsize,
    /// The number of the directory in which no file could be made, from 1 on.
    refused: AtomicUsize,
}

impl Spill {
    pub fn new(plan: &Plan) -> Spill {
        let usual = || env::var_os("TMPDIR").filter(|dir| !dir.is_empty()).unwrap_or_else(|| "/tmp".into());
        let directories = match &plan.temporary[..] {
            [] => vec![PathBuf::from(usual())],
            all => all.to_vec(),
        };
        Spill { directories, made: AtomicUsize::new(0), refused: AtomicUsize::new(0) }
    }

    /// A new file, for writing and reading, in one directory after the other.
    pub fn create(&self) -> io::Result<File> {
        let at = self.made.fetch_add(1, Relaxed) % self.directories.len();
        nameless(&self.directories[at]).map_err(|e| {
            self.refused.store(at + 1, Relaxed);
            // tempfile adds the path, which GNU's message has in another place.
            e.raw_os_error().or_else(|| os_error(&e)).map_or(e, io::Error::from_raw_os_error)
        })
    }

    /// The message about an error of temporary files.
    pub fn failure(&self, error: io::Error) -> Failure {
        match self.refused.load(Relaxed) {
            0 => {
                let names: Vec<Vec<u8>> =
                    self.directories.iter().map(|directory| quoted_if_needed(directory.as_os_str())).collect();
                let file = [&b"temporary file in "[..], &names.join(&b" or "[..])].concat();
                Failure::System { what: "write failed", file, error }
            }
            at => {
                let directory = quoted(self.directories[at - 1].as_os_str());
                let why = errno_text(&error);
                Failure::sentence([b"cannot create temporary file in ", &directory[..], b": ", why.as_bytes()].concat())
            }
        }
    }
}

/// A file for its owner alone, which can get no name. Where the file system has no such files, it has a name
/// for a moment.
fn nameless(directory: &Path) -> io::Result<File> {
    let named = || NamedTempFile::new_in(directory).map(NamedTempFile::into_file);
    file::create_nameless(directory).map_or_else(named, Ok)
}

/// The number of the system's error inside of another error.
fn os_error(e: &io::Error) -> Option<i32> {
    let mut source = std::error::Error::source(e.get_ref()?);
    while let Some(inner) = source {
        if let Some(number) = inner.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Some(number);
        }
        source = inner.source();
    }
    None
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
        let directories = vec![folder.path().to_owned()];
        let spill = Spill { directories, made: AtomicUsize::new(0), refused: AtomicUsize::new(0) };
        let file = spill.create().unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600);
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        let linked = linkat(CWD, own, CWD, folder.path().join("name"), AtFlags::SYMLINK_FOLLOW);
        assert!(linked.is_err(), "it was given a name");
    }
}
