//! A directory in which files appear. They are created without a name or under another name, and get their name when
//! they are complete.

use super::last_mode::LastMode;
use super::slots::Slot;
use super::{file, system};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, fstat, linkat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The attributes of a file.
pub use rustix::fs::Stat;

/// An open directory, closed with its last clone.
#[derive(Clone, Debug)]
pub struct Directory(Arc<Open>);

#[derive(Debug)]
struct Open {
    path: PathBuf,
    fd: OwnedFd,
    /// Whether open files have a path by which they can be named, once that is known.
    open_files_have_paths: OnceLock<bool>,
    /// Whether naming a file in it by that path was refused.
    refuses_links: AtomicBool,
    /// The mode that the directory gets when it is closed: until then files are made in it.
    last_mode: Option<Arc<LastMode>>,
    /// The slot, which is given back when the directory is closed.
    _slot: Option<Slot>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(last_mode) = self.last_mode.take() {
            LastMode::closed(last_mode, &self.fd);
        }
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }
}

impl Directory {
    /// A directory that is open already, and counted by `slot`. It gets `last_mode` only when it is closed.
    pub fn opened(path: PathBuf, fd: OwnedFd, last_mode: Option<Arc<LastMode>>, slot: Option<Slot>) -> Directory {
        let (open_files_have_paths, refuses_links) = (OnceLock::new(), AtomicBool::new(false));
        Directory(Arc::new(Open { path, fd, open_files_have_paths, refuses_links, last_mode, _slot: slot }))
    }

