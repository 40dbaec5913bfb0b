//! Long files that several threads read give the same bytes as through a pipe, and errors at the right places.

use crate::{shapes, through};
use hybz::flow::{Source, Task};
use hybz::internals::flow::LONG_FILE;
use hybz::internals::tasks::{DECODE, ENCODE};
use hybz::schedule::Accepts;
use hybz::{Error, Formats, Level, Pool, ReadAt, Settings, StreamSummary, Verify};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A file in memory. Reads at or after byte `broken_from` fail.
struct File {
    text: Vec<u8>,
    broken_from: u64,
}

impl ReadAt for File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.broken_from {
            return Err(io::Error::other("a bad sector"));
        }
        let rest = &self.text[self.text.len().min(offset as usize)..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
    fn len(&self) -> u64 {
        self.text.len() as u64
    }
}

fn through(task: Task, file: File, from: u64, readers: usize) -> (Vec<u8>, Result<StreamSummary, Error>) {
    let mut pool = Pool::builder().threads(NonZeroUsize::new(2).unwrap()).readers(readers);
    if readers > 2 {
        // An accelerator that should start with the first block, but cannot: the other readers then start in the
        // middle of the file.
        pool = pool.station(Accepts::Only(&[ENCODE, DECODE]), || Err("no such device".to_owned()));
    }
    through::one(&pool.build(), task, Verify::Off, Source::File(Arc::new(file), from))
}

/// A little more than `LONG_FILE`: mostly runs, which compress fast, with all shapes in between.
fn text() -> Vec<u8> {
    let mut text = Vec::new();
    for (round, shape) in shapes::SHAPES.iter().cycle().enumerate() {
        if text.len() as u64 > LONG_FILE + LONG_FILE / 4 {
            break;
        }
        text.extend((shape.make)(30_000 + 1000 * round));
        for run in 0..20_000 {
            text.resize(text.len() + (run * 7 + round) % 600, (run % 251) as u8);
        }
    }
    text
}

#[test]
fn several_readers() {
    let text = text();
    let from = 12_345;
    let expected = hybz::compress(&text[from..], &Settings::new()).unwrap();
    for readers in [1, 2, 5] {
        let file = File { text: text.clone(), broken_from: u64::MAX };
        let (out, outcome) = through(Task::Compress(Level::BEST.into()), file, from as u64, readers);
        assert_eq!(outcome.unwrap().bytes_in, (text.len() - from) as u64);
        assert!(out == expected, "{readers} readers");
    }
}

#[test]
fn a_file_that_cannot_be_read_to_its_end() {
    let text = text();
    for (readers, broken_from) in [(1, 40 << 20), (3, 40 << 20), (3, 0), (4, (text.len() - 1) as u64)] {
        let file = File { text: text.clone(), broken_from };
        let (_, outcome) = through(Task::Compress(Level::BEST.into()), file, 0, readers);
        assert!(matches!(outcome, Err(Error::Read(_))), "{readers} readers, {broken_from}: {outcome:?}");
    }
}

/// A long file of many streams, with bytes before and after them; the number of bytes before; and the text.
fn coded() -> (Vec<u8>, usize, Vec<u8>) {
    let text = (shapes::shape("random").make)(2_200_000);
    let stream = hybz::compress(&text, &Settings::new()).unwrap();
    let count = LONG_FILE as usize / stream.len() + 8;
    ([b"before", &stream.repeat(count)[..], b"after"].concat(), 6, text.repeat(count))
}

#[test]
fn several_readers_of_a_compressed_file() {
    let (coded, from, text) = coded();
    // Two readers are tested with the damaged file below.
    for readers in [1, 5] {
        let file = File { text: coded.clone(), broken_from: u64::MAX };
        let task = Task::Decompress { formats: Formats::All, trailing_garbage: true };
        let (out, outcome) = through(task, file, from as u64, readers);
        assert_eq!(outcome.unwrap().trailing_garbage, Some((coded.len() - from - b"after".len()) as u64));
        assert!(out == text, "{readers} readers");
    }
    // A damaged stream, and an input that cannot be read; the text before both is written.
    let mut bad = coded.clone();
    bad[60 << 20] ^= 1;
    for (broken_from, readers) in [(u64::MAX, 2), (50 << 20, 2), (50 << 20, 4)] {
        let task = Task::Decompress { formats: Formats::All, trailing_garbage: true };
        let (out, outcome) = through(task, File { text: bad.clone(), broken_from }, from as u64, readers);
        let error = outcome.unwrap_err();
        assert!(if broken_from == u64::MAX {
            matches!(error, Error::Data { .. })
        } else {
            matches!(error, Error::Read(_))
        });
        assert!(out.len() > 40 << 20 && text.starts_with(&out), "{readers} readers: {} bytes", out.len());
    }
}
