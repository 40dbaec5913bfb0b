//! Assembles coded blocks into a `.bz2` stream: the header, the blocks one after another, bit by bit, and the end with
//! the combined CRC. A block that begins another stream is preceded by the end of the one before it and a new header.

use super::split::IssuedBlock;
use crate::bits::{BitWriter, append_bits};
use crate::block::Text;
use crate::codec::perturb::text_len;
use crate::error::Error;
use crate::formats::bzip2::header::{self, HEADER_BITS, Level};
use crate::formats::bzip2::perturbed::write_mark;
use crate::stream::piece::{Join, Pieces, Step};
use crate::summary::{BlockInfo, Mark, StreamInfo, StreamSummary};
use std::num::NonZeroU32;

/// Joins coded blocks.
pub(crate) struct Assembler {
    bits: BitWriter,
    level: Level,
    summary: StreamSummary,
    /// The number of bits written so far.
    at: u64,
    /// The number of bytes of text so far, inserted ones included.
    text: u64,
    /// The interval of perturbation.
    interval: Option<NonZeroU32>,
    /// Whether the open stream has a block.
    has_block: bool,
    /// The end of the stream is written.
    closed: bool,
}

impl Assembler {
    /// If the text is perturbed with an `interval`, the mark comes first.
    pub fn new(level: Level, interval: Option<NonZeroU32>) -> Self {
        let mut bits = BitWriter::default();
        let (streams, at) = interval.map_or((0, 0), |interval| write_mark(&mut bits, interval));
        let summary = StreamSummary { block_size: level.block_limit(), streams, ..StreamSummary::default() };
        let mut assembler = Assembler { bits, level, summary, at, text: 0, interval, has_block: false, closed: false };
        assembler.begin_stream();
        assembler
    }

    /// The number of bytes of text so far, without inserted ones.
    fn original(&self) -> u64 {
        self.interval.map_or(self.text, |interval| text_len(self.text, interval.get()))
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
        let StreamSummary { streams, combined_crc, .. } = self.summary;
        let info = StreamInfo::bzip2(streams, Some(self.level), self.at, combined_crc);
        self.at = info.end * 8;
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

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error> {
        let Some(front) = pieces.held.front() else {
            if !pieces.ended {
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
        let lines = front.piece.lines;
        let Some(block) = front.piece.ticket.take(wait, &mut self.summary)? else { return Ok(Step::Pending) };
        append_bits(&mut self.bits, &block.bytes, block.bit_len);
        pieces.held.pop_front();
        self.has_block = true;
        self.text += block.text_len;
        let original = self.original();
        let before = std::mem::replace(&mut self.summary.bytes_in, original);
        let info = self.summary.block(block.crc, original - before, self.at);
        let info = BlockInfo { block_len: block.block_len, level: Some(self.level), lines, ..info };
        self.at += block.bit_len;
        Ok(Step::Out(self.whole_bytes(), Some(Mark::Block(info))))
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
