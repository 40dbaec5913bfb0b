//! Puts coded blocks together into one `.bz2` stream: header, blocks bit by bit behind each other, end with the
//! combined CRC.

use super::split::IssuedBlock;
use crate::bits::{BitWriter, append_bits};
use crate::block::Text;
use crate::crc;
use crate::error::Error;
use crate::format::bzip2;
use crate::format::bzip2::{END_BITS, HEADER_BITS, Level};
use crate::stream::piece::{Issued, Join, Step};
use crate::stream::verify::take;
use crate::summary::{BlockInfo, Mark, StreamInfo, StreamSummary};
use std::collections::VecDeque;

/// Joins coded blocks.
pub(crate) struct Assembler {
    bits: BitWriter,
    level: Level,
    pieces: VecDeque<Issued<IssuedBlock>>,
    summary: StreamSummary,
    /// Bits written so far.
    at: u64,
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
        Assembler { bits, level, pieces: VecDeque::new(), summary, at: HEADER_BITS, ended: false, closed: false }
    }

    /// All bytes that are whole; the bits after them stay.
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
            bzip2::write_stream_end(&mut self.bits, self.summary.combined_crc);
            self.bits.align();
            self.closed = true;
            let info = StreamInfo {
                number: 1,
                level: Some(self.level),
                bit_offset: self.at,
                end: (self.at + END_BITS).div_ceil(8),
                combined_crc: self.summary.combined_crc,
            };
            return Ok(Step::Out(self.whole_bytes(), Some(Mark::Stream(info))));
        };
        let number = self.summary.blocks + 1;
        let lines = front.piece.lines;
        let Some(made) = take(&front.piece.ticket, wait, number)? else { return Ok(Step::Pending) };
        let block = made.coded;
        self.summary.verified_blocks += u64::from(made.verified);
        self.summary.recoded_blocks += u64::from(made.recoded);
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
            bit_offset: self.at,
            stream: 1,
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
