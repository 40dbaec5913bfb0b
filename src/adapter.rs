//! The common parts of the readers (`read`, `bufread`) and writers (`write`): their state, output that is not delivered
//! yet, and the two ways in which a reader gets its input.

use crate::block::Text;
use crate::error::Error;
use crate::flow::one_stream::Driver;
use crate::gate::Gate;
use crate::index::Recorder;
use crate::stream::cursor::TextCursor;
use crate::stream::piece::Step;
use crate::summary::StreamSummary;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The state of a stream.
#[derive(Debug)]
pub(crate) enum StreamState {
    Open,
    /// All output has been handed out or written.
    Complete,
    /// The data are damaged (or hybz has a defect): every further call returns this error again.
    Failed(Error),
}

impl StreamState {
    /// Enters the failed state, which is final. Returns the error for this call.
    pub fn fail(&mut self, error: Error) -> io::Error {
        let told = error.again().into();
        *self = StreamState::Failed(error);
        told
    }
}

/// The source of a reader's input.
pub(crate) trait Source {
    /// The next output; `None` when the output is complete. After [`Error::Read`] another call resumes.
    fn pull(&mut self, driver: &mut Driver) -> Result<Option<Text>, Error>;
    /// The number of input bytes taken.
    fn total_in(&self) -> u64;
}

/// Takes the inner reader's bytes up to its end.
pub(crate) struct Whole<R> {
    pub inner: R,
    total_in: u64,
    /// Records blocks and streams, if the caller wants a record.
    pub recorder: Option<Recorder>,
}

impl<R> Whole<R> {
    pub fn new(inner: R) -> Self {
        Whole { inner, total_in: 0, recorder: None }
    }

    pub fn recording(inner: R) -> Self {
        Whole { recorder: Some(Recorder::new()), ..Self::new(inner) }
    }
}

/// Counts the bytes read.
struct Counted<'a, R>(&'a mut R, &'a mut u64);

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buf)?;
        *self.1 += n as u64;
        Ok(n)
    }
}

impl<R: Read> Source for Whole<R> {
    fn pull(&mut self, driver: &mut Driver) -> Result<Option<Text>, Error> {
        let output = driver.pull(&mut Counted(&mut self.inner, &mut self.total_in))?;
        Ok(output.map(|(text, mark)| {
            if let Some(recorder) = &mut self.recorder {
                recorder.mark(mark);
            }
            text
        }))
    }

    fn total_in(&self) -> u64 {
        self.total_in
    }
}

/// Takes the inner reader's bytes up to the end of the first stream.
pub(crate) struct Exact<R> {
    pub inner: R,
    gate: Gate,
    ended: bool,
    total_in: u64,
}

impl<R> Exact<R> {
    pub fn new(inner: R) -> Self {
        Exact { inner, gate: Gate::new(), ended: false, total_in: 0 }
    }
}

impl<R: BufRead> Exact<R> {
    /// Takes some input.
    fn feed(&mut self, driver: &mut Driver) -> Result<(), Error> {
        let n = loop {
            match self.inner.fill_buf() {
                Ok(bytes) => break self.gate.push(driver, bytes),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    driver.pause();
                    return Err(Error::Read(e));
                }
            }
        };
        if n == 0 {
            self.ended = true;
            driver.end_input();
        }
        self.inner.consume(n);
        self.total_in += n as u64;
        Ok(())
    }
}

impl<R: BufRead> Source for Exact<R> {
    fn pull(&mut self, driver: &mut Driver) -> Result<Option<Text>, Error> {
        loop {
            match driver.step(self.ended || self.gate.is_closed())? {
                Step::Out(text, _) => return Ok(Some(text)),
                Step::Done => return Ok(None),
                _ if self.ended => {
                    return Err(Error::Internal { block: 0, reason: "more is wanted than there is".to_owned() });
                }
                // The decoder has all available bytes and wants more, so the stream does not end here.
                _ if self.gate.is_closed() => self.gate.open(),
                _ => self.feed(driver)?,
            }
        }
    }

    fn total_in(&self) -> u64 {
        self.total_in
    }
}

/// Reads from a source, puts blocks on the queue, hands out the results.
pub(crate) struct Reader<S> {
    pub source: S,
    driver: Driver,
    output: TextCursor,
    bytes_out: u64,
    state: StreamState,
    /// An error of the inner reader, to be returned once everything read before it has been handed out.
    broken: Option<io::Error>,
}

impl<S: Source> Reader<S> {
    pub fn new(source: S, driver: Driver) -> Self {
        let output = TextCursor::default();
        Reader { source, driver, output, bytes_out: 0, state: StreamState::Open, broken: None }
    }

