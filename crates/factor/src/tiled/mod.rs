//! Factorization as a GPU does it: the algorithm of the kernels, written plainly. The sequential algorithm is in
//! `neighbours` and `parse`; both give the same factors.
//!
//! | step | kernel | a thread |
//! |---|---|---|
//! | [`neighbours`] | `cuda/ansv.cu`: tiles of the suffix array, a tree of minima each; a tree over all | each suffix |
//! | [`longest`] | `cuda/longest.cu`: earlier occurrences in text order, from sparse positions to all | 128 positions |
//! | [`path`] | `cuda/path.cu`: which positions begin a factor: within pieces, groups of pieces, and all | each piece |
//!
//! No thread waits for another within a step; a step reads only the results of earlier steps. All steps take linear
//! work for any text: no thread repeats a long comparison that another thread has made (see [`longest`]).

pub mod longest;
pub mod neighbours;
pub mod path;

use super::Factor;

/// How the work is divided.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The number of suffixes in a tile, a power of two.
    pub tile: usize,
    /// The number of suffixes per leaf of the tree over all tiles; it divides `tile`.
    pub strip: usize,
    /// The number of children of a node of that tree; a warp examines them together.
    pub fan: usize,
    /// The number of positions that a thread handles one after the other.
    pub run: usize,
    /// The number of positions in a piece.
    pub piece: usize,
    /// The number of pieces in a group.
    pub group: usize,
}

impl Sizes {
    /// The sizes of the kernels.
    pub const KERNELS: Sizes = Sizes { tile: 2048, strip: 64, fan: 32, run: 128, piece: 4096, group: 64 };
}

/// All factors of a text, from its suffix array.
pub fn factors(text: &[u8], suffixes: &[i32], sizes: &Sizes) -> Vec<Factor> {
    let pairs = neighbours::by_rank(suffixes, sizes);
    let (all, _) = longest::longest(text, &ranks(suffixes), &pairs, sizes);
    path::factors(text, &all, sizes)
}

/// The rank of each position: the inverse of the suffix array. A GPU's sort leaves it in memory.
pub fn ranks(suffixes: &[i32]) -> Vec<u32> {
    let mut ranks = vec![0; suffixes.len()];
    suffixes.iter().enumerate().for_each(|(rank, &suffix)| ranks[suffix as usize] = rank as u32);
    ranks
}
