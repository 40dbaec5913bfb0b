//! The pieces into which an input is cut, and the two roles around the stations: cutter and joiner.
//!
//! Each format has its own cutter, joiner and pieces, and their types fit each other: [`connect`] turns them into the
//! two ends that `flow` works with. A piece goes through a channel of its own type, so a joiner never meets a piece of
//! another format.

use crate::block::Text;
use crate::crc;
use crate::error::Error;
use crate::format::Formats;
use crate::read_at::{ReadAt, read_some};
use crate::stream::coded::Verify;
use crate::summary::{BlockInfo, Mark, StreamFormat, StreamInfo, StreamSummary};
use crossbeam_channel::{Receiver, Sender, TryRecvError, unbounded};
use hybz_queue::{Client, Permit, Pool};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;

/// One piece of the input, as the cutter makes it.
pub(crate) trait Piece: Send + 'static {
    /// The joiner's part of the piece.
    type Issued: Send + 'static;
    /// The number of bytes that the piece and its result may take while they are in memory.
    fn charge(&self) -> u64;
    /// Puts the piece's work on the queue.
    fn issue(self, client: &Client) -> Self::Issued;
}

/// A piece that has been issued. The joiner drops the permit when the result has been written, or before it asks for
/// more.
pub(crate) struct Issued<I> {
    pub piece: I,
    pub permit: Option<Permit>,
}

/// The pieces that a joiner has not taken yet.
pub(crate) struct Pieces<I> {
    pub held: VecDeque<Issued<I>>,
    /// All pieces have come.
    pub ended: bool,
}

impl<I> Pieces<I> {
    pub fn new() -> Pieces<I> {
        Pieces { held: VecDeque::new(), ended: false }
    }

    /// The result of a step of a joiner that has no piece.
    pub fn none(&self) -> Step {
        if self.ended { Step::Done } else { Step::Need }
    }

    /// Puts a piece back whose result has not arrived.
    pub fn wait(&mut self, piece: I, permit: Option<Permit>) -> Step {
        self.held.push_front(Issued { piece, permit });
        Step::Pending
    }
}

/// Takes the bytes of a stream; its caller reads them.
pub(crate) trait Input: Send {
    /// The buffer for the next bytes of the input, never empty.
    fn room(&mut self) -> &mut [u8];
    /// Records that the first `n` bytes of the buffer are filled.
    fn filled(&mut self, n: usize);
    /// Copies bytes into the buffer. Returns those that did not fit.
    fn fill<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let room = self.room();
        let (some, rest) = bytes.split_at(bytes.len().min(room.len()));
        room[..some.len()].copy_from_slice(some);
        self.filled(some.len());
        rest
    }
    /// Records that the input has ended.
    fn finish(&mut self);
    /// Hands on everything available, although the input goes on: ends the current block (the meaning of `flush` in
    /// bzip2), or, when decompressing, lets the joiner see all bits.
    fn flush(&mut self) {}
    /// Records that the input pauses: the last read filled less than its buffer, so perhaps no more comes for a long
    /// time. Everything that can be decoded without more input is handed on. Lasts until the next
    /// [`filled`](Self::filled).
    fn pause(&mut self) {}
    /// Whether the input pauses with all its blocks complete. If so, results are awaited before the next read, which
    /// may never return if the other side waits for an answer.
    fn rests(&self) -> bool {
        false
    }
    /// Makes several threads read the rest of the input, if it can. Returns whether it does;
    /// [`read_on`](Self::read_on) then replaces `room` and `filled`.
    fn share_reading(&mut self, _unread: &Unread<'_>) -> bool {
        false
    }
    /// Takes more of the bytes that these threads have read. Returns whether there were any.
    fn read_on(&mut self) -> io::Result<bool> {
        Ok(false)
    }
}

/// Cuts the stream into pieces.
pub(crate) trait Cut: Input + 'static {
    type Piece: Piece;
    /// The next piece, if one is complete.
    fn next_piece(&mut self) -> Option<Self::Piece>;
}

/// The rest of an input that several threads may read.
pub(crate) struct Unread<'a> {
    pub file: &'a Arc<dyn ReadAt>,
    /// The byte of the file at which the input begins.
    pub from: u64,
    /// The number of bytes of the input that have been read.
    pub read: u64,
    /// The number of threads.
    pub readers: usize,
    /// The number of bytes that these threads together may read ahead.
    pub room: u64,
}

