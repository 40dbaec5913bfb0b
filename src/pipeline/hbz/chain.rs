//! Joins the texts of a `.hbz` stream's blocks, and checks what stands around them: the headers again, that blocks come in
//! order, and that the index says what the blocks were.

use super::DECODE_BYTES;
use super::staged::{Staged, Stop};
use crate::block::Text;
use crate::codec::hbz::decode::Block;
use crate::crc;
use crate::error::{Damage, Error};
use crate::format::hbz::{self, BlockHeader, HEADER_LEN, IndexEntry, Next, StreamHeader};
use crate::pipeline::piece::{Extent, Issued, Join, Step};
use crate::pipeline::pool::Pool;
use crate::station::Done;
use crate::station::large::LargeDone;
use crate::summary::{BlockInfo, StreamSummary};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the next piece must be.
enum Expect {
    /// The header of a stream, or after the first one the end.
    Header,
    /// The header of a block, or the index.
    Next(StreamHeader),
    /// A block's payload.
    Payload(StreamHeader, BlockHeader),
    /// A block's stages.
    Staged(Box<Staged>, StreamHeader, BlockHeader),
    /// Nothing.
    End,
}

/// Joins texts.
pub(crate) struct Chain {
    pool: Pool,
    pieces: VecDeque<Issued>,
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
    pub fn new(pool: &Pool, extent: Extent) -> Self {
        let (pieces, index, summary) = Default::default();
        let pool = pool.clone();
        Chain { pool, pieces, expect: Expect::Header, index, at: 0, ended: false, extent, summary }
    }

    /// The block that is next, counted from 1.
    fn number(&self) -> u64 {
        self.summary.blocks + 1
    }

    fn damaged(&self, damage: Damage) -> Error {
        Error::Data { block: self.number(), bit_offset: self.at * 8, damage }
    }

    fn internal(&self, reason: impl Into<String>) -> Error {
        Error::Internal { block: self.number(), reason: reason.into() }
    }

    /// A part of fewer bytes than it must have.
    fn truncated(&self, bytes: usize) -> Error {
        Error::Truncated { block: self.number(), bit_offset: (self.at + bytes as u64) * 8 }
    }

    /// Asks for another piece. What is held gives its permits back first, so that the next piece can come however small the
    /// window is.
    fn need(&mut self) -> Step {
        for piece in &mut self.pieces {
            piece.permit = None;
        }
        Step::Need
    }

    /// The bytes of the next piece.
    fn raw(&mut self) -> Vec<u8> {
        self.pieces.pop_front().map(|piece| piece.raw).unwrap_or_default()
    }

    fn header(&mut self) -> Result<(), Error> {
        let raw = self.raw();
        let first = self.summary.streams == 0;
        match <[u8; HEADER_LEN]>::try_from(&raw[..]).map(|header| StreamHeader::parse(&header)) {
            Ok(Ok(stream)) => {
                self.at += HEADER_LEN as u64;
                self.index.clear();
                self.summary.streams += 1;
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
        let Some(piece) = self.pieces.front_mut() else { return Ok(None) };
        let Some(ticket) = &piece.ticket else {
            if self.pool.window().forbids(u64::from(header.rows) * DECODE_BYTES) {
                return Err(Error::BlockTooLarge { block: self.number(), bit_offset: self.at * 8 });
            }
            if piece.raw.len() < header.coded_len as usize {
                return Err(self.truncated(self.pieces[0].raw.len()));
            }
            // The piece stays, and with it its permit, until the block is done.
            let payload = Arc::new(std::mem::take(&mut piece.raw));
            let block = Block::parse(stream, header, payload).map_err(|damage| self.damaged(damage))?;
            self.expect = Expect::Staged(Box::new(Staged::new(&self.pool, block)), stream, header);
            return Ok(None);
        };
        let reply = if wait { Some(ticket.wait()) } else { ticket.poll() };
        match reply {
            None => Ok(Some(Step::Pending)),
            Some(Ok(Done::Large(LargeDone::Text(Ok(text))))) => Ok(Some(self.block(Text::Plain(text), stream, header))),
            Some(Ok(Done::Large(LargeDone::Text(Err(damage))))) => Err(self.damaged(damage)),
            Some(Ok(_)) => Err(self.internal("a station did something else")),
            Some(Err(reason)) => Err(self.internal(reason)),
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
    fn add(&mut self, piece: Issued) {
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
                Expect::Staged(staged, stream, header) => {
                    let (stream, header) = (*stream, *header);
                    return match staged.step(wait) {
                        Ok(None) => Ok(Step::Pending),
                        Ok(Some(text)) => Ok(self.block(text, stream, header)),
                        Err(Stop::Damaged(damage)) => Err(self.damaged(damage)),
                        Err(Stop::Internal(reason)) => Err(self.internal(reason)),
                    };
                }
                Expect::End => {}
            }
        }
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
