//! Everything that looks like a block, decoded ahead by the pool's stations.

use super::scan::Scanner;
use super::span::{IssuedSpan, Span};
use crate::block::DecodedBlock;
use crate::error::{DecodeError, Error};
use crate::read_at::read_some;
use crate::stream::piece::{Cut, Issued, Piece};
use hybz_queue::{Client, Pool};
use std::collections::VecDeque;
use std::io::Read;

/// The candidate blocks of a file, in order.
pub(crate) struct Candidates<R> {
    reader: R,
    scanner: Scanner,
    /// No candidate that begins at this bit or later is wanted.
    stop: u64,
    client: Client,
    /// A candidate that is found, but for which the memory budget has no room yet.
    next: Option<Span>,
    queue: VecDeque<Issued<IssuedSpan>>,
    ended: bool,
    stopped: bool,
}

/// One candidate: its bits, and the result of decoding them.
pub(crate) struct Candidate {
    pub span: Span,
    pub answer: Result<DecodedBlock, DecodeError>,
}

impl<R: Read> Candidates<R> {
    /// The candidates from byte `at` of a file on, where `reader` is, that begin before bit `stop`;
    /// `chunk` is the number of bytes scanned in one step.
    pub fn new(reader: R, at: u64, stop: u64, pool: &Pool, chunk: Option<usize>) -> Self {
        let scanner = chunk.map_or_else(Scanner::new, Scanner::with_chunk);
        Candidates {
            reader,
            scanner: scanner.starting_at(at),
            stop,
            client: pool.client(),
            next: None,
            queue: VecDeque::new(),
            ended: false,
            stopped: false,
        }
    }

    /// Queues as many candidates as the memory budget allows.
    fn fill(&mut self) -> Result<(), Error> {
        if self.client.is_foreign() {
            return Err(Error::Forked);
        }
        while !self.stopped {
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
            if span.start_bit() >= self.stop {
                self.stopped = true;
                return Ok(());
            }
            if !span.coded {
                continue;
            }
            let Some(permit) = self.client.try_permit(span.charge()) else {
                self.next = Some(span);
                return Ok(());
            };
            self.queue.push_back(Issued { piece: span.issue(&self.client), permit: Some(permit) });
        }
        Ok(())
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
