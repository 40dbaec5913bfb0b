//! bzip2's first step: a run of 4 to 255 equal bytes becomes four of them and a byte that counts the rest.
//!
//! Runs are cut every 255 bytes, counted from the start of the run, so the coded form of a text does not depend on
//! where blocks end. The step was meant to spare the sorter long runs. It can make a text a quarter longer (runs of
//! exactly four).

pub mod decode;
pub mod derandomise;
pub mod encode;
pub mod form;
mod masks;

pub use encode::encode;
pub(crate) use masks::{WINDOW, equal_to_next};

use crate::formats::bzip2::header::MAX_RUN;

/// The bytes of a run in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The position of its first byte.
    pub start: u32,
    /// The number of its bytes.
    pub len: u32,
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
