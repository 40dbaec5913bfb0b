//! Cuts a `.hbz` stream into its parts: header, blocks, index; another stream may follow. The headers state the block
//! lengths, so no search is needed.
//!
//! A block's header says how much memory decoding will take. The permit for all of that memory is therefore requested
//! before the payload is read, and a block that the budget can never hold is refused at that point. Memory still grows
//! with the bytes that have arrived, not with the header's claim. Data that look wrong are passed on unchanged: the
//! joiner, which sees everything in order, reports what is wrong with them.

use super::tasks::{DECODE_LARGE, DecodeLarge};
use crate::block::Text;
use crate::flaw::Flaw;
use crate::formats::hbz::codec::decode::{VectorCharge, Vectors};
use crate::formats::hbz::header::{self, BlockHeader, HEADER_LEN, Next, StreamHeader};
use crate::stream::piece::{Cut, Piece};
use hybz_queue::Ticket;
use hybz_queue::{Client, Pool};
use std::collections::VecDeque;
use std::sync::Arc;

/// The size of one read while headers are expected: enough for a small file.
const ROOM: usize = 64 << 10;
/// The maximum number of payload bytes in one read.
const PAYLOAD_ROOM: usize = 1 << 20;
/// Blocks of more rows than this are decoded in stages by all stations.
const STAGED_ROWS: u32 = 1 << 24;
/// If a block is alone in its stream, stages pay from this many rows on.
const STAGED_ROWS_ALONE: u32 = 1 << 20;
/// The memory that a piece takes in addition to its bytes: its place in the channel.
const PIECE: u64 = 256;

/// The part that is being gathered.
#[derive(Clone, Copy)]
enum Gathering {
    /// The header of a stream.
    Header,
    /// The header of a block, or the beginning of the index.
    Next(StreamHeader),
    /// A block's payload.
    Payload(StreamHeader, BlockHeader),
    /// The index, of which this many bytes are left.
    Index(usize),
    /// Bytes that are not a part of a stream.
    Other,
    /// No part: the block that begins here is not decoded.
    Nothing,
}

/// A part of a stream.
pub(crate) enum StreamPart {
    /// Headers, an index, or invalid data; and the header of a block if they end with one.
    Bytes(Vec<u8>, Option<(StreamHeader, BlockHeader)>),
    /// The payload of that block, for the stations.
    Payload(Payload),
    /// The input has ended after this many bytes of the payload.
    Cut(u64),
    /// The block needs more memory than one block may have.
    TooLarge { needs: u64, allowed: u64 },
}

pub(crate) struct Payload {
    bytes: Vec<u8>,
    header: BlockHeader,
    stream: StreamHeader,
    /// All stations should work on it.
    staged: bool,
}

/// A part that has been issued.
pub(crate) enum IssuedPart {
    /// Unchanged bytes. Their permit also covers the block whose header ends them; the block's vector needs a charge of
    /// its own.
    Bytes(Vec<u8>, Option<VectorCharge>),
    /// The text of a payload.
    Text(Ticket<Result<Text, Flaw>>),
    /// The input has ended after this many bytes of a payload.
    Cut(u64),
    /// A block that needs more memory than one block may have.
    TooLarge { needs: u64, allowed: u64 },
}

impl Piece for StreamPart {
    type Issued = IssuedPart;

    fn charge(&self) -> u64 {
        match self {
            StreamPart::Bytes(bytes, block) => {
                let block = block.map_or(0, |(stream, header)| header.decoding_bytes(&stream));
                bytes.capacity() as u64 + PIECE + block
            }
            // These bytes were charged with the header. They must not wait for a permit, because the joiner holds the
            // block's permit until they come.
            StreamPart::Payload(_) | StreamPart::Cut(_) | StreamPart::TooLarge { .. } => 0,
        }
    }

    fn issue(self, client: &Client) -> IssuedPart {
        match self {
            StreamPart::Bytes(bytes, block) => {
                let vectors = client.pool().shared_value::<Vectors>();
                IssuedPart::Bytes(bytes, block.map(|(_, header)| vectors.charge(header.rows)))
            }
            StreamPart::Payload(Payload { bytes, header, stream, staged }) => {
                let stages = staged.then(|| client.submitter().clone());
                let task = DecodeLarge { payload: Arc::new(bytes), header, stream, stages };
                let bytes = task.bytes();
                IssuedPart::Text(client.task(task).class(DECODE_LARGE, bytes).submit())
            }
            StreamPart::Cut(bytes) => IssuedPart::Cut(bytes),
            StreamPart::TooLarge { needs, allowed } => IssuedPart::TooLarge { needs, allowed },
        }
    }
}

/// Cuts streams.
pub(crate) struct Scanner {
    pool: Pool,
    part: Gathering,
    /// Bytes `begin .. end` have been read and not examined yet.
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
    /// Bytes that have been examined and not handed on yet.
    raw: Vec<u8>,
    /// The payload so far, `payload[..gathered]`, then room.
    payload: Vec<u8>,
    gathered: usize,
    number: u32,
    ready: VecDeque<StreamPart>,
    /// The input pauses.
    paused: bool,
}

impl Scanner {
    pub fn new(pool: &Pool) -> Self {
        let (bytes, raw, payload, ready) = Default::default();
        let part = Gathering::Header;
        let (pool, paused) = (pool.clone(), false);
        Scanner { pool, part, bytes, begin: 0, end: 0, raw, payload, gathered: 0, number: 0, ready, paused }
    }

    /// Takes up to `n` bytes unchanged. Returns how many.
    fn take(&mut self, n: usize) -> usize {
        let n = n.min(self.end - self.begin);
        self.raw.extend_from_slice(&self.bytes[self.begin..self.begin + n]);
        self.begin += n;
        n
    }

