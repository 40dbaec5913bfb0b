//! Text whose ranges are known before all of it has come: chunks are partitioned as they come. The text stays in memory
//! if it fits. If not, ranges go to a temporary file and come back one after another:
//!
//! ```text
//! chunks -> partitioned -> in memory, up to 3/8 of it -> file: the parts of all ranges, one after the other
//!                                                             |
//! out <- sorted <- a range, read as a whole  <----------------'
//! out <- ... <- partitioned again, into another file <- a range that is too long for that
//! out <- merged <- sorted pieces, in another file <- a range that cannot be partitioned
//! ```
//!
//! So text is usually written once and read once. Splitters are chosen from the text that came first, which may be
//! unlike the rest: if lines come in order, nearly all of them belong to the last range. That range is partitioned
//! again by a sample of all of it, so such text is written and read twice. A range that no sample can partition, for
//! example if its lines agree in more bytes than a sample keeps, is sorted in pieces, which are merged. Long lines are
//! handled elsewhere: see `long.rs`.

use super::Pool;
use super::chunker::{Chunker, MAX_JOB};
use super::flight::Flight;
use super::limits::Temporary;
use super::order::Order;
use super::parts::{Parted, Piece, Sorted};
use super::range::RangeText;
use super::resident::Resident;
use super::runs::Runs;
use super::sample::{NEAR, Size};
use super::shares::Shares;
use super::spill::{Spill, Spilled};
use super::splitters::Splitters;
use super::stored::StoredText;
use super::tasks::{PartitionChunk, SortRange};
use super::verify::sum_of;
use super::writer::{RangeWriter, need};
use crate::error::Error;
use hybz_queue::{Client, Permit};
use std::io::{Read, Write};
use std::sync::Arc;

/// The maximum number of times that a range is partitioned again.
const MAX_DEPTH: u32 = 6;

/// Text that is grouped by range as it comes, and passed through a temporary file if there is too much.
pub(super) struct External {
    order: Order,
    pool: Pool,
    shares: Shares,
    splitters: Arc<Splitters>,
    flight: Flight<PartitionChunk, ()>,
    /// Holds permits for partitioned text.
    holder: Client,
    permits: Vec<Permit>,
    parted: Vec<Parted>,
    parted_bytes: u64,
    /// `None` as long as everything is in memory.
    spill: Option<Spill>,
    /// Indexed by bucket.
    ranges: Vec<Spilled>,
    /// Text that goes to a device.
    resident: Option<Resident>,
}

impl External {
    pub fn new(order: Order, pool: &Pool, shares: Shares, splitters: Splitters) -> External {
        External {
            order,
            pool: pool.clone(),
            shares,
            ranges: vec![Spilled::default(); splitters.buckets()],
            splitters: Arc::new(splitters),
            flight: Flight::new(pool, shares.chunks()),
            holder: pool.client(),
            permits: Vec::new(),
            parted: Vec::new(),
            parted_bytes: 0,
            spill: None,
            resident: None,
        }
    }

    /// Lets a device keep the expected amount of text, if there is a device and this pays.
    pub fn with_device(mut self, bytes: u64) -> External {
        self.resident = Resident::new(&self.order, &self.pool, &self.splitters, bytes, self.shares.chunks());
        self
    }

    /// Takes whole lines. If temporary files cannot be created, all text stays in memory.
    pub fn push(&mut self, chunk: Piece, temporary: Option<&mut Temporary>) -> Result<(), Error> {
        let Some(resident) = &mut self.resident else { return self.partition(chunk, temporary) };
        let refused = resident.push(chunk)?;
        if resident.is_refused() {
            let chunks = self.resident.take().map(Resident::into_chunks).unwrap_or_default();
            return self.partition_all(chunks.into_iter().chain(refused), temporary);
        }
        self.partition_all(refused, temporary)
    }

    fn partition_all(
        &mut self,
        chunks: impl IntoIterator<Item = Piece>,
        mut temporary: Option<&mut Temporary>,
    ) -> Result<(), Error> {
        chunks.into_iter().try_for_each(|chunk| self.partition(chunk, temporary.as_deref_mut()))
    }

