//! malloc, and a sentence where it fails, in place of an abort with a core file. Temporary files have no names, and a
//! result has none yet, so nothing is left behind.

use crate::TROUBLE;
use crate::cli::os::process::exit_now;
use std::alloc::{GlobalAlloc, Layout, System};

pub struct Allocator;

#[allow(unsafe_code)]
// SAFETY: the system's allocator does it all, and a call whose result would be null does not return.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.realloc(old, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn checked(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        run_out();
    }
    memory
}

#[cold]
#[allow(unsafe_code)]
fn run_out() -> ! {
    const SENTENCE: &[u8] = b"hysort: memory exhausted\n";
    // SAFETY: the pointer and the length are those of a slice. (std's stderr has a lock that this thread may hold.)
    unsafe { libc::write(2, SENTENCE.as_ptr().cast(), SENTENCE.len()) };
    exit_now(TROUBLE)
}
