//! Bit strings. The first bit is the most significant bit of the first byte; a block can begin at any bit of a stream.

pub mod backwards;
pub mod reader;
pub mod writer;

pub use backwards::BackWriter;
pub use reader::{BitSource, SliceBits};
pub use writer::{BitWriter, append_bits, append_bits_from};
