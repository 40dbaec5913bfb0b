//! Sorts streams of any length.

use super::Pool;
use super::order::Order;
use super::partition::Parted;
use super::splitters::{Splitters, choose};
use super::text::{Ends, last_end, mix};
use super::way::Flight;
use super::work::{Lines, PartitionChunk, Piece, RangeText, SortRange};
use crate::error::Error;
use crate::schedule::{Client, Permit};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// Makes a temporary file.
pub(super) type Temporary = Box<dyn FnMut() -> io::Result<File> + Send>;

/// How much a [`Sorter`] may hold, and where it puts what is more.
///
/// ```
/// use hybz::sort::Limits;
/// let everything_in_memory = Limits::new();
/// let limits = Limits::new().memory(1 << 30).temporary(|| std::fs::File::open("/dev/null"));
/// # drop((everything_in_memory, limits));
/// ```
pub struct Limits {
    memory: u64,
    temporary: Option<Temporary>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits::new()
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let temporary = self.temporary.is_some();
        f.debug_struct("Limits").field("memory", &self.memory).field("temporary", &temporary).finish()
    }
}

impl Limits {
    /// None: everything is kept in memory.
    pub fn new() -> Limits {
        Limits { memory: u64::MAX, temporary: None }
    }

    /// The most bytes that the sorter may hold: text, keys, output. It needs [`temporary`](Self::temporary) files for
    /// the rest; without them it holds everything, whatever this says. A line longer than that is held all the same.
    pub fn memory(self, bytes: u64) -> Limits {
        Limits { memory: bytes, ..self }
    }

    /// How to make a temporary file, which must be open for reading and writing and should have no name, so that
    /// nothing is left behind.
    pub fn temporary(self, make: impl FnMut() -> io::Result<File> + Send + 'static) -> Limits {
        Limits { temporary: Some(Box::new(make)), ..self }
    }
}

/// What a [`Sorter`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Lines that came in.
    pub lines: u64,
    /// Lines that were written: less if equal ones are dropped.
    pub lines_written: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
    /// Into how many ranges of keys the lines were cut.
    pub ranges: u64,
    /// Bytes that were written to temporary files.
    pub spilled: u64,
}

/// A chunk of text is so long, if it does not end in a longer line.
const CHUNK: usize = 1 << 20;

/// Text up to this length is one range.
const SINGLE: u64 = 1 << 20;

/// Ranges have about this length, unless there would be more than [`MAX_RANGES`].
const RANGE: u64 = 1 << 20;

const MAX_RANGES: u64 = 1024;

/// So many lines are looked at for each range.
const SAMPLES: u64 = 32;

/// So many bytes of a line are kept in a sample.
const MAX_SAMPLE: usize = 1024;

/// The longest text of a job: positions have 32 bits.
pub(super) const MAX_JOB: u64 = u32::MAX as u64 - (1 << 20);

/// Sorts lines that come in pieces.
///
/// ```
/// use hybz::sort::{Limits, Order, Pool, Sorter};
/// let pool = Pool::builder().build();
/// let mut sorter = Sorter::new(&Order::new(), Limits::new(), &pool);
/// sorter.push(b"not\nto")?;
/// sorter.push(b" be\nor")?;
/// sorter.end_of_file()?; // the line "or" ends here
/// sorter.push(b"to be")?;
/// let mut out = Vec::new();
/// let report = sorter.write_to(&mut out)?;
/// assert_eq!(out, b"not\nor\nto be\nto be\n");
/// assert_eq!(report.lines, 4);
/// # Ok::<(), hybz::Error>(())
/// ```
pub struct Sorter {
    order: Order,
    limits: Limits,
    pool: Pool,
    /// Holds permits for text that waits.
    holder: Client<Lines>,
    permits: Vec<Permit>,
    /// Whole lines.
    held: Vec<Piece>,
    held_bytes: u64,
    /// What came last: perhaps not the end of a line.
    current: Vec<u8>,
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

impl Sorter {
    /// A sorter that has no lines yet.
    pub fn new(order: &Order, limits: Limits, pool: &Pool) -> Sorter {
        Sorter {
            order: *order,
            limits,
            pool: pool.clone(),
            holder: pool.client(),
            permits: Vec::new(),
            held: Vec::new(),
            held_bytes: 0,
            current: Vec::new(),
        }
    }

