//! The coding of one block, in both directions: pure functions of bytes, without threads, files or CUDA.
//!
//! The modules are the steps of bzip2's block coding. Compression goes down this list, decompression goes up:
//!
//! | step | module |
//! |---|---|
//! | run-length coding of runs of 4 to 255 | `run_length` |
//! | Burrows-Wheeler transform over cyclic rotations | `bwt` (`rotation`: the least rotation and the period) |
//! | move-to-front and zero runs | `mtf` |
//! | the choice of a table for each group of 50 symbols (a decoder finds it in the `header`) | `selector` |
//! | code lengths and codes | `huffman` |
//!
//! `verify` decodes a coded block and compares it with its text.
//!
//! [`Encoder`] and [`Decoder`] own the memory that the steps work in, so that a block needs no allocation of megabytes.
//! A station keeps one of each for its whole life.

pub mod bwt;
pub mod decoder;
pub mod encoder;
pub mod find_magic;
pub mod header;
pub mod huffman;
pub mod mismatch;
pub mod mtf;
pub(crate) mod perturb;
mod reference;
pub mod run_length;
pub mod selector;
mod verify;

pub use decoder::Decoder;
pub use encoder::Encoder;
pub use verify::{Proof, verify_head};

use std::collections::TryReserveError;

/// Makes `memory` at least `len` elements long.
fn try_resize<T: Clone + Default>(memory: &mut Vec<T>, len: usize) -> Result<(), TryReserveError> {
    let missing = len.saturating_sub(memory.len());
    if missing > 0 {
        memory.try_reserve_exact(missing)?;
        memory.resize(len, T::default());
    }
    Ok(())
}
