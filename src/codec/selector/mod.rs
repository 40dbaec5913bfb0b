//! The Huffman tables of a block, and the choice of a table for each group of 50 symbols.

pub mod encode;
