//! Assembles coded blocks into a `.bz2` stream: the header, the blocks bit by bit after each other, and the end with
//! the combined CRC. A block that begins another stream is preceded by the end of the one before it and a new header.

use super::split::IssuedBlock;
use crate::bits::{BitWriter, append_bits};
use crate::block::Text;
use crate::crc;
use crate::error::Error;
use crate::formats::bzip2::header;
use crate::formats::bzip2::header::{END_BITS, HEADER_BITS, Level};
use crate::stream::piece::{Issued, Join, Step};
use crate::summary::{BlockInfo, Mark, StreamFormat, StreamInfo, StreamSummary};
use std::collections::VecDeque;

/// Joins coded blocks.
pub(crate) struct Assembler {
    bits: BitWriter,
    level: Level,
    pieces: VecDeque<Issued<IssuedBlock>>,
    summary: StreamSummary,
    /// The number of bits written so far.
    at: u64,
    /// Whether the open stream has a block.
    has_block: bool,
    /// All pieces have come.
    ended: bool,
    /// The end of the stream is written.
    closed: bool,
}

impl Assembler {
    pub fn new(level: Level) -> Self {
        let (bits, pieces) = Default::default();
        let summary = StreamSummary { block_size: level.block_limit(), ..StreamSummary::default() };
        let mut assembler =
            Assembler { bits, level, pieces, summary, at: 0, has_block: false, ended: false, closed: false };
        assembler.begin_stream();
        assembler
    }

    fn begin_stream(&mut self) {
        header::write_stream_header(&mut self.bits, self.level);
        self.at += HEADER_BITS;
        self.summary.streams += 1;
        self.summary.combined_crc = 0;
        self.has_block = false;
    }

    fn end_stream(&mut self) -> StreamInfo {
        header::write_stream_end(&mut self.bits, self.summary.combined_crc);
        self.bits.align();
        let end = (self.at + END_BITS).div_ceil(8);
        let info = StreamInfo {
            number: self.summary.streams,
            format: StreamFormat::Bzip2,
            level: Some(self.level),
            bit_offset: self.at,
            end,
            combined_crc: self.summary.combined_crc,
        };
        self.at = end * 8;
        info
    }

    /// Removes and returns all whole bytes; the bits after them stay.
    fn whole_bytes(&mut self) -> Text {
        let bytes = self.bits.whole_bytes().to_vec();
        self.bits.forget_whole_bytes();
        Text::Plain(bytes)
    }
}

impl Join for Assembler {
    type Issued = IssuedBlock;

    fn add(&mut self, piece: Issued<IssuedBlock>) {
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
            self.closed = true;
            let info = self.end_stream();
            return Ok(Step::Out(self.whole_bytes(), Some(Mark::Stream(info))));
        };
        if front.piece.begins_stream && self.has_block {
            let info = self.end_stream();
            let bytes = self.whole_bytes();
            self.begin_stream();
            return Ok(Step::Out(bytes, Some(Mark::Stream(info))));
        }
        let number = self.summary.blocks + 1;
        let lines = front.piece.lines;
        let Some(made) = front.piece.ticket.take(wait, number)? else { return Ok(Step::Pending) };
        let block = made.output;
        self.summary.verified_blocks += u64::from(made.verified);
        self.summary.recoded_blocks += u64::from(made.retried);
        append_bits(&mut self.bits, &block.bytes, block.bit_len);
        self.pieces.pop_front();
        self.has_block = true;
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
            bit_offset: self.at,
            stream: self.summary.streams,
            level: Some(self.level),
            lines,
        };
        self.at += block.bit_len;
        Ok(Step::Out(self.whole_bytes(), Some(Mark::Block(info))))
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
