//! Inserts long lines between the other lines as those are written.

use super::limits::Report;
use super::long::{LongLine, LongLines};
use super::order::Order;
use super::text::{Ends, LineSum, last_end};
use crate::error::Error;
use std::io::{self, Write};
use std::mem::take;

/// Writes the sorted lines that it takes, and inserts the long ones. A line that is not long is at most a prefix of a
/// long one, so a long line never equals one of the others. An error may carry one of this library
/// ([`Error::carried`]).
pub(super) struct Weave<'a, W> {
    to: &'a mut W,
    order: Order,
    long: LongLines,
    /// How many long lines have been written or dropped.
    done: usize,
    /// A line that has no end yet.
    line: Vec<u8>,
    buffer: Vec<u8>,
    /// Long lines that were written, not counting those that were dropped as equal to others.
    kept: u64,
    bytes: u64,
}

/// How much of a long line usually distinguishes it from others.
const HEAD: usize = 1 << 12;

impl<'a, W: Write> Weave<'a, W> {
    /// Takes the long lines, in any order.
    pub fn new(order: Order, mut long: LongLines, to: &'a mut W) -> Result<Self, Error> {
        long.sort()?;
        let (line, buffer) = (Vec::new(), Vec::new());
        let mut weave = Weave { to, order, long, done: 0, line, buffer, kept: 0, bytes: 0 };
        weave.skip_repeats();
        Ok(weave)
    }

    /// Writes the remaining lines.
    pub fn finish(mut self, report: &mut Report) -> Result<(), Error> {
        while let Some(line) = self.next() {
            self.write_long(line).map_err(Error::Write)?;
        }
        report.lines += self.long.count() as u64;
        report.lines_written += self.kept;
        report.bytes_written += self.bytes;
        report.spilled += self.long.spilled();
        Ok(())
    }

    /// The next long line.
    fn next(&self) -> Option<LongLine> {
        let lines = self.long.lines();
        match self.order.is_reverse() {
            true => lines.len().checked_sub(self.done + 1).map(|at| lines[at]),
            false => lines.get(self.done).copied(),
        }
    }

    fn skip_repeats(&mut self) {
        while self.order.is_unique() && self.next().is_some_and(|line| line.repeats) {
            self.done += 1;
        }
    }

    /// Writes the next long line.
    fn write_long(&mut self, line: LongLine) -> io::Result<()> {
        let (mut from, mut sum) = (0, LineSum::default());
        loop {
            let text = self.long.read(&line, from, self.long.block(), &mut self.buffer).map_err(io::Error::other)?;
            sum.add(text);
            from += text.len() as u64;
            self.to.write_all(text)?;
            if from == line.len {
                break;
            }
        }
        self.to.write_all(&[self.long.end])?;
        if sum.finish() != line.sum {
            let wrong = io::Error::new(io::ErrorKind::InvalidData, "a line is not as it was written");
            return Err(io::Error::other(Error::Temporary(wrong)));
        }
        self.kept += 1;
        self.bytes += line.len + 1;
        self.done += 1;
        self.skip_repeats();
        Ok(())
    }

    /// Whether a long line comes before a line that is not long.
    fn is_before(&mut self, long: &LongLine, line: &[u8]) -> io::Result<bool> {
        let (mut from, mut most) = (0, HEAD);
        loop {
            let own = self.long.read(long, from as u64, most, &mut self.buffer).map_err(io::Error::other)?;
            // The other line ends first.
            let order = own.cmp(&line[from..line.len().min(from + own.len())]);
            if !order.is_eq() {
                return Ok(order.is_gt() == self.order.is_reverse());
            }
            from += own.len();
            most = self.long.block();
        }
    }

    /// The position of a long line in a text of whole lines.
    fn place(&mut self, long: &LongLine, text: &[u8]) -> io::Result<usize> {
        let end = self.long.end;
        let line_at = |at: usize| {
            let start = last_end(&text[..at], end).map_or(0, |before| before + 1);
            (start, Ends::new(&text[at..], end).next().map_or(text.len(), |after| at + after))
        };
        // Lines that begin before `low` come before the long line, and those from `high` on come after it.
        let (mut low, mut high) = (0, text.len());
        // In most texts no long line belongs here at all.
        let mut middle = text.len() - 1;
        while low < high {
            let (start, stop) = line_at(middle);
            if self.is_before(long, &text[start..stop])? {
                high = start;
            } else {
                low = stop + 1;
            }
            middle = low + high.saturating_sub(low) / 2;
        }
        Ok(low)
    }

    /// Writes whole lines.
    fn lines(&mut self, mut text: &[u8]) -> io::Result<()> {
        while !text.is_empty()
            && let Some(long) = self.next()
        {
            let (before, after) = text.split_at(self.place(&long, text)?);
            self.to.write_all(before)?;
            if !after.is_empty() {
                self.write_long(long)?;
            }
            text = after;
        }
        self.to.write_all(text)
    }
}

impl<W: Write> Write for Weave<'_, W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.line.is_empty() && self.next().is_none() {
            return self.to.write(text);
        }
        let mut rest = text;
        if !self.line.is_empty() {
            let first = Ends::new(text, self.long.end).next().map_or(text.len(), |end| end + 1);
            self.line.extend_from_slice(&text[..first]);
            rest = &text[first..];
            if self.line.ends_with(&[self.long.end]) {
                let line = take(&mut self.line);
                self.lines(&line)?;
            }
        }
        let whole = last_end(rest, self.long.end).map_or(0, |end| end + 1);
        self.lines(&rest[..whole])?;
        self.line.extend_from_slice(&rest[whole..]);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
