//! Memory: the freed memory that malloc keeps, and the end of the process when there is no memory left.
//!
//! A failed allocation would abort the process, with a core file and without a message that helps the user. Instead,
//! the process ends as after any error of its environment: unnamed files vanish, named temporary files are removed, and
//! the sources stay.

use super::huge_pages::Slots;
use super::process::exit_now;
use super::system;
pub use super::system::{available_memory as available, be_sparing, file_in_memory, keep_freed};
use rustix::process::{Resource, getrlimit};
use std::alloc::{GlobalAlloc, Layout, System};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

/// malloc, but with a message when it fails, and with memory of its own for texts once
/// [`huge_pages_for_texts`] has been called.
pub struct Allocator;

static SLOTS: Slots = Slots::new();

#[allow(unsafe_code)]
// SAFETY: the system's allocator does all the work, and a call whose result would be null does not return.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let slot = SLOTS.take(layout.size(), layout.align());
        if !slot.is_null() {
            return slot;
        }
        // SAFETY: as the caller promises.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(room) = SLOTS.size_at(old) else {
            // SAFETY: as the caller promises.
            return checked(unsafe { System.realloc(old, layout, size) });
        };
        if (room / 2..=room).contains(&size) {
            return old;
        }
        // SAFETY: the new memory has `size` bytes, the old one those of its layout, and they do not overlap.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            ptr::copy_nonoverlapping(old, new, layout.size().min(size));
            self.dealloc(old, layout);
            new
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match SLOTS.size_at(memory) {
            Some(size) => SLOTS.give_back(memory, size),
            // SAFETY: as the caller promises.
            None => unsafe { System.dealloc(memory, layout) },
        }
    }
}

fn checked(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        run_out();
    }
    memory
}

/// The message and the exit code, and the work to do before the process ends.
static END: OnceLock<(Vec<u8>, u8)> = OnceLock::new();
static CLEAN_UP: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Sets how the process ends when there is no memory left: with this line on stderr, and this exit code.
pub fn set_end(line: Vec<u8>, code: u8) {
    let _ = END.set((line, code));
}

/// Has `clean_up` called before the process ends for lack of memory. It must not allocate, and must not wait for long.
pub fn before_the_end(clean_up: impl Fn() + Send + Sync + 'static) {
    let _ = CLEAN_UP.set(Box::new(clean_up));
}

#[cold]
#[allow(unsafe_code)]
fn run_out() -> ! {
    let (line, code) = END.get().map_or((&b"Out of memory.\n"[..], 1), |(line, code)| (line, *code));
    // SAFETY: the pointer and the length are those of a slice. (std's stderr has a lock that this thread may hold.)
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
    if let Some(clean_up) = CLEAN_UP.get() {
        clean_up();
    }
    exit_now(code)
}

/// Whether there is a limit to the memory that this process may map (`ulimit -v`, `ulimit -d`).
pub fn is_limited() -> bool {
    [Resource::As, Resource::Data].into_iter().any(|resource| getrlimit(resource).current.is_some())
}

/// From now on, allocations of 512 KiB to 8 MiB, except zeroed ones, are in huge pages, which are kept until the
/// process ends. This pays where texts come and go at several gigabytes a second. It takes more memory for them: the
/// buffer of a text of 900 kB is a quarter longer, and its slot has 1.125 MiB, all of it resident.
pub fn huge_pages_for_texts() {
    if !is_limited() {
        SLOTS.start();
    }
}

/// Asks the system for a huge page wherever a whole one fits in this memory. This is only a hint.
pub fn ask_for_huge_pages(memory: &mut [MaybeUninit<u8>]) {
    const HUGE: usize = 2 << 20;
    let before = memory.as_ptr().align_offset(HUGE);
    let whole = memory.len().saturating_sub(before) / HUGE * HUGE;
    if whole > 0 {
        system::ask_for_huge_pages(&mut memory[before..][..whole]);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Buffers from before there are slots, buffers in slots, and those that grow or shrink into slots or out of them.
    #[test]
    #[allow(unsafe_code)]
    fn buffers_keep_their_bytes() {
        let layout = |size| Layout::from_size_align(size, 1).unwrap();
        let sizes = [1000, 600_000, 900_000, 1_000_000, 2 << 20, 700_000, 9 << 20, 1 << 20, 300_000, 100];
        let mut kinds = [false; 2];
        for start in 0..sizes.len() {
            for started in [false, true] {
                if started {
                    huge_pages_for_texts();
                }
                // SAFETY: each layout is that of the last allocation, and bytes are read only where they were written.
                unsafe {
                    let mut size = sizes[start];
                    let mut memory = Allocator.alloc(layout(size));
                    memory.write_bytes(start as u8, size);
                    for &next in sizes[start..].iter().chain(&sizes[..start]) {
                        memory = Allocator.realloc(memory, layout(size), next);
                        let kept = std::slice::from_raw_parts(memory, size.min(next));
                        assert!(kept.iter().all(|&byte| byte == start as u8), "{start} {size} {next}");
                        memory.write_bytes(start as u8, next);
                        kinds[usize::from(SLOTS.size_at(memory).is_some())] = true;
                        size = next;
                    }
                    Allocator.dealloc(memory, layout(size));
                    let zeroed = Allocator.alloc_zeroed(layout(1 << 20));
                    assert!(std::slice::from_raw_parts(zeroed, 1 << 20).iter().all(|&byte| byte == 0));
                    Allocator.dealloc(zeroed, layout(1 << 20));
                }
            }
        }
        match SLOTS.are_there() {
            true => assert_eq!(kinds, [true, true]),
            false => println!("skipped: no slots, because memory is limited or the system refused"),
        }
    }
}