/// The result of a joiner's step.
pub(crate) enum Step {
    /// Bytes to write now, possibly none, and the block or the stream that ends with them, if one does.
    Out(Text, Option<Mark>),
    /// The next result has not arrived yet.
    Pending,
    /// The joiner needs the next piece.
    Need,
    /// The format's streams end here, and other bytes follow them: another format's stream, or garbage. [`Join::rest`]
    /// returns these bytes.
    Other,
    /// The output is complete; any input that follows is ignored.
    Done,
}

/// Bytes for which a joiner has no use ([`Step::Other`]).
pub(crate) enum Rest {
    Bytes(Vec<u8>),
    /// More bytes may come with the next piece.
    Need,
    /// The input has ended.
    End,
}

/// Joins the results of the pieces in order; its caller writes them.
pub(crate) trait Join: Send + 'static {
    /// The form in which the joiner gets a piece ([`Piece::Issued`]).
    type Issued: Send + 'static;
    /// Takes pieces, up to the next output. With `wait` it waits for results and never returns [`Step::Pending`].
    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error>;
    /// After [`Step::Other`]: the next bytes of the input, if there are any.
    fn rest(&mut self, _pieces: &mut Pieces<Self::Issued>) -> Option<Vec<u8>> {
        None
    }
    /// The summary of the stream; complete after [`Step::Done`]. The writer sets `bytes_out`.
    fn summary(&self) -> StreamSummary;
}

impl StreamSummary {
    /// Counts a block at this bit. The format adds what else is known of it.
    pub(crate) fn block(&mut self, crc: u32, text_len: u64, bit_offset: u64) -> BlockInfo {
        self.blocks += 1;
        self.combined_crc = crc::combine(self.combined_crc, crc);
        BlockInfo {
            number: self.blocks,
            crc,
            combined_crc: self.combined_crc,
            text_len,
            block_len: 0,
            bytes_in: self.bytes_in,
            bit_offset,
            stream: self.streams,
            level: None,
            lines: None,
        }
    }

    /// The last stream, in a format without levels: its end record is at this byte.
    pub(crate) fn stream(&self, format: StreamFormat, at: u64, end: u64) -> StreamInfo {
        let StreamSummary { streams: number, combined_crc, .. } = *self;
        StreamInfo { number, format, level: None, bit_offset: at * 8, end, combined_crc }
    }
}

/// The input end of a stream, whatever the format.
pub(crate) trait Feed: Send {
    /// Takes the input.
    fn input(&mut self) -> &mut dyn Input;
    /// Reads once into the input. Returns how many bytes came.
    fn read_from(&mut self, reader: &mut dyn Read) -> io::Result<usize> {
        let room = self.input().room();
        let most = room.len();
        let n = read_some(reader, room)?;
        if n > 0 {
            self.input().filled(n);
            if n < most {
                self.input().pause();
            }
        }
        Ok(n)
    }
    /// The [`charge`](Piece::charge) of the next piece, if one is complete. It stays the next piece until it is issued.
    fn next_charge(&mut self) -> Option<u64>;
    /// Puts the next piece's work on the queue and sends the piece to the other end. Returns whether the other end
    /// still exists.
    fn issue(&mut self, client: &Client, permit: Permit) -> bool;
    /// Tells the other end that there are no more pieces, or that the input cannot be read any further.
    fn end(&mut self, end: io::Result<()>) -> bool;
}

/// The output end of a stream, whatever the format.
pub(crate) trait Collect: Send {
    /// Takes a message that has been sent to this end: a piece, or the end of the input. Returns whether there was one;
    /// with `wait` it waits for one.
    fn receive(&mut self, wait: bool) -> Result<bool, Error>;
    /// As [`Join::step`].
    fn step(&mut self, wait: bool) -> Result<Step, Error>;
    /// As [`Join::rest`].
    fn rest(&mut self) -> Rest;
    /// As [`Join::summary`].
    fn summary(&self) -> StreamSummary;
}

/// The input end and the output end of a stream.
pub(crate) type Ends = (Box<dyn Feed>, Box<dyn Collect>);

/// Finds the places where a stream of one format may end.
pub(crate) trait StreamEndDetector: Send + Sync {
    /// Takes the next bytes of the stream. Returns the offset in them at which it may end.
    fn take(&mut self, bytes: &[u8]) -> Option<usize>;
    /// Records that the stream does not end there. Returns whether another possible end is searched for; otherwise the
    /// stream takes all of the input.
    fn goes_on(&mut self) -> bool {
        false
    }
}

/// Options for the treatment of blocks that are coded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockOptions {
    /// Whether line ends are counted.
    pub count_lines: bool,
    /// Which blocks are verified.
    pub verify: Verify,
}

