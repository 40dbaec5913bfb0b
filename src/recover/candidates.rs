//! Everything in a file that looks like a block, decoded ahead.

use crate::block::DecodedBlock;
use crate::error::{DecodeError, Error};
use crate::formats::bzip2::stream::ahead::Ahead;
use crate::formats::bzip2::stream::span::{IssuedSpan, Span};
use crate::read_at::ReadAt;
use crate::settings::Settings;
use crate::stream::piece::Issued;
use std::collections::VecDeque;

/// The candidate blocks of a file, in order.
pub(super) struct Candidates<'a> {
    file: &'a dyn ReadAt,
    ahead: Ahead,
    queue: VecDeque<Issued<IssuedSpan>>,
}

/// One candidate: its bits, and the result of decoding them.
pub(super) struct Candidate {
    pub span: Span,
    pub answer: Result<DecodedBlock, DecodeError>,
}

impl<'a> Candidates<'a> {
    pub fn new(file: &'a dyn ReadAt, settings: &Settings) -> Self {
        Candidates { file, ahead: Ahead::new(0, settings), queue: VecDeque::new() }
    }

    /// The start of the first candidate at or after this bit. Drops earlier candidates without looking at them.
    pub fn seek(&mut self, bit: u64) -> Result<Option<u64>, Error> {
        loop {
            while let Some(issued) = self.ahead.next(self.file, u64::MAX)? {
                if issued.piece.block.is_some() {
                    self.queue.push_back(issued);
                }
            }
            match self.queue.front().map(|issued| issued.piece.span.start_bit()) {
                Some(start) if start < bit => drop(self.queue.pop_front()),
                start => return Ok(start),
            }
        }
    }

    /// Takes the next candidate, waiting until it is decoded.
    pub fn take(&mut self, blocks: u64) -> Result<Option<Candidate>, Error> {
        let Some(Issued { piece: IssuedSpan { span, block: Some(ticket) }, permit }) = self.queue.pop_front() else {
            return Ok(None);
        };
        let answer = ticket.wait().map_err(|error| Error::Internal { block: blocks + 1, reason: error.0 })?;
        drop(permit);
        Ok(Some(Candidate { span, answer }))
    }
}
