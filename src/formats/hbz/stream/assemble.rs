//! Assembles coded blocks into a `.hbz` stream: header, blocks, index.

use crate::block::Text;
use crate::error::Error;
use crate::formats::hbz::header::{BlockHeader, HEADER_LEN, IndexEntry, StreamHeader, write_index};
use crate::stream::coded::CodedTicket;
use crate::stream::piece::{Join, Pieces, Step};
use crate::summary::{BlockInfo, Mark, StreamFormat, StreamSummary};

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
            let info = self.summary.stream(StreamFormat::Hbz, self.at, self.at + index.len() as u64);
            return Ok(Step::Out(Text::Plain(index), Some(Mark::Stream(info))));
        };
        let Some((header, payload)) = piece.piece.take(wait, &mut self.summary)? else { return Ok(Step::Pending) };
        pieces.held.pop_front();
        let mut bytes = Vec::with_capacity(HEADER_LEN + payload.len());
        bytes.extend_from_slice(&header.write());
        bytes.extend_from_slice(&payload);
        self.index.push(header.entry());
        self.summary.bytes_in += u64::from(header.text_len);
        let info = self.summary.block(header.crc, header.text_len.into(), self.at * 8);
        let info = BlockInfo { block_len: header.rows, ..info };
        self.at += bytes.len() as u64;
        Ok(Step::Out(Text::Plain(bytes), Some(Mark::Block(info))))
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
