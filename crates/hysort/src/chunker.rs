//! Cuts text that comes in pieces into chunks of whole lines. Lines that are too long for a chunk are kept apart.

use super::long::LongLines;
use super::parts::Piece;
use super::text::{Ends, last_end};
use crate::error::Error;
use std::sync::Arc;

/// The longest text of a job: positions have 32 bits.
pub(super) const MAX_JOB: u64 = u32::MAX as u64 - (1 << 20);

/// Collects text until there are enough whole lines for a job.
#[derive(Debug)]
pub(super) struct Chunker {
    end: u8,
    /// The maximum length of a chunk.
    len: usize,
    /// The maximum length of a line in a chunk, including its end byte: at most `len`.
    max_line: usize,
    /// The latest text, which may end in the middle of a line.
    current: Vec<u8>,
    /// The start of the last line of `current`, which has no end yet.
    open: usize,
    /// Complete chunks.
    ready: Vec<Piece>,
    /// Longer lines; `None` if there are none.
    long: Option<LongLines>,
    /// The text now arriving belongs to a long line.
    in_long: bool,
}

impl Chunker {
    /// For text that has no line longer than a chunk.
    pub fn new(end: u8, len: usize) -> Chunker {
        let (current, ready) = (Vec::new(), Vec::new());
        Chunker { end, len, max_line: len, current, open: 0, ready, long: None, in_long: false }
    }

    /// Lines longer than `max_line` go to `long`.
    pub fn with_long(end: u8, len: usize, max_line: usize, long: LongLines) -> Chunker {
        Chunker { max_line, long: Some(long), ..Chunker::new(end, len) }
    }

    /// The long lines.
    pub fn long(&mut self) -> Option<&mut LongLines> {
        self.long.as_mut()
    }

    /// Removes and returns the long lines, after all have come.
    pub fn take_long(&mut self) -> LongLines {
        self.long.take().unwrap_or_else(|| LongLines::new(self.end, self.len))
    }

    /// Takes the complete chunks.
    pub fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.ready)
    }

    /// Takes bytes of a text, at most until a chunk is complete. Returns how many.
    pub fn push(&mut self, text: &[u8]) -> Result<usize, Error> {
        let mut at = 0;
        while at < text.len() && self.ready.is_empty() {
            at += self.some(&text[at..text.len().min(at + self.len)])?;
        }
        Ok(at)
    }

    /// Takes a text.
    pub fn push_all(&mut self, mut text: &[u8]) -> Result<(), Error> {
        while !text.is_empty() {
            text = &text[self.some(text)?..];
        }
        Ok(())
    }

    fn some(&mut self, text: &[u8]) -> Result<usize, Error> {
        if self.in_long { self.continue_long(text) } else { self.add(text) }
    }

    /// Takes bytes of a text that continues a long line. Returns how many.
    fn continue_long(&mut self, text: &[u8]) -> Result<usize, Error> {
        let Some(long) = &mut self.long else { return Err(Error::LineTooLong) };
        match Ends::new(text, self.end).next() {
            Some(end) => {
                long.append(&text[..end])?;
                long.end_line();
                self.in_long = false;
                Ok(end + 1)
            }
            None => long.append(text).map(|()| text.len()),
        }
    }

    /// Takes bytes of a text that belong to a chunk, or begin a long line. Returns how many.
    fn add(&mut self, text: &[u8]) -> Result<usize, Error> {
        if self.current.len() == self.len {
            self.seal();
        }
        if self.current.capacity() == 0 {
            self.current.reserve_exact(self.len);
        }
        let line = self.max_line - (self.current.len() - self.open);
        let taken = text.len().min(line).min(self.len - self.current.len());
        let text = &text[..taken];
        let end = last_end(text, self.end);
        if end.is_none() && taken == line {
            let Some(long) = &mut self.long else { return Err(Error::LineTooLong) };
            long.append(&self.current[self.open..])?;
            long.append(text)?;
            self.current.truncate(self.open);
            self.in_long = true;
            return Ok(taken);
        }
        if let Some(end) = end {
            self.open = self.current.len() + end + 1;
        }
        self.current.extend_from_slice(text);
        Ok(taken)
    }

    /// Takes a text without copying most of it.
    pub fn push_owned(&mut self, text: Vec<u8>) -> Result<(), Error> {
        let first = Ends::new(&text, self.end).next();
        let (Some(first), Some(last)) = (first, last_end(&text, self.end)) else { return self.push_all(&text) };
        let mut from = 0;
        if !self.current.is_empty() || self.in_long {
            from = first + 1;
            self.push_all(&text[..from])?;
            self.seal();
        }
        let text = Arc::new(text);
        while from <= last {
            let to = from + self.short_lines(&text[from..=last]);
            if to > from {
                self.ready.push(Piece { text: Arc::clone(&text), range: from..to });
                from = to;
                continue;
            }
            let Some(long) = &mut self.long else { return Err(Error::LineTooLong) };
            let end = Ends::new(&text[from..=last], self.end).next().map_or(last, |end| from + end);
            long.append(&text[from..end])?;
            long.end_line();
            from = end + 1;
        }
        self.push_all(&text[last + 1..])
    }

    /// How much of a text of whole lines fits in a chunk: 0 if its first line is long.
    fn short_lines(&self, text: &[u8]) -> usize {
        let mut to = 0;
        while to < text.len().min(self.len) {
            let near = &text[to..text.len().min(self.len).min(to + self.max_line)];
            match last_end(near, self.end) {
                Some(end) => to += end + 1,
                None => break,
            }
        }
        to
    }

    /// Adds the end of a last line that lacks it.
    pub fn end_line(&mut self) -> Result<(), Error> {
        if self.in_long || self.open < self.current.len() { self.push_all(&[self.end]) } else { Ok(()) }
    }

    /// Makes a chunk of the whole lines so far.
    pub fn seal(&mut self) {
        if self.open == 0 {
            return;
        }
        let rest = &self.current[self.open..];
        let mut next = Vec::new();
        if !rest.is_empty() {
            next.reserve_exact(self.len);
            next.extend_from_slice(rest);
        }
        let text = Arc::new(std::mem::replace(&mut self.current, next));
        self.ready.push(Piece { text, range: 0..self.open });
        self.open = 0;
    }
}
