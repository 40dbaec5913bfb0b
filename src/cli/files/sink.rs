//! The destination of a result's bytes, and their count.

use crate::cli::files::OutputFile;
use crate::cli::messages::Counts;
use hybz::{Error, Pool};
use hybz_files::pipe::{self, Giver};
use hybz_files::stdout;
use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

/// A pipe is enlarged for results of this many bytes or more, not for smaller ones: the system limits a user's pages.
const LONG: u64 = 8 << 20;

#[derive(Default)]
pub struct Stdout {
    written: u64,
    /// Whether stdout takes whole pages; `None` while that is not known.
    takes_pages: Option<bool>,
    giver: Giver,
}

impl Stdout {
    /// Whether a long output goes to a pipe that takes pages, and whether giving pages away `pays`.
    pub fn takes_pages(&mut self, pays: impl FnOnce() -> bool) -> bool {
        match self.takes_pages {
            Some(known) => known,
            None if self.written < LONG => false,
            None if !stdout::takes_pages() => *self.takes_pages.insert(false),
            // Accelerators may start later.
            None => pays() && *self.takes_pages.insert(true),
        }
    }

    /// Writes all of `bytes` to a pipe that takes pages. Returns how many they were.
    pub fn give(&mut self, bytes: Vec<u8>) -> io::Result<u64> {
        let len = bytes.len() as u64;
        if !stdout::give(&mut self.giver, bytes)? {
            self.takes_pages = Some(false);
        }
        self.written += len;
        Ok(len)
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = stdout::write(bytes)?;
        let before = self.written;
        self.written += written as u64;
        if before < LONG && self.written >= LONG {
            stdout::enlarge_pipe();
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The destination of one result's bytes. Streams begin and end with a few bytes, which are buffered and written
/// together with their blocks.
enum To {
    Nothing,
    Stdout(BufWriter<Stdout>),
    File(BufWriter<OutputFile>),
}

/// A destination, and the count of its bytes, if they are counted.
pub struct Sink {
    to: To,
    pub counts: Option<Arc<Counts>>,
}

const BUFFER: usize = 8 << 10;

impl Sink {
    pub fn nothing() -> Sink {
        Sink { to: To::Nothing, counts: None }
    }

    pub fn stdout() -> Sink {
        Sink { to: To::Stdout(BufWriter::with_capacity(BUFFER, Stdout::default())), counts: None }
    }

    pub fn file(output: OutputFile) -> Sink {
        Sink { to: To::File(BufWriter::with_capacity(BUFFER, output)), counts: None }
    }

    pub fn name(&self) -> &OsStr {
        match &self.to {
            To::File(file) => file.get_ref().path.as_os_str(),
            _ => OsStr::new("(stdout)"),
        }
    }

    /// Ends the result, and returns it if it is a file, which has no name yet.
    pub fn finish(mut self) -> io::Result<Option<OutputFile>> {
        let flushed = self.flush();
        let output = match self.to {
            To::Nothing => None,
            // Dropping the buffer would write again.
            To::Stdout(stdout) => {
                let _ = stdout.into_parts();
                None
            }
            To::File(file) => Some(file.into_parts().0),
        };
        flushed.map(|()| output)
    }

    /// Ends the result after an error: whole blocks are still written to stdout; a file vanishes. Returns the error to
    /// report.
    pub fn abandon(self, error: Error) -> Error {
        match self.to {
            To::Nothing => error,
            To::File(file) => {
                drop(file.into_parts());
                error
            }
            To::Stdout(stdout) if matches!(error, Error::Write(_)) => {
                drop(stdout.into_parts());
                error
            }
            To::Stdout(_) => self.finish().map_or_else(Error::Write, |_| error),
        }
    }

    /// Writes all of `bytes`. If the stations of `pool` may decode faster than one thread copies, a long output gives
    /// the pages of `bytes` to the pipe.
    pub fn give(&mut self, bytes: Vec<u8>, pool: &Pool) -> io::Result<()> {
        // Only accelerators decode faster than a pipe takes copies.
        if let To::Stdout(out) = &mut self.to
            && bytes.len() >= pipe::MIN_GIVEN
            && out.get_mut().takes_pages(|| pool.readers() > 1)
        {
            out.flush()?;
            let written = out.get_mut().give(bytes)?;
            self.count(written);
            return Ok(());
        }
        self.write_all(&bytes)
    }

    fn count(&self, bytes: u64) {
        if let Some(counts) = &self.counts {
            counts.wrote(bytes);
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::Nothing => bytes.len(),
            To::Stdout(stdout) => stdout.write(bytes)?,
            To::File(file) => file.write(bytes)?,
        };
        self.count(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Nothing => Ok(()),
            To::Stdout(stdout) => stdout.flush(),
            To::File(file) => file.flush(),
        }
    }
}
