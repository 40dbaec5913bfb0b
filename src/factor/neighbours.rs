//! All nearest smaller values of a suffix array: of each suffix the nearest ones before and behind it, in sorted order,
//! that begin earlier in the text.

use super::suffixes::zeros;
use crate::Error;

/// What a position has that lacks a neighbour.
pub const NONE: i32 = -1;

/// Where a position's two neighbours begin, the smaller and the larger suffix, or [`NONE`]. Together they are one
/// access to memory.
pub type Pair = [i32; 2];

/// The neighbours of each position of the text. The suffixes' own array is the stack.
pub fn by_position(mut suffixes: Vec<i32>) -> Result<Vec<Pair>, Error> {
    // Each position is on the stack once, and written when it leaves it.
    let mut pairs = zeros([0; 2], suffixes.len())?;
    // The stack: positions that rise from bottom to top. Its top is `last`, the others are suffixes[..height]. Below
    // all is NONE, which is smaller than all.
    let (mut last, mut height) = (NONE, 0);
    for row in 0..suffixes.len() {
        let here = suffixes[row];
        while last > here {
            height -= 1;
            let below = suffixes[height];
            pairs[last as usize] = [below, here];
            last = below;
        }
        suffixes[height] = last;
        height += 1;
        last = here;
    }
    while last > NONE {
        height -= 1;
        let below = suffixes[height];
        pairs[last as usize] = [below, NONE];
        last = below;
    }
    Ok(pairs)
}
