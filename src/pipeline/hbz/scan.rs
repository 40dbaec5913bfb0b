//! Cuts a `.hbz` stream into its parts: header, blocks, index; perhaps another stream after it. Block lengths stand in the
//! headers, so nothing is searched for.
//!
//! Memory grows with the bytes that have arrived, not with what a header claims. What does not look right is passed on as it
//! is: the joiner, which sees everything in order, says what is wrong with it. After that nothing more is cut.

use super::{DECODE_BYTES, ENCODE_BYTES, STAGED_ROWS, STAGED_ROWS_ALONE};
use crate::format::hbz::{self, BlockHeader, HEADER_LEN, Next, StreamHeader};
use crate::pipeline::piece::{Cut, Piece};
use crate::pipeline::queue::Window;
use crate::station::Work;
use crate::station::large::LargeWork;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most that is read at once.
const ROOM: usize = 1 << 20;
/// The first room, enough for a small file.
const MIN_ROOM: usize = 64 << 10;

/// What is being gathered.
#[derive(Clone, Copy)]
enum Part {
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

/// Cuts streams.
pub(crate) struct Scanner {
    window: Arc<Window>,
    part: Part,
    /// Bytes of the part, then room.
    bytes: Vec<u8>,
    len: usize,
    number: u32,
    ready: VecDeque<Piece>,
}

impl Scanner {
    pub fn new(window: Arc<Window>) -> Self {
        let (bytes, ready) = Default::default();
        Scanner { window, part: Part::Header, bytes, len: 0, number: 0, ready }
    }

    /// How many bytes the part has.
    fn wanted(&self) -> usize {
        match self.part {
            Part::Header | Part::Next(_) => HEADER_LEN,
            Part::Payload(_, header) => header.coded_len as usize,
            Part::Index(len) => len,
            Part::Lost => usize::MAX,
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

    fn push(&mut self, work: Option<Work>, raw: Vec<u8>, charge: u64) {
        let charge = charge.max(raw.capacity() as u64);
        self.ready.push_back(Piece { work, span: None, raw, charge });
    }

    /// Something is wrong with the part that began with these bytes.
    fn lose(&mut self, raw: Vec<u8>) {
        self.part = Part::Lost;
        self.push(None, raw, 0);
    }

    /// Takes all parts that are complete.
    fn cut(&mut self) {
        while self.len >= self.wanted() {
            let mut bytes = self.split(self.wanted());
            let header = <[u8; HEADER_LEN]>::try_from(&bytes[..]);
            match (self.part, header) {
                (Part::Header, Ok(header)) => match StreamHeader::parse(&header) {
                    Ok(stream) => {
                        self.number = 0;
                        self.part = Part::Next(stream);
                        let block = u64::from(stream.block_size);
                        self.window.raise(block * ENCODE_BYTES.max(DECODE_BYTES));
                        self.push(None, bytes, 0);
                    }
                    Err(_) => return self.lose(bytes),
                },
                (Part::Next(stream), Ok(header)) => match hbz::next(&header, self.number) {
                    Next::Block => match BlockHeader::parse(&header, &stream, self.number) {
                        Ok(block) => {
                            self.part = Part::Payload(stream, block);
                            self.push(None, bytes, 0);
                        }
                        Err(_) => return self.lose(bytes),
                    },
                    Next::Index(len) => {
                        self.part = Part::Index(len);
                        bytes.extend_from_slice(&self.bytes[..self.len]);
                        self.len = bytes.len();
                        self.bytes = bytes;
                    }
                    Next::Other => return self.lose(bytes),
                },
                (Part::Payload(stream, header), _) => {
                    self.part = Part::Next(stream);
                    self.number += 1;
                    let charge = u64::from(header.rows) * DECODE_BYTES + bytes.len() as u64;
                    // The only block of its stream: nobody else would have anything to do.
                    let alone = header.number == 0 && header.text_len < stream.block_size;
                    let staged = header.rows > if alone { STAGED_ROWS_ALONE } else { STAGED_ROWS };
                    if staged || self.window.forbids(charge) {
                        self.push(None, bytes, charge);
                    } else {
                        let work = LargeWork::Decode { payload: Arc::new(bytes), header, stream };
                        self.push(Some(Work::Large(work)), Vec::new(), charge);
                    }
                }
                (Part::Index(_), _) => {
                    self.part = Part::Header;
                    self.push(None, bytes, 0);
                }
                (Part::Header | Part::Next(_), Err(_)) | (Part::Lost, _) => return,
            }
        }
    }
}

impl Cut for Scanner {
    fn room(&mut self) -> &mut [u8] {
        if matches!(self.part, Part::Lost) {
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
        if matches!(self.part, Part::Lost) {
            self.len = 0;
        } else {
            self.cut();
        }
    }

    fn finish(&mut self) {
        if self.len > 0 && !matches!(self.part, Part::Lost) {
            let rest = self.split(self.len);
            self.lose(rest);
        }
    }

    fn next_piece(&mut self) -> Option<Piece> {
        self.ready.pop_front()
    }
}
