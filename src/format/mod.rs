//! What is on disk: the magics, headers and limits of the formats. Every limit is defined here and nowhere else, but
//! those of the index of LZ4 frames (`lz4/index.rs`).

pub mod bzi;
pub mod bzip2;
pub mod hbz;
pub mod lz4;
pub mod lzw;
