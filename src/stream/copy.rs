//! An input that is only copied.

use super::piece::{Cut, Ends, Input, Issued, Join, Piece, Pieces, Step, connect};
use crate::block::Text;
use crate::error::Error;
use crate::summary::StreamSummary;
use hybz_queue::Client;

/// The size of one read.
const CHUNK: usize = 128 << 10;

/// The input and the output end of a stream that is only copied.
pub(crate) fn ends() -> Ends {
    connect(Chunks::default(), Unchanged::default())
}

/// Some unchanged bytes.
impl Piece for Vec<u8> {
    type Issued = Vec<u8>;

    fn charge(&self) -> u64 {
        self.capacity() as u64
    }

    fn issue(self, _client: &Client) -> Vec<u8> {
        self
    }
}

/// Cuts the input into chunks.
#[derive(Default)]
pub(crate) struct Chunks {
    room: Vec<u8>,
    ready: Option<Vec<u8>>,
}

impl Input for Chunks {
    fn room(&mut self) -> &mut [u8] {
        self.room.resize(CHUNK, 0);
        &mut self.room
    }

    fn filled(&mut self, n: usize) {
        let mut chunk = std::mem::take(&mut self.room);
        chunk.truncate(n);
        self.ready = Some(chunk);
    }

    fn finish(&mut self) {}
}

impl Cut for Chunks {
    type Piece = Vec<u8>;

    fn next_piece(&mut self) -> Option<Vec<u8>> {
        self.ready.take()
    }
}

/// Hands the chunks on.
#[derive(Default)]
pub(crate) struct Unchanged {
    bytes: u64,
}

impl Join for Unchanged {
    type Issued = Vec<u8>;

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, _wait: bool) -> Result<Step, Error> {
        Ok(match pieces.held.pop_front() {
            Some(Issued { piece: bytes, .. }) => {
                self.bytes += bytes.len() as u64;
                Step::Out(Text::Plain(bytes), None)
            }
            None => pieces.none(),
        })
    }

    fn summary(&self) -> StreamSummary {
        StreamSummary { bytes_in: self.bytes, ..StreamSummary::default() }
    }
}
