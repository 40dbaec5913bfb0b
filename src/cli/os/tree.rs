//! Directories of a tree, each opened from the one above it: read, made, and left for the one above.

use super::directory::{Directory, Stat};
use super::slots::Slots;
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, RawDir, Uid, fchmod, fchown, fstat, mkdirat, openat, statat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a name in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
    Link,
    /// A FIFO, a socket or a device.
    Special,
}

/// The device and inode of a file: what it is, whatever its name.
pub type Id = (u64, u64);

pub fn id(found: &Stat) -> Id {
    (found.st_dev, found.st_ino)
}

/// Opens the directory `path` for reading, through a symbolic link only if `follow`. `None` if it is no directory.
pub fn open(path: &Path, follow: bool, slots: &Slots) -> io::Result<Option<(Directory, Stat)>> {
    let mut flags = READ;
    flags.set(OFlags::NOFOLLOW, !follow);
    match openat(CWD, path, flags, Mode::empty()) {
        Ok(fd) => opened(path.to_owned(), fd, slots).map(Some),
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Opens the directory `name` of `parent` for reading. Its path, for messages, is `path`. `None` if it is no directory
/// any more.
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

/// Opens the directory that `child` is in.
pub fn open_parent(child: &Directory, path: PathBuf, slots: &Slots) -> io::Result<(Directory, Stat)> {
    opened(path, openat(child, "..", READ | OFlags::NOFOLLOW, Mode::empty())?, slots)
}

const READ: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

fn opened(path: PathBuf, fd: OwnedFd, slots: &Slots) -> io::Result<(Directory, Stat)> {
    let found = fstat(&fd)?;
    Ok((Directory::opened(path, fd, None, Some(slots.take())), found))
}

/// Calls `each` with every name in a directory that [`open`] opened, in no order.
pub fn read(directory: &Directory, mut each: impl FnMut(&OsStr, Kind)) -> io::Result<()> {
    let mut buffer = vec![MaybeUninit::uninit(); 32 << 10];
    let mut names = RawDir::new(directory, &mut buffer);
    while let Some(entry) = names.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => kind = FileType::from_raw_mode(found.st_mode),
                Err(Errno::NOENT) => continue,
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
    }
    Ok(())
}

/// Owner and mode of a directory that is mirrored.
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    mode: u32,
    owner: u32,
    group: u32,
}

impl From<&Stat> for Attributes {
    fn from(found: &Stat) -> Attributes {
        Attributes { mode: found.st_mode & 0o777, owner: found.st_uid, group: found.st_gid }
    }
}

/// Opens the directory `name` of `parent`, never through a symbolic link, or makes it like `source`. Until one that was
/// made is closed, its owner may make files in it.
pub fn open_or_make(
    parent: &Directory,
    name: &OsStr,
    path: PathBuf,
    source: impl FnOnce() -> Option<Attributes>,
    narrowed: impl FnOnce(u32, bool) -> u32,
    slots: &Slots,
    sync: bool,
) -> io::Result<Directory> {
    let open = |how| openat(parent, name, how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    match open(OFlags::PATH) {
        Err(Errno::NOENT) => {}
        found => return Ok(Directory::opened(path, found?, None, Some(slots.take()))),
    }
    let made = mkdirat(parent, name, Mode::RWXU);
    if !matches!(made, Ok(()) | Err(Errno::EXIST)) {
        made?;
    }
    if sync && made.is_ok() {
        parent.sync()?; // before sources go whose results are in it
    }
    let fd = open(OFlags::RDONLY)?;
    let mut last_mode = None;
    if let Some(source) = source().filter(|_| made.is_ok()) {
        let group_kept = fchown(&fd, None, Some(Gid::from_raw(source.group))).is_ok();
        let _ = fchown(&fd, Some(Uid::from_raw(source.owner)), None);
        let mode = Mode::from_raw_mode(narrowed(source.mode, group_kept));
        last_mode = Some(mode).filter(|mode| !mode.contains(Mode::RWXU));
        let _ = fchmod(fd.as_fd(), mode | Mode::RWXU); // where there are no modes, all are alike
    }
    Ok(Directory::opened(path, fd, last_mode, Some(slots.take())))
}
