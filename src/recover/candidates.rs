//! Everything that looks like a block, decoded ahead by the pool's stations.

use crate::block::DecodedBlock;
use crate::error::{DecodeError, Error};
use crate::formats::bzip2::stream::scan::Scanner;
use crate::formats::bzip2::stream::span::{IssuedSpan, Span};
use crate::read_at::{Positioned, ReadAt};
use crate::settings::Settings;
use crate::stream::driver::read_some;
use crate::stream::piece::{Cut, Issued, Piece};
use crate::{Client, Pool};
use std::collections::VecDeque;

/// The candidate blocks of a file, in order.
pub(super) struct Candidates<'a> {
    reader: Positioned<'a, dyn ReadAt + 'a>,
    scanner: Scanner,
    client: Client,
    /// A candidate that is found, but for which the memory budget has no room yet.
    next: Option<Span>,
    queue: VecDeque<Issued<IssuedSpan>>,
    ended: bool,
}

/// One candidate: its bits, and what they decode to.
pub(super) struct Candidate {
    pub span: Span,
    pub answer: Result<DecodedBlock, DecodeError>,
}

impl<'a> Candidates<'a> {
    pub fn new(file: &'a dyn ReadAt, settings: &Settings) -> Self {
        let pool: &Pool = settings.get_pool();
        Candidates {
            reader: Positioned { source: file, at: 0 },
            scanner: settings.scan_chunk.map_or_else(Scanner::new, Scanner::with_chunk),
            client: pool.client(),
            next: None,
            queue: VecDeque::new(),
            ended: false,
        }
    }

    /// Queues as many candidates as the memory budget allows.
    fn fill(&mut self) -> Result<(), Error> {
        if self.client.is_foreign() {
            return Err(Error::Forked);
        }
        loop {
            let Some(span) = self.next.take().or_else(|| self.scanner.next_piece()) else {
                if self.ended {
                    return Ok(());
                }
                match read_some(&mut self.reader, self.scanner.room()).map_err(Error::Read)? {
                    0 => {
                        self.ended = true;
                        self.scanner.finish();
                    }
                    n => self.scanner.filled(n),
                }
                continue;
            };
            if !span.coded {
                continue;
            }
            let Some(permit) = self.client.try_permit(span.charge()) else {
                self.next = Some(span);
                return Ok(());
            };
            self.queue.push_back(Issued { piece: span.issue(&self.client), permit: Some(permit) });
        }
    }

    /// The start of the first candidate at or after this bit. Drops earlier candidates without a look.
    pub fn seek(&mut self, bit: u64) -> Result<Option<u64>, Error> {
        loop {
            self.fill()?;
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
