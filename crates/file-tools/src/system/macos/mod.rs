//! macOS: no files without a name, no name by which an open file can be found, no pages given to pipes, and a sync that
//! not all file systems have.

pub mod acl;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat, fstat, fsync, statat};
use rustix::io::Errno;
use std::collections::hash_map::RandomState;
use std::ffi::{CStr, OsStr};
use std::fs::{self, File, OpenOptions};
use std::hash::BuildHasher;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{env, io};

/// The flag for opening a directory only to look up names in it. (O_SEARCH would need no right to read it, but is
/// newer than the oldest macOS on which Rust's programs run.)
pub const ONLY_NAMES: OFlags = OFlags::RDONLY;

/// The file system in which names may stand for open files.
pub const NAMES_OF_OPEN_FILES: &str = "/dev/fd";

/// Has `function` called before `main`, once, on the only thread.
macro_rules! before_main {
    ($function:path) => {
        #[allow(unsafe_code)]
        #[used]
        // SAFETY: the loader calls every entry of this section once, on the only thread, with C's calling convention;
        // the function ignores the arguments.
        #[unsafe(link_section = "__DATA,__mod_init_func")]
        static BEFORE_MAIN: extern "C" fn() = $function;
    };
}
pub(crate) use before_main;

/// Whether this error says that the system, or the file system, has no such operation.
pub fn is_lacking(e: Errno) -> bool {
    matches!(e, Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOTSUP)
}

/// Whether this error may mean that a call is refused here, by the file system or its mount.
pub fn is_refusal(e: Errno) -> bool {
    let refusals = [Errno::PERM, Errno::ACCESS, Errno::INVAL, Errno::XDEV, Errno::NOENT, Errno::MLINK, Errno::LOOP];
    is_lacking(e) || refusals.contains(&e)
}

/// Device and inode, as std's `MetadataExt` has them.
pub fn id(found: &Stat) -> (u64, u64) {
    (i64::from(found.st_dev).cast_unsigned(), found.st_ino)
}

/// Kind and rights, as in `st_mode`.
pub fn mode(found: &Stat) -> u32 {
    found.st_mode.into()
}

/// The rights among these bits.
pub fn rights(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as RawMode)
}

/// Files cannot be without a name: the caller gives them a temporary one.
pub fn create_unnamed(_: BorrowedFd<'_>, _: Mode) -> Option<OwnedFd> {
    None
}

/// Never called.
pub fn open_files_have_paths() -> bool {
    false
}

/// The number of a file's hard links.
pub fn links(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.nlink())
}

/// There are none.
pub fn create_nameless(_: &Path) -> Option<OwnedFd> {
    None
}

/// A path that leads to an open file, for `linkat`: there is none.
pub fn path_of_open_file(_: BorrowedFd<'_>) -> Option<PathBuf> {
    None
}

/// Calls `each` with every name in a directory but `.` and `..`, until it fails.
pub fn read_names(
    directory: BorrowedFd<'_>,
    mut each: impl FnMut(&CStr, FileType) -> io::Result<()>,
) -> io::Result<()> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            each(name, entry.file_type())?;
        }
    }
    Ok(())
}

/// Waits until the data of a file are on the disk. Network file systems lack F_FULLFSYNC, which std uses.
pub fn sync_data(file: &File) -> io::Result<()> {
    match file.sync_data() {
        Err(e) if is_without_full_sync(&e) => Ok(fsync(file)?),
        done => done,
    }
}

/// Waits until all of a file is on the disk.
fn sync_all(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(e) if is_without_full_sync(&e) => Ok(fsync(file)?),
        done => done,
    }
}

/// Waits until the names in a directory are on the disk.
pub fn sync_names(directory: File) -> io::Result<()> {
    match sync_all(&directory) {
        // The file system cannot sync a directory.
        Err(e) if is_without_full_sync(&e) => Ok(()),
        done => done,
    }
}

fn is_without_full_sync(e: &io::Error) -> bool {
    let errno = e.raw_os_error().map(Errno::from_raw_os_error);
    errno.is_some_and(|errno| matches!(errno, Errno::INVAL | Errno::NOTTY) || is_lacking(errno))
}

/// There is no such hint.
pub fn start_writing(_: &File) {}

/// There is no such hint.
pub fn forget_pages(_: &File) {}

/// There are no files in memory: creates one without a name, in the directory for temporary files.
pub fn file_in_memory() -> io::Result<File> {
    let path = env::temp_dir().join(format!("hybz-{:016x}", RandomState::new().hash_one(())));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// Whether another file system is mounted at this name.
pub fn is_mount_point(directory: BorrowedFd<'_>, name: &OsStr) -> bool {
    match (statat(directory, name, AtFlags::SYMLINK_NOFOLLOW), fstat(directory)) {
        (Ok(found), Ok(above)) => found.st_dev != above.st_dev,
        _ => false,
    }
}

/// The memory that the system could give without swapping: unknown, because the system is not asked.
pub fn available_memory() -> Option<u64> {
    None
}

/// There are no huge pages to ask for.
pub fn ask_for_huge_pages(_: &mut [MaybeUninit<u8>]) {}

/// There are no huge pages to reserve.
pub fn reserve_huge_pages(_: usize) -> Option<usize> {
    None
}

/// The limit on descriptors to ask for, given the maximum: setrlimit(2) refuses more than OPEN_MAX.
pub fn descriptors_to_ask_for(maximum: Option<u64>) -> Option<u64> {
    const OPEN_MAX: u64 = 10_240;
    Some(maximum.map_or(OPEN_MAX, |maximum| maximum.min(OPEN_MAX)))
}

/// The system enlarges pipes by itself.
pub fn enlarge_pipe(_: BorrowedFd<'_>, _: usize) {}

/// Whether [`give_pages`] can put pages into a pipe.
pub const GIVES_PAGES: bool = false;

/// Puts no pages into the pipe.
pub fn give_pages(_: BorrowedFd<'_>, _: &[u8]) -> (usize, io::Result<bool>) {
    (0, Ok(false))
}

/// Replaces no pages.
pub fn replace_pages(_: &mut [u8]) -> bool {
    false
}

/// malloc has no such option.
pub fn keep_freed() {}

/// malloc has no such option.
pub fn be_sparing() {}