    /// The directory's path, for messages only: the directory may have been renamed since.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The directory of `file`. If it is the same as `last`, `last` is returned, so that few descriptors are open.
    pub fn of(file: &Path, last: Option<&Directory>) -> io::Result<Directory> {
        let path = match file.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        match last {
            Some(last) if last.0.path == path => Ok(last.clone()),
            _ => {
                let fd = openat(CWD, path, system::ONLY_NAMES | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
                Ok(Directory::opened(path.to_owned(), fd, None, None))
            }
        }
    }

    /// The directory, which was just opened, counted by `slot`.
    pub fn counted(mut self, slot: Slot) -> Directory {
        if let Some(open) = Arc::get_mut(&mut self.0) {
            open._slot = Some(slot);
        }
        self
    }

    /// Whether both lead to the same directory.
    pub fn is_same(&self, other: &Directory) -> bool {
        matches!((fstat(&self.0.fd), fstat(&other.0.fd)), (Ok(a), Ok(b)) if same_file(&a, &b))
    }

    /// Whether both are the same open directory.
    pub fn is(&self, other: &Directory) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Waits until the names in the directory are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        match openat(&self.0.fd, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(directory) => system::sync_names(directory.into()),
            // A directory that may be written but not read cannot be synced; its files have been synced.
            Err(e) if system::is_refusal(e) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Creates a file without a name, for writing and reading, readable only by its owner if `private`. `None` if the
    /// file system cannot do that, or if [`Directory::link`] could not name the file. (After another error, such as a
    /// full disk, creating a file with a name gives the error.)
    pub fn create_unnamed(&self, private: bool) -> Option<File> {
        if self.0.refuses_links.load(Relaxed) {
            return None;
        }
        let file = system::create_unnamed(self.as_fd(), mode(private))?;
        self.0.open_files_have_paths.get_or_init(system::open_files_have_paths).then(|| file.into())
    }

    /// From now on files are created with names, because [`Directory::link`] was refused.
    pub fn cannot_link(&self) {
        self.0.refuses_links.store(true, Relaxed);
    }

    /// Creates the file `name`, for writing and reading, readable only by its owner if `private`. It is an error if the
    /// name is taken.
    pub fn create_new(&self, name: &OsStr, private: bool) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.0.fd, name, flags, mode(private))?.into())
    }

    /// Gives a name to an open file that has none. It is an error if the name is taken, or if /proc is not the kernel's
    /// and gives the name to another file.
    pub fn link(&self, file: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        let path = system::path_of_open_file(file).ok_or(io::ErrorKind::Unsupported)?;
        linkat(CWD, &path, &self.0.fd, name, AtFlags::SYMLINK_FOLLOW)?;
        let Err(e) = self.expect(name, file) else { return Ok(()) };
        // The wrong file's new name is removed again, unless another file has taken the name in the meantime.
        if let (Ok(linked), Ok(found)) = (statat(CWD, &path, AtFlags::empty()), self.find_link(name))
            && same_file(&linked, &found)
            && found.st_nlink > 1
        {
            let _ = self.remove(name);
        }
        Err(e)
    }

    /// Returns an error unless the name is that of this open file.
    pub fn expect(&self, name: &OsStr, file: BorrowedFd<'_>) -> io::Result<()> {
        match self.leads_to(name, file) {
            true => Ok(()),
            false => Err(io::Error::other("Its name leads to another file")),
        }
    }

    /// Renames a file. If the name is taken, the file of that name is replaced; without `replace`, it is an error.
    pub fn rename(&self, from: &OsStr, to: &OsStr, replace: bool) -> io::Result<()> {
        if replace {
            return Ok(renameat(&self.0.fd, from, &self.0.fd, to)?);
        }
        match renameat_with(&self.0.fd, from, &self.0.fd, to, RenameFlags::NOREPLACE) {
            // NFS, FUSE and old kernels. A second link would refuse a taken name, too, but the file system may then
            // count two links for a while, or until the file is closed.
            Err(e) if system::is_refusal(e) => self.reserve(from, to),
            done => Ok(done?),
        }
    }

    /// Renames a file to a name that must be free, on any file system: creates an empty file of that name, which fails
    /// if the name is taken, and replaces it. The empty file stays only if `kill -9` or a power cut comes in between.
    fn reserve(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        // The file is closed immediately, because FUSE keeps a replaced file under another name while it is open.
        let reserved = fstat(self.create_new(to, true)?)?;
        let still_ours = || {
            let found = statat(&self.0.fd, to, AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|found| same_file(&found, &reserved) && found.st_size == 0)
        };
        if !still_ours() {
            return Err(Errno::EXIST.into());
        }
        renameat(&self.0.fd, from, &self.0.fd, to).map_err(|e| {
            if still_ours() {
                let _ = self.remove(to);
            }
            e.into()
        })
    }

    /// Removes the file `name`.
    pub fn remove(&self, name: impl Arg) -> io::Result<()> {
        Ok(unlinkat(&self.0.fd, name, AtFlags::empty())?)
    }

    /// The attributes of the file, following symbolic links.
    pub fn find(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(statat(&self.0.fd, name, AtFlags::empty())?)
    }

    /// The attributes of the file; a symbolic link is not followed.
    pub fn find_link(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(statat(&self.0.fd, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Opens a file for reading, as [`file::open_at_once`] does; a symbolic link is an error unless `follow`.
    pub fn open_at_once(&self, name: &OsStr, follow: bool) -> io::Result<File> {
        let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, !follow);
        Ok(openat(&self.0.fd, name, flags, Mode::empty())?.into())
    }

    /// Opens a device or FIFO that exists, for writing, through symbolic links. `None` if the name leads to nothing, to
    /// a regular file or to a directory.
    pub fn open_device(&self, name: &OsStr) -> io::Result<Option<File>> {
        let is_other = |found: &Stat| !is_file(found) && !is_directory(found);
        if !self.find(name).is_ok_and(|found| is_other(&found)) {
            return Ok(None);
        }
        let file = openat(&self.0.fd, name, OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        // A regular file that took the device's place meanwhile is not written to.
        if is_other(&fstat(&file)?) { Ok(Some(file.into())) } else { Err(Errno::EXIST.into()) }
    }

    /// Whether the name is that of this open file.
    pub fn leads_to(&self, name: &OsStr, file: BorrowedFd<'_>) -> bool {
        let named = statat(&self.0.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        matches!((named, fstat(file)), (Ok(named), Ok(file)) if same_file(&named, &file))
    }

    /// Removes a temporary file of our own user if no process holds its lock, because its maker is then gone. Returns
    /// whether the file was removed.
    ///
    /// Root's temporary file may already belong to one of `owners`: the owner that the result was to have.
    pub fn remove_abandoned(&self, name: &OsStr, owners: &[u32]) -> bool {
        let open = |access| {
            let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            openat(&self.0.fd, name, flags, Mode::empty())
        };
        // NFS locks only files that are open for writing. A complete result may have the mode of a read-only source.
        let file = match open(OFlags::WRONLY) {
            Err(Errno::ACCESS) => open(OFlags::RDONLY),
            opened => opened,
        };
        let Ok(file) = file else { return false };
        let (user, file) = (geteuid(), file.as_fd());
        let is_ours = |found: &Stat| {
            let owned = found.st_uid == user.as_raw() || (user.is_root() && owners.contains(&found.st_uid));
            is_file(found) && owned && found.st_nlink == 1
        };
        let abandoned = fstat(file).is_ok_and(|found| is_ours(&found))
            && matches!(file::lock(file), Ok(true))
            && self.leads_to(name, file);
        abandoned && self.remove(name).is_ok()
    }
}

/// The attributes of the file `path`, following symbolic links if `follow`.
pub fn find(path: &Path, follow: bool) -> io::Result<Stat> {
    Ok(statat(CWD, path, if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW })?)
}

/// Whether it is a regular file.
pub fn is_file(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode).is_file()
}

/// Whether it is a FIFO or a character device: writing to it replaces nothing.
pub fn is_stream(found: &Stat) -> bool {
    let kind = FileType::from_raw_mode(found.st_mode);
    kind.is_fifo() || kind.is_char_device()
}

/// Whether it is a symbolic link.
pub fn is_link(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode).is_symlink()
}

/// Whether it is a directory.
pub fn is_directory(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode).is_dir()
}

fn same_file(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

/// The mode to create a file with. The umask, or the directory's default ACL, narrows it.
fn mode(private: bool) -> Mode {
    system::rights(if private { 0o600 } else { 0o666 })
}
