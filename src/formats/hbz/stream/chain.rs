//! Joins the texts of a `.hbz` stream's blocks, and checks the data around them: reads the headers again, and checks
//! that blocks come in order and that the index agrees with the blocks.

use super::index::{Index, Judged};
use super::scan::IssuedPart;
use crate::block::Text;
use crate::crc;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::formats::hbz::codec::decode::VectorCharge;
use crate::formats::hbz::header::{self, BlockHeader, HEADER_LEN, IndexEntry, Next, StreamHeader};
use crate::stream::piece::{Extent, Issued, Join, Step};
use crate::summary::{BlockInfo, Mark, StreamFormat, StreamInfo, StreamSummary};
use hybz_queue::Permit;
use std::collections::VecDeque;

/// The part that must come next.
#[derive(Clone, Copy)]
enum Expect {
    /// The header of a stream, or after the first stream the end of the input.
    Header,
    /// The header of a block, or the index.
    Next(StreamHeader),
    /// A block's payload.
    Payload(StreamHeader, BlockHeader),
    /// The index.
    Index,
    /// Another format, or garbage.
    Other,
    /// Nothing.
    End,
}

/// Whether the wanted number of bytes is available.
enum Supply {
    There,
    /// Not yet, but more may come.
    NotYet,
    /// No, and no more come.
    Never,
}

/// Joins texts.
pub(crate) struct Chain {
    pieces: VecDeque<Issued<IssuedPart>>,
    /// The bytes of the pieces so far; those before `taken` have been used.
    bytes: Vec<u8>,
    taken: usize,
    /// The charge of the last bytes, and of the block whose header ends them.
    held: (Option<Permit>, Option<VectorCharge>),
    expect: Expect,
    index: Index,
    /// The position of the next part in the input, in bytes.
    at: u64,
    ended: bool,
    extent: Extent,
    summary: StreamSummary,
}

impl Chain {
    /// A chain at the start of the input.
    pub fn new(extent: Extent) -> Self {
        let (pieces, bytes, held, summary) = Default::default();
        let (expect, index) = (Expect::Header, Index::new());
        Chain { pieces, bytes, taken: 0, held, expect, index, at: 0, ended: false, extent, summary }
    }

    /// The number of the next block, counted from 1.
    fn number(&self) -> u64 {
        self.summary.blocks + 1
    }

    fn damaged(&self, damage: Flaw) -> Error {
        Error::damaged(self.number(), self.at * 8, damage)
    }

    /// The input ends `bytes` bytes after the beginning of a part.
    fn truncated(&self, bytes: u64) -> Error {
        Error::Truncated { block: self.number(), bit_offset: (self.at + bytes) * 8 }
    }

    /// Asks for another piece. First the held piece gives its permit back, so that the next one can come however small
    /// the budget is. Only a block keeps its permit: its payload needs no other.
    fn need(&mut self) -> Step {
        if !matches!(self.expect, Expect::Payload(..)) {
            self.held = (None, None);
        }
        Step::Need
    }

