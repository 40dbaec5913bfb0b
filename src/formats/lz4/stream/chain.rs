//! Joins the texts of blocks, and checks a frame's statements about them.

use super::scan::{FrameEnd, IssuedFound, Rest};
use crate::block::Text;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::stream::piece::{Extent, Issued, Join, Pieces, Step};
use crate::summary::{Mark, StreamFormat, StreamSummary};
use hybz_queue::Permit;
use std::hash::Hasher;
use twox_hash::XxHash32;

/// Joins texts.
pub(super) struct Chain {
    extent: Extent,
    /// The permit of the blocks whose text is being written.
    held: Option<Permit>,
    /// The error that follows the text handed on so far.
    failed: Option<Error>,
    /// The hash of the frame's text so far.
    hash: XxHash32,
    text_len: u64,
    done: bool,
    summary: StreamSummary,
}

impl Chain {
    pub fn new(extent: Extent) -> Chain {
        let (held, failed, summary) = Default::default();
        Chain { extent, held, failed, hash: XxHash32::with_seed(0), text_len: 0, done: false, summary }
    }

    fn damaged(&self, at: u64, damage: Flaw) -> Error {
        Error::damaged(self.summary.blocks + 1, at * 8, damage)
    }

    /// Handles data that follow blocks.
    fn other(&mut self, rest: Rest) -> Result<Option<Step>, Error> {
        match rest {
            Rest::End(end) => return self.end(&end).map(Some),
            Rest::Skipped(at) => self.summary.bytes_in = at,
            Rest::Wrong(at, damage) => return Err(self.damaged(at, damage)),
            Rest::Cut(at) => return Err(Error::Truncated { block: self.summary.blocks + 1, bit_offset: at * 8 }),
            // Skippable frames alone do not count as decoded data: other formats have them too (parallel zstd).
            Rest::Garbage(_) if self.summary.streams == 0 => return Err(Error::NotBzip2),
            Rest::Garbage(offset) => {
                if self.extent == Extent::AllStreams {
                    return Err(Error::TrailingGarbage { offset });
                }
                self.summary.trailing_garbage = Some(offset);
                self.done = true;
            }
        }
        Ok(None)
    }

    /// Ends a frame.
    fn end(&mut self, frame: &FrameEnd) -> Result<Step, Error> {
        let hash = std::mem::replace(&mut self.hash, XxHash32::with_seed(0));
        let found = std::mem::take(&mut self.text_len);
        // To `lz4` a length of 0 means an unknown length.
        if let Some(stated) = frame.header.text_len.filter(|&stated| stated != found && stated > 0) {
            return Err(self.damaged(frame.at, Flaw::Lz4TextLength { stated, found }));
        }
        let computed = hash.finish_32();
        if let Some(stored) = frame.checksum.filter(|&stored| stored != computed) {
            return Err(self.damaged(frame.at, Flaw::Lz4Checksum { part: "text", stored, computed }));
        }
        self.summary.streams += 1;
        self.summary.bytes_in = frame.end;
        self.summary.block_size = self.summary.block_size.max(frame.header.block_size);
        let info = self.summary.stream(StreamFormat::Lz4, frame.at, frame.end);
        self.done = self.extent.is_reached(self.summary.streams);
        Ok(Step::Out(Text::Plain(Vec::new()), Some(Mark::Stream(info))))
    }
}

impl Join for Chain {
    type Issued = IssuedFound;

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error> {
        self.held = None;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while !self.done {
            let Some(Issued { piece, permit }) = pieces.held.pop_front() else { return Ok(pieces.none()) };
            let (ticket, count, hashed) = match piece {
                IssuedFound::Blocks { ticket, count, hashed } => (ticket, count, hashed),
                IssuedFound::Other(rest) => match self.other(rest)? {
                    Some(step) => return Ok(step),
                    None => continue,
                },
            };
            let Some(decoded) = ticket.take(wait) else {
                return Ok(pieces.wait(IssuedFound::Blocks { ticket, count, hashed }, permit));
            };
            let internal = |reason| Error::Internal { block: self.summary.blocks + 1, reason };
            let decoded = decoded.map_err(|error| internal(error.0))?;
            if hashed {
                self.hash.write(&decoded.text);
            }
            self.text_len += decoded.text.len() as u64;
            if let Some((good, at, damage)) = decoded.wrong {
                self.summary.blocks += good as u64;
                self.failed = Some(self.damaged(at, damage));
            } else {
                self.summary.blocks += count;
            }
            self.held = permit;
            return Ok(Step::Out(Text::Plain(decoded.text), None));
        }
        Ok(Step::Done)
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
