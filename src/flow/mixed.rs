//! Streams of different formats one after the other in one input.
//!
//! The first byte tells the format of the first stream, and that format's scanner cuts the whole input. If the joiner
//! finds that other bytes follow the streams of that format, it hands those bytes out unchanged, and this module
//! passes them to a driver for each further stream, which gets no byte past the stream's end (`gate`). A stream's
//! joiner therefore always decides where the stream ends, and such inputs, which are rare, cost other inputs nothing.
//! Within a stream, blocks are still read ahead and decoded by all stations.

use super::one_stream::Driver;
use crate::error::Error;
use crate::format::Format;
use crate::gate::Gate;
use crate::stream::piece::{Collect, Decoding, Extent, Rest, Step};
use crate::summary::{BlockInfo, Mark, StreamInfo, StreamSummary};
use crate::table::{self, Next};

/// The bytes after the streams of the first format.
pub(super) struct Mixed {
    decoding: Decoding,
    /// The available bytes; those before `taken` have been used.
    bytes: Vec<u8>,
    taken: usize,
    ended: bool,
    stream: Option<Stream>,
    done: bool,
    /// The summary of all streams so far: `bytes_in` is the position of the next byte in the input.
    summary: StreamSummary,
}

/// A stream in the pool.
struct Stream {
    driver: Driver,
    gate: Gate,
    /// Its start in the input.
    at: u64,
    /// The stream has been given all of the input.
    ended: bool,
}

impl Mixed {
    /// The state after the streams of the first format, which gave this summary.
    pub fn new(decoding: Decoding, summary: StreamSummary) -> Mixed {
        Mixed { decoding, bytes: Vec::new(), taken: 0, ended: false, stream: None, done: false, summary }
    }

    /// Like [`Collect::step`]. The bytes come from the joiner of the first format.
    pub fn step(&mut self, first: &mut dyn Collect, wait: bool) -> Result<Step, Error> {
        while !self.done {
            let step = match self.stream.take() {
                None => self.begin(first)?,
                Some(stream) => self.go_on(stream, first, wait)?,
            };
            if let Some(step) = step {
                return Ok(step);
            }
        }
        Ok(Step::Done)
    }

    pub fn summary(&self) -> StreamSummary {
        self.summary
    }

    /// Takes bytes until `n` are available or the input has ended. Returns whether `n` are available.
    fn want(&mut self, n: usize, first: &mut dyn Collect) -> bool {
        while self.bytes.len() - self.taken < n && !self.ended {
            match first.rest() {
                Rest::Bytes(bytes) => {
                    self.bytes.drain(..self.taken);
                    self.taken = 0;
                    if self.bytes.is_empty() { self.bytes = bytes } else { self.bytes.extend_from_slice(&bytes) }
                }
                Rest::Need => return false,
                Rest::End => self.ended = true,
            }
        }
        true
    }

    /// Between streams: examines the bytes that follow.
    fn begin(&mut self, first: &mut dyn Collect) -> Result<Option<Step>, Error> {
        if self.decoding.extent.is_reached(self.summary.streams) {
            self.done = true;
            return Ok(None);
        }
        self.want(1, first);
        loop {
            let rest = &self.bytes[self.taken..];
            let at = self.summary.bytes_in;
            if rest.is_empty() && self.ended {
                self.done = true;
                return Ok(None);
            }
            match table::next(self.decoding.formats, rest, self.ended) {
                Next::Stream(coding) => {
                    let decoding = Decoding { extent: Extent::Streams(1), ..self.decoding.clone() };
                    let driver = Driver::new(&decoding.pool, (coding.decode)(&decoding));
                    self.stream = Some(Stream { driver, gate: Gate::new(), at, ended: false });
                }
                Next::Unknown => {
                    let more = rest.len() + 1;
                    if self.want(more.min(Format::HEAD_LEN), first) {
                        continue;
                    }
                    return Ok(Some(Step::Need));
                }
                Next::Cut => {
                    let bit_offset = (at + rest.len() as u64) * 8;
                    return Err(Error::Truncated { block: self.summary.blocks + 1, bit_offset });
                }
                Next::Garbage if self.decoding.extent == Extent::AllStreams => {
                    return Err(Error::TrailingGarbage { offset: at });
                }
                Next::Garbage => {
                    self.summary.trailing_garbage = Some(at);
                    self.done = true;
                }
            }
            return Ok(None);
        }
    }

