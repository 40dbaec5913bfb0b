//! Sorts streams of any length.

use super::Pool;
use super::chunker::Chunker;
use super::external::External;
use super::limits::{Limits, Report};
use super::long::LongLines;
use super::order::Order;
use super::parts::Piece;
use super::range::RangeText;
use super::sample::{self, Size};
use super::shares::Shares;
use super::weave::Weave;
use super::writer::{RangeWriter, need};
use crate::error::Error;
use hybz_queue::{Client, Permit};
use std::io::Write;

/// Text up to this length is one range, if memory is not short.
const SINGLE: u64 = 1 << 20;

/// Texts at least this long are sampled before they are read, if the caller allows it: shorter ones have few ranges,
/// and are read in no time.
const EXPECTED: u64 = 16 << 20;

/// Sorts lines by their bytes, as they come in pieces.
pub(crate) struct ByteSorter {
    order: Order,
    limits: Limits,
    shares: Shares,
    pool: Pool,
    chunker: Chunker,
    /// Holds permits for waiting text.
    holder: Client,
    permits: Vec<Permit>,
    /// Whole lines, until ranges are chosen: when memory is short, or when all of them have come.
    held: Vec<Piece>,
    held_bytes: u64,
    /// Permits for long lines in memory.
    long_permits: Vec<Permit>,
    long_bytes: u64,
    /// Whether the text does not fit into memory.
    is_short: bool,
    external: Option<External>,
}

impl Drop for ByteSorter {
    fn drop(&mut self) {
        // In the child of a fork, another thread of the parent may have held the locks of permits and tickets.
        if self.holder.is_foreign() {
            let permits = [&mut self.permits, &mut self.long_permits].map(std::mem::take);
            std::mem::forget((permits, self.external.take()));
        }
    }
}

impl ByteSorter {
    /// A sorter that has no lines yet.
    pub fn new(order: Order, limits: Limits, pool: &Pool) -> ByteSorter {
        let shares = Shares { memory: limits.memory };
        ByteSorter {
            order,
            limits,
            shares,
            pool: pool.clone(),
            chunker: Chunker::with_long(
                order.end_byte(),
                shares.chunk(),
                shares.line(),
                LongLines::new(order.end_byte(), shares.chunk()),
            ),
            holder: pool.client(),
            permits: Vec::new(),
            held: Vec::new(),
            held_bytes: 0,
            long_permits: Vec::new(),
            long_bytes: 0,
            is_short: false,
            external: None,
        }
    }

    /// Takes text, cut anywhere.
    pub fn push(&mut self, mut text: &[u8]) -> Result<(), Error> {
        while !text.is_empty() {
            let taken = self.chunker.push(text)?;
            text = &text[taken..];
            self.accept()?;
        }
        Ok(())
    }

    /// Takes text, cut anywhere, without copying most of it: the whole buffer is kept until the last of it has been
    /// processed.
    pub fn push_owned(&mut self, text: Vec<u8>) -> Result<(), Error> {
        self.chunker.push_owned(text)?;
        self.accept()
    }

    /// Ends a last line that lacks its end: the text that follows is another file's.
    pub fn end_of_file(&mut self) -> Result<(), Error> {
        self.chunker.end_line()?;
        self.accept()
    }

    /// As [`Sorter::expect`](crate::Sorter::expect).
    pub fn expect(&mut self, bytes: u64, mut look: impl FnMut(u64) -> Option<Vec<u8>>) {
        let began = self.held_bytes > 0 || self.external.is_some();
        if began || self.holder.is_foreign() || bytes < EXPECTED || bytes > self.shares.parted() {
            return;
        }
        let size = Size::new(self.shares.ranges_of(bytes), self.shares.memory);
        let Ok(lines) = size.lines_near(bytes, self.order.end_byte(), |at| look(at).ok_or(())) else { return };
        let external = External::new(self.order, &self.pool, self.shares, size.choose(lines));
        self.external = Some(external.with_device(bytes));
    }

