//! Memory for texts that come and go at a GPU's speed: slots of a few sizes, in huge pages.
//!
//! malloc's memory has pages of 4 KiB unless the system gives huge ones to everybody. 8 GB decoded by an H200 into a
//! file in memory took 994,000 page faults, with slots 225,000. A slot costs no system call either, while malloc's
//! heaps grow by `mprotect`, in which lanes were seen waiting.
//!
//! Slots lie in one reserved stretch of addresses, so an address tells whether it is a slot's. The stretch is divided
//! into chunks, each for slots of one size. Slots are used again, but their memory never returns to the system: this is
//! for a process that ends when its work is done.

use super::system;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicUsize};
use std::sync::{Mutex, PoisonError};

/// The bytes reserved: addresses, not memory.
const RESERVED: usize = 64 << 30;

const CHUNK: usize = 16 << 20;
const CHUNKS: usize = RESERVED / CHUNK;

/// Sizes of slots are multiples of this.
const UNIT: usize = 128 << 10;

/// The sizes of allocations that get slots: texts of blocks of 900 kB; texts of blocks of many runs, whose buffers
/// double until they have 2 MiB; stretches of 4 MiB that readers read.
const MIN: usize = 512 << 10;
const MAX: usize = 8 << 20;
const SIZES: usize = MAX / UNIT + 1;

/// The alignment of every slot.
const ALIGN: usize = 4096;

/// Slots. There are none until [`start`](Self::start).
pub(super) struct Slots {
    /// The first address, or 0.
    base: AtomicUsize,
    /// The number of chunks in use.
    chunks: AtomicUsize,
    /// The size of each chunk's slots, in units.
    unit_of: [AtomicU8; CHUNKS],
    sizes: [Mutex<Size>; SIZES],
}

/// The slots of one size.
struct Size {
    /// The first free slot, or 0. Each free slot begins with the address of the next one.
    free: usize,
    /// The part of the newest chunk that has not been used yet.
    fresh: usize,
    end: usize,
}

impl Slots {
    pub const fn new() -> Slots {
        Slots {
            base: AtomicUsize::new(0),
            chunks: AtomicUsize::new(0),
            unit_of: [const { AtomicU8::new(0) }; CHUNKS],
            sizes: [const { Mutex::new(Size { free: 0, fresh: 0, end: 0 }) }; SIZES],
        }
    }

    /// Reserves addresses, so that [`take`](Self::take) can give out slots. Does nothing if the system refuses.
    pub fn start(&self) {
        if self.base.load(Relaxed) == 0
            && let Some(base) = system::reserve_huge_pages(RESERVED)
        {
            // A second caller's stretch stays reserved, and unused.
            let _ = self.base.compare_exchange(0, base, Release, Relaxed);
        }
    }

    /// Whether there are slots.
    #[cfg(test)]
    pub fn are_there(&self) -> bool {
        self.base.load(Relaxed) != 0
    }

    /// A slot for `size` bytes, or null if the size gets none.
    pub fn take(&self, size: usize, align: usize) -> *mut u8 {
        let base = self.base.load(Acquire);
        if base == 0 || !(MIN..=MAX).contains(&size) || align > ALIGN {
            return std::ptr::null_mut();
        }
        let units = size.div_ceil(UNIT);
        let mut slots = self.sizes[units].lock().unwrap_or_else(PoisonError::into_inner);
        if slots.free != 0 {
            let slot = slots.free;
            slots.free = next_of(slot).load(Relaxed);
            return std::ptr::with_exposed_provenance_mut(slot);
        }
        if slots.end - slots.fresh < units * UNIT {
            let chunk = self.chunks.fetch_add(1, Relaxed);
            if chunk >= CHUNKS {
                self.chunks.fetch_sub(1, Relaxed);
                return std::ptr::null_mut();
            }
            self.unit_of[chunk].store(units as u8, Relaxed);
            slots.fresh = base + chunk * CHUNK;
            slots.end = slots.fresh + CHUNK;
        }
        let slot = slots.fresh;
        slots.fresh += units * UNIT;
        std::ptr::with_exposed_provenance_mut(slot)
    }

    /// The number of bytes of the slot at this address, or `None` if it is not a slot's.
    pub fn size_at(&self, memory: *mut u8) -> Option<usize> {
        let base = self.base.load(Acquire);
        let at = memory.addr().wrapping_sub(base);
        (base != 0 && at < RESERVED).then(|| usize::from(self.unit_of[at / CHUNK].load(Relaxed)) * UNIT)
    }

    /// Gives back the slot at this address, of `size` bytes ([`size_at`](Self::size_at)).
    pub fn give_back(&self, memory: *mut u8, size: usize) {
        let mut slots = self.sizes[size / UNIT].lock().unwrap_or_else(PoisonError::into_inner);
        next_of(memory.addr()).store(slots.free, Relaxed);
        slots.free = memory.addr();
    }
}

/// The start of a free slot, which holds the address of the next one.
#[allow(unsafe_code)]
fn next_of<'a>(slot: usize) -> &'a AtomicUsize {
    // SAFETY: a slot is mapped for ever and aligned, and while it is free only this module uses it.
    unsafe { &*std::ptr::with_exposed_provenance::<AtomicUsize>(slot) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::slice;

    #[allow(unsafe_code)]
    fn bytes<'a>(memory: *mut u8, len: usize) -> &'a mut [u8] {
        // SAFETY: the tests use each slot once at a time, and only while they have it.
        unsafe { slice::from_raw_parts_mut(memory, len) }
    }

    /// Slots, if the system gives that many addresses.
    fn started() -> Option<Box<Slots>> {
        let slots = Box::new(Slots::new());
        slots.start();
        if !slots.are_there() {
            println!("skipped: the system does not reserve {RESERVED} bytes of addresses");
            return None;
        }
        Some(slots)
    }

    #[test]
    fn only_some_sizes_get_slots() {
        let slots = Slots::new();
        assert!(slots.take(1 << 20, 1).is_null());
        let Some(slots) = started() else { return };
        for (size, align) in [(0, 1), (MIN - 1, 1), (MAX + 1, 1), (1 << 20, 2 * ALIGN)] {
            assert!(slots.take(size, align).is_null(), "{size} {align}");
        }
        let mut own = 0u8;
        assert_eq!(slots.size_at(&mut own), None);
        for size in [MIN, MIN + 1, 900_000, (1 << 20) + 1, MAX] {
            let slot = slots.take(size, ALIGN);
            assert_eq!(slots.size_at(slot), Some(size.next_multiple_of(UNIT)));
            assert!(slot.addr().is_multiple_of(ALIGN));
        }
    }

    #[test]
    fn slots_do_not_overlap_and_are_used_again() {
        let Some(slots) = started() else { return };
        let work = &|thread: u8| {
            for turn in 0..5 {
                let take = |number: usize| {
                    let (size, byte) = (MIN + number % 9 * 150_000 + number, number as u8 ^ (thread << 6) ^ turn);
                    let slot = slots.take(size, 8);
                    bytes(slot, size).fill(byte);
                    (slot, size, byte)
                };
                for (slot, size, byte) in (0..40).map(take).collect::<Vec<_>>() {
                    assert!(bytes(slot, size).iter().all(|&found| found == byte));
                    slots.give_back(slot, slots.size_at(slot).unwrap());
                }
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|thread| drop(scope.spawn(move || work(thread)))));
        let chunks = slots.chunks.load(Relaxed);
        assert!(chunks * CHUNK < 2 * 160 * (MIN + 4 * 150_000), "{chunks}");
    }
}
