//! Finds the positions that begin a factor: the path from position 0, where each position leads to the end of its
//! factor.
//!
//! In shared memory, a piece's threads compute, from the piece's end to its beginning, where the path from each of its
//! positions leaves the piece. The same is done for groups of pieces. The path from 0 then takes one step for each
//! group; after that, in all groups at the same time, one step for each piece; and finally all pieces mark their
//! positions on the path at the same time.

use super::Sizes;
use super::longest::Earlier;
use crate::Factor;

/// A position that a path does not reach.
const UNREACHED: u32 = u32::MAX;

/// The factors of a text, given the longest earlier occurrence of each position.
pub fn factors(text: &[u8], earlier: &[Earlier], sizes: &Sizes) -> Vec<Factor> {
    let marked = marks(earlier, sizes);
    let factor = |(at, _): (usize, &bool)| match earlier[at] {
        Earlier { len: 0, .. } => Factor::Letter(text[at]),
        Earlier { source, len } => Factor::Copy { source, len },
    };
    marked.iter().enumerate().filter(|(_, marked)| **marked).map(factor).collect()
}

/// Whether a factor begins at each position.
pub fn marks(earlier: &[Earlier], sizes: &Sizes) -> Vec<bool> {
    let len = earlier.len();
    let next = |at: usize| at + earlier[at].len.max(1) as usize;
    let (piece, group) = (sizes.piece, sizes.piece * sizes.group);

    // A block of threads for each piece finds the first position on the path after the piece.
    let mut after_piece = vec![0u32; len];
    for (number, exits) in after_piece.chunks_mut(piece).enumerate() {
        let (begin, end) = (number * piece, number * piece + exits.len());
        for at in (begin..end).rev() {
            let next = next(at);
            exits[at - begin] = if next < end { exits[next - begin] } else { next as u32 };
        }
    }
    // A block of threads for each group handles its pieces from last to first, and all positions of a piece at the
    // same time.
    let mut after_group = after_piece.clone();
    for (number, exits) in after_group.chunks_mut(group).enumerate() {
        let (begin, end) = (number * group, number * group + exits.len());
        for first in (0..exits.len()).step_by(piece).rev() {
            for at in first..exits.len().min(first + piece) {
                let next = exits[at] as usize;
                exits[at] = if next < end { exits[next - begin] } else { next as u32 };
            }
        }
    }
    // One thread finds where the path enters each group.
    let mut enters_group = vec![UNREACHED; len.div_ceil(group)];
    let mut at = 0;
    while at < len {
        enters_group[at / group] = at as u32;
        at = after_group[at] as usize;
    }
    // A thread for each group finds where the path enters each of its pieces.
    let mut enters_piece = vec![UNREACHED; len.div_ceil(piece)];
    for (number, &enters) in enters_group.iter().enumerate().filter(|(_, enters)| **enters != UNREACHED) {
        let (mut at, end) = (enters as usize, len.min((number + 1) * group));
        while at < end {
            enters_piece[at / piece] = at as u32;
            at = after_piece[at] as usize;
        }
    }
    // A thread for each piece finds the positions on the path.
    let mut marked = vec![false; len];
    for (number, &enters) in enters_piece.iter().enumerate().filter(|(_, enters)| **enters != UNREACHED) {
        let (mut at, end) = (enters as usize, len.min((number + 1) * piece));
        while at < end {
            marked[at] = true;
            at = next(at);
        }
    }
    marked
}
