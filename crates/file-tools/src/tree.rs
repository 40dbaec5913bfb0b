//! Opens, reads and makes the directories of a tree, each from the one above it.

use super::directory::{Directory, Stat};
use super::last_mode::LastMode;
use super::slots::Slots;
use super::system;
use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, Uid, fchown, fstat, mkdirat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kind of an entry in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device.
    Special,
}

/// The device and inode of a file: its identity, whatever its name.
pub type Id = (u64, u64);

/// The identity of the file that the system describes.
pub fn id(found: &Stat) -> Id {
    system::id(found)
}

/// Opens the directory `path` for reading, through a symbolic link only if `follow`. `None` if it is not a directory.
pub fn open(path: &Path, follow: bool, slots: &Slots) -> io::Result<Option<(Directory, Stat)>> {
    let mut flags = READ;
    flags.set(OFlags::NOFOLLOW, !follow);
    match openat(CWD, path, flags, Mode::empty()) {
        Ok(fd) => opened(path.to_owned(), fd, slots).map(Some),
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Opens the directory `name` of `parent` for reading. Its path, for messages, is `path`. `None` if it is no longer a
/// directory.
pub fn open_child(
    parent: &Directory,
    name: &OsStr,
    path: PathBuf,
    slots: &Slots,
) -> io::Result<Option<(Directory, Stat)>> {
    match openat(parent, name, READ | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(fd) => opened(path, fd, slots).map(Some),
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Opens the directory that contains `child`.
pub fn open_parent(child: &Directory, path: PathBuf, slots: &Slots) -> io::Result<(Directory, Stat)> {
    opened(path, openat(child, "..", READ | OFlags::NOFOLLOW, Mode::empty())?, slots)
}

const READ: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

fn opened(path: PathBuf, fd: OwnedFd, slots: &Slots) -> io::Result<(Directory, Stat)> {
    let found = fstat(&fd)?;
    Ok((Directory::opened(path, fd, None, Some(slots.take())), found))
}

/// Calls `each` with every name in a directory that [`open`] opened, in no particular order.
pub fn read(directory: &Directory, mut each: impl FnMut(&OsStr, Kind)) -> io::Result<()> {
    system::read_names(directory.as_fd(), |name, mut kind| {
        if kind == FileType::Unknown {
            match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => kind = FileType::from_raw_mode(found.st_mode),
                Err(Errno::NOENT) => return Ok(()),
                Err(e) => return Err(e.into()),
            }
        }
        each(
            OsStr::from_bytes(name.to_bytes()),
            match kind {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Directory,
                FileType::Symlink => Kind::Link,
                _ => Kind::Special,
            },
        );
        Ok(())
    })
}

/// The owner and mode of a directory that is mirrored.
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    mode: u32,
    owner: u32,
    group: u32,
}

impl From<&Stat> for Attributes {
    fn from(found: &Stat) -> Attributes {
        Attributes { mode: system::mode(found) & 0o777, owner: found.st_uid, group: found.st_gid }
    }
}

/// A directory to open, or to make if it is missing.
pub struct Wanted<'a> {
    /// The directory that contains it.
    pub parent: &'a Directory,
    /// Its name there.
    pub name: &'a OsStr,
    /// Its path below another directory, to find it again.
    pub below: (&'a Arc<OwnedFd>, &'a Path),
    /// The last mode of the nearest directory above that has one.
    pub above: Option<&'a Arc<LastMode>>,
    /// Computes the mode of a directory from its source's mode, and from whether both have the same group.
    pub narrowed: fn(u32, bool) -> u32,
    /// Whether its name must be on the disk.
    pub sync: bool,
}

/// An open directory, and its final mode, if that differs.
type Opened = (OwnedFd, Option<Arc<LastMode>>);

impl Wanted<'_> {
    /// Opens the directory, never through a symbolic link, or makes it like its `source`.
    pub fn open_or_make(&self, source: impl FnOnce() -> Option<Attributes>) -> io::Result<Opened> {
        match self.open(system::ONLY_NAMES) {
            Err(Errno::NOENT) => self.make(source),
            opened => self.take_up(opened?, source),
        }
    }

    fn open(&self, how: OFlags) -> Result<OwnedFd, Errno> {
        let flags = how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(self.parent, self.name, flags, Mode::empty())
    }

    fn make(&self, source: impl FnOnce() -> Option<Attributes>) -> io::Result<Opened> {
        let made = mkdirat(self.parent, self.name, Mode::RWXU);
        if !matches!(made, Ok(()) | Err(Errno::EXIST)) {
            made?;
        }
        if self.sync && made.is_ok() {
            self.parent.sync()?; // before sources are removed whose results are in it
        }
        let fd = self.open(OFlags::RDONLY)?;
        let Some(source) = source().filter(|_| made.is_ok()) else { return Ok((fd, None)) };
        let group_kept = fchown(&fd, None, Some(Gid::from_raw(source.group))).is_ok();
        let last_mode = self.keep(&fd, (self.narrowed)(source.mode, group_kept));
        // The owner last: root without CAP_FOWNER cannot change another user's directory.
        let _ = fchown(&fd, Some(Uid::from_raw(source.owner)), None);
        Ok((fd, last_mode))
    }

    /// Handles an existing directory. If its owner may not write to it, it is used nevertheless if it is ours and
    /// already has the mode that it would get, which shows that an earlier call or list entry has made it.
    fn take_up(&self, fd: OwnedFd, source: impl FnOnce() -> Option<Attributes>) -> io::Result<Opened> {
        let found = fstat(&fd)?;
        let mode = system::mode(&found) & 0o777;
        if found.st_uid != geteuid().as_raw() || system::rights(mode).contains(Mode::RWXU) {
            return Ok((fd, None));
        }
        let would_get = |source: Attributes| (self.narrowed)(source.mode, source.group == found.st_gid);
        if source().map(would_get) != Some(mode) {
            return Ok((fd, None));
        }
        match self.open(OFlags::RDONLY) {
            Ok(readable) if id(&fstat(&readable)?) == id(&found) => {
                let last_mode = self.keep(&readable, mode);
                Ok((readable, last_mode))
            }
            _ => Ok((fd, None)),
        }
    }

    fn keep(&self, fd: &OwnedFd, mode: u32) -> Option<Arc<LastMode>> {
        LastMode::keep(fd, system::rights(mode), self.below, self.above)
    }
}
