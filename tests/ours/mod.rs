//! Calls hybz, and returns its verdicts, in the form that the tests need.
#![allow(dead_code)] // each test binary uses its own part

use crate::program::Refusal;
use hybz::{Error, Level, Pool, ReadAt, Settings};
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

/// A pool of `stations` CPU stations.
pub fn pool(stations: usize) -> Pool {
    Pool::builder().threads(NonZeroUsize::new(stations).expect("at least one station")).build()
}

pub fn level(level: u8) -> Level {
    Level::try_new(level).expect("1 to 9")
}

/// The complaint of bzip2 that `error` corresponds to.
pub fn refusal(error: &Error) -> Refusal {
    match error {
        Error::NotBzip2 => Refusal::NotBzip2,
        Error::Truncated { .. } => Refusal::Ends,
        Error::Data { .. } => Refusal::Data,
        other => panic!("neither a file's nor a data error: {other}"),
    }
}

/// The complaint for the [`Error`] within an [`std::io::Error`].
pub fn io_refusal(error: &std::io::Error) -> Refusal {
    let inner =
        error.get_ref().and_then(|e| e.downcast_ref()).unwrap_or_else(|| panic!("not hybz's own error: {error}"));
    refusal(inner)
}

/// Decompresses all of `file` in one call.
pub fn decompress(file: &[u8], settings: &Settings) -> Result<Vec<u8>, Refusal> {
    hybz::decompress(file, settings).map_err(|error| refusal(&error))
}

/// Decompresses by writing `piece` bytes at a time to a decoder. Returns the verdict, and the text that came out
/// before it.
pub fn decompress_written(file: &[u8], piece: usize, settings: &Settings) -> (Result<(), Refusal>, Vec<u8>) {
    let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), settings);
    let verdict = file
        .chunks(piece)
        .try_for_each(|piece| decoder.write_all(piece))
        .and_then(|()| decoder.try_finish())
        .map_err(|error| io_refusal(&error));
    (verdict, std::mem::take(decoder.get_mut()))
}

/// Decompresses by reading from a decoder, `piece` bytes at a time. Returns the verdict, and the text that came out
/// before it.
pub fn decompress_read(file: impl Read, piece: usize, settings: &Settings) -> (Result<(), Refusal>, Vec<u8>) {
    let mut decoder = hybz::read::MultiBzDecoder::with_settings(file, settings);
    let mut text = Vec::new();
    let verdict = read_all(&mut decoder, piece, &mut text).map_err(|error| io_refusal(&error));
    (verdict, text)
}

pub fn compress(text: &[u8], settings: &Settings) -> Vec<u8> {
    hybz::compress(text, settings).expect("nothing that could fail")
}

pub fn compress_written(text: &[u8], piece: usize, settings: &Settings) -> Vec<u8> {
    let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), settings);
    for piece in text.chunks(piece) {
        encoder.write_all(piece).expect("a Vec takes everything");
    }
    encoder.finish().expect("a Vec takes everything")
}

pub fn compress_read(text: impl Read, piece: usize, settings: &Settings) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = hybz::read::BzEncoder::with_settings(text, settings);
    read_all(&mut encoder, piece, &mut file).expect("nothing that could fail");
    file
}

fn read_all(reader: &mut impl Read, piece: usize, into: &mut Vec<u8>) -> std::io::Result<()> {
    let mut buffer = vec![0; piece];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(()),
            n => into.extend_from_slice(&buffer[..n]),
        }
    }
}

/// A reader of `.0` that returns at most `.1` bytes at a time.
pub struct Sips<R>(pub R, pub usize);

impl<R: Read> Read for Sips<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = buf.len().min(self.1);
        self.0.read(&mut buf[..n])
    }
}

/// Counts the bytes that are read from `.0`.
pub struct Counted(pub Vec<u8>, pub AtomicU64);

impl ReadAt for Counted {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let n = ReadAt::read_at(&self.0, buf, offset)?;
        self.1.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}
