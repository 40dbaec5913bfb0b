//! Cuts a `.Z` stream into chunks.

use super::relay::{self, ChunkPart};
use crate::formats::lzw::Chunk;
use crate::stream::piece::{Cut, Input, Piece};
use hybz_queue::{Client, Submitter, Ticket};
use std::collections::VecDeque;
use std::sync::Arc;

/// The size of one read: a millisecond's work.
const CHUNK: usize = 128 << 10;
/// The maximum length of a chunk's text that is decoded but not yet taken.
const MAX_TEXT: usize = 1 << 20;
/// The length of text of most chunks, for each byte of the chunk.
const USUAL_RATIO: usize = 32;
/// The memory that the decoder keeps for the codes of a chunk, for each of its bytes; and a fixed part.
const DECODER_RATIO: usize = 24;
const DECODER: usize = 192 << 10;

/// A chunk and its relay.
pub(super) struct ChunkPiece {
    chunk: Chunk,
    relay: relay::Chunks,
}

/// A chunk that has been issued.
pub(super) struct IssuedChunk {
    pub len: u64,
    /// The chunk's text, or the next part of it.
    pub ticket: Ticket<ChunkPart>,
    /// Submits the job for the rest of the text, if the chunk has more.
    pub submitter: Submitter,
}

impl Piece for ChunkPiece {
    type Issued = IssuedChunk;

    /// The memory for the bytes, for one text being written and one being decoded, and for the decoder.
    fn charge(&self) -> u64 {
        let Chunk { bytes, max_text, .. } = &self.chunk;
        (bytes.capacity() + 2 * max_text + DECODER + DECODER_RATIO * bytes.len()) as u64
    }

    fn issue(self, client: &Client) -> IssuedChunk {
        let (len, submitter) = (self.chunk.bytes.len() as u64, client.submitter().clone());
        IssuedChunk { len, ticket: relay::add(&self.relay, self.chunk, &submitter), submitter }
    }
}

/// Cuts the stream.
pub(super) struct Chunks {
    relay: relay::Chunks,
    room: Vec<u8>,
    ready: VecDeque<Chunk>,
    /// The input pauses.
    paused: bool,
}

impl Chunks {
    pub fn new(relay: &relay::Chunks) -> Chunks {
        Chunks { relay: Arc::clone(relay), room: Vec::new(), ready: VecDeque::new(), paused: false }
    }

    fn push(&mut self, bytes: Vec<u8>, last: bool) {
        let max_text = (USUAL_RATIO * bytes.len()).clamp(MAX_TEXT / 16, MAX_TEXT);
        self.ready.push_back(Chunk { bytes, last, max_text });
    }
}

impl Input for Chunks {
    fn room(&mut self) -> &mut [u8] {
        self.room.resize(CHUNK, 0);
        &mut self.room
    }

    fn filled(&mut self, n: usize) {
        let mut bytes = std::mem::take(&mut self.room);
        bytes.truncate(n);
        // Unused memory is freed, because there may be thousands of small files.
        bytes.shrink_to(2 * n);
        self.push(bytes, false);
        self.paused = false;
    }

    fn pause(&mut self) {
        self.paused = true;
    }

    fn rests(&self) -> bool {
        self.paused
    }

    fn finish(&mut self) {
        self.push(Vec::new(), true);
    }
}

impl Cut for Chunks {
    type Piece = ChunkPiece;

    fn next_piece(&mut self) -> Option<ChunkPiece> {
        let relay = Arc::clone(&self.relay);
        self.ready.pop_front().map(|chunk| ChunkPiece { chunk, relay })
    }
}
