//! A stream that is decoded chunk by chunk, with a bound on the text made at once.

use super::stream_decoder::StreamDecoder;
use crate::error::Error;

/// Bytes of a stream.
#[derive(Debug)]
pub struct Chunk {
    pub bytes: Vec<u8>,
    /// No chunks follow.
    pub last: bool,
    /// The bytes of text to make before the consumer takes some.
    pub max_text: usize,
}

/// A decoder, its input so far, and that input's position in the stream.
#[derive(Debug, Default)]
pub struct ChunkDecoder {
    decoder: StreamDecoder,
    bytes: Vec<u8>,
    /// The number of decoded bytes in `bytes`.
    taken: usize,
    /// The offset of the first of `bytes` in the stream.
    at: u64,
    last: bool,
    max_text: usize,
}

impl ChunkDecoder {
    /// The bytes that are not decoded yet.
    pub fn left(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Adds a chunk.
    pub fn add(&mut self, chunk: Chunk) {
        let Chunk { bytes, last, max_text } = chunk;
        self.at += self.taken as u64;
        if self.left().is_empty() {
            self.bytes = bytes;
        } else {
            self.bytes.drain(..self.taken);
            self.bytes.extend_from_slice(&bytes);
        }
        (self.taken, self.last, self.max_text) = (0, last, max_text);
    }

    /// Whether no more chunks follow.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// Whether a text of this length has reached the bound.
    pub fn is_paused(&self, text_len: usize) -> bool {
        text_len >= self.max_text
    }

    /// Decodes all bytes, or up to the bound on text.
    pub fn decode(&mut self) -> (Vec<u8>, Result<(), Error>) {
        let mut text = Vec::new();
        let at = self.at + self.taken as u64;
        let decoded = self.decoder.decode(&self.bytes[self.taken..], at, self.last, &mut text, self.max_text);
        (text, decoded.map(|taken| self.taken += taken))
    }
}
