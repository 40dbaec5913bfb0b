//! Coding with threads against bzip2's library, in `HYBZ_LIBBZ2_CALLS` calls: the same bytes, and flushes that end at
//! the same places. Call by call it is not the same: the bytes of a full block come in a later call.

use super::{Coding, text};
use crate::library::{Library, ours, theirs};
use hybz_testkit::shapes::Rng;
use hybz_testkit::skip::{Need, skip_named};
use std::ffi::c_int;

/// Codes a text as `seed` says: the bytes, where flushes ended, and how many calls that took.
fn code(library: &Library, text: &[u8], seed: u64) -> (Vec<u8>, Vec<usize>, usize) {
    let (mut plan, mut rooms) = (Rng(seed), Rng(seed + 1));
    let level = 1 + plan.below(3) as c_int;
    let pieces: &[usize] = [&[1, 20, 300, 1000][..], &[0, 8192, 7, 100_000]][plan.below(2)];
    let flushes_of = [12, 3000][plan.below(2)];
    let mut coding = Coding::new(library, text, level);
    let flushes = coding.pieces(pieces, flushes_of, &mut plan, &mut rooms);
    coding.finish(2, 0, &mut rooms);
    (std::mem::take(&mut coding.out), flushes, coding.calls)
}

/// As many calls as the variable says.
pub fn coding() {
    let Some(theirs) = theirs() else {
        return skip_named(Need::Peers, "threads::coding_campaign", "the system has no libbz2.so.1.0");
    };
    let ours = ours();
    let mut left: usize = std::env::var("HYBZ_LIBBZ2_CALLS").map_or(5_000, |calls| calls.parse().unwrap());
    let seed: u64 = std::env::var("HYBZ_LIBBZ2_SEED").map_or(0, |seed| seed.parse().unwrap());
    let mut rng = Rng(30 + (seed << 8));
    for case in 0.. {
        let len = [1_000, 250_000, 400_000, 1_000_000][rng.below(4)];
        let text = text(&mut rng, len);
        let plan = rng.below(1 << 30) as u64;
        let (made, flushes, calls) = code(&ours, &text, plan);
        let (wanted, wanted_flushes, _) = code(&theirs, &text, plan);
        assert_eq!(flushes, wanted_flushes, "case {case}, plan {plan}, {len} bytes: where flushes ended");
        assert!(made == wanted, "case {case}, plan {plan}, {len} bytes: bytes");
        if left <= calls {
            return println!("{} cases", case + 1);
        }
        left -= calls;
    }
}
