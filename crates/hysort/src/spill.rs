//! Ranges in a temporary file.
//!
//! A file has parts of many ranges, one after another, so the number of open files does not depend on the number of
//! ranges. The positions of each range's parts are known.

use super::parts::Parted;
use super::splitters::Splitters;
use crate::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

/// A temporary file with parts of ranges.
#[derive(Debug)]
pub(super) struct Spill {
    file: File,
    /// Bytes written.
    len: u64,
}

/// The parts of one range in a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Spilled {
    /// The positions of its parts: the first byte, and the length.
    extents: Vec<(u64, u64)>,
    pub bytes: u64,
    pub lines: u64,
    pub sum: u64,
}

impl Spilled {
    /// The range in `bytes` bytes of a file from `from` on, whose lines have this sum.
    pub fn of(from: u64, bytes: u64, sum: u64) -> Spilled {
        Spilled { extents: vec![(from, bytes)], bytes, sum, ..Spilled::default() }
    }

    /// Adds lines of the range: how many, their sum, and their bytes.
    pub fn add(&mut self, lines: u64, sum: u64, bytes: u64) {
        self.lines += lines;
        self.sum = self.sum.wrapping_add(sum);
        self.bytes += bytes;
    }

    /// Compares the sum of the lines that were read with that of the lines that were written.
    pub fn is_as_written(&self, sum: u64) -> Result<(), Error> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "lines are not as they were written");
        if sum == self.sum { Ok(()) } else { Err(Error::Temporary(wrong())) }
    }
}

impl Spill {
    pub fn new(file: File) -> Spill {
        Spill { file, len: 0 }
    }

    /// Bytes written so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Appends the parts of all ranges.
    pub fn append(&mut self, parted: &[Parted], splitters: &Splitters, ranges: &mut [Spilled]) -> Result<(), Error> {
        let mut bytes = 0;
        let start = self.len;
        self.file.seek(SeekFrom::Start(start)).map_err(Error::Temporary)?;
        let mut out = BufWriter::with_capacity(1 << 16, &self.file);
        for (number, range) in ranges.iter_mut().enumerate() {
            let mut extent = 0;
            for Parted { text, buckets, .. } in parted {
                let bucket = buckets[number];
                range.add(bucket.lines.into(), bucket.sum, 0);
                if splitters.heavy(number).is_none() {
                    let part = &text[bucket.start as usize..bucket.end as usize];
                    out.write_all(part).map_err(Error::Temporary)?;
                    extent += part.len() as u64;
                }
            }
            if extent > 0 {
                range.extents.push((start + bytes, extent));
                range.bytes += extent;
                bytes += extent;
            }
        }
        out.flush().map_err(Error::Temporary)?;
        drop(out);
        self.len += bytes;
        Ok(())
    }

    /// Lets `write` append; meanwhile no range of this file is read.
    pub fn append_by<T>(&mut self, write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, Error>) -> Result<T, Error> {
        self.file.seek(SeekFrom::Start(self.len)).map_err(Error::Temporary)?;
        let mut out = BufWriter::with_capacity(1 << 16, &self.file);
        let done = write(&mut out).map_err(|error| match error {
            Error::Write(error) => Error::Temporary(error),
            error => error,
        })?;
        out.flush().map_err(Error::Temporary)?;
        drop(out);
        self.len = (&self.file).stream_position().map_err(Error::Temporary)?;
        Ok(done)
    }

    /// Appends bytes at a position that the caller records.
    pub fn append_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.seek(SeekFrom::Start(self.len)).and_then(|_| self.file.write_all(bytes));
        written.map_err(Error::Temporary)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Reads bytes that [`append_bytes`](Self::append_bytes) wrote at `at`.
    pub fn read_bytes(&self, at: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let mut file = &self.file;
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes));
        read.map_err(Error::Temporary)
    }

    /// Reads a range as a whole.
    pub fn read_all(&self, range: &Spilled) -> Result<Vec<u8>, Error> {
        let mut text = Vec::with_capacity(range.bytes as usize);
        self.reader(range).read_to_end(&mut text).map_err(Error::Temporary)?;
        Ok(text)
    }

    /// Reads at most `most` bytes of a range, from an offset on.
    pub fn read_some(&self, range: &Spilled, from: u64, most: u64) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        let mut reader = self.reader(range);
        reader.skip(from);
        reader.take(most).read_to_end(&mut text).map_err(Error::Temporary)?;
        Ok(text)
    }

    /// Reads a range from its beginning on.
    pub fn reader<'a>(&'a self, range: &'a Spilled) -> SpillReader<'a> {
        SpillReader { file: &self.file, extents: &range.extents, done: 0 }
    }
}

/// Reads one range of a file. Several may read from one file, in turn.
#[derive(Debug)]
pub(super) struct SpillReader<'a> {
    file: &'a File,
    extents: &'a [(u64, u64)],
    /// Bytes of the first extent that have been read.
    done: u64,
}

impl SpillReader<'_> {
    /// Skips bytes.
    fn skip(&mut self, mut bytes: u64) {
        while let Some(&(_, len)) = self.extents.first()
            && bytes >= len - self.done
        {
            bytes -= len - self.done;
            (self.extents, self.done) = (&self.extents[1..], 0);
        }
        self.done += bytes;
    }
}

impl Read for SpillReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Some(&(start, len)) = self.extents.first() else { return Ok(0) };
        let most = (len - self.done).min(buf.len() as u64) as usize;
        let mut file = self.file;
        file.seek(SeekFrom::Start(start + self.done))?;
        let n = file.read(&mut buf[..most])?;
        if n == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.skip(n as u64);
        Ok(n)
    }
}
