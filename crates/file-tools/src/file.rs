//! Files and pipes: opened without waiting, read and written even if non-blocking, closed with a check for errors.

use crate::system;
pub use crate::system::{forget_pages, is_refused, links, start_writing, wait_readable, wait_writable};
use rustix::fs::{FlockOperation, OFlags, flock, fsync};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// "No such file or directory".
pub fn not_found() -> io::Error {
    Errno::NOENT.into()
}

/// "Is a directory".
pub fn is_a_directory() -> io::Error {
    Errno::ISDIR.into()
}

/// Opens a file for reading without waiting for anything, such as the writer of a FIFO or a modem. For a symbolic link
/// that is not to be followed, it returns only the metadata of the link's target.
pub fn open_at_once(path: &Path, follow: bool) -> io::Result<(Option<File>, Metadata)> {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, !follow);
    match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Ok(file) => {
            let found = file.metadata()?;
            Ok((Some(file), found))
        }
        Err(_) if !follow && fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) => {
            Ok((None, fs::metadata(path)?))
        }
        Err(e) => Err(e),
    }
}

/// Opens a file for reading so that its access time stays as it is: an error if the system or the file's owner does not
/// let us.
pub fn open_unnoticed(path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    return OpenOptions::new().read(true).custom_flags(OFlags::NOATIME.bits() as i32).open(path);
    #[cfg(not(target_os = "linux"))]
    return path.metadata().and(Err(io::ErrorKind::Unsupported.into()));
}

/// Opens a regular file for reading. Returns `None` if it is anything else, such as a FIFO, without waiting for it.
pub fn open_regular(path: &Path) -> io::Result<Option<File>> {
    let (file, found) = open_at_once(path, true)?;
    Ok(file.filter(|_| found.is_file()))
}

/// Creates a file in `directory` that only its owner may open, and that can get no name. `None` if it cannot
/// be made, perhaps only because the system or the file system has no such files.
pub fn create_nameless(directory: &Path) -> Option<File> {
    system::create_nameless(directory).map(File::from)
}

/// Closes a file and returns its errors: some systems report a full quota or a lost server only then.
#[allow(unsafe_code)]
pub fn close(file: OwnedFd) -> io::Result<()> {
    // SAFETY: `into_raw_fd` gave up the ownership, so nothing else closes or uses this descriptor.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => match io::Error::last_os_error() {
            // On Linux an interrupted close() has closed the descriptor.
            e if e.kind() == io::ErrorKind::Interrupted => Ok(()),
            e => Err(e),
        },
    }
}

/// Waits until the data of a file are on the disk. Returns false if its file system refuses to sync files.
pub fn sync_data(file: &File) -> io::Result<bool> {
    let refused = |e: &io::Error| is_refused(e) || e.raw_os_error() == Some(Errno::NOTTY.raw_os_error());
    match system::sync_data(file).or_else(|e| if refused(&e) { Ok(fsync(file)?) } else { Err(e) }) {
        Err(e) if refused(&e) => Ok(false),
        done => done.map(|()| true),
    }
}

/// Whether another file system is mounted at the name in the directory.
pub fn is_mount_point(directory: impl AsFd, name: &OsStr) -> bool {
    system::is_mount_point(directory.as_fd(), name)
}

/// Whether names in this directory may stand for open files: such a name cannot be given to another file.
pub fn names_open_files(directory: &Path) -> bool {
    directory.starts_with(system::NAMES_OF_OPEN_FILES)
}

/// Takes the lock that marks a file as being written, if it is free. Closing the last descriptor releases it. It is an
/// error if the file system has no locks.
pub fn lock(file: BorrowedFd<'_>) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::AGAIN) => Ok(false),
        done => done.map(|()| true).map_err(Into::into),
    }
}

/// Whether this error means that the file system stores no modes, owners or times (vfat, some FUSE file systems), or
/// that a filter refuses to set them.
pub fn is_unsupported(e: &io::Error) -> bool {
    let errno = e.raw_os_error().map(Errno::from_raw_os_error);
    errno.is_some_and(|errno| matches!(errno, Errno::PERM | Errno::ACCESS | Errno::INVAL) || system::is_lacking(errno))
}
