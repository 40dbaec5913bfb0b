//! Assembles coded blocks into a `.hbz` stream: header, blocks, index.

use crate::block::Text;
use crate::crc;
use crate::error::Error;
use crate::formats::hbz::header::BlockHeader;
use crate::formats::hbz::header::{HEADER_LEN, IndexEntry, StreamHeader, write_index};
use crate::stream::piece::{Join, Pieces, Step};
use crate::stream::verify::CodedTicket;
use crate::summary::{BlockInfo, Mark, StreamFormat, StreamInfo, StreamSummary};

/// A block that has been issued.
type Coded = CodedTicket<(BlockHeader, Vec<u8>)>;

/// Joins coded blocks.
pub(crate) struct Assembler {
    stream: StreamHeader,
    index: Vec<IndexEntry>,
    summary: StreamSummary,
    /// The number of bytes written.
    at: u64,
    begun: bool,
    /// The index is written.
    closed: bool,
}

impl Assembler {
    pub fn new(stream: StreamHeader) -> Self {
        let summary = StreamSummary { streams: 1, block_size: stream.block_size, ..StreamSummary::default() };
        Assembler { stream, index: Vec::new(), summary, at: HEADER_LEN as u64, begun: false, closed: false }
    }
}

impl Join for Assembler {
    type Issued = Coded;

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error> {
        if !self.begun {
            self.begun = true;
            return Ok(Step::Out(Text::Plain(self.stream.write().to_vec()), None));
        }
        let Some(piece) = pieces.held.front() else {
            if !pieces.ended {
                return Ok(Step::Need);
            }
            if self.closed {
                return Ok(Step::Done);
            }
            self.closed = true;
            let index = write_index(&self.index);
            let info = StreamInfo {
                number: 1,
                format: StreamFormat::Hbz,
                level: None,
                bit_offset: self.at * 8,
                end: self.at + index.len() as u64,
                combined_crc: self.summary.combined_crc,
            };
            return Ok(Step::Out(Text::Plain(index), Some(Mark::Stream(info))));
        };
        let number = self.summary.blocks + 1;
        let Some(made) = piece.piece.take(wait, number)? else { return Ok(Step::Pending) };
        let (header, payload) = made.output;
        pieces.held.pop_front();
        self.summary.verified_blocks += u64::from(made.verified);
        self.summary.recoded_blocks += u64::from(made.retried);
        let mut bytes = Vec::with_capacity(HEADER_LEN + payload.len());
        bytes.extend_from_slice(&header.write());
        bytes.extend_from_slice(&payload);
        self.index.push(header.entry());
        self.summary.blocks = number;
        self.summary.bytes_in += u64::from(header.text_len);
        self.summary.combined_crc = crc::combine(self.summary.combined_crc, header.crc);
        let info = BlockInfo {
            number,
            crc: header.crc,
            combined_crc: self.summary.combined_crc,
            text_len: header.text_len.into(),
            block_len: header.rows,
            bytes_in: self.summary.bytes_in,
            bit_offset: self.at * 8,
            stream: 1,
            level: None,
            lines: None,
        };
        self.at += bytes.len() as u64;
        Ok(Step::Out(Text::Plain(bytes), Some(Mark::Block(info))))
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
