//! Puts coded blocks together into one `.bz2` stream: header, blocks bit by bit behind each other, end with the
//! combined CRC.

use crate::bits::{BitWriter, append_bits};
use crate::block::{CodedBlock, Text};
use crate::crc;
use crate::error::Error;
use crate::format::bzip2;
use crate::format::bzip2::Level;
use crate::schedule::Ticket;
use crate::stream::piece::{Issued, Join, Step};
use crate::summary::{BlockInfo, StreamSummary};
use std::collections::VecDeque;

/// Joins coded blocks.
pub(crate) struct Assembler {
    bits: BitWriter,
    pieces: VecDeque<Issued<Ticket<CodedBlock>>>,
    summary: StreamSummary,
    /// All pieces are there.
    ended: bool,
    /// The end of the stream is written.
    closed: bool,
}

impl Assembler {
    pub fn new(level: Level) -> Self {
        let mut bits = BitWriter::new();
        bzip2::write_stream_header(&mut bits, level);
        let summary = StreamSummary { streams: 1, block_size: level.block_limit(), ..StreamSummary::default() };
        Assembler { bits, pieces: VecDeque::new(), summary, ended: false, closed: false }
    }

    /// All bytes that are whole; the bits after them stay.
    fn whole_bytes(&mut self) -> Text {
        let bytes = self.bits.whole_bytes().to_vec();
        self.bits.forget_whole_bytes();
        Text::Plain(bytes)
    }
}

impl Join for Assembler {
    type Issued = Ticket<CodedBlock>;

    fn add(&mut self, piece: Issued<Ticket<CodedBlock>>) {
        self.pieces.push_back(piece);
    }

    fn finish(&mut self) {
        self.ended = true;
    }

    fn step(&mut self, wait: bool) -> Result<Step, Error> {
        let Some(front) = self.pieces.front() else {
            if !self.ended {
                return Ok(Step::Need);
            }
            if self.closed {
                return Ok(Step::Done);
            }
            bzip2::write_stream_end(&mut self.bits, self.summary.combined_crc);
            self.bits.align();
            self.closed = true;
            return Ok(Step::Out(self.whole_bytes(), None));
        };
        let number = self.summary.blocks + 1;
        let block = match front.piece.take(wait) {
            None => return Ok(Step::Pending),
            Some(Ok(block)) => block,
            Some(Err(error)) => return Err(Error::Internal { block: number, reason: error.0 }),
        };
        append_bits(&mut self.bits, &block.bytes, block.bit_len);
        self.pieces.pop_front();
        self.summary.blocks = number;
        self.summary.bytes_in += block.text_len;
        self.summary.combined_crc = crc::combine(self.summary.combined_crc, block.crc);
        let info = BlockInfo {
            number,
            crc: block.crc,
            combined_crc: self.summary.combined_crc,
            text_len: block.text_len,
            block_len: block.block_len,
            bytes_in: self.summary.bytes_in,
        };
        Ok(Step::Out(self.whole_bytes(), Some(info)))
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
