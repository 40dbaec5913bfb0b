//! Bit strings, the first bit in the top of the first byte. Blocks follow each other in a stream at any bit.

pub mod backwards;
pub mod reader;
pub mod writer;

pub use backwards::BackWriter;
pub use reader::{BitSource, SliceBits};
pub use writer::{BitWriter, append_bits};
