//! The common part of the writers in [`write`](mod@crate::write): what they have taken, what is not written yet.

use crate::adapter::StreamState;
use crate::error::Error;
use crate::flow::one_stream::Driver;
use crate::gate::Gate;
use crate::index::Recorder;
use crate::stream::cursor::TextCursor;
use crate::stream::piece::Step;
use crate::summary::StreamSummary;
use std::fmt;
use std::io::{self, Write};

/// The common part of both directions: takes bytes, puts their blocks on the queue, writes the results to `inner`.
pub(crate) struct Writer<W: Write> {
    /// `None` only after `finish` or `cancel` has taken it.
    pub inner: Option<W>,
    pub driver: Driver,
    /// Results that are not written yet.
    output: TextCursor,
    /// Set for a decoder that ends with the first stream.
    gate: Option<Gate>,
    pub total_in: u64,
    pub bytes_out: u64,
    pub state: StreamState,
    /// Set once `try_finish` was called: no more input is taken.
    finishing: bool,
    /// The inner writer has panicked: it is unknown what it has written.
    panicked: bool,
    /// Records blocks and streams, if the caller wants a record.
    pub recorder: Option<Recorder>,
}

impl<W: Write> Writer<W> {
    pub fn new(inner: W, driver: Driver, gate: Option<Gate>) -> Self {
        Writer {
            inner: Some(inner),
            driver,
            output: TextCursor::default(),
            gate,
            total_in: 0,
            bytes_out: 0,
            state: StreamState::Open,
            finishing: false,
            panicked: false,
            recorder: None,
        }
    }

    /// Writes results that are not written yet.
    fn write_output(&mut self) -> io::Result<()> {
        let Some(inner) = &mut self.inner else { return Ok(()) };
        loop {
            let bytes = self.output.next();
            if bytes.is_empty() {
                return Ok(());
            }
            self.panicked = true;
            let result = inner.write(bytes);
            self.panicked = false;
            match result {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the inner writer takes no more")),
                Ok(n) => {
                    let n = n.min(bytes.len());
                    self.output.consume(n);
                    self.bytes_out += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Writes the results so far; with `all`, the results of everything that has been handed in.
    fn drain(&mut self, all: bool) -> io::Result<()> {
        loop {
            self.write_output()?;
            match &self.state {
                StreamState::Open => {}
                StreamState::Complete => return Ok(()),
                StreamState::Failed(error) => return Err(error.again().into()),
            }
            let closed = self.gate.as_ref().is_some_and(Gate::is_closed);
            match self.driver.step(all || closed) {
                Ok(Step::Out(text, mark)) => {
                    if let Some(recorder) = &mut self.recorder {
                        recorder.mark(mark);
                    }
                    self.output.set(text);
                }
                Ok(Step::Done) => self.state = StreamState::Complete,
                Ok(Step::Pending | Step::Need | Step::Other) => {
                    // The decoder has all bytes up to a place where the stream may end, and wants more: the stream does
                    // not end there.
                    if let Some(gate) = self.gate.as_mut().filter(|_| closed) {
                        gate.open();
                    }
                    return Ok(());
                }
                Err(error) => return Err(self.state.fail(error)),
            }
        }
    }

    pub fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        // This comes before anything is taken, because a call that fails must have taken nothing.
        self.drain(false)?;
        let complete = matches!(self.state, StreamState::Complete);
        if buf.is_empty() || complete && self.gate.is_some() {
            return Ok(0);
        }
        if self.finishing {
            return Err(io::Error::other("the stream is finished: it takes no more"));
        }
        let n = match &mut self.gate {
            // Garbage.
            _ if complete => buf.len(),
            Some(gate) => gate.push(&mut self.driver, buf),
            None => self.driver.push(buf),
        };
        self.total_in += n as u64;
        if !complete {
            self.driver.issue()?;
        }
        Ok(n)
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.drain(true)?;
        loop {
            match self.inner.as_mut().map_or(Ok(()), W::flush) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    pub fn try_finish(&mut self) -> io::Result<()> {
        self.finishing = true;
        self.driver.end_input();
        self.drain(true)?;
        match self.state {
            StreamState::Complete => Ok(()),
            _ => Err(self.state.fail(Error::Internal { block: 0, reason: "more is wanted than there is".to_owned() })),
        }
    }

    pub fn summary(&self) -> StreamSummary {
        StreamSummary { bytes_out: self.bytes_out, ..self.driver.summary() }
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        let failed = matches!(self.state, StreamState::Failed(_));
        if self.inner.is_some() && !failed && !self.panicked && !std::thread::panicking() {
            // A drop cannot report errors: callers that need them call `finish`.
            let _ = self.try_finish();
        }
    }
}

impl<W: Write> fmt::Debug for Writer<W> {
    /// The inner writer is left out here; the public types show it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Writer");
        debug.field("state", &self.state).field("total_in", &self.total_in).field("bytes_out", &self.bytes_out);
        debug.field("finishing", &self.finishing).finish_non_exhaustive()
    }
}
