//! What the input is cut into, and the two roles around the stations: who cuts, and who joins.

use super::queue::{Permit, Ticket};
use crate::block::Text;
use crate::error::Error;
use crate::station::Work;
use crate::summary::{BlockInfo, StreamSummary};
use std::sync::Arc;

/// A stretch of compressed input, bits `first .. end` of `data`. Neighbours may share a byte.
#[derive(Clone)]
pub(crate) struct Span {
    pub data: Arc<Vec<u8>>,
    /// Where in the whole input `data` begins, in bits.
    pub at: u64,
    /// The first bit of `data` that belongs to the span: 0 to 7.
    pub first: u64,
    /// The bit of `data` after the span's last.
    pub end: u64,
}

impl Span {
    /// Where the span begins in the whole input, in bits.
    pub fn start_bit(&self) -> u64 {
        self.at + self.first
    }

    /// The bit after its last in the whole input.
    pub fn end_bit(&self) -> u64 {
        self.at + self.end
    }
}

/// One piece of the input as the cutter makes it.
pub(crate) struct Piece {
    /// What a station has to do for it, if anything.
    pub work: Option<Work>,
    /// The compressed bits, when decompressing: the joiner reads headers and trailers itself.
    pub span: Option<Span>,
    /// Bytes that pass through unchanged.
    pub raw: Vec<u8>,
    /// How many bytes it and its result may take while they are alive.
    pub charge: u64,
}

/// A piece on its way, as the joiner gets it.
pub(crate) struct Issued {
    pub ticket: Option<Ticket>,
    pub span: Option<Span>,
    pub raw: Vec<u8>,
    pub permit: Option<Permit>,
}

/// Cuts a stream of bytes into pieces; does no reading itself.
pub(crate) trait Cut {
    /// Room for the next bytes of the input, never empty.
    fn room(&mut self) -> &mut [u8];
    /// Says that the first `n` bytes of the room are filled.
    fn filled(&mut self, n: usize);
    /// Says that the input has ended.
    fn finish(&mut self);
    /// Hands on everything that is there, although the input goes on: ends the current block (what `flush` means to bzip2),
    /// or when decompressing lets the joiner see all bits.
    fn flush(&mut self) {}
    /// The next piece, if one is complete.
    fn next_piece(&mut self) -> Option<Piece>;
}

/// How much of the input a decoder takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The first stream: the output is complete where it ends, whatever follows.
    FirstStream,
    /// All streams that follow each other. Other bytes behind them are an error.
    Streams,
    /// All streams that follow each other. Other bytes behind them are ignored.
    StreamsThenGarbage,
}

impl Extent {
    /// All streams; `garbage` says whether other bytes may follow them.
    pub fn all(garbage: bool) -> Extent {
        if garbage { Extent::StreamsThenGarbage } else { Extent::Streams }
    }
}

/// What a joiner has to say.
pub(crate) enum Step {
    /// Bytes to write now, and the block that they end, if they do.
    Out(Text, Option<BlockInfo>),
    /// The next result is not there yet.
    Pending,
    /// It needs the next piece.
    Need,
    /// The output is complete; whatever input follows is of no interest.
    Done,
}

/// Joins the results of the pieces in order; does no writing itself.
pub(crate) trait Join {
    /// Takes the next piece.
    fn add(&mut self, piece: Issued);
    /// Says that there are no more pieces.
    fn finish(&mut self);
    /// Goes on as far as the next output. With `wait` it waits for results and never says [`Step::Pending`].
    fn step(&mut self, wait: bool) -> Result<Step, Error>;
    /// What became of the stream; complete after [`Step::Done`]. `bytes_out` is left to whoever writes.
    fn summary(&self) -> StreamSummary;
}

impl<T: Cut + ?Sized> Cut for Box<T> {
    fn room(&mut self) -> &mut [u8] {
        (**self).room()
    }
    fn filled(&mut self, n: usize) {
        (**self).filled(n)
    }
    fn finish(&mut self) {
        (**self).finish()
    }
    fn flush(&mut self) {
        (**self).flush()
    }
    fn next_piece(&mut self) -> Option<Piece> {
        (**self).next_piece()
    }
}
