//! Files that appear complete or not at all.
//!
//! A result is written into a file without a name (`O_TMPFILE`) in its directory, readable by nobody else, and gets
//! its name by `linkat` when it is complete; nothing that ends the process, not even SIGKILL, can leave a part of it. `linkat`
//! refuses a name that is taken, so "already exists" cannot be raced. To replace a file (`-f`) it gets a second name, which is
//! renamed over the old file. Where a file system knows no files without names, a hidden one takes that place.
//!
//! Owner, mode and times are set on the open file, never by name.

use crate::cli::inherited;
use crate::cli::signals::{TemporaryFiles, TemporaryName};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, accessat, linkat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::umask;
use rustix::stdio;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory in which results get their names.
#[derive(Clone)]
pub struct Directory {
    path: PathBuf,
    fd: Arc<OwnedFd>,
}

impl Directory {
    /// The directory of `file`; `last` is returned again when it is the same one, so that few descriptors are open.
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

    /// Whether both are one open directory.
    pub fn is(&self, other: &Directory) -> bool {
        Arc::ptr_eq(&self.fd, &other.fd)
    }

    /// Waits until its names are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        match openat(&self.fd, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(directory) => match File::from(directory).sync_all() {
                // A file system that cannot do that has told us all it can.
                Err(e) if e.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
                done => done,
            },
            // A directory that may be written but not read cannot be synced; its files were.
            Err(Errno::ACCESS) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

/// A result on its way.
pub struct Output {
    pub path: PathBuf,
    name: OsString,
    pub directory: Directory,
    file: File,
    kind: Kind,
}

enum Kind {
    /// It has no name yet; to replace a file it will have a hidden one for a moment.
    Unnamed(TemporaryFiles),
    /// It has a hidden name.
    Hidden(TemporaryName),
    /// It is a device or a FIFO that was there before, and stays.
    Existing,
}

impl Output {
    /// Starts the file `path` in its directory. With `existing`, a device or FIFO of that name is written to as it is.
    pub fn create(path: &Path, directory: Directory, existing: bool, temporary: &TemporaryFiles) -> io::Result<Output> {
        let name = path.file_name().ok_or(Errno::ISDIR)?.to_owned();
        let path = path.to_owned();
        if existing && fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let file = OpenOptions::new().write(true).custom_flags(OFlags::NOCTTY.bits() as i32).open(&path)?;
            return Ok(Output { path, name, directory, file, kind: Kind::Existing });
        }
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let (file, kind) = match openat(&directory.fd, ".", flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) if accessat(CWD, "/proc/self/fd", rustix::fs::Access::EXEC_OK, AtFlags::empty()).is_ok() => {
                (File::from(file), Kind::Unnamed(temporary.clone()))
            }
            Ok(_) | Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {
                let (file, name) = temporary.create(&directory.fd, &name)?;
                (file, Kind::Hidden(name))
            }
            Err(e) => return Err(e.into()),
        };
        Ok(Output { path, name, directory, file, kind })
    }

    /// Gives the result the owner, mode and times of its source; without a source the mode that a new file has.
    pub fn set_attributes(&self, source: Option<&Metadata>) -> io::Result<()> {
        if matches!(self.kind, Kind::Existing) {
            return Ok(());
        }
        let Some(source) = source else {
            let mask = umask(Mode::empty());
            umask(mask);
            return self.file.set_permissions(Permissions::from_mode(0o666 & !mask.bits()));
        };
        // The group first: whoever may not give a file away may still be in its group. Only root can do the second.
        let group_kept = fchown(&self.file, None, Some(source.gid())).is_ok();
        let _ = fchown(&self.file, Some(source.uid()), None);
        self.file.set_permissions(Permissions::from_mode(mode_for(source.mode(), group_kept)))?;
        let (accessed, modified) = (source.accessed()?, source.modified()?);
        self.file.set_times(FileTimes::new().set_accessed(accessed).set_modified(modified))
    }

    /// Whether another file will be replaced.
    pub fn replaces(&self) -> bool {
        !matches!(self.kind, Kind::Existing) && fs::symlink_metadata(&self.path).is_ok()
    }

    /// Lets the data begin their way to the disk.
    pub fn start_sync(&self) {
        inherited::start_writing(&self.file);
    }

    /// Waits until the data are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        match self.kind {
            Kind::Existing => Ok(()),
            _ => self.file.sync_data(),
        }
    }

    /// Closes the file and gives it its name: over another file only if `replace`. On an error nothing is left of it.
    pub fn publish(self, replace: bool) -> io::Result<()> {
        let Output { path: _, name, directory, file, kind } = self;
        let directory = directory.fd;
        match kind {
            Kind::Existing => inherited::close(file.into()),
            Kind::Hidden(hidden) => {
                inherited::close(file.into())?;
                hidden.rename(|hidden| give_name(&directory, hidden, &name, replace))
            }
            Kind::Unnamed(temporary) => {
                // What closing tells must be known before there is a name, and a name needs an open file: so keep a second one.
                let kept = file.as_fd().try_clone_to_owned()?;
                inherited::close(file.into())?;
                let link = |name: &OsStr| -> io::Result<()> {
                    let file = format!("/proc/self/fd/{}", kept.as_raw_fd());
                    Ok(linkat(CWD, file, &directory, name, AtFlags::SYMLINK_FOLLOW)?)
                };
                match link(&name) {
                    Err(e) if replace && e.kind() == io::ErrorKind::AlreadyExists => {
                        let ((), hidden) = temporary.with_new_name(&directory, &name, link)?;
                        hidden.rename(|hidden| give_name(&directory, hidden, &name, true))
                    }
                    done => done,
                }
            }
        }
    }
}

/// Renames within a directory, over another file only if `replace`.
fn give_name(directory: &OwnedFd, from: &OsStr, to: &OsStr, replace: bool) -> io::Result<()> {
    if replace {
        return Ok(renameat(directory, from, directory, to)?);
    }
    match renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
        // NFS and old kernels: a link refuses a taken name as well.
        Err(Errno::INVAL | Errno::NOSYS) => {
            linkat(directory, from, directory, to, AtFlags::empty())?;
            Ok(unlinkat(directory, from, AtFlags::empty())?)
        }
        done => Ok(done?),
    }
}

/// The permissions of a result. Where its group is not the source's, group and others get only what both had (xz's rule):
/// nobody can do more with the result than with the source.
fn mode_for(source: u32, group_kept: bool) -> u32 {
    let mode = source & 0o777;
    if group_kept {
        return mode;
    }
    let both = (mode >> 3) & mode & 0o7;
    (mode & 0o700) | (both << 3) | both
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stdout without a buffer. It may have been opened by somebody who does not want to wait.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match retry_on_intr(|| rustix::io::write(stdio::stdout(), bytes)) {
                Err(Errno::AGAIN) => {
                    let stdout = stdio::stdout();
                    retry_on_intr(|| poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None))?;
                }
                done => return Ok(done?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
