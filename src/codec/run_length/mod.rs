//! bzip2's first step: a run of 4 to 255 equal bytes becomes four of them and a byte that counts the rest.
//!
//! Runs are cut every 255 bytes, counted from where the run begins, so what a text becomes does not depend on where
//! blocks end. It was meant to spare the sorter long runs; it can make a text a quarter longer (runs of exactly four).

pub mod decode;
pub mod derandomise;
pub mod encode;

pub use encode::encode;

/// What is looked at at once: one byte more than there are comparisons.
pub(crate) const WINDOW: usize = 65;

/// Bit i: whether byte i is equal to the next one.
#[inline(always)]
pub(crate) fn equal_to_next(window: &[u8; WINDOW]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    // SAFETY: SSE2 is part of x86-64; the last load ends at byte 48 + 1 + 16 = 65, and the window has as many.
    unsafe {
        use std::arch::x86_64::*;
        [0, 16, 32, 48].iter().fold(0, |mask, &at| {
            let bytes = _mm_loadu_si128(window.as_ptr().add(at).cast());
            let next = _mm_loadu_si128(window.as_ptr().add(at + 1).cast());
            mask | (_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, next)) as u64) << at
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    equal_to_next_portable(window)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
pub(crate) fn equal_to_next_portable(window: &[u8; WINDOW]) -> u64 {
    (0..64).fold(0, |mask, i| mask | u64::from(window[i] == window[i + 1]) << i)
}

/// Where the first four equal bytes begin, at or after `from`, if there are such.
///
/// Nearly all text has nearly none, so the fast part is to see that: 62 positions at once.
pub fn find_run(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(window) = bytes[at..].first_chunk() {
        let equal = equal_to_next(window);
        let runs = equal & equal >> 1 & equal >> 2;
        if runs != 0 {
            return Some(at + runs.trailing_zeros() as usize);
        }
        // Four that begin in the last three bytes would not be seen.
        at += WINDOW - 3;
    }
    bytes[at..].windows(4).position(|four| four == [four[0]; 4]).map(|i| at + i)
}
