//! One scan: everything in a file that looks like a block, decoded ahead by the pool's stations.

use super::scan::Scanner;
use super::span::{IssuedSpan, Span};
use crate::error::Error;
use crate::read_at::{Positioned, ReadAt, read_some};
use crate::settings::Settings;
use crate::stream::piece::{Cut, Input, Issued, Piece};
use hybz_queue::Client;

/// The spans of a file, in order.
pub(crate) struct Ahead {
    scanner: Scanner,
    /// The next byte of the file to be read.
    at: u64,
    client: Client,
    /// A span that begins at the stop or later, or for which the memory budget has no room.
    next: Option<Span>,
    ended: bool,
}

impl Ahead {
    /// The spans from byte `at` of a file on.
    pub fn new(at: u64, settings: &Settings) -> Ahead {
        let scanner = Scanner::new(at, settings.scan_chunk);
        Ahead { scanner, at, client: settings.get_pool().client(), next: None, ended: false }
    }

    /// Whether this is the child of a fork, which must not drop the spans' tickets ([`Client::is_foreign`]).
    pub fn is_foreign(&self) -> bool {
        self.client.is_foreign()
    }

    /// Puts the next span on the queue, if there is one that begins before bit `stop`, and if the memory budget has
    /// room for it.
    pub fn next(&mut self, file: &dyn ReadAt, stop: u64) -> Result<Option<Issued<IssuedSpan>>, Error> {
        if self.client.is_foreign() {
            return Err(Error::Forked);
        }
        loop {
            let Some(span) = self.next.take().or_else(|| self.scanner.next_piece()) else {
                if self.ended {
                    return Ok(None);
                }
                let mut reader = Positioned { source: file, at: self.at };
                match read_some(&mut reader, self.scanner.room()).map_err(Error::Read)? {
                    0 => {
                        self.ended = true;
                        self.scanner.finish();
                    }
                    n => self.scanner.filled(n),
                }
                self.at = reader.at;
                continue;
            };
            let permit = if span.start_bit() < stop { self.client.try_permit(span.charge()) } else { None };
            if permit.is_none() {
                self.next = Some(span);
                return Ok(None);
            }
            return Ok(Some(Issued { piece: span.issue(&self.client), permit }));
        }
    }
}