    /// Hands on the examined bytes; `block` is the header with which they end.
    fn hand_on(&mut self, block: Option<(StreamHeader, BlockHeader)>) {
        if !self.raw.is_empty() {
            self.ready.push_back(StreamPart::Bytes(std::mem::take(&mut self.raw), block));
        }
    }

    /// Takes all complete parts.
    fn cut(&mut self) {
        while self.cut_one() {}
        self.hand_on(None);
    }

    /// Takes one part, or a piece of one. Returns whether there may be another.
    fn cut_one(&mut self) -> bool {
        let header = self.bytes[self.begin..self.end].first_chunk::<HEADER_LEN>().copied();
        match (self.part, header) {
            (Gathering::Header, Some(header)) => {
                self.number = 0;
                self.part = StreamHeader::parse(&header).map_or(Gathering::Other, Gathering::Next);
                if !matches!(self.part, Gathering::Other) {
                    self.take(HEADER_LEN);
                }
                true
            }
            (Gathering::Next(stream), Some(header)) => {
                self.part = match header::next(&header, self.number) {
                    Next::Block => match BlockHeader::parse(&header, &stream, self.number) {
                        Ok(block) => self.block(stream, block),
                        Err(_) => Gathering::Other,
                    },
                    Next::Index(len) => Gathering::Index(len),
                    Next::OtherIndex(_) | Next::Other => Gathering::Other,
                };
                true
            }
            (Gathering::Header | Gathering::Next(_), None) => false,
            (Gathering::Index(left), _) => {
                let left = left - self.take(left);
                self.part = if left == 0 { Gathering::Header } else { Gathering::Index(left) };
                left == 0
            }
            (Gathering::Payload(stream, header), _) => self.payload(stream, header),
            (Gathering::Other, _) => {
                self.take(usize::MAX);
                false
            }
            (Gathering::Nothing, _) => {
                self.begin = self.end;
                false
            }
        }
    }

    /// A block begins with this header.
    fn block(&mut self, stream: StreamHeader, header: BlockHeader) -> Gathering {
        self.take(HEADER_LEN);
        let (needs, allowed) = (header.decoding_bytes(&stream), self.pool.budget().most());
        if needs > allowed {
            self.hand_on(None);
            self.ready.push_back(StreamPart::TooLarge { needs, allowed });
            return Gathering::Nothing;
        }
        self.pool.budget().fit_pieces(needs * 5 / 3);
        self.hand_on(Some((stream, header)));
        Gathering::Payload(stream, header)
    }

    /// Takes bytes of a payload. Returns whether it is complete.
    fn payload(&mut self, stream: StreamHeader, header: BlockHeader) -> bool {
        let left = header.coded_len as usize - self.gathered;
        let n = left.min(self.end - self.begin);
        if n > 0 {
            self.payload.truncate(self.gathered);
            self.payload.reserve_exact(n);
            self.payload.extend_from_slice(&self.bytes[self.begin..self.begin + n]);
            self.begin += n;
            self.gathered += n;
        }
        if n < left {
            return false;
        }
        let mut bytes = std::mem::take(&mut self.payload);
        bytes.truncate(self.gathered);
        self.gathered = 0;
        // The only block of its stream: the other stations would have nothing to do.
        let alone = header.number == 0 && header.text_len < stream.block_size;
        let staged = header.rows > if alone { STAGED_ROWS_ALONE } else { STAGED_ROWS };
        self.ready.push_back(StreamPart::Payload(Payload { bytes, header, stream, staged }));
        self.number += 1;
        self.part = Gathering::Next(stream);
        true
    }

    /// Room for more of a payload of `len` bytes. The length is only a header's claim, so the room is never much larger
    /// than the bytes that have come.
    fn payload_room(&mut self, len: usize) -> &mut [u8] {
        if self.payload.len() == self.gathered {
            let left = len - self.gathered;
            let room = self.gathered.clamp(ROOM, PAYLOAD_ROOM).min(left);
            if self.payload.capacity() < self.gathered + room {
                self.payload.reserve_exact(self.gathered.max(PAYLOAD_ROOM).min(left));
            }
            self.payload.resize(self.gathered + room, 0);
        }
        &mut self.payload[self.gathered..]
    }
}

impl Cut for Scanner {
    type Piece = StreamPart;

    fn room(&mut self) -> &mut [u8] {
        if let Gathering::Payload(_, header) = self.part {
            return self.payload_room(header.coded_len as usize);
        }
        self.bytes.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        self.bytes.resize(ROOM, 0);
        &mut self.bytes[self.end..]
    }

    fn filled(&mut self, n: usize) {
        self.paused = false;
        if let Gathering::Payload(..) = self.part {
            self.gathered += n;
        } else {
            self.end += n;
        }
        self.cut();
    }

    fn pause(&mut self) {
        self.paused = true;
    }

    /// Also true after the last byte of a stream if the read filled its room.
    fn rests(&self) -> bool {
        match self.part {
            Gathering::Header => self.paused || self.begin == self.end,
            Gathering::Next(_) | Gathering::Other => self.paused,
            Gathering::Payload(..) | Gathering::Index(_) | Gathering::Nothing => false,
        }
    }

    fn finish(&mut self) {
        if let Gathering::Payload(..) = self.part {
            self.ready.push_back(StreamPart::Cut(self.gathered as u64));
        } else {
            self.take(usize::MAX);
            self.hand_on(None);
        }
    }

    fn next_piece(&mut self) -> Option<StreamPart> {
        self.ready.pop_front()
    }
}
