//! Sorted runs in temporary files, and their merging within the available memory.
//!
//! A merge holds a line and a buffer of each run. If all of them together would take too much, some runs are merged
//! into one in another file, then the next ones, until few enough are left for one merge. The longer a range's lines
//! are, the fewer it has, so text is written again only if lines are long and numerous.

use super::limits::{Report, Temporary};
use super::merge::merge_counted;
use super::order::Order;
use super::parts::Sorted;
use super::shares::Shares;
use super::spill::{Spill, Spilled};
use super::text::{Ends, line_sum, line_sum_at};
use crate::error::Error;
use std::io::{BufReader, Write};

/// A run's buffer has at least this many bytes.
const LEAST: u64 = 1 << 12;

/// A sorted run.
struct Run {
    extent: Spilled,
    /// The length of its longest line.
    longest: u64,
}

impl Run {
    /// What a merge needs for it: the line, twice if its buffer has grown to the line's length, and the text read
    /// ahead.
    fn need(&self) -> u64 {
        2 * self.longest + LEAST
    }
}

/// Runs of one file.
pub(super) struct Runs {
    order: Order,
    /// The memory that a merge may take.
    memory: u64,
    spill: Spill,
    runs: Vec<Run>,
    lines: u64,
    /// Bytes in earlier files.
    spilled: u64,
}

impl Runs {
    pub fn new(order: Order, shares: Shares, temporary: &mut Temporary) -> Result<Runs, Error> {
        let spill = Spill::new(temporary().map_err(Error::Temporary)?);
        Ok(Runs { order, memory: shares.memory / 4, spill, runs: Vec::new(), lines: 0, spilled: 0 })
    }

    /// Adds a run.
    pub fn push(&mut self, sorted: &Sorted) -> Result<(), Error> {
        let (mut start, mut longest, mut sum) = (0, 0, 0u64);
        for end in Ends::new(&sorted.text, self.order.end_byte()) {
            longest = longest.max(end - start);
            sum = sum.wrapping_add(line_sum_at(&sorted.text, start, end - start));
            start = end + 1;
        }
        self.lines += sorted.lines;
        let extent = Spilled::of(self.spill.len(), sorted.text.len() as u64, sum);
        self.spill.append_bytes(&sorted.text)?;
        self.runs.push(Run { extent, longest: longest as u64 });
        Ok(())
    }

    /// How many of these runs, from the first on, can be merged at once.
    fn at_once(&self, runs: &[Run]) -> usize {
        let mut left = self.memory;
        let fits = runs.iter().take_while(|run| {
            let fits = run.need() <= left;
            left = left.saturating_sub(run.need());
            fits
        });
        fits.count().max(2).min(runs.len())
    }

    /// Merges all runs.
    pub fn write_to(
        mut self,
        temporary: &mut Temporary,
        to: &mut impl Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        while self.at_once(&self.runs) < self.runs.len() {
            self.round(temporary)?;
        }
        let (kept, bytes, _) = self.merge(&self.runs, to)?;
        report.ranges += 1;
        report.spilled += self.spilled + self.spill.len();
        report.lines += self.lines;
        report.lines_written += kept;
        report.bytes_written += bytes;
        Ok(())
    }

    /// Merges runs into fewer ones in another file.
    fn round(&mut self, temporary: &mut Temporary) -> Result<(), Error> {
        let mut next = Spill::new(temporary().map_err(Error::Temporary)?);
        let (mut rest, mut runs) = (&self.runs[..], Vec::new());
        while !rest.is_empty() {
            let (some, others) = rest.split_at(self.at_once(rest));
            let from = next.len();
            let (_, bytes, sum) = next.append_by(|to| self.merge(some, to))?;
            let extent = Spilled::of(from, bytes, sum);
            runs.push(Run { extent, longest: some.iter().map(|run| run.longest).max().unwrap_or(0) });
            rest = others;
        }
        self.spilled += self.spill.len();
        (self.spill, self.runs) = (next, runs);
        Ok(())
    }

    /// Merges some runs. Returns the lines and bytes that were written, and the sum of the lines.
    fn merge(&self, runs: &[Run], to: &mut impl Write) -> Result<(u64, u64, u64), Error> {
        let lines: u64 = runs.iter().map(|run| 2 * run.longest).sum();
        let buffer = self.memory.saturating_sub(lines) / runs.len().max(1) as u64;
        let buffer = buffer.clamp(LEAST, 1 << 20) as usize;
        let reader = |run| BufReader::with_capacity(buffer, self.spill.reader(run));
        let sources = runs.iter().map(|run| reader(&run.extent)).collect();
        let (mut read, mut kept) = (0u64, 0u64);
        let seen = |line: &[u8], is_kept| {
            let sum = line_sum(line);
            read = read.wrapping_add(sum);
            kept = kept.wrapping_add(if is_kept { sum } else { 0 });
        };
        let (lines, bytes) = merge_counted(sources, &self.order, to, seen).map_err(|error| match error {
            Error::Read(error) => Error::Temporary(error),
            error => error,
        })?;
        let written = runs.iter().fold(0u64, |sum, run| sum.wrapping_add(run.extent.sum));
        Spilled::of(0, 0, written).is_as_written(read)?;
        Ok((lines, bytes, kept))
    }
}