    /// Takes text, cut anywhere.
    ///
    /// # Errors
    /// [`Error::Temporary`], [`Error::LineTooLong`], and what is no fault of the text.
    pub fn push(&mut self, mut text: &[u8]) -> Result<(), Error> {
        while !text.is_empty() {
            if self.current.len() == self.current.capacity() {
                self.make_room(text.len())?;
            }
            let n = text.len().min(self.current.capacity() - self.current.len());
            self.current.extend_from_slice(&text[..n]);
            text = &text[n..];
        }
        Ok(())
    }

    /// Takes text, cut anywhere, without copying most of it.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_owned(&mut self, text: Vec<u8>) -> Result<(), Error> {
        let end = self.order.end_byte();
        let (Some(first), Some(last)) = (Ends::new(&text, end).next(), last_end(&text, end)) else {
            return self.push(&text);
        };
        let mut from = 0;
        if !self.current.is_empty() {
            from = first + 1;
            self.push(&text[..from])?;
            self.seal()?;
        }
        let text = Arc::new(text);
        while from <= last {
            let to = match text.get(from + CHUNK..last) {
                Some(rest) => from + CHUNK + Ends::new(rest, end).next().unwrap_or(rest.len()) + 1,
                None => last + 1,
            };
            self.hold(Piece { text: Arc::clone(&text), range: from..to })?;
            from = to;
        }
        self.push(&text[last + 1..])
    }

