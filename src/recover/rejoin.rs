//! Makes a valid `.bz2` from the good blocks of a damaged one.

use super::Block;
use crate::bits::BitWriter;
use crate::crc;
use crate::error::Error;
use crate::formats::bzip2::header::{Level, write_stream_end, write_stream_header};
use std::io::Write;

/// Writes blocks as one stream, with the bits they have in the damaged file. The stream is of level 9, which admits
/// blocks of all levels.
pub struct Rejoiner<W> {
    out: W,
    bits: BitWriter,
    combined_crc: u32,
}

impl<W: Write> Rejoiner<W> {
    /// A stream without blocks.
    pub fn new(out: W) -> Self {
        let mut bits = BitWriter::new();
        write_stream_header(&mut bits, Level::BEST);
        Rejoiner { out, bits, combined_crc: 0 }
    }

    /// Appends a block.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn push(&mut self, block: &Block) -> Result<(), Error> {
        block.append_to(&mut self.bits);
        self.combined_crc = crc::combine(self.combined_crc, block.crc);
        self.out.write_all(self.bits.whole_bytes()).map_err(Error::Write)?;
        self.bits.forget_whole_bytes();
        Ok(())
    }

    /// Writes the end of the stream. Returns the writer.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(mut self) -> Result<W, Error> {
        write_stream_end(&mut self.bits, self.combined_crc);
        self.out.write_all(&self.bits.finish()).map_err(Error::Write)?;
        Ok(self.out)
    }
}
