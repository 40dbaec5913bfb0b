//! The file that the name after `-o` leads to, and the directory entry that the result must replace so that the name
//! leads to it.
//!
//! The kernel alone decides whether a link may be followed and another user's file written: `fs.protected_symlinks`,
//! `fs.protected_regular` and `fs.protected_fifos` forbid it in directories such as /tmp. The name itself is therefore
//! opened first, with the flags that GNU sort uses. Its links are read only then, to find the directory entry that the
//! result replaces, and that entry must be the file that the kernel opened: a link that changes meanwhile leads
//! nowhere else.

use hybz_files::directory::Directory;
use hybz_files::file;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file that a name leads to.
pub enum Found {
    /// There is none.
    Nothing(Spot),
    /// A regular file, open for writing.
    Old(Spot, File),
    /// A link that led nowhere: its target has just been made.
    Made(Spot, Made),
    /// An existing file to write to: a device, a FIFO, or the target of `/dev/stdout`.
    Stream(File),
}

/// A name in an open directory. It is no link.
#[derive(Clone, Debug)]
pub struct Spot {
    pub directory: Directory,
    pub name: OsString,
}

/// An empty file that the kernel made where a link leads. When this is dropped, it is removed if it is still there.
pub struct Made {
    spot: Spot,
    file: File,
}

impl Found {
    pub fn at(path: &Path) -> io::Result<Found> {
        match fs::symlink_metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => nothing(path),
            _ => existing(path),
        }
    }
}

/// Opens a name for writing as GNU sort does, which makes a file where there is none.
fn open_or_make(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOCTTY.bits() as i32;
    OpenOptions::new().write(true).create(true).truncate(false).custom_flags(flags).open(path)
}

/// No file has this name. The result will get the name by a link call, which follows no links.
fn nothing(path: &Path) -> io::Result<Found> {
    let last = path.as_os_str().as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    if matches!(last, b"" | b"." | b"..") {
        // No file can have such a name, and the system says why.
        return open_or_make(path).and(Err(file::is_a_directory()));
    }
    let name = OsStr::from_bytes(last).to_owned();
    Ok(Found::Nothing(Spot { directory: Directory::of(path, None)?, name }))
}

fn existing(path: &Path) -> io::Result<Found> {
    let leads_nowhere = fs::metadata(path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
    let file = open_or_make(path)?;
    if !file.metadata()?.is_file() {
        return Ok(Found::Stream(file));
    }
    let Some(target) = resolve(path)? else { return Ok(Found::Stream(file)) };
    let name = target.file_name().ok_or_else(file::is_a_directory)?.to_owned();
    let spot = Spot { directory: Directory::of(&target, None)?, name };
    if !spot.directory.leads_to(&spot.name, file.as_fd()) {
        return Err(io::Error::other("Its links changed while it was opened"));
    }
    Ok(match leads_nowhere {
        true => Found::Made(spot.clone(), Made { spot, file }),
        false => Found::Old(spot, file),
    })
}

/// Follows symbolic links. `None`: the name is that of an open file (`/dev/stdout`, `/proc/self/fd/3`), which no other
/// file can get.
fn resolve(path: &Path) -> io::Result<Option<PathBuf>> {
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        let Ok(target) = fs::read_link(&path) else { return Ok(Some(path)) };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if file::names_open_files(&fs::canonicalize(parent)?) {
            return Ok(None);
        }
        path = parent.join(target);
    }
    Err(Errno::LOOP.into())
}

impl Drop for Made {
    fn drop(&mut self) {
        let Made { spot: Spot { directory, name }, file } = self;
        let unused = file.metadata().is_ok_and(|found| found.len() == 0 && found.nlink() == 1);
        if unused && directory.leads_to(name, file.as_fd()) {
            let _ = directory.remove(name.as_os_str()); // it was not requested
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(place: &Path) -> Vec<String> {
        let entries = fs::read_dir(place).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_link_that_leads_nowhere_leaves_nothing_there() {
        let place = tempfile::tempdir().unwrap();
        let (link, target) = (place.path().join("link"), place.path().join("target"));
        symlink("target", &link).unwrap();
        let Ok(Found::Made(spot, made)) = Found::at(&link) else { panic!("there is something") };
        assert_eq!(
            (&spot.name, names(place.path())),
            (&OsString::from("target"), vec!["link".into(), "target".into()])
        );
        drop(made);
        assert_eq!(names(place.path()), ["link"]);
        // Bytes that another process wrote to the file stay.
        let Ok(Found::Made(_, made)) = Found::at(&link) else { panic!("there is something") };
        fs::write(&target, "text").unwrap();
        drop(made);
        assert_eq!(fs::read(&target).unwrap(), b"text");
        assert!(matches!(Found::at(&link), Ok(Found::Old(..))));
    }

    #[test]
    fn nothing_is_made_where_no_link_is() {
        let place = tempfile::tempdir().unwrap();
        assert!(matches!(Found::at(&place.path().join("new")), Ok(Found::Nothing(..))));
        for name in ["new/", "no/..", "no/.", "."] {
            assert!(Found::at(&place.path().join(name)).is_err(), "{name}");
        }
        assert_eq!(names(place.path()), [""; 0]);
    }
}
