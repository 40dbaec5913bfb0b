//! Windows: parts of a file that are mapped, and whose pages are made before they are touched.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use rustix::param::page_size;
use std::fs::File;
use std::ops::Range;
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

/// The length of a huge page on most processors.
const HUGE_PAGE: usize = 2 << 20;

/// A mapped part of a file.
pub struct Window {
    /// Its address, a multiple of `HUGE_PAGE`, and the address of all that is mapped: one such page more.
    base: *mut u8,
    place: *mut u8,
    begin: u64,
    len: usize,
    /// Whether all of its pages are there.
    is_made: bool,
}

// SAFETY: the addresses are those of a mapping that lives as long as this; `copy` says who writes where.
#[allow(unsafe_code)]
unsafe impl Send for Window {}
// SAFETY: the same.
#[allow(unsafe_code)]
unsafe impl Sync for Window {}

#[allow(unsafe_code)]
impl Window {
    /// Maps `len` bytes of the file from `begin` on, both multiples of the page size.
    pub fn map(file: &File, begin: u64, len: usize) -> Option<Window> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: the system chooses an address at which nothing is, and the file takes the place of pages from there.
        unsafe {
            let room = len + HUGE_PAGE;
            let place: *mut u8 =
                mmap_anonymous(ptr::null_mut(), room, ProtFlags::empty(), MapFlags::PRIVATE).ok()?.cast();
            let base = place.add(place.align_offset(HUGE_PAGE));
            let window = Window { base, place, begin, len, is_made: false };
            mmap(window.base.cast(), len, access, flags, file, begin).ok()?;
            Some(window)
        }
    }

    /// Has the system make huge pages, each of which is cleared much faster than 512 small ones and needs only one
    /// entry in the mapping. Returns `false` if it does not: then some pages are there.
    ///
    /// Since Linux 6.1 this needs no leave (`shmem_enabled` may be `never`), only room. A call waits for all processors
    /// once (`lru_add_drain_all`), and the process can map nothing else meanwhile.
    pub fn make_huge(&mut self) -> bool {
        /// rustix has no name for it.
        const MADV_COLLAPSE: libc::c_int = 25;
        // SAFETY: this changes what pages the window has, but not what is in them.
        self.is_made = unsafe {
            // A huge page is refused where there is no page at all.
            (0..self.len)
                .step_by(HUGE_PAGE)
                .all(|at| madvise(self.base.add(at).cast(), page_size(), Advice::LinuxPopulateWrite).is_ok())
                && libc::madvise(self.base.cast(), self.len, MADV_COLLAPSE) == 0
        };
        self.is_made
    }

    /// The part of the file that is mapped.
    pub fn part(&self) -> Range<u64> {
        self.begin..self.begin + self.len as u64
    }

    /// Whether all of its pages are there.
    pub fn is_made(&self) -> bool {
        self.is_made
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
            if !self.is_made && madvise(self.base.add(first).cast(), pages, Advice::LinuxPopulateWrite).is_err() {
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
        // SAFETY: this is what `map` mapped, and nothing else has its addresses.
        let _ = unsafe { munmap(self.place.cast(), self.len + HUGE_PAGE) };
    }
}
