//! A long file read by several threads compresses to the same bytes as the same text from a pipe.

use hybz::flow::{Input, Inputs, LONG_FILE, Outputs, ReadAt, Source, Task, run};
use hybz::{Error, Level, Pool, Settings, StreamSummary};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

mod shapes;

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

struct One(Option<Source>);

impl Inputs for One {
    type Meta = ();
    fn next_input(&mut self) -> Option<Input<()>> {
        Some(Input { meta: (), task: Task::Compress(Level::BEST), source: self.0.take()? })
    }
}

#[derive(Default)]
struct Collect(Vec<u8>, Option<Result<StreamSummary, Error>>);

impl Outputs for Collect {
    type Meta = ();
    type Out = Vec<u8>;
    fn begin(&mut self, (): &mut ()) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
    fn end(&mut self, (): (), out: Vec<u8>, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        *self = Collect(out, Some(outcome));
        ControlFlow::Continue(())
    }
}

fn compress(file: File, from: u64, readers: usize) -> Collect {
    let pool = Pool::builder().threads(NonZeroUsize::new(2).unwrap()).readers(readers).build();
    let mut outputs = Collect::default();
    run(&pool, One(Some(Source::File(Arc::new(file), from))), &mut outputs);
    outputs
}

/// A little more than `LONG_FILE`: mostly runs, which compress fast, with all shapes in between.
fn text() -> Vec<u8> {
    let mut text = Vec::new();
    for (round, shape) in shapes::SHAPES.iter().cycle().enumerate() {
        if text.len() as u64 > LONG_FILE + LONG_FILE / 16 {
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
        let Collect(out, outcome) = compress(File { text: text.clone(), broken_from: u64::MAX }, from as u64, readers);
        assert_eq!(outcome.unwrap().unwrap().bytes_in, (text.len() - from) as u64);
        assert!(out == expected, "{readers} readers");
    }
}

#[test]
fn a_file_that_cannot_be_read_to_its_end() {
    let text = text();
    for (readers, broken_from) in [(1, 40 << 20), (3, 40 << 20), (3, 0), (4, (text.len() - 1) as u64)] {
        let Collect(_, outcome) = compress(File { text: text.clone(), broken_from }, 0, readers);
        assert!(matches!(outcome, Some(Err(Error::Read(_)))), "{readers} readers, {broken_from}: {outcome:?}");
    }
}
