//! hybz's own work: text in memory is compressed and decompressed as the command does it.

use crate::cli::args::{BenchMode, Direction, Plan};
use crate::cli::modes::limits;
use hybz::flow::{self, Inputs, Outputs, Source, Task};
use hybz::internals::flow::LONG_FILE;
use hybz::{Error, ReadAt, StreamSummary, Summary, Verify};
use std::io::{self, Cursor, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes in memory that several threads may read.
#[derive(Clone)]
pub struct Shared(pub Arc<Vec<u8>>);

impl ReadAt for Shared {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buf, offset)
    }

    fn len(&self) -> u64 {
        ReadAt::len(&*self.0)
    }
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Compresses the text as hybz does, on all cores.
pub fn compressed(plan: &Plan<BenchMode>, text: &Shared) -> Result<Vec<u8>, Error> {
    once(plan, task(plan, Direction::Compress), text, u64::MAX)
}

/// Decompresses. Text of more than `max` bytes is an [`Error::Write`] of the kind "file too large", because a few bytes
/// can decompress to any amount of text.
pub fn decompressed(
    plan: &Plan<BenchMode>,
    coded: &Shared,
    trailing_garbage: bool,
    max: u64,
) -> Result<Vec<u8>, Error> {
    once(plan, Task::Decompress { formats: plan.common.formats, trailing_garbage }, coded, max)
}

fn task(plan: &Plan<BenchMode>, direction: Direction) -> Task {
    match direction {
        Direction::Compress => Task::Compress(plan.mode.coding.encoding),
        Direction::Decompress => {
            Task::Decompress { formats: plan.common.formats, trailing_garbage: plan.common.trailing_garbage }
        }
    }
}

fn once(plan: &Plan<BenchMode>, task: Task, input: &Shared, max: u64) -> Result<Vec<u8>, Error> {
    let pool = limits::pool_of(&plan.common, limits::threads(&plan.common, Some(plan.mode.coding))).build();
    let mut collected = Collected { max, bytes: Vec::new(), outcome: Err(Error::NotBzip2) };
    flow::run(&pool, One::new(task, input), &mut collected);
    collected.outcome.map(|_| collected.bytes)
}

/// hybz as the command runs it: the time includes the start of the pool, but not its end.
pub fn timed(
    plan: &Plan<BenchMode>,
    direction: Direction,
    threads: usize,
    gpus: bool,
    from: &Shared,
    to: &[u8],
) -> Result<(Duration, Summary), String> {
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let coding = (direction == Direction::Compress).then_some(plan.mode.coding);
    let lanes = if gpus { limits::lanes_for(&plan.common, coding, Some(from.0.len() as u64)) } else { Vec::new() };
    let input = One::new(task(plan, direction), from);
    let mut compared = Compared { expected: to, outcome: Err(Error::NotBzip2) };
    let started = Instant::now();
    let pool =
        lanes.iter().fold(limits::pool_of(&plan.common, threads), |pool, lanes| pool.accelerators(lanes)).build();
    flow::run(&pool, input, &mut compared);
    let time = started.elapsed();
    match compared.outcome {
        Ok(_) => Ok((time, pool.summary())),
        Err(Error::Write(e)) => Err(e.to_string()),
        Err(error) => Err(format!("{error}")),
    }
}

/// A single input in memory. A long one is read as the command reads long files: by several threads if that helps.
struct One(Option<flow::Input<()>>, u64);

impl One {
    fn new(task: Task, bytes: &Shared) -> One {
        let len = bytes.0.len() as u64;
        let source = match task {
            Task::Compress(_) if len >= LONG_FILE => Source::File(Arc::new(bytes.clone()), 0),
            _ => Source::Stream(Box::new(Cursor::new(bytes.clone()))),
        };
        One(Some(flow::Input { meta: (), task, count_lines: false, verify: Verify::Off, source }), len)
    }
}

impl Inputs for One {
    type Meta = ();

    fn next_input(&mut self) -> Option<flow::Input<()>> {
        self.0.take()
    }

    fn expected_bytes(&self) -> Option<u64> {
        Some(self.1)
    }
}

/// Keeps the output.
struct Collected {
    max: u64,
    bytes: Vec<u8>,
    outcome: Result<StreamSummary, Error>,
}

/// Collects at most `max` bytes.
struct AtMost {
    max: u64,
    bytes: Vec<u8>,
}

impl Write for AtMost {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() as u64 + bytes.len() as u64 > self.max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Outputs for Collected {
    type Meta = ();
    type Out = AtMost;

    fn begin(&mut self, (): &mut ()) -> Option<AtMost> {
        Some(AtMost { max: self.max, bytes: Vec::new() })
    }

    fn end(&mut self, (): (), kept: AtMost, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        (self.bytes, self.outcome) = (kept.bytes, outcome);
        ControlFlow::Continue(())
    }
}

/// Compares the output. This takes about as long as the system's copy into a pipe.
struct Compared<'a> {
    expected: &'a [u8],
    outcome: Result<StreamSummary, Error>,
}

/// The bytes still expected.
struct Expected<'a>(&'a [u8]);

impl Write for Expected<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.split_at_checked(bytes.len()) {
            Some((expected, rest)) if expected == bytes => {
                self.0 = rest;
                Ok(bytes.len())
            }
            _ => Err(io::Error::other("its output is wrong: a defect of hybz")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> Outputs for Compared<'a> {
    type Meta = ();
    type Out = Expected<'a>;

    fn begin(&mut self, (): &mut ()) -> Option<Expected<'a>> {
        Some(Expected(self.expected))
    }

    fn end(&mut self, (): (), rest: Expected<'a>, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        self.outcome = match outcome {
            Ok(_) if !rest.0.is_empty() => Err(Error::Write(io::Error::other("its output is cut: a defect of hybz"))),
            outcome => outcome,
        };
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_bytes_are_found() {
        let mut rest = Expected(b"abc");
        assert!(rest.write(b"ab").is_ok() && rest.write(b"d").is_err() && rest.write(b"cd").is_err());
    }
}
