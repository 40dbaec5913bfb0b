//! Cuts a `.hbz` stream into its parts: header, blocks, index; perhaps another stream after it. Block lengths stand in
//! the headers, so nothing is searched for.
//!
//! Memory grows with the bytes that have arrived, not with what a header claims. What does not look right is passed on
//! as it is: the joiner, which sees everything in order, says what is wrong with it. After that nothing more is cut.

use super::{DECODE_BYTES, ENCODE_BYTES, STAGED_ROWS, STAGED_ROWS_ALONE};
use crate::block::Text;
use crate::error::Damage;
use crate::format::hbz::{self, BlockHeader, HEADER_LEN, Next, StreamHeader};
use crate::schedule::Ticket;
use crate::stream::piece::{Cut, Piece};
use crate::work::DecodeLarge;
use crate::{Client, Pool};
use std::collections::VecDeque;
use std::sync::Arc;

/// The most that is read at once.
const ROOM: usize = 1 << 20;
/// The first room, enough for a small file.
const MIN_ROOM: usize = 64 << 10;

/// What is being gathered.
#[derive(Clone, Copy)]
enum Gathering {
    /// The header of a stream.
    Header,
    /// The header of a block, or the beginning of the index.
    Next(StreamHeader),
    /// A block's payload.
    Payload(StreamHeader, BlockHeader),
    /// The index, of so many bytes.
    Index(usize),
    /// Nothing: something was wrong.
    Lost,
}

/// A part of a stream.
pub(crate) enum Part {
    /// A header, an index, or what is not right.
    Bytes(Vec<u8>),
    /// The payload of a block, for the stations.
    Payload(Payload),
    /// The payload of a block that the memory budget forbids to decode.
    TooLarge,
}

pub(crate) struct Payload {
    bytes: Vec<u8>,
    header: BlockHeader,
    stream: StreamHeader,
    /// All stations should work on it.
    staged: bool,
}

/// A part on its way.
pub(crate) enum IssuedPart {
    /// As it is.
    Bytes(Vec<u8>),
    /// The text of a payload.
    Text(Ticket<Result<Text, Damage>>),
    /// A payload that cannot be decoded in the memory that is allowed.
    TooLarge,
}

impl Piece for Part {
    type Issued = IssuedPart;

    fn charge(&self) -> u64 {
        match self {
            Part::Bytes(bytes) => bytes.capacity() as u64,
            Part::Payload(payload) => payload.charge(),
            Part::TooLarge => 0,
        }
    }

    fn issue(self, client: &Client) -> IssuedPart {
        match self {
            Part::Bytes(bytes) => IssuedPart::Bytes(bytes),
            Part::Payload(Payload { bytes, header, stream, staged }) => {
                let stages = staged.then(|| client.submitter().clone());
                IssuedPart::Text(client.submit(DecodeLarge { payload: Arc::new(bytes), header, stream, stages }))
            }
            Part::TooLarge => IssuedPart::TooLarge,
        }
    }
}

impl Payload {
    fn charge(&self) -> u64 {
        u64::from(self.header.rows) * DECODE_BYTES + self.bytes.capacity() as u64
    }
}

/// Cuts streams.
pub(crate) struct Scanner {
    pool: Pool,
    part: Gathering,
    /// Bytes of the part, then room.
    bytes: Vec<u8>,
    len: usize,
    number: u32,
    ready: VecDeque<Part>,
}

impl Scanner {
    pub fn new(pool: &Pool) -> Self {
        let (bytes, ready) = Default::default();
        Scanner { pool: pool.clone(), part: Gathering::Header, bytes, len: 0, number: 0, ready }
    }

    /// How many bytes the part has.
    fn wanted(&self) -> usize {
        match self.part {
            Gathering::Header | Gathering::Next(_) => HEADER_LEN,
            Gathering::Payload(_, header) => header.coded_len as usize,
            Gathering::Index(len) => len,
            Gathering::Lost => usize::MAX,
        }
    }

