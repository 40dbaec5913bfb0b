//! bzip2's first step: a run of 4 to 255 equal bytes becomes four of them and a byte that counts the rest.
//!
//! Runs are cut every 255 bytes, counted from the start of the run, so the coded form of a text does not depend on
//! where blocks end. The step was meant to spare the sorter long runs. It can make a text a quarter longer (runs of
//! exactly four).

pub mod decode;
pub mod derandomise;
pub mod encode;

pub use encode::encode;

use crate::formats::bzip2::header::MAX_RUN;

/// The bytes of a run in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The position of its first byte.
    pub start: u32,
    /// The number of its bytes.
    pub len: u32,
}

/// The number of bytes looked at together: one more than the number of comparisons.
pub(crate) const WINDOW: usize = 65;

/// Bit i tells whether byte i equals the next one.
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
    #[cfg(target_feature = "simd128")]
    #[allow(unsafe_code)]
    // SAFETY: the last load ends at byte 48 + 1 + 16 = 65, and the window has as many.
    unsafe {
        use std::arch::wasm32::*;
        [0, 16, 32, 48].iter().fold(0, |mask, &at| {
            let bytes = v128_load(window.as_ptr().add(at).cast());
            let next = v128_load(window.as_ptr().add(at + 1).cast());
            mask | u64::from(u8x16_bitmask(u8x16_eq(bytes, next))) << at
        })
    }
    #[cfg(not(any(target_arch = "x86_64", target_feature = "simd128")))]
    equal_to_next_portable(window)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
pub(crate) fn equal_to_next_portable(window: &[u8; WINDOW]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let word = |at: usize| window[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
    (0..64).step_by(8).fold(0, |mask, at| {
        let differ = word(at) ^ word(at + 1);
        // The top bit of each byte that equals the next one; the product gathers the eight bits.
        let equal = !(((differ & LOW) + LOW) | differ | LOW);
        mask | (equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 << at
    })
}

/// The position of the first four equal bytes at or after `from`.
///
/// Each step looks at 62 positions, with or without runs: a run begins where three bytes in a row equal the byte after
/// them. (A loop that first tested whether a window has any run was as fast on prose, but half as fast on a tar of
/// sources, where every other window has one.)
#[inline]
pub fn find_run(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let equal = equal_to_next(window);
        let runs = equal & equal >> 1 & equal >> 2;
        if runs != 0 {
            return Some(at + runs.trailing_zeros() as usize);
        }
        at += WINDOW - 3;
    }
    let rest = bytes.get(at..)?;
    rest.windows(4).position(|four| four.iter().all(|&byte| byte == four[0])).map(|position| at + position)
}

/// Appends the runs of four and more bytes that begin at or after `from`. Returns the position before which all of
/// them are listed: the start of a run that may go on after `bytes`, or a position in the last 64 bytes.
pub fn list_runs(bytes: &[u8], from: usize, runs: &mut Vec<Run>) -> usize {
    let mut at = from;
    while let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let equal = equal_to_next(window);
        let mut begin = equal & equal >> 1 & equal >> 2;
        let mut next = at + WINDOW - 3;
        while begin != 0 {
            let bit = begin.trailing_zeros();
            let last = bit + (equal >> bit).trailing_ones();
            let (start, mut end) = (at + bit as usize, at + last as usize + 1);
            if end == at + WINDOW {
                while end < bytes.len() && bytes[end] == bytes[start] {
                    end += run_len(&bytes[end..]);
                }
                if end == bytes.len() {
                    return start;
                }
                next = end;
            }
            runs.push(Run { start: start as u32, len: (end - start) as u32 });
            begin &= u64::MAX.checked_shl(last).unwrap_or(0);
        }
        at = next;
    }
    at
}

/// The length of the run at the start of `text`, at most 255.
pub fn run_len(text: &[u8]) -> usize {
    let text = &text[..text.len().min(MAX_RUN)];
    let pattern = u64::from_ne_bytes([text[0]; 8]);
    let words = text.chunks_exact(8).take_while(|word| **word == pattern.to_ne_bytes()).count();
    words * 8 + text[words * 8..].iter().take_while(|byte| **byte == text[0]).count()
}
