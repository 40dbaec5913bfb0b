//! Cuts text that comes in pieces into chunks of whole lines.

use super::parts::Piece;
use super::text::{Ends, last_end};
use crate::error::Error;
use std::sync::Arc;

/// The longest text of a job: positions have 32 bits.
pub(super) const MAX_JOB: u64 = u32::MAX as u64 - (1 << 20);

/// Collects text until there are so many whole lines that a job is worth it.
#[derive(Debug)]
pub(super) struct Chunker {
    end: u8,
    /// How long a chunk is, if no line is longer.
    len: usize,
    /// What came last: perhaps not the end of a line.
    current: Vec<u8>,
    /// Chunks that are to be taken.
    ready: Vec<Piece>,
}

impl Chunker {
    pub fn new(end: u8, len: usize) -> Chunker {
        Chunker { end, len, current: Vec::new(), ready: Vec::new() }
    }

    /// Whole lines that have come together.
    pub fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.ready)
    }

    /// Takes some of a text, at most until there is a chunk. Returns how much.
    pub fn push(&mut self, text: &[u8]) -> Result<usize, Error> {
        if self.current.len() == self.current.capacity() {
            self.make_room()?;
        }
        let n = text.len().min(self.current.capacity() - self.current.len());
        self.current.extend_from_slice(&text[..n]);
        Ok(n)
    }

    /// Takes a text without copying most of it.
    pub fn push_owned(&mut self, text: Vec<u8>) -> Result<(), Error> {
        let first = Ends::new(&text, self.end).next();
        let (Some(first), Some(last)) = (first, last_end(&text, self.end)) else { return self.push_all(&text) };
        let mut from = 0;
        if !self.current.is_empty() {
            from = first + 1;
            self.push_all(&text[..from])?;
            self.seal();
        }
        let text = Arc::new(text);
        while from <= last {
            let to = match text.get(from + self.len..last) {
                Some(rest) => from + self.len + Ends::new(rest, self.end).next().unwrap_or(rest.len()) + 1,
                None => last + 1,
            };
            if (to - from) as u64 > MAX_JOB {
                return Err(Error::LineTooLong);
            }
            self.ready.push(Piece { text: Arc::clone(&text), range: from..to });
            from = to;
        }
        self.push_all(&text[last + 1..])
    }

    fn push_all(&mut self, mut text: &[u8]) -> Result<(), Error> {
        while !text.is_empty() {
            let n = self.push(text)?;
            text = &text[n..];
        }
        Ok(())
    }

    /// Ends a last line that has no end.
    pub fn end_line(&mut self) -> Result<(), Error> {
        match self.current.last() {
            Some(&last) if last != self.end => self.push(&[self.end]).map(drop),
            _ => Ok(()),
        }
    }

    /// Hands on the whole lines that there are.
    pub fn seal(&mut self) {
        let Some(last) = last_end(&self.current, self.end) else { return };
        let rest = &self.current[last + 1..];
        let mut next = Vec::new();
        if !rest.is_empty() {
            next.reserve_exact(self.len.max(2 * rest.len()));
            next.extend_from_slice(rest);
        }
        let text = Arc::new(std::mem::replace(&mut self.current, next));
        self.ready.push(Piece { text, range: 0..last + 1 });
    }

    /// Makes room in the current chunk: hands on its whole lines, or lets it grow for a longer line.
    fn make_room(&mut self) -> Result<(), Error> {
        self.seal();
        if self.current.len() as u64 > MAX_JOB {
            return Err(Error::LineTooLong);
        }
        if self.current.len() == self.current.capacity() {
            self.current.reserve_exact(self.len.max(self.current.len()));
        }
        Ok(())
    }
}
