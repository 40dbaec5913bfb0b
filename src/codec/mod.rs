//! One block, in both directions: pure functions of bytes, with no threads, no files and no CUDA.
//!
//! One file per step of bzip2's block coding, both directions in it. Compressing a block goes down this list,
//! decompressing goes up:
//!
//! | step | file |
//! |---|---|
//! | run-length coding of runs of 4 to 255 | `run_length` |
//! | Burrows-Wheeler transform over cyclic rotations | `bwt` (`rotation`: the least rotation and the period) |
//! | move-to-front and zero runs | `mtf` |
//! | code lengths and codes | `huffman` |
//! | which table codes which group of 50 | `selector` |
//!
//! [`Encoder`] and `Decoder` own the memory that the steps work in, so that no block allocates megabytes: a station
//! keeps one of each for its whole life.

pub mod bwt;
pub mod decoder;
pub mod encoder;
pub mod find_magic;
pub mod hbz;
pub mod header;
pub mod huffman;
pub(crate) mod huge_pages;
pub mod mtf;
mod reference;
pub mod run_length;
pub mod selector;

pub use decoder::Decoder;
pub use encoder::Encoder;
