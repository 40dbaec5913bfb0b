//! Assembles coded blocks into a frame, followed by an index.

use super::texts::{IssuedText, TextEnd};
use crate::block::Text;
use crate::error::Error;
use crate::formats::lz4::Frame;
use crate::formats::lz4::block::CodedBlocks;
use crate::formats::lz4::header::Header;
use crate::formats::lz4::index::Index;
use crate::stream::piece::{Issued, Join, Pieces, Step};
use crate::summary::{Mark, StreamFormat, StreamSummary};

/// Joins coded blocks.
pub(super) struct Assembler {
    frame: Frame,
    index: Index,
    summary: StreamSummary,
    /// The number of bytes written.
    at: u64,
}

impl Assembler {
    pub fn new(frame: Frame) -> Assembler {
        let summary = StreamSummary { streams: 1, block_size: Frame::BLOCK_SIZE, ..StreamSummary::default() };
        Assembler { frame, index: Index::default(), summary, at: 0 }
    }

    /// The header, if it has not been written.
    fn header(&mut self, found: Option<u64>) -> Vec<u8> {
        if self.at > 0 {
            return Vec::new();
        }
        // To `lz4` a length of 0 means an unknown length.
        let text_len = self.frame.text_len.or(found).filter(|&len| len > 0);
        let bytes = Header { text_len, ..Header::OURS }.write();
        self.at = bytes.len() as u64;
        bytes
    }

    fn blocks(&mut self, coded: CodedBlocks, text_len: u64, is_all: bool) -> Step {
        let mut bytes = self.header(is_all.then_some(text_len));
        for &(at, text_len) in &coded.blocks {
            if self.frame.index {
                self.index.push(self.at + at as u64, text_len);
            }
        }
        self.at += coded.bytes.len() as u64;
        self.summary.bytes_in += text_len;
        self.summary.blocks += coded.blocks.len() as u64;
        if bytes.is_empty() {
            bytes = coded.bytes
        } else {
            bytes.extend_from_slice(&coded.bytes)
        }
        Step::Out(Text::Plain(bytes), None)
    }

    fn end(&mut self, TextEnd { text_len: found, checksum }: TextEnd) -> Result<Step, Error> {
        if let Some(stated) = self.frame.text_len.filter(|&stated| stated != found) {
            return Err(Error::TextLength { stated, found });
        }
        let mut bytes = self.header(Some(found));
        let at = self.at;
        bytes.extend([0; 4]);
        bytes.extend(checksum.to_le_bytes());
        self.at += 8;
        self.index.frame_len = self.at;
        if let Some(index) = self.frame.index.then(|| self.index.write()).flatten() {
            self.at += index.len() as u64;
            bytes.extend(index);
        }
        let info = self.summary.stream(StreamFormat::Lz4, at, self.at);
        Ok(Step::Out(Text::Plain(bytes), Some(Mark::Stream(info))))
    }
}

impl Join for Assembler {
    type Issued = IssuedText;

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error> {
        let Some(Issued { piece, permit }) = pieces.held.pop_front() else { return Ok(pieces.none()) };
        match piece {
            IssuedText::End(end) => self.end(end),
            IssuedText::Blocks { ticket, text_len, is_all } => match ticket.take(wait) {
                None => Ok(pieces.wait(IssuedText::Blocks { ticket, text_len, is_all }, permit)),
                Some(Ok(coded)) => Ok(self.blocks(coded, text_len, is_all)),
                Some(Err(error)) => Err(Error::Internal { block: self.summary.blocks + 1, reason: error.0 }),
            },
        }
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
