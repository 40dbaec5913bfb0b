//! Huffman codes: their lengths, and what codes follow from these.

pub mod decode;
pub mod encode;
