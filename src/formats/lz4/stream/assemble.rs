//! Assembles coded blocks into a frame, followed by an index.

use super::texts::{IssuedText, TextEnd};
use crate::block::Text;
use crate::error::Error;
use crate::formats::lz4::Frame;
use crate::formats::lz4::block::CodedBlocks;
use crate::formats::lz4::header::Header;
use crate::formats::lz4::index::Index;
use crate::stream::piece::{Issued, Join, Pieces, Step};
use crate::summary::{Mark, StreamFormat, StreamInfo, StreamSummary};

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
        let header = Header {
            linked: false,
            block_checksums: false,
            text_checksum: true,
            // To `lz4` a length of 0 means an unknown length.
            text_len: self.frame.text_len.or(found).filter(|&len| len > 0),
            block_size: Frame::BLOCK_SIZE,
            legacy: false,
        };
        let bytes = header.write();
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
        let bit_offset = self.at * 8;
        bytes.extend([0; 4]);
        bytes.extend(checksum.to_le_bytes());
        self.at += 8;
        self.index.frame_len = self.at;
        if let Some(index) = self.frame.index.then(|| self.index.write()).flatten() {
            self.at += index.len() as u64;
            bytes.extend(index);
        }
        let info =
            StreamInfo { number: 1, format: StreamFormat::Lz4, level: None, bit_offset, end: self.at, combined_crc: 0 };
        Ok(Step::Out(Text::Plain(bytes), Some(Mark::Stream(info))))
    }
}

impl Join for Assembler {
    type Issued = IssuedText;

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error> {
        let Some(piece) = pieces.held.front() else {
            return Ok(if pieces.ended { Step::Done } else { Step::Need });
        };
        let made = match &piece.piece {
            IssuedText::End(_) => None,
            IssuedText::Blocks { ticket, text_len, is_all } => match ticket.take(wait) {
                None => return Ok(Step::Pending),
                Some(Ok(coded)) => Some((coded, *text_len, *is_all)),
                Some(Err(error)) => {
                    return Err(Error::Internal { block: self.summary.blocks + 1, reason: error.0 });
                }
            },
        };
        let piece = pieces.held.pop_front();
        match (made, piece) {
            (Some((coded, text_len, is_all)), _) => Ok(self.blocks(coded, text_len, is_all)),
            (None, Some(Issued { piece: IssuedText::End(end), .. })) => self.end(end),
            (None, _) => Ok(Step::Need),
        }
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
