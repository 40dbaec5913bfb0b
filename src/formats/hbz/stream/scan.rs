//! Cuts a `.hbz` stream into its parts: header, blocks, index; another stream may follow. The headers state the block
//! lengths, so no search is needed.
//!
//! A block's header says how much memory decoding will take. The permit for all of that memory is therefore requested
//! before the payload is read, and a block that the budget can never hold is refused at that point. Memory still grows
//! with the bytes that have arrived, not with the header's claim. The joiner, which gets everything in order, reports
//! what is wrong.

use super::tasks::{DECODE_LARGE, DecodeLarge};
use crate::block::Text;
use crate::flaw::Flaw;
use crate::formats::hbz::codec::decode::{VectorCharge, Vectors};
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use crate::formats::hbz::walk::{StreamPart, Walker};
use crate::stream::piece::{Cut, Input, Piece};
use hybz_queue::{Client, Pool, Ticket};
use std::collections::VecDeque;
use std::sync::Arc;

/// The size of one read: enough for a small file.
const ROOM: usize = 64 << 10;
/// The minimum number of bytes by which the memory of a payload grows.
const PAYLOAD_ROOM: usize = 1 << 20;
/// Blocks of more rows than this are decoded in stages by all stations.
const STAGED_ROWS: u32 = 1 << 24;
/// If a block is alone in its stream, stages pay from this many rows on.
const STAGED_ROWS_ALONE: u32 = 1 << 20;
/// The memory that a piece takes in addition to its bytes: its slot in the channel.
const PIECE: u64 = 256;

/// A part of the input that the scanner found.
pub(crate) enum Found {
    /// The header of a block. Its permit covers all that decoding the block takes.
    Block(StreamHeader, BlockHeader),
    /// The payload of that block, for the stations.
    Payload {
        bytes: Vec<u8>,
        header: BlockHeader,
        stream: StreamHeader,
    },
    Other(Rest),
}

/// The parts that need no work.
pub(crate) enum Rest {
    /// A stream of this block size begins.
    Stream(u32),
    /// The stream ends with an index of this many bytes.
    End(u64),
    /// The block needs more memory than one block may have.
    TooLarge { needs: u64, allowed: u64 },
    /// The input ends in the middle of a part, after this many bytes of it.
    Cut(u64),
    /// The next part is damaged.
    Damaged(Flaw),
    /// Another format, or garbage.
    Bytes(Vec<u8>),
}

/// A part that has been issued.
pub(crate) enum IssuedPart {
    /// The header of a block, and the charge for its vector.
    Block(BlockHeader, VectorCharge),
    /// The text of that block.
    Text(Ticket<Result<Text, Flaw>>),
    Other(Rest),
}

impl Piece for Found {
    type Issued = IssuedPart;

    fn charge(&self) -> u64 {
        match self {
            Found::Block(stream, header) => header.decoding_bytes(stream) + PIECE,
            Found::Other(Rest::Bytes(bytes)) => bytes.capacity() as u64 + PIECE,
            Found::Other(Rest::Stream(_) | Rest::End(_)) => PIECE,
            // A payload was charged with its header. It must not wait for a permit, because the joiner holds the
            // block's permit until the payload comes. The other parts are the last of the input.
            Found::Payload { .. } | Found::Other(_) => 0,
        }
    }

    fn issue(self, client: &Client) -> IssuedPart {
        match self {
            Found::Block(_, header) => {
                IssuedPart::Block(header, client.pool().shared_value::<Vectors>().charge(header.rows))
            }
            Found::Payload { bytes, header, stream } => {
                // The only block of its stream: the other stations would have nothing to do.
                let alone = header.number == 0 && header.text_len < stream.block_size;
                let staged = header.rows > if alone { STAGED_ROWS_ALONE } else { STAGED_ROWS };
                let stages = staged.then(|| client.submitter().clone());
                let task = DecodeLarge { payload: Arc::new(bytes), header, stream, stages };
                let bytes = task.bytes();
                IssuedPart::Text(client.task(task).class(DECODE_LARGE, bytes).submit())
            }
            Found::Other(rest) => IssuedPart::Other(rest),
        }
    }
}