    pub fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            let bytes = self.output.next();
            if !bytes.is_empty() {
                let n = bytes.len().min(buf.len());
                buf[..n].copy_from_slice(&bytes[..n]);
                self.output.consume(n);
                self.bytes_out += n as u64;
                return Ok(n);
            }
            match &self.state {
                StreamState::Open => {}
                StreamState::Complete => return Ok(0),
                StreamState::Failed(error) => return Err(error.again().into()),
            }
            match self.next() {
                Ok(Some(text)) => self.output.set(text),
                Ok(None) => self.state = StreamState::Complete,
                Err(Error::Read(e)) => return Err(e),
                Err(error) => return Err(self.state.fail(error)),
            }
        }
    }

    /// The next output. After [`Error::Read`] another call resumes.
    fn next(&mut self) -> Result<Option<Text>, Error> {
        if self.broken.is_none() {
            match self.source.pull(&mut self.driver) {
                Err(Error::Read(e)) => self.broken = Some(e),
                result => return result,
            }
        }
        match self.driver.step(true)? {
            Step::Out(text, _) => Ok(Some(text)),
            Step::Done => Ok(None),
            _ => Err(Error::Read(self.broken.take().unwrap_or_else(|| io::Error::other("no error")))),
        }
    }

    pub fn total_in(&self) -> u64 {
        self.source.total_in()
    }

    pub fn total_out(&self) -> u64 {
        self.bytes_out
    }

    pub fn summary(&self) -> StreamSummary {
        StreamSummary { bytes_out: self.bytes_out, ..self.driver.summary() }
    }
}

impl<S> fmt::Debug for Reader<S> {
    /// The source is left out here; the public types show it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Reader");
        debug.field("state", &self.state).field("bytes_out", &self.bytes_out).field("broken", &self.broken);
        debug.finish_non_exhaustive()
    }
}

/// The common parts of all readers: accessors with examples, `Read`, `Write` for an inner reader that is a writer too,
/// `Debug`.
///
/// `$module`, `$setup` and `$new` are for the examples: the type's module, and the code that makes a reader of a
/// `&[u8]`.
macro_rules! reader {
    (
        $name:ident, $bound:ident, $module:literal, $setup:literal, $new:literal,
        $inner:ident => $get:expr, $get_mut:expr, $into:expr
    ) => {
        impl<R> $name<R> {
            /// The inner reader.
            ///
            /// ```
            #[doc = $setup]
            #[doc = concat!("let reader = hybz::", $module, "::", stringify!($name), "::new", $new, ";")]
            /// assert!(!reader.get_ref().is_empty());
            /// ```
            pub fn get_ref(&self) -> &R {
                let $inner = &self.0.source.inner;
                $get
            }

            /// The inner reader. Bytes that you read from it are missing in the stream.
            ///
            /// ```
            #[doc = $setup]
            #[doc = concat!("let mut reader = hybz::", $module, "::", stringify!($name), "::new", $new, ";")]
            /// assert!(!reader.get_mut().is_empty());
            /// ```
            pub fn get_mut(&mut self) -> &mut R {
                let $inner = &mut self.0.source.inner;
                $get_mut
            }

            /// The inner reader. Bytes that were taken from it and not handed out yet are lost.
            ///
            /// ```
            #[doc = $setup]
            #[doc = concat!("let reader = hybz::", $module, "::", stringify!($name), "::new", $new, ";")]
            /// let unread: &[u8] = reader.into_inner();
            /// assert!(!unread.is_empty());
            /// ```
            pub fn into_inner(self) -> R {
                let $inner = self.0.source.inner;
                $into
            }
        }

        impl<R: $bound> $name<R> {
            /// The number of bytes taken from the inner reader so far. It may run ahead of
            /// [`total_out`](Self::total_out) by as much as the pool's memory allows.
            ///
            /// ```
            #[doc = $setup]
            #[doc = concat!("let mut reader = hybz::", $module, "::", stringify!($name), "::new", $new, ";")]
            /// assert_eq!(reader.total_in(), 0);
            /// std::io::copy(&mut reader, &mut std::io::sink())?;
            /// assert!(reader.total_in() > 0);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn total_in(&self) -> u64 {
                self.0.total_in()
            }

            /// The number of bytes handed out so far.
            ///
            /// ```
            #[doc = $setup]
            #[doc = concat!("let mut reader = hybz::", $module, "::", stringify!($name), "::new", $new, ";")]
            /// let copied = std::io::copy(&mut reader, &mut std::io::sink())?;
            /// assert_eq!(reader.total_out(), copied);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn total_out(&self) -> u64 {
                self.0.total_out()
            }

            /// The summary of the stream so far; complete once `read` has returned `Ok(0)`.
            ///
            /// ```
            #[doc = $setup]
            #[doc = concat!("let mut reader = hybz::", $module, "::", stringify!($name), "::new", $new, ";")]
            /// std::io::copy(&mut reader, &mut std::io::sink())?;
            /// assert_eq!((reader.summary().streams, reader.summary().blocks), (1, 1));
            /// # std::io::Result::Ok(())
            /// ```
            pub fn summary(&self) -> crate::summary::StreamSummary {
                self.0.summary()
            }
        }

        impl<R: $bound> std::io::Read for $name<R> {
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.0.read(buf)
            }
        }

        /// Writes to the inner reader, if that is a writer as well (a socket): nothing is compressed or decompressed.
        impl<R: std::io::Write> std::io::Write for $name<R> {
            fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
                self.get_mut().write(buf)
            }

            fn flush(&mut self) -> std::io::Result<()> {
                self.get_mut().flush()
            }
        }

        impl<R: std::fmt::Debug> std::fmt::Debug for $name<R> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("inner", self.get_ref()).field("progress", &self.0).finish()
            }
        }
    };
}
pub(crate) use reader;
