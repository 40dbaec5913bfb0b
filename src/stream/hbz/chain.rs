//! Joins the texts of a `.hbz` stream's blocks, and checks what stands around them: the headers again, that blocks come
//! in order, and that the index says what the blocks were.

use super::scan::IssuedPart;
use crate::block::Text;
use crate::crc;
use crate::error::{Damage, Error};
use crate::format::hbz::{self, BlockHeader, HEADER_LEN, IndexEntry, Next, StreamHeader};
use crate::stream::piece::{Extent, Issued, Join, Step};
use crate::summary::{BlockInfo, StreamSummary};
use std::collections::VecDeque;

/// What the next piece must be.
enum Expect {
    /// The header of a stream, or after the first one the end.
    Header,
    /// The header of a block, or the index.
    Next(StreamHeader),
    /// A block's payload.
    Payload(StreamHeader, BlockHeader),
    /// Nothing.
    End,
}

/// Joins texts.
pub(crate) struct Chain {
    pieces: VecDeque<Issued<IssuedPart>>,
    expect: Expect,
    index: Vec<IndexEntry>,
    /// Where in the input the next piece begins, in bytes.
    at: u64,
    ended: bool,
    extent: Extent,
    summary: StreamSummary,
}

impl Chain {
    /// A chain at the start of the input.
    pub fn new(extent: Extent) -> Self {
        let (pieces, index, summary) = Default::default();
        Chain { pieces, expect: Expect::Header, index, at: 0, ended: false, extent, summary }
    }

    /// The block that is next, counted from 1.
    fn number(&self) -> u64 {
        self.summary.blocks + 1
    }

    fn damaged(&self, damage: Damage) -> Error {
        Error::Data { block: self.number(), bit_offset: self.at * 8, damage }
    }

    /// A part of fewer bytes than it must have.
    fn truncated(&self, bytes: usize) -> Error {
        Error::Truncated { block: self.number(), bit_offset: (self.at + bytes as u64) * 8 }
    }

    /// Asks for another piece. What is held gives its permits back first, so that the next piece can come however small
    /// the budget is.
    fn need(&mut self) -> Step {
        for piece in &mut self.pieces {
            piece.permit = None;
        }
        Step::Need
    }

    /// The bytes of the next piece.
    fn raw(&mut self) -> Vec<u8> {
        match self.pieces.pop_front().map(|piece| piece.piece) {
            Some(IssuedPart::Bytes(bytes)) => bytes,
            // The scanner cuts payloads only where this chain expects one: both read the same headers.
            _ => Vec::new(),
        }
    }

    fn header(&mut self) -> Result<(), Error> {
        let raw = self.raw();
        let first = self.summary.streams == 0;
        match <[u8; HEADER_LEN]>::try_from(&raw[..]).map(|header| StreamHeader::parse(&header)) {
            Ok(Ok(stream)) => {
                self.at += HEADER_LEN as u64;
                self.index.clear();
                self.summary.streams += 1;
                self.summary.block_size = self.summary.block_size.max(stream.block_size);
                self.summary.combined_crc = 0;
                self.expect = Expect::Next(stream);
                Ok(())
            }
            // Whatever does not begin like a stream, behind one, is garbage.
            _ if !first && !raw.starts_with(&hbz::MAGIC) => {
                if self.extent == Extent::Streams {
                    return Err(Error::TrailingGarbage { offset: self.at });
                }
                self.summary.trailing_garbage = Some(self.at);
                self.expect = Expect::End;
                Ok(())
            }
            Ok(Err(Damage::Magic)) if first => Err(Error::NotBzip2),
            Ok(Err(damage)) => Err(self.damaged(damage)),
            Err(_) if hbz::MAGIC.starts_with(&raw[..raw.len().min(8)]) || raw.starts_with(&hbz::MAGIC) => {
                Err(self.truncated(raw.len()))
            }
            Err(_) => Err(Error::NotBzip2),
        }
    }

