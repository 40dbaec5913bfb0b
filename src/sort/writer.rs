//! Has ranges sorted, and writes them in their order.

use super::Pool;
use super::limits::Report;
use super::order::Order;
use super::way::Flight;
use super::work::{RangeText, SortRange, Sorted};
use crate::error::Error;
use crate::schedule::Permit;
use std::io::Write;
use std::sync::Arc;

/// How many bytes a range takes while it is sorted: its text, once more in one piece, sorted, and an entry of each line.
pub(super) fn need(bytes: u64, lines: u64) -> u64 {
    3 * bytes + 16 * lines
}

/// Where ranges are written.
pub(super) struct RangeWriter<'a, W: Write> {
    order: Order,
    flight: Flight<SortRange, ()>,
    out: Output<'a, W>,
}

/// What was written, and where.
struct Output<'a, W: Write> {
    to: &'a mut W,
    report: &'a mut Report,
}

impl<W: Write> Output<'_, W> {
    fn write(&mut self, text: &[u8], lines: u64, kept: u64) -> Result<(), Error> {
        self.to.write_all(text).map_err(Error::Write)?;
        self.report.lines += lines;
        self.report.lines_written += kept;
        self.report.bytes_written += text.len() as u64;
        Ok(())
    }

    fn sorted(&mut self, sorted: Sorted) -> Result<(), Error> {
        self.write(&sorted.text, sorted.lines, sorted.kept)
    }
}

impl<'a, W: Write> RangeWriter<'a, W> {
    /// Ranges on their way may take so many bytes.
    pub fn new(order: Order, pool: &Pool, memory: u64, to: &'a mut W, report: &'a mut Report) -> Self {
        RangeWriter { order, flight: Flight::new(pool, memory), out: Output { to, report } }
    }

    /// What was done so far, for who writes more.
    pub fn parts(&mut self) -> (&mut W, &mut Report) {
        (self.out.to, self.out.report)
    }

    /// Waits until a range that takes so many bytes may be read.
    pub fn room(&mut self, bytes: u64) -> Result<Permit, Error> {
        let out = &mut self.out;
        self.flight.room(bytes, &mut |(), sorted| out.sorted(sorted))
    }

    /// Sorts and writes a range that takes so many bytes.
    pub fn range(&mut self, range: RangeText, bytes: u64, room: Permit) {
        self.out.report.ranges += 1;
        let question = SortRange { range: Arc::new(range), again: false };
        self.flight.ask_with(question, (), bytes, room);
    }

    /// Writes a line so many times, or once.
    pub fn equal(&mut self, line: &[u8], lines: u64) -> Result<(), Error> {
        if lines == 0 {
            return Ok(());
        }
        self.finish()?;
        self.out.report.ranges += 1;
        let line = [line, &[self.order.end_byte()]].concat();
        let kept = if self.order.is_unique() { 1 } else { lines };
        let at_once = (65_536 / line.len() as u64).clamp(1, kept);
        let block = line.repeat(at_once as usize);
        for _ in 0..kept / at_once {
            self.out.write(&block, 0, at_once)?;
        }
        let rest = kept % at_once;
        self.out.write(&block[..rest as usize * line.len()], lines, rest)
    }

    /// Writes what is on its way.
    pub fn finish(&mut self) -> Result<(), Error> {
        let out = &mut self.out;
        self.flight.finish(&mut |(), sorted| out.sorted(sorted))
    }
}
