//! Encodes a `.bz2` stream in the calling thread.

use crate::bits::{BitWriter, append_bits};
use crate::codec;
use crate::crc;
use crate::formats::bzip2::header::{Level, write_stream_end, write_stream_header};
use crate::formats::bzip2::stream::split::{BlockOptions, Splitter};
use crate::stream::piece::{Cut, Input};

/// Encodes one `.bz2` stream: bzip2's exact bytes at its level.
///
/// It takes up to 23 bytes for each byte of a block: 22 MB at level 9. Text that was pushed is kept until
/// [`coded`](Self::coded) has coded it.
pub struct Encoder {
    splitter: Splitter,
    codec: codec::Encoder,
    bits: BitWriter,
    combined_crc: u32,
    /// Whether the whole bytes of `bits` have been handed out.
    taken: bool,
    ended: bool,
    closed: bool,
}

impl Encoder {
    /// An encoder of this level.
    pub fn new(level: Level) -> Encoder {
        let mut bits = BitWriter::new();
        write_stream_header(&mut bits, level);
        Encoder {
            splitter: Splitter::new(level, BlockOptions::default()),
            codec: codec::Encoder::new(),
            bits,
            combined_crc: 0,
            taken: false,
            ended: false,
            closed: false,
        }
    }

    /// Adds text. Text added after [`finish`](Self::finish) is ignored.
    pub fn push(&mut self, mut text: &[u8]) {
        while !text.is_empty() && !self.ended {
            text = self.splitter.fill(text);
        }
    }

    /// Records that the text is complete.
    pub fn finish(&mut self) {
        if !self.ended {
            self.splitter.finish();
            self.ended = true;
        }
    }

    /// Codes the next whole block, or ends the stream. Returns the next bytes of the stream; `None` if all text so far
    /// has been coded except the open block, or if the stream is complete.
    pub fn coded(&mut self) -> Option<&[u8]> {
        let piece = self.splitter.next_piece();
        if piece.is_none() && (!self.ended || self.closed) {
            return None;
        }
        if std::mem::replace(&mut self.taken, true) {
            self.bits.forget_whole_bytes();
        }
        match piece {
            Some(piece) => {
                let block = self.codec.encode(&piece.text);
                append_bits(&mut self.bits, &block.bytes, block.bit_len);
                self.combined_crc = crc::combine(self.combined_crc, block.crc);
            }
            None => {
                write_stream_end(&mut self.bits, self.combined_crc);
                self.bits.align();
                self.closed = true;
            }
        }
        Some(self.bits.whole_bytes())
    }
}
