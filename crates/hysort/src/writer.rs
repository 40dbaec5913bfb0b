//! Has ranges sorted, and writes them in their order.

use super::Pool;
use super::flight::Flight;
use super::limits::Report;
use super::merge::merge_counted;
use super::order::Order;
use super::parts::{Piece, Sorted};
use super::range::RangeText;
use super::tasks::SortRange;
use crate::error::Error;
use hybz_queue::Permit;
use std::io::Write;
use std::sync::Arc;

/// How many bytes a range takes while it is sorted: its text, a copy of it in one piece, the sorted text, and an entry
/// for each line.
pub(super) fn need(bytes: u64, lines: u64) -> u64 {
    3 * bytes + 16 * lines
}

/// Writes ranges in order.
pub(super) struct RangeWriter<'a, W: Write> {
    order: Order,
    flight: Flight<SortRange, ()>,
    /// Ranges that a device keeps in part.
    stored: Flight<SortRange, ()>,
    out: Output<'a, W>,
}

/// How many more ranges are in flight if lanes sort them: some for each lane.
const FOR_LANES: usize = 192;

/// The destination and the report of what was written.
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

    fn sorted(&mut self, sorted: &Sorted) -> Result<(), Error> {
        self.write(&sorted.text, sorted.lines, sorted.kept)
    }
}

impl<'a, W: Write> RangeWriter<'a, W> {
    /// Ranges in flight may take `memory` bytes.
    pub fn new(order: Order, pool: &Pool, memory: u64, to: &'a mut W, report: &'a mut Report) -> Self {
        let stored = Flight::new(pool, memory).with_more(FOR_LANES);
        RangeWriter { order, flight: Flight::new(pool, memory), stored, out: Output { to, report } }
    }

    /// The destination and the report so far, for writing more.
    pub fn parts(&mut self) -> (&mut W, &mut Report) {
        (self.out.to, self.out.report)
    }

    /// Waits until a range that takes `bytes` may be read.
    pub fn room(&mut self, bytes: u64) -> Result<Permit, Error> {
        let out = &mut self.out;
        self.flight.room(bytes, &mut |(), sorted| out.sorted(&sorted))
    }

    /// Sorts and writes a range that takes `bytes`.
    pub fn range(&mut self, range: RangeText, bytes: u64, room: Permit) -> Result<(), Error> {
        if !self.stored.is_empty() {
            self.finish()?;
        }
        self.out.report.ranges += 1;
        let task = SortRange { range: Arc::new(range) };
        self.flight.submit_with(task, (), bytes, room);
        Ok(())
    }

    /// Has a lane sort a range that its device keeps in part, and writes it.
    pub fn stored(&mut self, range: RangeText) -> Result<(), Error> {
        if !self.flight.is_empty() {
            self.finish()?;
        }
        self.out.report.ranges += 1;
        // The kept text is not in the host's memory, and is sorted on the device.
        let (bytes, out) = (range.len() as u64, &mut self.out);
        let task = SortRange { range: Arc::new(range) };
        self.stored.submit(task, (), bytes, &mut |(), sorted| out.sorted(&sorted))
    }

    /// Sorts and writes a range that is too long for one job: in parts of at most `most` bytes, which are merged.
    pub fn long_range(&mut self, pieces: Vec<Piece>, most: u64) -> Result<(), Error> {
        self.finish()?;
        self.out.report.ranges += 1;
        let (mut runs, mut lines) = (Vec::new(), 0);
        let mut done = |(), sorted: Sorted| {
            lines += sorted.lines;
            runs.push(sorted.text);
            Ok(())
        };
        let mut flight: Flight<SortRange, ()> = Flight::new(self.flight.pool(), u64::MAX);
        let mut rest = pieces.into_iter().peekable();
        while rest.peek().is_some() {
            let (mut part, mut bytes) = (Vec::new(), 0);
            while let Some(piece) = rest.next_if(|piece| part.is_empty() || bytes + piece.range.len() as u64 <= most) {
                bytes += piece.range.len() as u64;
                part.push(piece);
            }
            let range = RangeText::new(part, self.order);
            let task = SortRange { range: Arc::new(range) };
            flight.submit(task, (), need(bytes, 0), &mut done)?;
        }
        flight.finish(&mut done)?;
        let sources = runs.iter().map(|run| &run[..]).collect();
        let (kept, bytes) = merge_counted(sources, &self.order, &mut *self.out.to, |_, _| ())?;
        self.out.report.lines += lines;
        self.out.report.lines_written += kept;
        self.out.report.bytes_written += bytes;
        Ok(())
    }

    /// Writes a line `lines` times, or once if equal lines are dropped.
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

    /// Writes the ranges in flight.
    pub fn finish(&mut self) -> Result<(), Error> {
        let out = &mut self.out;
        self.flight.finish(&mut |(), sorted| out.sorted(&sorted))?;
        self.stored.finish(&mut |(), sorted| out.sorted(&sorted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    #[test]
    fn a_range_that_is_too_long_is_merged() {
        let mut rng = Rng(5);
        let pool = crate::pool().build();
        let text: Vec<Vec<u8>> =
            (0..20).map(|_| (0..300).flat_map(|_| format!("{}\n", rng.below(2000)).into_bytes()).collect()).collect();
        for (unique, reverse) in [(false, false), (true, false), (false, true), (true, true)] {
            let order = Order::new().unique(unique).reverse(reverse);
            let mut lines: Vec<&[u8]> =
                text.iter().flat_map(|text| text.split_inclusive(|&byte| byte == b'\n')).collect();
            let count = lines.len() as u64;
            lines.sort_by(|a, b| order.compare(&a[..a.len() - 1], &b[..b.len() - 1]));
            if unique {
                lines.dedup();
            }
            for most in [1, 5000, 1 << 20] {
                let pieces = text.iter().map(|text| Piece { text: Arc::new(text.clone()), range: 0..text.len() });
                let (mut out, mut report) = (Vec::new(), Report::default());
                let mut writer = RangeWriter::new(order, &pool, u64::MAX, &mut out, &mut report);
                writer.long_range(pieces.collect(), most).expect("it is sorted");
                drop(writer);
                assert!(out == lines.concat(), "{order:?}, {most}");
                assert_eq!((report.lines, report.lines_written), (count, lines.len() as u64));
            }
        }
    }
}
