//! Makes a valid `.bz2` from the good blocks of a damaged one.

use super::Block;
use crate::error::Error;
use crate::formats::bzip2::header::Level;
use crate::shard::Joiner;
use std::io::Write;

/// Writes blocks as one stream, with the bits they have in the damaged file. The stream is of level 9, which admits
/// blocks of all levels.
pub struct Rejoiner<W>(Joiner<W>);

impl<W: Write> Rejoiner<W> {
    /// A stream without blocks.
    pub fn new(out: W) -> Self {
        Rejoiner(Joiner::new(Level::BEST, out))
    }

    /// Appends a block.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn push(&mut self, block: &Block) -> Result<(), Error> {
        self.0.block(block.crc, |bits| block.append_to(bits))
    }

    /// Writes the end of the stream. Returns the writer.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(self) -> Result<W, Error> {
        self.0.finish().map(|(out, _)| out)
    }
}
