//! bzip2's block sort with blocks of any size, in the twin that hybz has of it for periodic blocks.
//!
//! The thesis's "CPU BWC" is bzip2 with larger blocks. Its program cannot be had; these modules make the same
//! comparisons and moves.

use crate::suffixes::{self, Scheme};
use std::time::{Duration, Instant};

// The modules are private in hybz, which needs them only where rotations tie.
#[path = "../../../src/codec/bwt/main_sort.rs"]
mod main_sort;
#[path = "../../../src/codec/bwt/partition.rs"]
mod partition;

/// The time of the sort of a block, and whether the main sort gave up. Then the time includes that of a sort by
/// doubling, which stands for bzip2's second one.
pub fn time(block: &[u8]) -> (Duration, bool) {
    let start = Instant::now();
    // Shorter blocks go straight to the second sort, as in bzip2. "Twice" is a formality: with a block that does not
    // repeat a word, no rotations tie.
    let gives_up = block.len() < 10_000 || main_sort::origin(block, 2).is_none();
    if gives_up {
        suffixes::sort(block, (0..block.len() as u32).collect(), Scheme::Ranks, Duration::MAX);
    }
    (start.elapsed(), gives_up)
}
