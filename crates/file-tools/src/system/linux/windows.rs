//! Windows: parts of a file that are mapped, and whose pages are made before they are touched.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use rustix::param::page_size;
use std::fs::File;
use std::ptr;
use std::sync::OnceLock;

/// Whether the system knows `MADV_POPULATE_WRITE`.
#[allow(unsafe_code)]
pub fn can_populate() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let len = page_size();
        // SAFETY: the system chooses the address of a new page, which is used by nothing else and ends here.
        unsafe {
            mmap_anonymous(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE).is_ok_and(
                |page| {
                    let populated = madvise(page, len, Advice::LinuxPopulateWrite);
                    munmap(page, len).and(populated).is_ok()
                },
            )
        }
    })
}

/// A mapped part of a file.
pub struct Window {
    base: *mut u8,
    len: usize,
    begin: u64,
}

// SAFETY: the address is that of a mapping that lives as long as this; `copy` says who writes where.
#[allow(unsafe_code)]
unsafe impl Send for Window {}
// SAFETY: the same.
#[allow(unsafe_code)]
unsafe impl Sync for Window {}

#[allow(unsafe_code)]
impl Window {
    /// Maps `len` bytes of the file from `begin` on, both multiples of the page size.
    pub fn map(file: &File, begin: u64, len: usize) -> Option<Window> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the system chooses an address at which nothing is.
        let base = unsafe { mmap(ptr::null_mut(), len, access, flags, file, begin) }.ok()?;
        Some(Window { base: base.cast(), len, begin })
    }

    /// Copies `bytes` to the offset `at` of the file. Returns `false` if a page of it cannot be had, or is not in
    /// the window; then some may be there, or none.
    pub fn copy(&self, at: u64, bytes: &[u8]) -> bool {
        let Some(offset) = at.checked_sub(self.begin).and_then(|offset| usize::try_from(offset).ok()) else {
            return false;
        };
        if bytes.len() > self.len || offset > self.len - bytes.len() {
            return false;
        }
        let first = offset / page_size() * page_size();
        let pages = (offset + bytes.len() - first).next_multiple_of(page_size()).min(self.len - first);
        // SAFETY: both ranges are in the mapping, by the comparison above. Its bytes are written through this
        // pointer only and read by no one as long as it lives, and no two pieces have the same byte. The pages are
        // there once `madvise` has succeeded: the file is ours alone, so no other process makes it shorter.
        unsafe {
            if madvise(self.base.add(first).cast(), pages, Advice::LinuxPopulateWrite).is_err() {
                return false;
            }
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.add(offset), bytes.len());
        }
        true
    }
}

#[allow(unsafe_code)]
impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nothing else has its address.
        let _ = unsafe { munmap(self.base.cast(), self.len) };
    }
}