/// Cuts streams.
pub(crate) struct Scanner {
    pool: Pool,
    walker: Walker,
    room: Vec<u8>,
    /// The block whose payload comes, and the payload so far.
    block: Option<(StreamHeader, BlockHeader)>,
    payload: Vec<u8>,
    /// Bytes of another format come: they are handed on unchanged.
    other: bool,
    /// No more bytes are wanted.
    done: bool,
    ready: VecDeque<Found>,
    /// The input pauses.
    paused: bool,
}

impl Scanner {
    pub fn new(pool: &Pool) -> Self {
        let (walker, room, block, payload, ready) = Default::default();
        Scanner { pool: pool.clone(), walker, room, block, payload, other: false, done: false, ready, paused: false }
    }

    fn push(&mut self, rest: Rest) {
        self.done |= matches!(rest, Rest::TooLarge { .. } | Rest::Damaged(_));
        self.ready.push_back(Found::Other(rest));
    }

    fn block(&mut self, stream: StreamHeader, header: BlockHeader) {
        let (needs, allowed) = (header.decoding_bytes(&stream), self.pool.budget().most());
        if needs > allowed {
            return self.push(Rest::TooLarge { needs, allowed });
        }
        self.pool.budget().fit_pieces(needs * 5 / 3);
        self.ready.push_back(Found::Block(stream, header));
        self.block = Some((stream, header));
    }

    /// Takes bytes of the payload. Its length is only a header's claim, so the memory is never much larger than the
    /// bytes that have come.
    fn payload(&mut self, bytes: &[u8]) {
        let Some((stream, header)) = self.block else { return };
        let (len, whole) = (self.payload.len(), header.coded_len as usize);
        if self.payload.capacity() < len + bytes.len() {
            self.payload.reserve_exact(len.max(PAYLOAD_ROOM).min(whole - len));
        }
        self.payload.extend_from_slice(bytes);
        if self.payload.len() == whole {
            self.block = None;
            self.ready.push_back(Found::Payload { bytes: std::mem::take(&mut self.payload), header, stream });
        }
    }
}

impl Input for Scanner {
    fn room(&mut self) -> &mut [u8] {
        self.room.resize(ROOM, 0);
        &mut self.room
    }

    fn filled(&mut self, n: usize) {
        self.paused = false;
        let room = std::mem::take(&mut self.room);
        let mut bytes = &room[..n];
        while !self.done {
            match self.walker.next(&mut bytes) {
                StreamPart::Need => break,
                StreamPart::Stream(stream) => self.push(Rest::Stream(stream.block_size)),
                StreamPart::Block(stream, header) => self.block(stream, header),
                StreamPart::Payload(bytes) => self.payload(bytes),
                StreamPart::End(len) => self.push(Rest::End(len)),
                StreamPart::Damaged(flaw) => self.push(Rest::Damaged(flaw)),
                StreamPart::Other(head) => {
                    self.other = true;
                    self.push(Rest::Bytes(head));
                }
            }
        }
        if self.other && !bytes.is_empty() {
            self.push(Rest::Bytes(bytes.to_vec()));
        }
        self.room = room;
    }

    fn pause(&mut self) {
        self.paused = true;
    }

    /// Also true after the last byte of a stream if the read filled the buffer.
    fn rests(&self) -> bool {
        !self.walker.is_inside() && (self.paused || self.walker.is_after_stream())
    }

    fn finish(&mut self) {
        if !self.done && !self.other && !self.walker.is_after_stream() {
            self.push(Rest::Cut(self.walker.at() - self.walker.begin()));
        }
    }
}

impl Cut for Scanner {
    type Piece = Found;

    fn next_piece(&mut self) -> Option<Found> {
        self.ready.pop_front()
    }
}
