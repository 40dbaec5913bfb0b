//! `-m` and `-c` with keys.

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

impl Keys {
    /// Merges `sources`, each of whose lines are already in order, as [`merge`](fn@crate::merge) does.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Write`] and [`Error::KeyPanicked`].
    pub fn merge(&self, sources: Vec<impl BufRead + Send>, mut out: impl Write) -> Result<(), Error> {
        if self.0.parts.is_empty() {
            return crate::merge(sources, &self.0.order, out);
        }
        let records = |(file, text)| {
            let place = Place { file: file as u64, at: 0 };
            let (line, scratch, record) = (Vec::new(), Vec::new(), Vec::new());
            Records { text, keys: self.clone(), line, scratch, record, at: 0, place }
        };
        let sources = sources.into_iter().enumerate().map(records).collect();
        let order = self.record_order();
        merge_counted(sources, &order, Bare::new(self, &mut out), |_, _| ()).map(drop).map_err(Error::carried)
    }

    /// The first line of `text` that is out of order, as [`check`](fn@crate::check) finds it.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::KeyPanicked`].
    pub fn check(&self, mut text: impl BufRead) -> Result<Option<Disorder>, Error> {
        let (mut last, mut line, mut scratch, mut number) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let (mut last_code, mut code) = (Vec::new(), Vec::new());
        while read_line(&mut text, self.end_byte(), &mut line)? {
            number += 1;
            if !self.0.parts.is_empty() {
                code.clear();
                self.code(&line, &mut scratch, &mut code)?;
            }
            let order = if number == 1 { Ordering::Less } else { self.compare((&last_code, &last), (&code, &line)) };
            if order.is_gt() || order.is_eq() && self.0.order.is_unique() {
                return Ok(Some(Disorder { number, line }));
            }
            std::mem::swap(&mut last, &mut line);
            std::mem::swap(&mut last_code, &mut code);
        }
        Ok(None)
    }
}
