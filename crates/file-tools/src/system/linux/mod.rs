//! Linux.

pub mod acl;
mod pages;

pub use pages::{ask_for_huge_pages, give_pages, replace_pages, reserve_huge_pages};
use rustix::fs::{
    Access, Advice, AtFlags, CWD, FileType, MemfdFlags, Mode, OFlags, RawDir, Stat, StatxAttributes, StatxFlags,
    accessat, fadvise, memfd_create, openat, statx,
};
use rustix::io::Errno;
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
use std::ffi::{CStr, OsStr};
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The flag for opening a directory only to look up names in it, which needs no right to read it.
pub const ONLY_NAMES: OFlags = OFlags::PATH;

/// The file system in which names may stand for open files.
pub const NAMES_OF_OPEN_FILES: &str = "/proc";

/// Has `function` called before `main`, once, on the only thread.
macro_rules! before_main {
    ($function:path) => {
        #[allow(unsafe_code)]
        #[used]
        // SAFETY: the loader calls every entry of `.init_array` once, on the only thread, with C's calling convention.
        #[unsafe(link_section = ".init_array")]
        static BEFORE_MAIN: extern "C" fn() = $function;
    };
}
pub(crate) use before_main;

/// Whether this error says that the system, or the file system, has no such operation.
pub fn is_lacking(e: Errno) -> bool {
    matches!(e, Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Whether this error may mean that a call is refused here, by the file system, its mount or a filter of system calls.
pub fn is_refusal(e: Errno) -> bool {
    let refusals = [Errno::PERM, Errno::ACCESS, Errno::INVAL, Errno::XDEV, Errno::NOENT, Errno::MLINK, Errno::LOOP];
    is_lacking(e) || refusals.contains(&e)
}

/// Device and inode.
pub fn id(found: &Stat) -> (u64, u64) {
    (found.st_dev, found.st_ino)
}

/// Kind and rights, as in `st_mode`.
pub fn mode(found: &Stat) -> u32 {
    found.st_mode
}

/// The rights among these bits.
pub fn rights(mode: u32) -> Mode {
    Mode::from_raw_mode(mode)
}

/// Creates a file without a name in `directory`. `None` if that cannot be done there.
pub fn create_unnamed(directory: BorrowedFd<'_>, mode: Mode) -> Option<OwnedFd> {
    openat(directory, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode).ok()
}

/// Whether [`path_of_open_file`] leads anywhere.
pub fn open_files_have_paths() -> bool {
    accessat(CWD, "/proc/self/fd", Access::EXEC_OK, AtFlags::empty()).is_ok()
}

/// The number of a file's hard links, asked of the file system itself: a kernel may have cached an older number.
pub fn links(file: &File) -> io::Result<u64> {
    // AT_STATX_FORCE_SYNC, which rustix does not name for musl.
    let flags = AtFlags::EMPTY_PATH | AtFlags::from_bits_retain(0x2000);
    match statx(file, "", flags, StatxFlags::NLINK) {
        Ok(found) => Ok(found.stx_nlink.into()),
        Err(_) => Ok(file.metadata()?.nlink()),
    }
}

/// Creates a file that has no name and cannot get one, for its owner alone.
pub fn create_nameless(directory: &Path) -> Option<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    openat(CWD, directory, flags, Mode::RUSR | Mode::WUSR).ok()
}

/// A path that leads to an open file, for `linkat`.
pub fn path_of_open_file(file: BorrowedFd<'_>) -> Option<PathBuf> {
    Some(format!("/proc/self/fd/{}", file.as_raw_fd()).into())
}

/// Calls `each` with every name in a directory but `.` and `..`, until it fails.
pub fn read_names(
    directory: BorrowedFd<'_>,
    mut each: impl FnMut(&CStr, FileType) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![MaybeUninit::uninit(); 32 << 10];
    let mut names = RawDir::new(directory, &mut buffer);
    while let Some(entry) = names.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            each(name, entry.file_type())?;
        }
    }
    Ok(())
}

/// Waits until the data of a file are on the disk.
pub fn sync_data(file: &File) -> io::Result<()> {
    file.sync_data()
}

/// Waits until the names in a directory are on the disk.
pub fn sync_names(directory: File) -> io::Result<()> {
    match directory.sync_all() {
        // The file system cannot sync a directory.
        Err(e) if super::is_refused(&e) => Ok(()),
        done => done,
    }
}

/// Asks the system to start writing a file's data to the disk, without waiting. This is only a hint.
#[allow(unsafe_code)]
pub fn start_writing(file: &File) {
    // SAFETY: the descriptor is open as long as `file` lives, and the call has no pointer argument.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// Asks the system to drop a file from its cache, so that it is read from the disk. This is only a hint, and affects
/// only data already written to the disk.
pub fn forget_pages(file: &File) {
    let _ = fadvise(file, 0, None, Advice::DontNeed);
}

/// Creates a file that is in memory only, and has no name.
pub fn file_in_memory() -> io::Result<File> {
    Ok(memfd_create("hybz", MemfdFlags::CLOEXEC)?.into())
}

/// Whether something is mounted at this name: another file system, or a bind mount.
pub fn is_mount_point(directory: BorrowedFd<'_>, name: &OsStr) -> bool {
    let found = statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
    found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// The memory that the system could give without swapping, if it says so.
pub fn available_memory() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok().map(|kilobytes: u64| kilobytes << 10)
}

/// The limit on descriptors to ask for, given the maximum.
pub fn descriptors_to_ask_for(maximum: Option<u64>) -> Option<u64> {
    maximum
}

/// Enlarges a pipe, as far as the system allows.
pub fn enlarge_pipe(fd: BorrowedFd<'_>, bytes: usize) {
    if fcntl_getpipe_size(fd).is_ok_and(|now| now < bytes) {
        let _ = fcntl_setpipe_size(fd, bytes);
    }
}

/// Whether [`give_pages`] can put pages into a pipe.
pub const GIVES_PAGES: bool = true;

/// glibc's options of `mallopt`. Other C libraries have none.
#[cfg(target_env = "gnu")]
use libc::{M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD};
#[cfg(not(target_env = "gnu"))]
const M_ARENA_MAX: i32 = 0;
#[cfg(not(target_env = "gnu"))]
const M_MMAP_THRESHOLD: i32 = 0;
#[cfg(not(target_env = "gnu"))]
const M_TRIM_THRESHOLD: i32 = 0;

/// Makes malloc keep freed memory. Blocks of megabytes are allocated and freed all the time; if they were returned to
/// the system, they would be zeroed page by page on their next use, which took a quarter of the reading thread's time.
/// (Small files do not use this: zeroing memory by hand took a third of the 1.2 ms that a small file takes.)
pub fn keep_freed() {
    set(&[(M_MMAP_THRESHOLD, 32 << 20), (M_TRIM_THRESHOLD, 1 << 30)]);
}

/// Makes malloc return freed memory, and use one heap for all threads: each further heap reserves 64 MB of the address
/// space.
pub fn be_sparing() {
    set(&[(M_ARENA_MAX, 1), (M_MMAP_THRESHOLD, 128 << 10), (M_TRIM_THRESHOLD, 128 << 10)]);
}

#[cfg(target_env = "gnu")]
#[allow(unsafe_code)]
fn set(options: &[(i32, i32)]) {
    for (option, value) in options {
        // SAFETY: the call sets one of malloc's parameters, under malloc's lock.
        unsafe { libc::mallopt(*option, *value) };
    }
}

#[cfg(not(target_env = "gnu"))]
fn set(_: &[(i32, i32)]) {}