    fn block_or_index(&mut self, stream: StreamHeader) -> Result<(), Error> {
        let raw = self.raw();
        let Some(header) = raw.first_chunk::<HEADER_LEN>() else { return Err(self.truncated(raw.len())) };
        let number = self.index.len() as u32;
        match hbz::next(header, number) {
            Next::Block => {
                let header = BlockHeader::parse(header, &stream, number).map_err(|damage| self.damaged(damage))?;
                self.at += HEADER_LEN as u64;
                self.expect = Expect::Payload(stream, header);
            }
            Next::Index(len) if raw.len() < len => return Err(self.truncated(raw.len())),
            Next::Index(len) => {
                if hbz::parse_index(&raw).as_ref() != Ok(&self.index) {
                    return Err(self.damaged(Damage::Field("index")));
                }
                self.at += len as u64;
                self.expect = if self.extent == Extent::FirstStream { Expect::End } else { Expect::Header };
            }
            Next::Other => return Err(self.damaged(Damage::Magic)),
        }
        Ok(())
    }

    fn payload(&mut self, stream: StreamHeader, header: BlockHeader, wait: bool) -> Result<Option<Step>, Error> {
        let text = match self.pieces.front().map(|piece| &piece.piece) {
            Some(IssuedPart::Text(ticket)) => ticket.take(wait),
            Some(IssuedPart::TooLarge) => {
                return Err(Error::BlockTooLarge { block: self.number(), bit_offset: self.at * 8 });
            }
            Some(IssuedPart::Bytes(bytes)) => return Err(self.truncated(bytes.len())),
            None => return Ok(None),
        };
        match text {
            None => Ok(Some(Step::Pending)),
            Some(Ok(Ok(text))) => Ok(Some(self.block(text, stream, header))),
            Some(Ok(Err(damage))) => Err(self.damaged(damage)),
            Some(Err(error)) => Err(Error::Internal { block: self.number(), reason: error.0 }),
        }
    }

    /// Takes a block's text as the next output.
    fn block(&mut self, text: Text, stream: StreamHeader, header: BlockHeader) -> Step {
        self.pieces.pop_front();
        self.index.push(IndexEntry { text_len: header.text_len, coded_len: header.coded_len, crc: header.crc });
        self.at += u64::from(header.coded_len);
        self.expect = Expect::Next(stream);
        self.summary.blocks += 1;
        self.summary.combined_crc = crc::combine(self.summary.combined_crc, header.crc);
        let info = BlockInfo {
            number: self.summary.blocks,
            crc: header.crc,
            combined_crc: self.summary.combined_crc,
            text_len: header.text_len.into(),
            block_len: header.rows,
            bytes_in: self.at,
        };
        Step::Out(text, Some(info))
    }
}

impl Join for Chain {
    type Issued = IssuedPart;

    fn add(&mut self, piece: Issued<IssuedPart>) {
        self.pieces.push_back(piece);
    }

    fn finish(&mut self) {
        self.ended = true;
    }

    fn step(&mut self, wait: bool) -> Result<Step, Error> {
        loop {
            if matches!(self.expect, Expect::End) || (self.ended && self.pieces.is_empty()) {
                self.summary.bytes_in = self.at;
                return match self.expect {
                    Expect::End => Ok(Step::Done),
                    Expect::Header if self.summary.streams > 0 => Ok(Step::Done),
                    _ => Err(self.truncated(0)),
                };
            }
            if self.pieces.is_empty() {
                return Ok(self.need());
            }
            match &mut self.expect {
                Expect::Header => self.header()?,
                Expect::Next(stream) => {
                    let stream = *stream;
                    self.block_or_index(stream)?;
                }
                Expect::Payload(stream, header) => {
                    let (stream, header) = (*stream, *header);
                    if let Some(step) = self.payload(stream, header, wait)? {
                        return Ok(step);
                    }
                }
                Expect::End => {}
            }
        }
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