    /// Ends a last line that has no end: what comes next is another file.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn end_of_file(&mut self) -> Result<(), Error> {
        match self.current.last() {
            Some(&last) if last != self.order.end_byte() => self.push(&[self.order.end_byte()]),
            _ => Ok(()),
        }
    }

    /// Makes room in the current chunk: hands on its whole lines, or lets it grow for a longer line.
    fn make_room(&mut self, wanted: usize) -> Result<(), Error> {
        if self.current.is_empty() {
            self.current.reserve_exact(CHUNK);
            return Ok(());
        }
        if last_end(&self.current, self.order.end_byte()).is_some() {
            return self.seal();
        }
        if self.current.len() as u64 > MAX_JOB {
            return Err(Error::LineTooLong);
        }
        self.current.reserve_exact(self.current.len().max(wanted.min(CHUNK)));
        Ok(())
    }

    /// Hands on the whole lines of the current chunk.
    fn seal(&mut self) -> Result<(), Error> {
        let Some(last) = last_end(&self.current, self.order.end_byte()) else { return Ok(()) };
        let mut next = Vec::new();
        if last + 1 < self.current.len() {
            next.reserve_exact(CHUNK.max(2 * (self.current.len() - last)));
            next.extend_from_slice(&self.current[last + 1..]);
        }
        let text = Arc::new(std::mem::replace(&mut self.current, next));
        self.hold(Piece { text, range: 0..last + 1 })
    }

    /// Keeps whole lines.
    fn hold(&mut self, piece: Piece) -> Result<(), Error> {
        if self.holder.is_foreign() {
            return Err(Error::Forked);
        }
        let bytes = piece.range.len() as u64;
        self.held_bytes += bytes;
        self.held.push(piece);
        // Text must be kept, whatever the budget says; then at least others know.
        self.permits.extend(self.holder.try_permit(bytes));
        Ok(())
    }

    /// Writes all lines in order.
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::Temporary`], and what is no fault of the text.
    pub fn write_to(mut self, out: &mut impl Write) -> Result<Report, Error> {
        self.end_of_file()?;
        self.seal()?;
        let mut report = Report::default();
        let held = std::mem::take(&mut self.held);
        if self.held_bytes <= SINGLE {
            let range = RangeText { pieces: held, order: self.order, common_prefix: 0, sum: None };
            self.write_ranges(vec![Part::Range(range)], &mut report, out)?;
            return Ok(report);
        }
        let ranges = (self.held_bytes / RANGE).clamp(2, MAX_RANGES);
        let splitters = Arc::new(choose(sample(&held, ranges * SAMPLES, self.order.end_byte()), ranges as usize));
        let parted = self.partition(held, &splitters)?;
        self.permits.clear();
        let parts = parts_of(parted, &splitters, &self.order);
        self.write_ranges(parts, &mut report, out)?;
        Ok(report)
    }

    /// Has chunks partitioned.
    fn partition(&self, chunks: Vec<Piece>, splitters: &Arc<Splitters>) -> Result<Vec<Parted>, Error> {
        let mut parted = Vec::with_capacity(chunks.len());
        let mut flight = Flight::new(&self.pool, u64::MAX);
        let mut done = |(), answer| {
            parted.push(answer);
            Ok(())
        };
        for chunk in chunks {
            let bytes = chunk.range.len() as u64;
            let end = self.order.end_byte();
            let question = PartitionChunk { chunk, splitters: Arc::clone(splitters), end, again: false };
            flight.ask(question, (), bytes, &mut done)?;
        }
        flight.finish(&mut done)?;
        Ok(parted)
    }

    /// Has ranges sorted, and writes them.
    fn write_ranges(&self, parts: Vec<Part>, report: &mut Report, out: &mut impl Write) -> Result<(), Error> {
        let mut flight = Flight::new(&self.pool, u64::MAX);
        let mut done = |(), sorted: Vec<u8>| {
            report.bytes_written += sorted.len() as u64;
            out.write_all(&sorted).map_err(Error::Write)
        };
        for part in parts {
            match part {
                Part::Range(range) if range.is_empty() => {}
                Part::Range(range) => {
                    let bytes = 4 * range.len() as u64;
                    flight.ask(SortRange { range: Arc::new(range), again: false }, (), bytes, &mut done)?;
                }
                Part::Equal(mut line, lines) => {
                    flight.finish(&mut done)?;
                    line.push(self.order.end_byte());
                    for _ in 0..if self.order.is_unique() { lines.min(1) } else { lines } {
                        done((), line.clone())?;
                    }
                }
            }
        }
        flight.finish(&mut done)?;
        Ok(())
    }
}

/// What is written next.
enum Part {
    Range(RangeText),
    /// A line, so many times.
    Equal(Vec<u8>, u64),
}

/// The ranges of a partitioned text, in the order in which they are written.
fn parts_of(parted: Vec<Parted>, splitters: &Splitters, order: &Order) -> Vec<Part> {
    let chunks: Vec<_> = parted.into_iter().map(|parted| (Arc::new(parted.text), parted.buckets)).collect();
    let part = |number: usize| {
        let buckets = || chunks.iter().map(|(text, buckets)| (text, &buckets[number]));
        if let Some((line, _)) = splitters.heavy(number) {
            return Part::Equal(line.to_vec(), buckets().map(|(_, bucket)| u64::from(bucket.lines)).sum());
        }
        let pieces = buckets().filter(|(_, bucket)| bucket.start < bucket.end);
        let pieces = pieces
            .map(|(text, bucket)| Piece { text: Arc::clone(text), range: bucket.start as usize..bucket.end as usize });
        let sum = buckets().fold(0u64, |sum, (_, bucket)| sum.wrapping_add(bucket.sum));
        let common_prefix = splitters.common_prefix(number);
        Part::Range(RangeText { pieces: pieces.collect(), order: *order, common_prefix, sum: Some(sum) })
    };
    let numbers = 0..splitters.buckets();
    if order.is_reverse() { numbers.rev().map(part).collect() } else { numbers.map(part).collect() }
}

/// Lines from all over a text, and whether they are whole.
fn sample(pieces: &[Piece], count: u64, end: u8) -> Vec<(Vec<u8>, bool)> {
    let total: u64 = pieces.iter().map(|piece| piece.range.len() as u64).sum();
    let mut starts = Vec::with_capacity(pieces.len());
    let mut before = 0;
    for piece in pieces {
        starts.push(before);
        before += piece.range.len() as u64;
    }
    let line_at = |number: u64| {
        // The result does not depend on where the sample is from, so its places may be the same every time.
        let at = ((u128::from(mix(number + 1)) * u128::from(total)) >> 64) as u64;
        let piece = starts.partition_point(|&start| start <= at) - 1;
        let bytes = pieces[piece].bytes();
        let rest = &bytes[(at - starts[piece]) as usize..];
        let near = &rest[..rest.len().min(1 << 16)];
        // The line after this place; near the end of the piece, or of a long line, the first of the piece.
        let line = match Ends::new(near, end).next() {
            Some(found) if found + 1 < rest.len() => &rest[found + 1..],
            _ => bytes,
        };
        let cut = &line[..line.len().min(MAX_SAMPLE)];
        match Ends::new(cut, end).next() {
            Some(found) => (cut[..found].to_vec(), true),
            None => (cut.to_vec(), false),
        }
    };
    (0..count).map(line_at).collect()
}
