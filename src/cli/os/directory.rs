//! A directory in which files appear: created without a name or under another one, named when they are complete.

use rustix::fs::{
    Access, AtFlags, CWD, Mode, OFlags, RenameFlags, accessat, linkat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open directory.
#[derive(Clone)]
pub struct Directory {
    path: PathBuf,
    fd: Arc<OwnedFd>,
}

impl Directory {
    /// The directory of `file`. If it is the same as `last`, `last` is returned, so that few descriptors are open.
    pub fn of(file: &Path, last: Option<&Directory>) -> io::Result<Directory> {
        let path = match file.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        match last {
            Some(last) if last.path == path => Ok(last.clone()),
            _ => {
                let fd = openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
                Ok(Directory { path: path.to_owned(), fd: Arc::new(fd) })
            }
        }
    }

    /// Whether both are the same open directory.
    pub fn is(&self, other: &Directory) -> bool {
        Arc::ptr_eq(&self.fd, &other.fd)
    }

    /// Waits until the names in it are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        match openat(&self.fd, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(directory) => match File::from(directory).sync_all() {
                // The file system cannot sync a directory.
                Err(e) if e.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
                done => done,
            },
            // A directory that may be written but not read cannot be synced; its files were.
            Err(Errno::ACCESS) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Creates a file without a name, for writing, that only its owner may read. `None` where that does not work, or
    /// where [`Directory::link`] could not name it.
    pub fn create_unnamed(&self) -> io::Result<Option<File>> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match openat(&self.fd, ".", flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) if accessat(CWD, "/proc/self/fd", Access::EXEC_OK, AtFlags::empty()).is_ok() => {
                Ok(Some(file.into()))
            }
            Ok(_) | Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Creates the file `name`, for writing, that only its owner may read. It is an error if the name is taken.
    pub fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Gives an open file without a name its name. It is an error if the name is taken.
    pub fn link(&self, file: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, path, &self.fd, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Renames a file. If the name is taken, the file of that name is replaced, or without `replace` it is an error.
    pub fn rename(&self, from: &OsStr, to: &OsStr, replace: bool) -> io::Result<()> {
        if replace {
            return Ok(renameat(&self.fd, from, &self.fd, to)?);
        }
        match renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            // NFS and old kernels. A link refuses a name that is taken, too.
            Err(Errno::INVAL | Errno::NOSYS) => {
                linkat(&self.fd, from, &self.fd, to, AtFlags::empty())?;
                self.remove(from)
            }
            done => Ok(done?),
        }
    }

    /// Removes the file `name`.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name, AtFlags::empty())?)
    }
}