/// The options for decoding data.
#[derive(Clone)]
pub(crate) struct Decoding {
    pub pool: Pool,
    /// The size of a scanner's reads, if the scanner does not choose it.
    pub chunk: Option<usize>,
    /// Whether line ends are counted.
    pub lines: bool,
    /// The extent of the input that is decoded.
    pub extent: Extent,
    /// The formats that are decoded.
    pub formats: Formats,
}

/// The extent of the input that a decoder takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// This many streams: the output is complete at the end of the last of them, whatever follows.
    Streams(u64),
    /// All consecutive streams. Other bytes after them are an error.
    #[default]
    AllStreams,
    /// All consecutive streams. Other bytes after them are ignored.
    AllThenGarbage,
}

impl Extent {
    /// All streams; `garbage` says whether other bytes may follow them.
    pub fn all(garbage: bool) -> Extent {
        if garbage { Extent::AllThenGarbage } else { Extent::AllStreams }
    }

    /// Whether the output is complete after this number of streams.
    pub fn is_reached(self, streams: u64) -> bool {
        matches!(self, Extent::Streams(most) if streams >= most)
    }
}

/// The pieces of an input that comes `chunk` bytes at a time.
#[cfg(test)]
pub(crate) fn pieces<C: Cut>(cut: &mut C, input: &[u8], chunk: usize) -> Vec<C::Piece> {
    let mut pieces = Vec::new();
    for mut part in input.chunks(chunk) {
        while !part.is_empty() {
            part = cut.fill(part);
            pieces.extend(std::iter::from_fn(|| cut.next_piece()));
        }
    }
    cut.finish();
    pieces.extend(std::iter::from_fn(|| cut.next_piece()));
    pieces
}

/// Makes the two ends of a stream.
pub(crate) fn connect<C: Cut, J: Join<Issued = <C::Piece as Piece>::Issued>>(cut: C, join: J) -> Ends {
    let (sender, receiver) = unbounded();
    (
        Box::new(Feeder { cut, next: None, sender }),
        Box::new(Collector { join, receiver, pieces: Pieces::new(), ended: false }),
    )
}

/// A message from one end to the other.
enum Sent<I> {
    Piece(Issued<I>),
    End(io::Result<()>),
}

struct Feeder<C: Cut> {
    cut: C,
    next: Option<C::Piece>,
    sender: Sender<Sent<<C::Piece as Piece>::Issued>>,
}

impl<C: Cut> Feed for Feeder<C> {
    fn input(&mut self) -> &mut dyn Input {
        &mut self.cut
    }

    fn next_charge(&mut self) -> Option<u64> {
        if self.next.is_none() {
            self.next = self.cut.next_piece();
        }
        self.next.as_ref().map(Piece::charge)
    }

    fn issue(&mut self, client: &Client, permit: Permit) -> bool {
        let Some(piece) = self.next.take() else { return true };
        self.sender.send(Sent::Piece(Issued { piece: piece.issue(client), permit: Some(permit) })).is_ok()
    }

    fn end(&mut self, end: io::Result<()>) -> bool {
        self.sender.send(Sent::End(end)).is_ok()
    }
}

struct Collector<J: Join> {
    join: J,
    receiver: Receiver<Sent<J::Issued>>,
    pieces: Pieces<J::Issued>,
    /// The input has ended, with or without an error.
    ended: bool,
}

impl<J: Join> Collect for Collector<J> {
    fn receive(&mut self, wait: bool) -> Result<bool, Error> {
        if self.ended {
            return Ok(false);
        }
        let sent = match self.receiver.try_recv() {
            Err(TryRecvError::Empty) if wait => self.receiver.recv().ok(),
            Err(TryRecvError::Empty) => return Ok(false),
            sent => sent.ok(),
        };
        match sent {
            Some(Sent::Piece(piece)) => self.pieces.held.push_back(piece),
            Some(Sent::End(end)) => {
                self.ended = true;
                end.map_err(Error::Read)?;
                self.pieces.ended = true;
            }
            // The feeder sends `Sent::End` last, unless it panicked.
            None => {
                let block = self.join.summary().blocks + 1;
                return Err(Error::Internal { block, reason: "the manager stopped".into() });
            }
        }
        Ok(true)
    }

    fn step(&mut self, wait: bool) -> Result<Step, Error> {
        self.join.step(&mut self.pieces, wait)
    }

    fn rest(&mut self) -> Rest {
        match self.join.rest(&mut self.pieces) {
            Some(bytes) => Rest::Bytes(bytes),
            None if self.ended => Rest::End,
            None => Rest::Need,
        }
    }

    fn summary(&self) -> StreamSummary {
        self.join.summary()
    }
}
