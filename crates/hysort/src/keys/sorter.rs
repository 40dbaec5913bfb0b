//! Sorts streams: their lines, or the lines' records if there are keys.

use super::bare::Bare;
use super::by::Panicked;
use super::{Keys, Place};
use crate::error::Error;
use crate::flight::Flight;
use crate::limits::{Limits, Report};
use crate::parts::{Piece, Wrong};
use crate::sorter::ByteSorter;
use crate::tasks::LineTask;
use crate::text::{Ends, last_end};
use crate::{Pool, hold};
use hybz_queue::{Checked, Class, Client, Core, Permit, Task};
use std::io::Write;
use std::sync::Arc;

/// Lines to be coded.
const CODE: Class = Class::new("code", 300e6);

/// How much text is coded in a task, if memory is not short.
const CHUNK: usize = 1 << 20;

/// The task that makes the records of whole lines.
#[derive(Clone, Debug)]
struct CodeLines {
    keys: Keys,
    text: Piece,
    place: Place,
}

impl Task for CodeLines {
    type Output = Result<Vec<u8>, Panicked>;

    fn run(&self, _: &mut Core) -> Self::Output {
        let len = LineTask::bytes(self) as usize;
        let mut out = Vec::with_capacity(len + len / 2);
        self.keys.records(self.text.bytes(), self.place, &mut out)?;
        // Budgets count bytes that are used.
        if out.capacity() - out.len() > out.len() / 4 {
            out.shrink_to_fit();
        }
        Ok(out)
    }

    fn bytes_out(records: &Self::Output) -> u64 {
        records.as_ref().map_or(0, |records| records.len() as u64)
    }
}

impl Checked for CodeLines {
    type Wrong = Wrong;
    const WORDS: [&'static str; 3] = ["a part", "coded", "checked"];

    fn check(&self, records: &mut Self::Output, core: &mut Core) -> Result<(), Wrong> {
        if *records == self.run(core) { Ok(()) } else { Err(Wrong("the codes of keys are wrong")) }
    }

    fn is_same(a: &Self::Output, b: &Self::Output) -> bool {
        a == b
    }
}

impl LineTask for CodeLines {
    fn class(&self) -> Class {
        CODE
    }

    fn bytes(&self) -> u64 {
        self.text.range.len() as u64
    }

    /// Only cores make them.
    fn is_to_be_checked(_: &Self::Output) -> bool {
        false
    }
}

/// Sorts lines that come in pieces, by an [`Order`](crate::Order) or by [`Keys`].
///
/// With keys a line is held in memory as a whole until its keys are known.
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
    keys: Keys,
    inner: ByteSorter,
    flight: Flight<CodeLines, ()>,
    chunk: usize,
    /// The beginning of a line that has no end yet, and permits for it.
    rest: Vec<u8>,
    holder: Client,
    permits: Vec<Permit>,
    /// The place of the next byte.
    place: Place,
}

impl std::fmt::Debug for Sorter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sorter").field("keys", &self.keys).finish_non_exhaustive()
    }
}

impl Sorter {
    /// A sorter that has no lines yet.
    pub fn new(keys: impl Into<Keys>, limits: Limits, pool: &Pool) -> Sorter {
        let (keys, memory) = (keys.into(), limits.memory);
        let coding = if keys.0.parts.is_empty() { 0 } else { memory / 8 };
        let limits = if memory == u64::MAX { limits } else { limits.memory(memory - coding) };
        Sorter {
            inner: ByteSorter::new(keys.record_order(), limits, pool),
            keys,
            flight: Flight::new(pool, coding),
            chunk: ((coding / 32) as usize).clamp(1 << 12, CHUNK),
            rest: Vec::new(),
            holder: pool.client(),
            permits: Vec::new(),
            place: Place::default(),
        }
    }

    /// Announces the length of the text and gives access to samples of it: `look` returns some kilobytes of the text at
    /// an offset, fewer at its end, or `None` if that would take long. Must be called before any text comes.
    ///
    /// Lines are then grouped by range as they come, in parallel with reading; otherwise this begins when the last of
    /// them has come. The output is the same, even if the announcement is wrong. It is ignored for short text, or if
    /// memory is short.
    pub fn expect(&mut self, bytes: u64, mut look: impl FnMut(u64) -> Option<Vec<u8>>) {
        if self.keys.0.parts.is_empty() {
            return self.inner.expect(bytes, look);
        }
        let Some(first) = look(0) else { return };
        let Some(records) = sample(&self.keys, &first, 0) else { return };
        let whole = whole(&first, self.keys.end_byte());
        if whole == 0 {
            return;
        }
        let scaled = |at: u64, by: usize, of: usize| (u128::from(at) * by as u128 / of as u128) as u64;
        let (keys, len) = (self.keys.clone(), records.len());
        let sample = |at: u64| {
            let at = scaled(at, whole, len).min(bytes);
            look(at).and_then(|text| sample(&keys, &text, at))
        };
        self.inner.expect(scaled(bytes, len, whole), sample);
    }

