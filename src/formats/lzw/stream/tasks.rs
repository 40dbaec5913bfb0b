//! The task of `.Z` streams: codes to be decoded.

use crate::error::Error;
use crate::formats::lzw::ChunkDecoder;
use hybz_queue::{Class, Core, Task};
use std::cell::Cell;

/// Codes to be decoded.
pub const DECODE_LZW: Class = Class::new("decode .Z", 20e6);

/// Decode codes of a `.Z` stream. A core takes the decoder out of the task, and gives it back with the text.
pub struct DecodeLzw(Cell<Option<Box<ChunkDecoder>>>);

impl DecodeLzw {
    pub(super) fn new(decoder: Box<ChunkDecoder>) -> DecodeLzw {
        DecodeLzw(Cell::new(Some(decoder)))
    }
}

impl Task for DecodeLzw {
    /// The decoder, some text, and the error after it; `None` if a core failed while it had the decoder.
    type Output = Option<(Box<ChunkDecoder>, Vec<u8>, Result<(), Error>)>;

    fn run(&self, _: &mut Core) -> Self::Output {
        let mut decoder = self.0.take()?;
        let (text, decoded) = decoder.decode();
        Some((decoder, text, decoded))
    }

    fn bytes_out(output: &Self::Output) -> u64 {
        output.as_ref().map_or(0, |(_, text, _)| text.len() as u64)
    }
}
