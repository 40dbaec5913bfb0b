//! bzip2's first step: a run of 4 to 255 equal bytes becomes four of them and a byte that counts the rest.
//!
//! Runs are cut every 255 bytes, counted from where the run begins, so what a text becomes does not depend on where
//! blocks end. It was meant to spare the sorter long runs; it can make a text a quarter longer (runs of exactly four).

pub mod decode;
pub mod derandomise;
pub mod encode;

pub use encode::encode;

/// Positions looked at together when searching for runs.
const STRETCH: usize = 32;

/// Where the first run of four equal bytes begins, at or after `from`.
///
/// Nearly all text has nearly no such runs, so the fast part is to see that there are none: 32 positions at once, each compared
/// with the next three, in a form that the compiler turns into vector code on any target.
#[inline]
pub fn find_run(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(window) = bytes.get(at..at + STRETCH + 3) {
        let mut runs = 0u8;
        for i in 0..STRETCH {
            runs |= u8::from(window[i] == window[i + 1])
                & u8::from(window[i + 1] == window[i + 2])
                & u8::from(window[i + 2] == window[i + 3]);
        }
        if runs != 0 {
            break;
        }
        at += STRETCH;
    }
    bytes.get(at..)?.windows(4).position(|four| four == [four[0]; 4]).map(|i| at + i)
}