    /// Has whole lines partitioned.
    fn partition(&mut self, chunk: Piece, temporary: Option<&mut Temporary>) -> Result<(), Error> {
        let External { flight, parted, parted_bytes, holder, permits, .. } = self;
        let mut short = false;
        let mut done = |(), answer: Parted| {
            let bytes = answer.memory();
            *parted_bytes += bytes;
            parted.push(answer);
            match super::hold(holder, bytes) {
                Some(permit) => permits.push(permit),
                None => short = true,
            }
            Ok(())
        };
        let bytes = 2 * chunk.range.len() as u64;
        let task = PartitionChunk::new(chunk, &self.splitters, self.order.end_byte());
        flight.submit(task, (), bytes, &mut done)?;
        match temporary {
            Some(temporary) if short || self.parted_bytes >= self.shares.parted() => self.flush(temporary),
            _ => Ok(()),
        }
    }

    /// Writes the partitioned text to the file.
    fn flush(&mut self, temporary: &mut Temporary) -> Result<(), Error> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new(temporary().map_err(Error::Temporary)?)),
        };
        spill.append(&self.parted, &self.splitters, &mut self.ranges)?;
        self.parted.clear();
        self.permits.clear();
        self.parted_bytes = 0;
        Ok(())
    }

    /// How much partitioned text is in memory.
    pub fn parted_bytes(&self) -> u64 {
        self.parted_bytes
    }

    /// All text has come: sorts and writes it.
    pub fn write_to<W: Write>(
        mut self,
        mut temporary: Option<&mut Temporary>,
        out: &mut RangeWriter<'_, W>,
    ) -> Result<(), Error> {
        let stored = self.on_device(temporary.as_deref_mut())?;
        match temporary.filter(|_| self.spill.is_some()) {
            Some(temporary) => {
                self.flush(temporary)?;
                self.write(None, Some(temporary), out, 0)
            }
            None => self.write(stored, None, out, 0),
        }
    }

    /// The text that a device keeps; the other text is partitioned.
    fn on_device(&mut self, mut temporary: Option<&mut Temporary>) -> Result<Option<Arc<StoredText>>, Error> {
        self.land()?;
        let mut stored = None;
        if let Some(resident) = self.resident.take() {
            let (kept, rest) = match self.spill {
                Some(_) => (None, resident.into_chunks()),
                None => resident.finish()?,
            };
            // While a device keeps text, nothing may go to a file.
            let to = if kept.is_some() { None } else { temporary.as_deref_mut() };
            self.partition_all(rest, to)?;
            self.land()?;
            stored = kept;
        }
        if let Some(text) = stored.take_if(|text| !text.fits(&self.parted)) {
            self.partition_all(text.into_chunks(), temporary)?;
            self.land()?;
        }
        Ok(stored.map(Arc::new))
    }

    /// Waits for the partitioning in progress.
    fn land(&mut self) -> Result<(), Error> {
        let parted = &mut self.parted;
        self.flight.finish(&mut |(), answer| {
            parted.push(answer);
            Ok(())
        })
    }

    /// Sorts and writes the ranges: they are all in memory, or partly on a device, or all in a file.
    fn write<W: Write>(
        &mut self,
        stored: Option<Arc<StoredText>>,
        temporary: Option<&mut Temporary>,
        out: &mut RangeWriter<'_, W>,
        depth: u32,
    ) -> Result<(), Error> {
        self.permits.clear();
        let mut file = self.spill.take().zip(temporary);
        out.parts().1.spilled += file.as_ref().map_or(0, |(spill, _)| spill.len());
        let parted = std::mem::take(&mut self.parted).into_iter();
        let parted: Vec<_> = parted.map(|parted| (Arc::new(parted.text), parted.buckets)).collect();
        let total: u64 = self.ranges.iter().map(|range| range.bytes).sum();
        let count = self.ranges.len();
        for at in 0..count {
            let number = if self.order.is_reverse() { count - 1 - at } else { at };
            let mut range = std::mem::take(&mut self.ranges[number]);
            let mut pieces = Vec::new();
            for (text, buckets) in &parted {
                let bucket = buckets[number];
                range.add(bucket.lines.into(), bucket.sum, (bucket.end - bucket.start).into());
                if bucket.start < bucket.end {
                    pieces.push(Piece { text: Arc::clone(text), range: bucket.start as usize..bucket.end as usize });
                }
            }
            let kept = stored.as_ref().and_then(|text| text.range(number, &mut range));
            if let Some((line, _)) = self.splitters.heavy(number) {
                out.equal(line, range.lines)?;
                continue;
            }
            let common_prefix = self.splitters.common_prefix(number);
            let text =
                |pieces, stored| RangeText { pieces, order: self.order, common_prefix, sum: Some(range.sum), stored };
            let bytes = need(range.bytes, range.lines);
            match &mut file {
                _ if kept.is_some() => out.stored(text(pieces, kept))?,
                _ if range.bytes == 0 => {}
                None if range.bytes > MAX_JOB => out.long_range(pieces, MAX_JOB / 4)?,
                None => {
                    let room = out.room(bytes)?;
                    out.range(text(pieces, None), bytes, room)?;
                }
                // Text read from the file is already in one piece.
                Some((spill, _)) if bytes - range.bytes <= self.shares.sorting() && range.bytes <= MAX_JOB => {
                    let bytes = bytes - range.bytes;
                    let room = out.room(bytes)?;
                    let read = Arc::new(spill.read_all(&range)?);
                    out.range(text(vec![Piece { range: 0..read.len(), text: read }], None), bytes, room)?;
                }
                Some((spill, temporary)) => {
                    out.finish()?;
                    if depth < MAX_DEPTH && (depth == 0 || range.bytes < total / 16 * 15) {
                        self.again(&range, spill, temporary, out, depth)?;
                    } else {
                        self.merge(&range, spill, temporary, out)?;
                    }
                }
            }
        }
        out.finish()
    }

    /// Partitions a range once more, by a sample of all of it.
    fn again<W: Write>(
        &self,
        range: &Spilled,
        spill: &Spill,
        temporary: &mut Temporary,
        out: &mut RangeWriter<'_, W>,
        depth: u32,
    ) -> Result<(), Error> {
        let end = self.order.end_byte();
        let size = Size::new(self.shares.ranges_of(range.bytes), self.shares.memory);
        let lines = size.lines_near(range.bytes, end, |at| spill.read_some(range, at, NEAR))?;
        let mut below = External::new(self.order, &self.pool, self.shares, size.choose(lines));
        self.chunks(range, spill, self.shares.chunk(), |chunk| below.push(chunk, Some(temporary)))?;
        below.land()?;
        below.flush(temporary)?;
        let sum = below.ranges.iter().fold(0u64, |sum, range| sum.wrapping_add(range.sum));
        range.is_as_written(sum)?;
        below.write(None, Some(temporary), out, depth + 1)
    }

    /// Sorts a range piece by piece, and merges the pieces.
    fn merge<W: Write>(
        &self,
        range: &Spilled,
        spill: &Spill,
        temporary: &mut Temporary,
        out: &mut RangeWriter<'_, W>,
    ) -> Result<(), Error> {
        let mut runs = Runs::new(self.order, self.shares, temporary)?;
        let mut flight: Flight<SortRange, ()> = Flight::new(&self.pool, self.shares.sorting());
        let mut done = |(), sorted: Sorted| runs.push(&sorted);
        // Makes as few runs as possible, because each is read through a buffer.
        let len = (self.shares.memory / 16).clamp(1 << 12, 1 << 30) as usize;
        let mut read = 0u64;
        self.chunks(range, spill, len, |chunk| {
            let bytes = need(chunk.range.len() as u64, 0);
            let sum = sum_of(chunk.bytes(), self.order.end_byte());
            read = read.wrapping_add(sum);
            let range = RangeText { sum: Some(sum), ..RangeText::new(vec![chunk], self.order) };
            flight.submit(SortRange { range: Arc::new(range) }, (), bytes, &mut done)
        })?;
        flight.finish(&mut done)?;
        range.is_as_written(read)?;
        let (to, report) = out.parts();
        runs.write_to(temporary, to, report)
    }

    /// Reads a range in chunks of whole lines.
    fn chunks(
        &self,
        range: &Spilled,
        spill: &Spill,
        len: usize,
        mut take: impl FnMut(Piece) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut chunker = Chunker::new(self.order.end_byte(), len);
        let mut reader = spill.reader(range);
        let mut buffer = vec![0; len.min(1 << 20)];
        loop {
            let n = reader.read(&mut buffer).map_err(Error::Temporary)?;
            chunker.push_all(&buffer[..n])?;
            if n == 0 {
                chunker.seal();
            }
            chunker.take().into_iter().try_for_each(&mut take)?;
            if n == 0 {
                return Ok(());
            }
        }
    }
}
