//! Joins the texts of a `.hbz` stream's blocks, and reports in order what was found around them.

use super::scan::{IssuedPart, Rest};
use crate::block::Text;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::formats::hbz::codec::decode::VectorCharge;
use crate::formats::hbz::header::{BlockHeader, HEADER_LEN};
use crate::stream::piece::{Extent, Issued, Join, Pieces, Step};
use crate::summary::{BlockInfo, Mark, StreamFormat, StreamSummary};
use hybz_queue::Permit;

/// Joins texts.
pub(crate) struct Chain {
    /// The permit of the last piece that had one, and the charge for the vector of the last block.
    held: (Option<Permit>, Option<VectorCharge>),
    /// The block whose text comes next.
    block: Option<BlockHeader>,
    /// The position of the next part in the input, in bytes.
    at: u64,
    /// All streams that were wanted have ended.
    done: bool,
    extent: Extent,
    summary: StreamSummary,
}

impl Chain {
    /// A chain at the start of the input.
    pub fn new(extent: Extent) -> Self {
        let (held, block, summary) = Default::default();
        Chain { held, block, at: 0, done: false, extent, summary }
    }

    /// The number of the next block, counted from 1.
    fn number(&self) -> u64 {
        self.summary.blocks + 1
    }

    fn damaged(&self, damage: Flaw) -> Error {
        Error::damaged(self.number(), self.at * 8, damage)
    }

    /// Handles a part that needed no work. Returns its output, if it has one.
    fn other(&mut self, rest: Rest) -> Result<Option<Step>, Error> {
        match rest {
            Rest::Stream(block_size) => {
                self.at += HEADER_LEN as u64;
                self.summary.streams += 1;
                self.summary.block_size = self.summary.block_size.max(block_size);
                self.summary.combined_crc = 0;
                Ok(None)
            }
            Rest::End(len) => {
                let info = self.summary.stream(StreamFormat::Hbz, self.at, self.at + len);
                self.at += len;
                self.done = self.extent.is_reached(self.summary.streams);
                Ok(Some(Step::Out(Text::Plain(Vec::new()), Some(Mark::Stream(info)))))
            }
            Rest::TooLarge { needs, allowed } => Err(Error::Memory { block: self.number(), needs, allowed }),
            Rest::Cut(bytes) => Err(Error::Truncated { block: self.number(), bit_offset: (self.at + bytes) * 8 }),
            Rest::Damaged(flaw) => Err(self.damaged(flaw)),
            Rest::Bytes(_) => Err(Error::NotBzip2),
        }
    }

    /// Hands a block's text out as the next output. The block's permit is kept until the text has been written.
    fn text(&mut self, text: Text, header: BlockHeader) -> Step {
        let begin = self.at - HEADER_LEN as u64;
        self.at += u64::from(header.coded_len);
        let info = self.summary.block(header.crc, header.text_len.into(), begin * 8);
        let info = BlockInfo { block_len: header.rows, bytes_in: self.at, ..info };
        Step::Out(text, Some(Mark::Block(info)))
    }
}

impl Join for Chain {
    type Issued = IssuedPart;

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error> {
        while !self.done {
            let Some(Issued { piece, permit }) = pieces.held.pop_front() else {
                // The permit goes back, so that the next piece can come however small the budget is. Only a block keeps
                // its permit: its payload needs no other.
                if self.block.is_none() {
                    self.held = (None, None);
                }
                if !pieces.ended {
                    return Ok(Step::Need);
                }
                break;
            };
            match piece {
                IssuedPart::Block(header, vector) => {
                    self.held = (permit, Some(vector));
                    self.at += HEADER_LEN as u64;
                    self.block = Some(header);
                }
                IssuedPart::Text(ticket) => {
                    let Some(text) = ticket.take(wait) else {
                        return Ok(pieces.wait(IssuedPart::Text(ticket), permit));
                    };
                    let number = self.number();
                    let reason = |reason| Error::Internal { block: number, reason };
                    let text = text.map_err(|error| reason(error.0))?.map_err(|flaw| self.damaged(flaw))?;
                    let header = self.block.take().ok_or_else(|| reason("a text without a block".to_owned()))?;
                    return Ok(self.text(text, header));
                }
                IssuedPart::Other(Rest::Bytes(_)) if self.summary.streams > 0 => {
                    pieces.held.push_front(Issued { piece, permit });
                    self.held = (None, None);
                    self.summary.bytes_in = self.at;
                    return Ok(Step::Other);
                }
                IssuedPart::Other(rest) => {
                    self.held = (permit, None);
                    if let Some(step) = self.other(rest)? {
                        return Ok(step);
                    }
                }
            }
        }
        self.summary.bytes_in = self.at;
        Ok(Step::Done)
    }

    fn rest(&mut self, pieces: &mut Pieces<IssuedPart>) -> Option<Vec<u8>> {
        match pieces.held.pop_front()?.piece {
            IssuedPart::Other(Rest::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
