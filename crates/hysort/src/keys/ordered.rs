//! `-m` and `-c` for lines, or for their records if there are keys.

use super::bare::Bare;
use super::{Keys, Place};
use crate::error::Error;
use crate::merge::merge_counted;
use crate::ordered::{Disorder, read_line};
use std::cmp::Ordering;
use std::io::{self, BufRead, Read, Write};

/// The records of a text.
struct Records<R> {
    text: R,
    keys: Keys,
    line: Vec<u8>,
    scratch: Vec<u8>,
    record: Vec<u8>,
    /// How much of the record has been read.
    at: usize,
    place: Place,
}

impl<R: BufRead> Read for Records<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.read(buf)?;
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Records<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.record.len() {
            (self.at, self.place.at) = (0, self.place.at + 1);
            self.record.clear();
            if read_line(&mut self.text, self.keys.end_byte(), &mut self.line).map_err(io::Error::from)? {
                let made = self.keys.record(&self.line, self.place, &mut self.scratch, &mut self.record);
                made.map_err(|panicked| io::Error::from(Error::from(panicked)))?;
                self.record.push(self.keys.end_byte());
            }
        }
        Ok(&self.record[self.at..])
    }

    fn consume(&mut self, len: usize) {
        self.at += len;
    }
}

/// Merges `sources`, each of which is already in order. Holds a line of each source in memory.
///
/// ```
/// use hysort::{Order, merge};
/// let mut out = Vec::new();
/// merge(vec![&b"a\nd\n"[..], b"b\nc"], &Order::new(), &mut out)?;
/// assert_eq!(out, b"a\nb\nc\nd\n");
/// # Ok::<(), hysort::Error>(())
/// ```
///
/// If a source is not in order, the output is not either, as with `sort -m`.
///
/// # Errors
/// [`Error::Read`], [`Error::Write`] and [`Error::KeyPanicked`].
pub fn merge(sources: Vec<impl BufRead + Send>, keys: impl Into<Keys>, mut out: impl Write) -> Result<(), Error> {
    let keys = keys.into();
    let order = keys.record_order();
    if keys.0.parts.is_empty() {
        return merge_counted(sources, &order, out, |_, _| ()).map(drop);
    }
    let records = |(file, text)| {
        let place = Place { file: file as u64, at: 0 };
        let (line, scratch, record) = (Vec::new(), Vec::new(), Vec::new());
        Records { text, keys: keys.clone(), line, scratch, record, at: 0, place }
    };
    let sources = sources.into_iter().enumerate().map(records).collect();
    merge_counted(sources, &order, Bare::new(&keys, &mut out), |_, _| ()).map(drop).map_err(Error::carried)
}

/// The first line of `text` that is out of order: it is less than the line before it or, if equal lines are not kept
/// ([`Order::unique`](crate::Order::unique)), equal to that line. `None` if there is none.
///
/// ```
/// use hysort::{Order, check};
/// assert_eq!(check(&b"a\nb\nb\n"[..], &Order::new())?, None);
/// let found = check(&b"a\nb\nb\n"[..], &Order::new().unique(true))?.unwrap();
/// assert_eq!((found.number, &found.line[..]), (3, &b"b"[..]));
/// # Ok::<(), hysort::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] and [`Error::KeyPanicked`].
pub fn check(mut text: impl BufRead, keys: impl Into<Keys>) -> Result<Option<Disorder>, Error> {
    let keys = keys.into();
    let (mut last, mut line, mut scratch, mut number) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let (mut last_code, mut code) = (Vec::new(), Vec::new());
    while read_line(&mut text, keys.end_byte(), &mut line)? {
        number += 1;
        if !keys.0.parts.is_empty() {
            code.clear();
            keys.code(&line, &mut scratch, &mut code)?;
        }
        let order = if number == 1 { Ordering::Less } else { keys.compare((&last_code, &last), (&code, &line)) };
        if order.is_gt() || order.is_eq() && keys.0.order.is_unique() {
            return Ok(Some(Disorder { number, line }));
        }
        std::mem::swap(&mut last, &mut line);
        std::mem::swap(&mut last_code, &mut code);
    }
    Ok(None)
}
