//! `-m` and `-c` with keys.

use super::bare::Bare;
use super::cut::Cut;
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
    /// Bytes of the text that have been read.
    read: u64,
}

impl<R: BufRead> Read for Records<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let len = from.len().min(buf.len());
        buf[..len].copy_from_slice(&from[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Records<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.record.len() {
            (self.at, self.place.at) = (0, self.place.at + 1);
            self.record.clear();
            if self.keys.0.cut.read(&mut self.text, &mut self.line, &mut self.read).map_err(io::Error::from)? {
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

/// An error of this library that was an error of reading meanwhile.
fn own(error: io::Error) -> Error {
    if error.get_ref().is_some_and(|inner| inner.is::<Error>()) {
        let inner = error.into_inner().map(|inner| inner.downcast::<Error>());
        return inner.and_then(Result::ok).map_or_else(|| Error::Read(io::ErrorKind::Other.into()), |inner| *inner);
    }
    Error::Read(error)
}

impl Cut {
    /// Reads the next line, without its end, or the next record. Returns whether there is one. `read` is the number of
    /// bytes that were read before.
    fn read(self, text: &mut impl BufRead, item: &mut Vec<u8>, read: &mut u64) -> Result<bool, Error> {
        let len = match self {
            Cut::Lines(end) => return read_line(text, end, item),
            Cut::Fixed(len) => len,
        };
        item.clear();
        text.take(len as u64).read_to_end(item).map_err(Error::Read)?;
        if ![0, len].contains(&item.len()) {
            return Err(Error::PartialRecord { at: *read, bytes: item.len() as u64, of: len as u64 });
        }
        *read += len as u64;
        Ok(!item.is_empty())
    }
}

impl Keys {
    /// Merges `sources`, each of whose lines are already in order, as [`merge`](fn@crate::merge) does.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Write`], [`Error::PartialRecord`] and [`Error::KeyPanicked`].
    pub fn merge(&self, sources: Vec<impl BufRead + Send>, mut out: impl Write) -> Result<(), Error> {
        let records = |(file, text)| {
            let place = Place { file: file as u64, at: 0 };
            let (line, scratch, record) = (Vec::new(), Vec::new(), Vec::new());
            Records { text, keys: self.clone(), line, scratch, record, at: 0, place, read: 0 }
        };
        let sources = sources.into_iter().enumerate().map(records).collect();
        let order = self.record_order();
        let merged = merge_counted(sources, &order, Bare::new(self, &mut out), |_, _| ());
        merged.map(drop).map_err(|error| match error {
            Error::Read(error) => own(error),
            error => error,
        })
    }

    /// The first line of `text` that is out of order, as [`check`](fn@crate::check) finds it.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::PartialRecord`] and [`Error::KeyPanicked`].
    pub fn check(&self, mut text: impl BufRead) -> Result<Option<Disorder>, Error> {
        let (mut last, mut line, mut number) = (Vec::new(), Vec::new(), 1);
        let (mut last_code, mut code, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        let (cut, mut read) = (self.0.cut, 0);
        if !cut.read(&mut text, &mut last, &mut read)? {
            return Ok(None);
        }
        self.code(&last, &mut scratch, &mut last_code)?;
        while cut.read(&mut text, &mut line, &mut read)? {
            number += 1;
            code.clear();
            self.code(&line, &mut scratch, &mut code)?;
            match self.compare((&last_code, &last), (&code, &line)) {
                Ordering::Less => {}
                Ordering::Equal if !self.0.order.is_unique() => {}
                _ => return Ok(Some(Disorder { number, line })),
            }
            std::mem::swap(&mut last, &mut line);
            std::mem::swap(&mut last_code, &mut code);
        }
        Ok(None)
    }
}
