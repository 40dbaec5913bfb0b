//! hybz's own work: text in memory is compressed and decompressed as the command does it.

use crate::cli::args::{Kind, Plan};
use crate::cli::modes::{One, decompress, limits, read_all};
use hybz::flow::{self, Outputs, Source, Task};
use hybz::internals::Sequential;
use hybz::internals::flow::LONG_FILE;
use hybz::read::MultiBzDecoder;
use hybz::{Error, Settings, StreamSummary, Verify};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn compressed(plan: &Plan, text: &[u8]) -> Result<Vec<u8>, Error> {
    let encoding = plan.coding.map(|coding| coding.encoding).unwrap_or_default();
    hybz::compress(text, &Settings::new().encoding(encoding).pool(&limits::pool(plan)))
}

/// Decompresses. Returns `None` for a text of more than `max` bytes: a few bytes can stand for any amount of text.
pub fn decompressed(plan: &Plan, coded: &[u8], trailing_garbage: bool, max: u64) -> Result<Option<Vec<u8>>, Error> {
    let settings = Settings::new().pool(&limits::pool(plan)).formats(plan.formats).trailing_garbage(trailing_garbage);
    let text = read_all(MultiBzDecoder::with_settings(coded, &settings), max);
    text.map_err(|e| e.downcast().unwrap_or_else(Error::Read))
}

/// Times hybz as the command runs it: the time includes the start of the pool, but not its end.
pub fn timed(
    plan: &Plan,
    direction: Kind,
    threads: usize,
    gpus: bool,
    (from, to): (&Arc<Vec<u8>>, &[u8]),
) -> Result<Duration, String> {
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let coding = plan.coding.filter(|_| direction == Kind::Compress);
    let lanes = if gpus { limits::lanes_for(plan, coding, Some(from.len() as u64)) } else { Vec::new() };
    let task = match coding {
        Some(coding) => Task::Compress(coding.encoding),
        None => decompress(plan),
    };
    // A long text is read as the command reads long files: by several threads if that helps.
    let source = match coding {
        Some(_) if from.len() as u64 >= LONG_FILE => Source::File(Arc::clone(from) as _, 0),
        _ => Source::Stream(Box::new(Sequential { source: Arc::clone(from) as Arc<dyn hybz::ReadAt>, at: 0 })),
    };
    let input = flow::Input { meta: (), task, count_lines: false, verify: Verify::Off, source };
    let mut compared = Compared { expected: to, outcome: Err(Error::NotBzip2) };
    let started = Instant::now();
    let pool = lanes.iter().fold(limits::pool_of(plan, threads), |pool, lanes| pool.accelerators(lanes)).build();
    flow::run(&pool, One(Some(input), Some(from.len() as u64)), &mut compared);
    let time = started.elapsed();
    compared.outcome.map(|_| time).map_err(|error| error.to_string())
}

/// Compares the output. This takes about as long as the system's copy into a pipe.
struct Compared<'a> {
    expected: &'a [u8],
    outcome: Result<StreamSummary, Error>,
}

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