    /// The available bytes.
    fn on_hand(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Takes pieces until `n` bytes are available.
    fn want(&mut self, n: usize) -> Supply {
        while self.on_hand().len() < n {
            match self.pieces.pop_front() {
                Some(Issued { piece: IssuedPart::Bytes(bytes, vector), permit }) => {
                    self.held = (permit, vector);
                    self.bytes.drain(..self.taken);
                    self.taken = 0;
                    if self.bytes.is_empty() { self.bytes = bytes } else { self.bytes.extend_from_slice(&bytes) }
                }
                // The scanner cuts payloads only where this chain expects one: both read the same headers.
                Some(_) => return Supply::Never,
                None => return if self.ended { Supply::Never } else { Supply::NotYet },
            }
        }
        Supply::There
    }

    fn header(&mut self) -> Result<Option<Step>, Error> {
        let wanted = self.want(HEADER_LEN);
        let (rest, first) = (self.on_hand(), self.summary.streams == 0);
        let magic = rest.len().min(header::MAGIC.len());
        if rest[..magic] != header::MAGIC[..magic] {
            if first {
                return Err(Error::NotBzip2);
            }
            self.expect = Expect::Other;
            return Ok(None);
        }
        match (wanted, rest.first_chunk()) {
            (Supply::There, Some(header)) => {
                let stream = StreamHeader::parse(header).map_err(|damage| self.damaged(damage))?;
                self.taken += HEADER_LEN;
                self.at += HEADER_LEN as u64;
                self.index = Index::new();
                self.summary.streams += 1;
                self.summary.block_size = self.summary.block_size.max(stream.block_size);
                self.summary.combined_crc = 0;
                self.expect = Expect::Next(stream);
                Ok(None)
            }
            (Supply::NotYet, _) => Ok(Some(self.need())),
            _ if rest.is_empty() && !first => {
                self.expect = Expect::End;
                Ok(None)
            }
            _ => Err(self.truncated(rest.len() as u64)),
        }
    }

    fn block_or_index(&mut self, stream: StreamHeader) -> Result<Option<Step>, Error> {
        let wanted = self.want(HEADER_LEN);
        let (Supply::There, Some(header)) = (&wanted, self.on_hand().first_chunk()) else {
            return match wanted {
                Supply::NotYet => Ok(Some(self.need())),
                _ => Err(self.truncated(self.on_hand().len() as u64)),
            };
        };
        let blocks = self.index.blocks();
        match header::next(header, blocks) {
            Next::Block => {
                let header = BlockHeader::parse(header, &stream, blocks).map_err(|damage| self.damaged(damage))?;
                self.taken += HEADER_LEN;
                self.at += HEADER_LEN as u64;
                self.expect = Expect::Payload(stream, header);
            }
            Next::Index(_) => self.expect = Expect::Index,
            Next::OtherIndex(listed) => return Err(self.damaged(Flaw::Index { blocks, listed })),
            Next::Other => return Err(self.damaged(Flaw::Magic)),
        }
        Ok(None)
    }

    fn index(&mut self) -> Result<Option<Step>, Error> {
        loop {
            let n = self.index.wants();
            match self.want(n) {
                Supply::There => {}
                Supply::NotYet => return Ok(Some(self.need())),
                Supply::Never => return Err(self.truncated(self.index.len() + self.on_hand().len() as u64)),
            }
            let part = &self.bytes[self.taken..self.taken + n];
            self.taken += n;
            match self.index.read(part) {
                Judged::More => {}
                Judged::Bad(damage) => return Err(self.damaged(damage)),
                Judged::Good => break,
            }
        }
        let StreamSummary { streams: number, combined_crc, .. } = self.summary;
        let bit_offset = self.at * 8;
        self.at += self.index.len();
        self.expect = if self.extent.is_reached(number) { Expect::End } else { Expect::Header };
        let format = StreamFormat::Hbz;
        let info = StreamInfo { number, format, level: None, bit_offset, end: self.at, combined_crc };
        Ok(Some(Step::Out(Text::Plain(Vec::new()), Some(Mark::Stream(info)))))
    }

    fn payload(&mut self, stream: StreamHeader, header: BlockHeader, wait: bool) -> Result<Option<Step>, Error> {
        let text = match self.pieces.front().map(|piece| &piece.piece) {
            Some(IssuedPart::Text(ticket)) => ticket.take(wait),
            Some(&IssuedPart::TooLarge { needs, allowed }) => {
                return Err(Error::Memory { block: self.number(), needs, allowed });
            }
            Some(&IssuedPart::Cut(bytes)) => return Err(self.truncated(bytes)),
            // The scanner cut no payload, so none comes.
            Some(IssuedPart::Bytes(..)) => return Err(self.truncated(0)),
            None if self.ended => return Err(self.truncated(0)),
            None => return Ok(Some(self.need())),
        };
        match text {
            None => Ok(Some(Step::Pending)),
            Some(Ok(Ok(text))) => Ok(Some(self.block(text, stream, header))),
            Some(Ok(Err(damage))) => Err(self.damaged(damage)),
            Some(Err(error)) => Err(Error::Internal { block: self.number(), reason: error.0 }),
        }
    }

    /// Hands a block's text out as the next output. The block's permit is kept until the text has been written.
    fn block(&mut self, text: Text, stream: StreamHeader, header: BlockHeader) -> Step {
        self.pieces.pop_front();
        self.index.add(IndexEntry { text_len: header.text_len, coded_len: header.coded_len, crc: header.crc });
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
            bit_offset: (self.at - u64::from(header.coded_len) - HEADER_LEN as u64) * 8,
            stream: self.summary.streams,
            level: None,
            lines: None,
        };
        Step::Out(text, Some(Mark::Block(info)))
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
            let step = match self.expect {
                Expect::Header => self.header()?,
                Expect::Next(stream) => self.block_or_index(stream)?,
                Expect::Payload(stream, header) => self.payload(stream, header, wait)?,
                Expect::Index => self.index()?,
                Expect::Other => {
                    self.summary.bytes_in = self.at;
                    Some(Step::Other)
                }
                Expect::End => {
                    self.summary.bytes_in = self.at;
                    Some(Step::Done)
                }
            };
            if let Some(step) = step {
                return Ok(step);
            }
        }
    }

    fn rest(&mut self) -> Option<Vec<u8>> {
        match self.want(1) {
            Supply::There => {
                self.held = (None, None);
                let rest = self.bytes.split_off(self.taken);
                self.bytes.clear();
                self.taken = 0;
                Some(rest)
            }
            _ => None,
        }
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