    /// Continues a stream.
    fn go_on(&mut self, mut stream: Stream, first: &mut dyn Collect, wait: bool) -> Result<Option<Step>, Error> {
        let complete = stream.ended || stream.gate.is_closed();
        let mut step = stream.driver.step(complete).map_err(|error| self.placed(error, &stream))?;
        if matches!(step, Step::Pending | Step::Need) && !complete {
            if self.want(1, first) {
                self.push(&mut stream);
                self.stream = Some(stream);
                return Ok(None);
            }
            if wait && matches!(step, Step::Pending) {
                step = stream.driver.step(true).map_err(|error| self.placed(error, &stream))?;
            }
        }
        match step {
            Step::Out(text, mark) => {
                let mark = mark.map(|mark| self.moved(mark, stream.at));
                self.stream = Some(stream);
                Ok(Some(Step::Out(text, mark)))
            }
            Step::Done => {
                let StreamSummary { streams, blocks, combined_crc, .. } = stream.driver.summary();
                self.summary.streams += streams;
                self.summary.blocks += blocks;
                self.summary.combined_crc = combined_crc;
                Ok(None)
            }
            _ if stream.ended => {
                let reason = "more is wanted than there is".to_owned();
                Err(Error::Internal { block: self.summary.blocks + 1, reason })
            }
            // The stream has all bytes up to a possible end, and wants more: it does not end there.
            _ if complete => {
                stream.gate.open();
                self.stream = Some(stream);
                Ok(None)
            }
            step => {
                self.stream = Some(stream);
                Ok(Some(step))
            }
        }
    }

    /// Hands over some of the available bytes, or tells that there are no more.
    fn push(&mut self, stream: &mut Stream) {
        let rest = &self.bytes[self.taken..];
        if rest.is_empty() {
            stream.ended = true;
            stream.driver.end_input();
            return;
        }
        let n = stream.gate.push(&mut stream.driver, rest);
        self.taken += n;
        self.summary.bytes_in += n as u64;
    }

    /// Converts the positions in a report of a stream that begins at this byte to positions in the whole input.
    fn moved(&self, mark: Mark, at: u64) -> Mark {
        let StreamSummary { blocks, streams, .. } = self.summary;
        match mark {
            Mark::Block(info) => Mark::Block(BlockInfo {
                number: blocks + info.number,
                stream: streams + info.stream,
                bytes_in: at + info.bytes_in,
                bit_offset: at * 8 + info.bit_offset,
                ..info
            }),
            Mark::Stream(info) => Mark::Stream(StreamInfo {
                number: streams + info.number,
                bit_offset: at * 8 + info.bit_offset,
                end: at + info.end,
                ..info
            }),
        }
    }

    /// Converts the positions in an error of one stream to positions in the whole input.
    fn placed(&self, error: Error, stream: &Stream) -> Error {
        let (blocks, bits) = (self.summary.blocks, stream.at * 8);
        match error {
            Error::Truncated { block, bit_offset } => {
                Error::Truncated { block: blocks + block, bit_offset: bits + bit_offset }
            }
            Error::Data { block, bit_offset, damage } => {
                Error::Data { block: blocks + block, bit_offset: bits + bit_offset, damage }
            }
            Error::BlockTooLarge { block, bit_offset } => {
                Error::BlockTooLarge { block: blocks + block, bit_offset: bits + bit_offset }
            }
            Error::Memory { block, needs, allowed } => Error::Memory { block: blocks + block, needs, allowed },
            Error::Internal { block, reason } => Error::Internal { block: blocks + block, reason },
            other => other,
        }
    }
}