    /// Takes text, cut anywhere.
    ///
    /// # Errors
    /// [`Error::Temporary`], [`Error::KeyPanicked`], and errors that the text does not cause. After an error the sorter
    /// cannot be used any more.
    pub fn push(&mut self, text: &[u8]) -> Result<(), Error> {
        if self.keys.0.parts.is_empty() { self.inner.push(text) } else { self.push_owned(text.to_vec()) }
    }

    /// Takes text, cut anywhere, without copying most of it: the whole buffer is kept until the last of it has been
    /// processed.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_owned(&mut self, text: Vec<u8>) -> Result<(), Error> {
        if self.keys.0.parts.is_empty() {
            return self.inner.push_owned(text);
        }
        let end = self.keys.end_byte();
        let mut from = 0;
        if !self.rest.is_empty() {
            let first = Ends::new(&text, end).next().map(|at| at + 1);
            from = first.unwrap_or(text.len());
            self.hold(&text[..from]);
            if first.is_none() {
                return Ok(());
            }
            self.end_line()?;
        }
        let last = from + whole(&text[from..], end);
        let text = Arc::new(text);
        while from < last {
            let to = from + part(&text[from..last], self.chunk, end);
            self.lines(Piece { text: Arc::clone(&text), range: from..to })?;
            from = to;
        }
        self.hold(&text[last..]);
        Ok(())
    }

    /// Keeps the beginning of a line.
    fn hold(&mut self, text: &[u8]) {
        self.rest.extend_from_slice(text);
        if self.rest.len() > CHUNK {
            self.permits.extend(hold(&self.holder, text.len() as u64));
        }
    }

    /// Has the codes made for the line that was kept.
    fn end_line(&mut self) -> Result<(), Error> {
        let text = Arc::new(std::mem::take(&mut self.rest));
        self.permits.clear();
        let range = 0..text.len();
        self.lines(Piece { text, range })
    }

    fn lines(&mut self, text: Piece) -> Result<(), Error> {
        let task = CodeLines { keys: self.keys.clone(), text, place: self.place };
        self.place.at += LineTask::bytes(&task);
        let bytes = 3 * LineTask::bytes(&task);
        self.flight.submit(task, (), bytes, &mut |(), records| self.inner.push_owned(records?))
    }

    /// Ends a last line that lacks its end: the text that follows is another file's.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn end_of_file(&mut self) -> Result<(), Error> {
        if !self.rest.is_empty() {
            self.end_line()?;
        }
        if self.keys.0.parts.is_empty() { self.inner.end_of_file() } else { Ok(()) }
    }

    /// Writes all lines in order.
    ///
    /// # Errors
    /// [`Error::Write`], and as [`push`](Self::push).
    pub fn write_to(mut self, out: &mut impl Write) -> Result<Report, Error> {
        self.end_of_file()?;
        if self.keys.0.parts.is_empty() {
            return self.inner.write_to(out);
        }
        let keys = self.keys.clone();
        let mut bare = Bare::new(&keys, out);
        self.flight.finish(&mut |(), records| self.inner.push_owned(records?))?;
        let report = self.inner.write_to(&mut bare)?;
        bare.finish().map_err(Error::Write)?;
        Ok(Report { lines_written: bare.lines, bytes_written: bare.bytes, ..report })
    }
}

/// The length of the whole lines at the start of a text.
fn whole(text: &[u8], end: u8) -> usize {
    last_end(text, end).map_or(0, |at| at + 1)
}

/// The length of whole lines at the start of a text that consists of them: at most `most` bytes, or one line.
fn part(text: &[u8], most: usize, end: u8) -> usize {
    match whole(&text[..most.min(text.len())], end) {
        0 => Ends::new(text, end).next().map_or(text.len(), |at| at + 1),
        len => len,
    }
}

/// The records of the whole lines in a sample, which is at an offset of the text: unless it is at the beginning, its
/// first line is only the end of one. `None` if a closure panics.
fn sample(keys: &Keys, text: &[u8], at: u64) -> Option<Vec<u8>> {
    let end = keys.end_byte();
    let from = if at == 0 { 0 } else { Ends::new(text, end).next().map_or(text.len(), |at| at + 1) };
    let to = from + whole(&text[from..], end);
    let mut records = if at > 0 { vec![end] } else { Vec::new() };
    keys.records(&text[from..to], Place { file: 0, at: at + from as u64 }, &mut records).ok()?;
    Some(records)
}
