//! The common part of all calls: their order, their output, and the messages about their errors.

use crate::args::Plan;
use crate::failure::{Failure, STDOUT};
use crate::output::Output;
use crate::progress::Progress;
use crate::spill::Spill;
use hysort::Error;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::Instant;

/// The outcome of a successful call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Lines are out of order.
    Disorder,
}

/// Bytes per write.
const WRITE: usize = 256 << 10;

/// The state of a call, in addition to its plan.
pub struct Call<'a> {
    pub plan: &'a Plan,
    pub output: Output,
    pub progress: Progress,
    pub spill: Arc<Spill>,
    pub started: Instant,
}

/// Has `work` write the result.
pub fn write<T>(
    output: Output,
    progress: &Progress,
    work: impl FnOnce(&mut BufWriter<Counted<'_>>) -> Result<T, Error>,
    other: impl FnOnce(Error) -> Failure,
) -> Result<T, Failure> {
    output.begin();
    let mut out = BufWriter::with_capacity(WRITE, Counted { output, progress, failed: false });
    let worked = work(&mut out);
    let flushed = if worked.is_ok() { out.flush() } else { Ok(()) };
    let (Counted { output, failed, .. }, _unwritten) = out.into_parts();
    let result = match (worked, flushed) {
        (Ok(result), Ok(())) => result,
        (Err(Error::Write(e)), _) | (_, Err(e)) if failed => return Err(output.failure(e)),
        (Err(e), _) => return Err(other(e)),
        (Ok(_), Err(e)) => return Err(output.failure(e)),
    };
    output.finish()?;
    Ok(result)
}

/// The output, which counts the bytes written to it.
pub struct Counted<'a> {
    output: Output,
    progress: &'a Progress,
    failed: bool,
}

impl Counted<'_> {
    fn counted(&mut self, written: io::Result<usize>) -> io::Result<usize> {
        match &written {
            Ok(len) => self.progress.wrote(*len),
            Err(_) => self.failed = true,
        }
        written
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes);
        self.counted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The message about an error of sorting. `write` itself reports the output's own errors.
pub fn failure(e: Error, spill: &Spill) -> Failure {
    match e {
        Error::Temporary(e) => spill.failure(e),
        Error::Write(e) => Failure::system("write failed", STDOUT, e),
        e => Failure::sentence(e.to_string()),
    }
}
