//! Bit strings, most significant bit first, with no regard for bytes: the form of everything in a bzip2 block.

pub mod reader;

pub use reader::{BitSource, SliceBits};