    /// The first `n` bytes; those behind them stay.
    fn split(&mut self, n: usize) -> Vec<u8> {
        let rest = self.bytes[n..self.len].to_vec();
        let mut part = std::mem::replace(&mut self.bytes, rest);
        part.truncate(n);
        self.len -= n;
        part
    }

    fn push(&mut self, bytes: Vec<u8>) {
        self.ready.push_back(Part::Bytes(bytes));
    }

    /// Something is wrong with the part that began with these bytes.
    fn lose(&mut self, raw: Vec<u8>) {
        self.part = Gathering::Lost;
        self.push(raw);
    }

    /// Takes all parts that are complete.
    fn cut(&mut self) {
        while self.len >= self.wanted() {
            let mut bytes = self.split(self.wanted());
            let header = <[u8; HEADER_LEN]>::try_from(&bytes[..]);
            match (self.part, header) {
                (Gathering::Header, Ok(header)) => match StreamHeader::parse(&header) {
                    Ok(stream) => {
                        self.number = 0;
                        self.part = Gathering::Next(stream);
                        let block = u64::from(stream.block_size);
                        self.pool.budget().fit_pieces(block * ENCODE_BYTES.max(DECODE_BYTES));
                        self.push(bytes);
                    }
                    Err(_) => return self.lose(bytes),
                },
                (Gathering::Next(stream), Ok(header)) => match hbz::next(&header, self.number) {
                    Next::Block => match BlockHeader::parse(&header, &stream, self.number) {
                        Ok(block) => {
                            self.part = Gathering::Payload(stream, block);
                            self.push(bytes);
                        }
                        Err(_) => return self.lose(bytes),
                    },
                    Next::Index(len) => {
                        self.part = Gathering::Index(len);
                        bytes.extend_from_slice(&self.bytes[..self.len]);
                        self.len = bytes.len();
                        self.bytes = bytes;
                    }
                    Next::Other => return self.lose(bytes),
                },
                (Gathering::Payload(stream, header), _) => {
                    self.part = Gathering::Next(stream);
                    self.number += 1;
                    // The only block of its stream: nobody else would have anything to do.
                    let alone = header.number == 0 && header.text_len < stream.block_size;
                    let staged = header.rows > if alone { STAGED_ROWS_ALONE } else { STAGED_ROWS };
                    let payload = Payload { bytes, header, stream, staged };
                    self.ready.push_back(match self.pool.budget().forbids(payload.charge()) {
                        true => Part::TooLarge,
                        false => Part::Payload(payload),
                    });
                }
                (Gathering::Index(_), _) => {
                    self.part = Gathering::Header;
                    self.push(bytes);
                }
                (Gathering::Header | Gathering::Next(_), Err(_)) | (Gathering::Lost, _) => return,
            }
        }
    }
}

impl Cut for Scanner {
    type Piece = Part;

    fn room(&mut self) -> &mut [u8] {
        if matches!(self.part, Gathering::Lost) {
            self.len = 0;
        }
        if self.bytes.len() <= self.len {
            // For a long payload its whole length would be claimed by a header; so only twice what is there.
            let more = self.len.clamp(MIN_ROOM, ROOM.max(self.wanted().saturating_sub(self.len).min(self.len)));
            self.bytes.resize(self.len + more, 0);
        }
        &mut self.bytes[self.len..]
    }

    fn filled(&mut self, n: usize) {
        self.len += n;
        if matches!(self.part, Gathering::Lost) {
            self.len = 0;
        } else {
            self.cut();
        }
    }

    fn finish(&mut self) {
        if self.len > 0 && !matches!(self.part, Gathering::Lost) {
            let rest = self.split(self.len);
            self.lose(rest);
        }
    }

    fn next_piece(&mut self) -> Option<Part> {
        self.ready.pop_front()
    }
}
