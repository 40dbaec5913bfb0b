//! All nearest smaller values of a suffix array: for each suffix, the nearest suffixes before and after it in sorted
//! order that begin earlier in the text.

use super::Error;
use super::suffixes::zeros;

/// Marks a missing neighbour.
pub const NONE: i32 = -1;

/// The positions of the two neighbours, the smaller and the larger suffix, or [`NONE`]. Stored together, they take one
/// memory access.
pub type Pair = [i32; 2];

/// The neighbours of each position of the text. The suffix array itself serves as the stack.
pub fn by_position(mut suffixes: Vec<i32>) -> Result<Vec<Pair>, Error> {
    // Each position is pushed once, and its pair is written when it is popped.
    let mut pairs = zeros([0; 2], suffixes.len())?;
    // The stack: positions that increase from bottom to top. Its top is `last`, the rest is suffixes[..height]. At the
    // bottom is NONE, which is smaller than all positions.
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
