//! Pages of memory: huge ones, and those that are given to pipes.

use crate::system::wait_writable;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use rustix::pipe::{IoSliceRaw, SpliceFlags, vmsplice};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

/// Puts pages into the pipe. Returns how many of the bytes are in it, and false if the system refused the rest.
#[allow(unsafe_code)]
pub fn give_pages(fd: BorrowedFd<'_>, pages: &[u8]) -> (usize, io::Result<bool>) {
    let mut given = 0;
    while given < pages.len() {
        // SAFETY: `fd` is the end of a pipe for writing: it could not be written to otherwise. Nothing writes to the
        // pages until `replace_pages` has replaced them.
        let spliced = unsafe { vmsplice(fd, &[IoSliceRaw::from_slice(&pages[given..])], SpliceFlags::empty()) };
        match spliced {
            Ok(0) => return (given, Ok(false)),
            Ok(n) => given += n,
            Err(Errno::INTR) => {}
            // Another process that has the pipe can make it non-blocking.
            Err(Errno::AGAIN) => match wait_writable(fd) {
                Ok(()) => {}
                Err(e) => return (given, Err(e)),
            },
            Err(Errno::INVAL | Errno::NOSYS | Errno::BADF | Errno::PERM | Errno::NOMEM) => return (given, Ok(false)),
            Err(e) => return (given, Err(e.into())),
        }
    }
    (given, Ok(true))
}

/// Replaces whole pages by new ones of zeros. Returns false if they are still the same.
#[allow(unsafe_code)]
pub fn replace_pages(pages: &mut [u8]) -> bool {
    // SAFETY: these are whole pages of bytes that are borrowed for writing, in private anonymous memory of malloc's,
    // and zeros are bytes, too.
    unsafe { madvise(pages.as_mut_ptr().cast(), pages.len(), Advice::LinuxDontNeed) }.is_ok()
}

/// Asks for huge pages to replace these whole small ones.
#[allow(unsafe_code)]
pub fn ask_for_huge_pages(pages: &mut [MaybeUninit<u8>]) {
    // SAFETY: the pages are borrowed for writing, and the advice changes nothing that is in them. (Its result does not
    // matter.)
    let _ = unsafe { madvise(pages.as_mut_ptr().cast(), pages.len(), Advice::LinuxHugepage) };
}

/// Reserves this many bytes of addresses for huge pages. The first of them is returned, a multiple of 2 MiB. Memory is
/// taken only for pages that are touched.
#[allow(unsafe_code)]
pub fn reserve_huge_pages(bytes: usize) -> Option<usize> {
    const HUGE: usize = 2 << 20;
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: the system chooses the address of a new mapping.
    let mapped = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes + HUGE, access, flags) }.ok()?;
    let begin = mapped.expose_provenance().next_multiple_of(HUGE);
    // SAFETY: these are pages of the new mapping. (The result does not matter: there may be no huge pages.)
    let _ = unsafe { madvise(std::ptr::with_exposed_provenance_mut(begin), bytes, Advice::LinuxHugepage) };
    Some(begin)
}
