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
/// Nearly all text has nearly no such runs, so the fast part is to see that there are none: 32 positions at once, each
/// compared with the next three, in a form that the compiler turns into vector code on any target. What is not clean is
/// gone through pair by pair.
#[inline]
pub fn find_run(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        while bytes.get(at..at + STRETCH + 3).is_some_and(is_clean) {
            at += STRETCH;
        }
        let stop = at + STRETCH;
        while at < stop {
            let four = bytes.get(at..at + 4)?;
            // A pair that differs rules out all runs of four that would hold it: so the last pair first.
            at += if four[3] != four[2] {
                3
            } else if four[2] != four[1] {
                2
            } else if four[1] != four[0] {
                1
            } else {
                return Some(at);
            };
        }
    }
}

/// Whether no run of four begins in this window but in its last three bytes.
#[inline]
fn is_clean(window: &[u8]) -> bool {
    let mut runs = 0u8;
    for i in 0..STRETCH {
        runs |= u8::from(window[i] == window[i + 1])
            & u8::from(window[i + 1] == window[i + 2])
            & u8::from(window[i + 2] == window[i + 3]);
    }
    runs == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{Rng, SHAPES};

    #[test]
    fn finds_what_plain_search_finds() {
        let plainly = |text: &[u8], from: usize| (from..text.len()).find(|&at| text[at..].starts_with(&[text[at]; 4]));
        let mut rng = Rng(14);
        for shape in SHAPES {
            let text = (shape.make)(500);
            for from in (0..=510).step_by(7) {
                assert_eq!(find_run(&text, from), plainly(&text, from), "{}, from {from}", shape.name);
            }
        }
        for _ in 0..5000 {
            let text: Vec<u8> = (0..rng.below(120)).map(|_| rng.below(3) as u8).collect();
            let from = rng.below(50);
            assert_eq!(find_run(&text, from), plainly(&text, from), "{text:?} from {from}");
        }
    }
}