    /// Gets permits for long lines, or moves them to a file if memory is short.
    fn accept_long(&mut self) -> Result<(), Error> {
        let Some(long) = self.chunker.long() else { return Ok(()) };
        if long.held() == 0 {
            return Ok(());
        }
        if self.holder.is_foreign() {
            return Err(Error::Forked);
        }
        let more = long.held() - self.long_bytes;
        let permit = if more > 0 { super::hold(&self.holder, more) } else { None };
        let (others, most) = match &self.external {
            Some(external) => (external.parted_bytes(), self.shares.parted()),
            None => (self.held_bytes, self.shares.held()),
        };
        let short = self.is_short || more > 0 && permit.is_none() || others + long.held() > most;
        self.long_bytes = long.held();
        self.long_permits.extend(permit);
        if short { self.spill_long() } else { Ok(()) }
    }

    /// Keeps long lines in a file from now on, if one can be made.
    fn spill_long(&mut self) -> Result<(), Error> {
        let (Some(long), Some(temporary)) = (self.chunker.long(), &mut self.limits.temporary) else { return Ok(()) };
        long.go_to(temporary().map_err(Error::Temporary)?)?;
        self.long_permits.clear();
        self.long_bytes = 0;
        Ok(())
    }

    /// Takes the complete chunks.
    fn accept(&mut self) -> Result<(), Error> {
        self.accept_long()?;
        for chunk in self.chunker.take() {
            if self.holder.is_foreign() {
                return Err(Error::Forked);
            }
            if let Some(external) = &mut self.external {
                external.push(chunk, self.limits.temporary.as_mut())?;
                continue;
            }
            let bytes = chunk.range.len() as u64;
            self.held_bytes += bytes;
            self.held.push(chunk);
            let permit = super::hold(&self.holder, bytes);
            let short = permit.is_none() || self.held_bytes > self.shares.held();
            self.permits.extend(permit);
            if short && self.limits.temporary.is_some() {
                self.go_external()?;
            }
        }
        Ok(())
    }

    /// From now on, groups lines by range as they come; the ranges go to files.
    fn go_external(&mut self) -> Result<(), Error> {
        if self.long_bytes > 0 {
            self.spill_long()?;
        }
        self.is_short = true;
        self.group(self.shares.ranges(), true)
    }

    /// Groups the lines so far by this number of ranges; they may go to files if `with_files`.
    fn group(&mut self, ranges: u64, with_files: bool) -> Result<(), Error> {
        let size = Size::new(ranges, self.shares.memory);
        let splitters = sample::splitters(&self.held, size, self.order.end_byte());
        let mut external = External::new(self.order, &self.pool, self.shares, splitters);
        self.permits.clear();
        for chunk in std::mem::take(&mut self.held) {
            external.push(chunk, self.limits.temporary.as_mut().filter(|_| with_files))?;
        }
        self.external = Some(external);
        Ok(())
    }

    /// Writes all lines in order.
    pub fn write_to(mut self, out: &mut impl Write) -> Result<Report, Error> {
        if self.holder.is_foreign() {
            return Err(Error::Forked);
        }
        self.chunker.end_line()?;
        self.chunker.seal();
        self.accept()?;
        let mut report = Report::default();
        let long = self.chunker.take_long();
        let mut weave = Weave::new(self.order, long, out)?;
        let written = self.write_short(&mut weave, &mut report).and_then(|()| weave.finish(&mut report));
        written.map(|()| report).map_err(Error::carried)
    }

    /// Writes all lines that are not long.
    fn write_short(&mut self, out: &mut impl Write, report: &mut Report) -> Result<(), Error> {
        let is_single = self.held_bytes <= SINGLE.min(self.shares.memory / 16);
        let is_here = self.external.is_none();
        if is_here && !is_single {
            self.group(self.shares.ranges_of(self.held_bytes), false)?;
        }
        let mut out = RangeWriter::new(self.order, &self.pool, self.shares.sorting(), out, report);
        if let Some(external) = self.external.take() {
            external.write_to(self.limits.temporary.as_mut().filter(|_| !is_here), &mut out)?;
        } else if self.held_bytes > 0 {
            let range = RangeText::new(std::mem::take(&mut self.held), self.order);
            let bytes = need(self.held_bytes, 0);
            let room = out.room(bytes)?;
            out.range(range, bytes, room)?;
        }
        out.finish()
    }
}
