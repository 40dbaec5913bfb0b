//! Huffman codes: the choice of their lengths, and the codes that follow from the lengths.

pub mod decode;
pub mod encode;
