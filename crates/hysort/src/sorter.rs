//! Sorts streams of any length.

use super::Pool;
use super::chunker::{Chunker, MAX_JOB};
use super::external::{External, InMemory};
use super::limits::{Limits, Report};
use super::long::LongLines;
use super::order::Order;
use super::parts::Piece;
use super::range::RangeText;
use super::sample::{self, Size};
use super::shares::Shares;
use super::splitters::Splitters;
use super::stored::StoredRange;
use super::weave::Weave;
use super::writer::{RangeWriter, need};
use crate::error::Error;
use hybz_queue::{Client, Permit};
use std::fmt;
use std::io::Write;
use std::sync::Arc;

/// Text up to this length is one range, if memory is not short.
const SINGLE: u64 = 1 << 20;

/// Texts at least this long are sampled before they are read, if the caller allows it: of shorter ones there are few
/// ranges, and they are read in no time.
const EXPECTED: u64 = 16 << 20;

/// Sorts lines that come in pieces.
///
/// ```
/// use hysort::{Limits, Order, Sorter};
/// let pool = hysort::pool().build();
/// let mut sorter = Sorter::new(&Order::new(), Limits::new(), &pool);
/// sorter.push(b"not\nto")?;
/// sorter.push(b" be\nor")?;
/// sorter.end_of_file()?; // the line "or" ends here
/// sorter.push(b"to be")?;
/// let mut out = Vec::new();
/// let report = sorter.write_to(&mut out)?;
/// assert_eq!(out, b"not\nor\nto be\nto be\n");
/// assert_eq!(report.lines, 4);
/// # Ok::<(), hysort::Error>(())
/// ```
pub struct Sorter {
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

impl fmt::Debug for Sorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sorter")
            .field("order", &self.order)
            .field("limits", &self.limits)
            .field("held_bytes", &self.held_bytes)
            .finish_non_exhaustive()
    }
}

impl Drop for Sorter {
    fn drop(&mut self) {
        // In the child of a fork, another thread of the parent may have held the locks of permits and tickets.
        if self.holder.is_foreign() {
            let permits = [&mut self.permits, &mut self.long_permits].map(std::mem::take);
            std::mem::forget((permits, self.external.take()));
        }
    }
}

impl Sorter {
    /// A sorter that has no lines yet.
    pub fn new(order: &Order, limits: Limits, pool: &Pool) -> Sorter {
        let shares = Shares { memory: limits.memory };
        Sorter {
            order: *order,
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
    ///
    /// # Errors
    /// [`Error::Temporary`], and errors that the text does not cause. After an error the sorter cannot be used any
    /// more.
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
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_owned(&mut self, text: Vec<u8>) -> Result<(), Error> {
        self.chunker.push_owned(text)?;
        self.accept()
    }

    /// Ends a last line that lacks its end: the text that follows is another file's.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn end_of_file(&mut self) -> Result<(), Error> {
        self.chunker.end_line()?;
        self.accept()
    }

    /// Announces the length of the text and gives access to samples of it: `look` returns some kilobytes of the text at
    /// an offset, fewer at its end, or `None` if that would take long. Must be called before any text comes.
    ///
    /// Lines are then grouped by range as they come, in parallel with reading; otherwise this begins when the last of
    /// them has come. The output is the same, even if the announcement is wrong. It is ignored for short text, or if
    /// memory is short.
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

    /// From now on lines are grouped by range as they come, and go to files.
    fn go_external(&mut self) -> Result<(), Error> {
        if self.long_bytes > 0 {
            self.spill_long()?;
        }
        self.is_short = true;
        self.group(self.shares.ranges(), true)
    }

    /// Groups the lines so far by this number of ranges; they go to files if memory is short.
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
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::Temporary`], and errors that the text does not cause.
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
        if let Some(mut external) = self.external.take() {
            let mut temporary = self.limits.temporary.as_mut().filter(|_| !is_here);
            if let Some(text) = external.in_memory(temporary.as_deref_mut())? {
                self.write_parts(text, external.splitters(), &mut out)?;
            } else if let Some(temporary) = temporary {
                external.write_to(temporary, &mut out)?;
            }
        } else if self.held_bytes > 0 {
            let range = RangeText::new(std::mem::take(&mut self.held), self.order);
            let bytes = need(self.held_bytes, 0);
            let room = out.room(bytes)?;
            out.range(range, bytes, room)?;
        }
        out.finish()
    }

    /// Has the ranges of a partitioned text sorted and written.
    fn write_parts<W: Write>(
        &self,
        text: InMemory,
        splitters: &Splitters,
        out: &mut RangeWriter<'_, W>,
    ) -> Result<(), Error> {
        let InMemory { parted, stored } = text;
        let chunks: Vec<_> = parted.into_iter().map(|parted| (Arc::new(parted.text), parted.buckets)).collect();
        let count = splitters.buckets();
        for at in 0..count {
            let number = if self.order.is_reverse() { count - 1 - at } else { at };
            let (mut pieces, mut bytes, mut lines, mut sum) = (Vec::new(), 0, 0, 0u64);
            for (text, buckets) in &chunks {
                let bucket = buckets[number];
                lines += u64::from(bucket.lines);
                sum = sum.wrapping_add(bucket.sum);
                if bucket.start < bucket.end {
                    let range = bucket.start as usize..bucket.end as usize;
                    bytes += range.len() as u64;
                    pieces.push(Piece { text: Arc::clone(text), range });
                }
            }
            let kept = stored.as_ref().map_or(0, |stored| stored.len_of(number));
            if let Some(stored) = &stored {
                lines += stored.counts[number].0;
                sum = sum.wrapping_add(stored.counts[number].1);
            }
            if let Some((line, _)) = splitters.heavy(number) {
                out.equal(line, lines)?;
            } else if let Some(text) = stored.as_ref().filter(|_| kept > 0) {
                let stored = Some(StoredRange { text: Arc::clone(text), bucket: number, bytes: kept, lines });
                let common_prefix = splitters.common_prefix(number);
                out.stored(RangeText { pieces, order: self.order, common_prefix, sum: Some(sum), stored })?;
            } else if bytes > MAX_JOB {
                out.long_range(pieces, MAX_JOB / 4)?;
            } else if bytes > 0 {
                let common_prefix = splitters.common_prefix(number);
                let range = RangeText { common_prefix, sum: Some(sum), ..RangeText::new(pieces, self.order) };
                let bytes = need(bytes, lines);
                let room = out.room(bytes)?;
                out.range(range, bytes, room)?;
            }
        }
        Ok(())
    }
}
