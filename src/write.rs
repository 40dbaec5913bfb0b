//! Encoder and decoder that are written to: they write their output to an inner writer.
//!
//! The caller's thread does all writing, inside `write`, `flush` and `finish`; the inner writer need not be `Send`. Blocks are
//! handed to the pool as they fill up, and the results written in order as they come back.

use crate::format::bzip2::Level;
use crate::settings::Settings;
use crate::stream::driver::{Drained, Driver, write_text};
use crate::summary::StreamSummary;
use std::io::{self, Write};

/// What both directions share: takes bytes, has blocks done, writes to `inner` what comes back.
struct Writer<W: Write> {
    /// `None` only after `finish` has taken it.
    inner: Option<W>,
    pump: Driver,
    bytes_out: u64,
    state: State,
}

/// How far an output is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Nothing more will be written.
    Complete,
    /// An error ended it. It was told once; later calls only say that there was one.
    Failed,
}

impl<W: Write> Writer<W> {
    fn new(inner: W, pump: Driver) -> Self {
        Writer { inner: Some(inner), pump, bytes_out: 0, state: State::Open }
    }

    /// Writes out what has come back, or with `all` everything that has been handed in.
    fn drain(&mut self, all: bool) -> io::Result<()> {
        match self.state {
            State::Complete => return Ok(()),
            State::Failed => return Err(io::Error::other("an earlier error ended the stream")),
            State::Open => {}
        }
        let Some(inner) = &mut self.inner else { return Ok(()) };
        // Unless all goes well.
        self.state = State::Failed;
        loop {
            match self.pump.drain(all)? {
                Drained::Out(text) => self.bytes_out += write_text(inner, &text)?,
                Drained::Done => {
                    self.state = State::Complete;
                    return Ok(());
                }
                Drained::Nothing => {
                    self.state = State::Open;
                    return Ok(());
                }
            }
        }
    }

    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let n = if self.state == State::Open { self.pump.push(buf) } else { buf.len() };
        self.drain(false)?;
        Ok(n)
    }

    fn try_finish(&mut self) -> io::Result<()> {
        self.pump.end_input();
        self.drain(true)
    }

    fn summary(&self) -> StreamSummary {
        StreamSummary { bytes_out: self.bytes_out, ..self.pump.summary() }
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        if self.inner.is_some() && self.state == State::Open && !std::thread::panicking() {
            // Errors cannot be told from here: `finish` is for those who want to know.
            let _ = self.try_finish();
        }
    }
}

/// Takes text, and writes it to `W` as one `.bz2` stream with bzip2's exact bytes.
///
/// Call [`finish`](Self::finish) at the end: dropping the encoder completes the stream too, but cannot tell you of errors.
/// `flush` ends the current block, as it does in bzip2, and writes all whole bytes: use it sparingly.
///
/// ```
/// use std::io::Write;
/// let mut encoder = hybz::write::BzEncoder::new(Vec::new(), hybz::Level::BEST);
/// encoder.write_all(b"to be or not to be")?;
/// let coded = encoder.finish()?;
/// assert!(coded.starts_with(b"BZh9"));
/// # std::io::Result::Ok(())
/// ```
#[must_use = "an encoder that is not written to makes an empty stream"]
pub struct BzEncoder<W: Write>(Writer<W>);

impl<W: Write> BzEncoder<W> {
    /// An encoder at `level`, with the stations of [`Pool::global`](crate::Pool::global).
    pub fn new(inner: W, level: Level) -> Self {
        Self::with_settings(inner, &Settings::new().level(level))
    }

    /// An encoder with these settings.
    pub fn with_settings(inner: W, settings: &Settings) -> Self {
        BzEncoder(Writer::new(inner, Driver::compress(settings)))
    }
}

impl<W: Write> Write for BzEncoder<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.0.state == State::Complete {
            return Err(io::Error::other("the stream is complete"));
        }
        self.0.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.pump.flush();
        self.0.drain(true)?;
        self.0.inner.as_mut().map_or(Ok(()), W::flush)
    }
}

/// Takes `.bz2` streams, all that follow each other, and writes what they hold to `W`.
///
/// Only bytes whose block has the right CRC are written. Damaged data give an [`io::Error`] with an [`Error`](crate::Error) inside. Call
/// [`finish`](Self::finish) at the end: only then is it known whether the input was complete.
///
/// ```
/// use std::io::Write;
/// let coded = hybz::compress(b"to be or not to be", &hybz::Settings::new())?;
/// let mut decoder = hybz::write::BzDecoder::new(Vec::new());
/// decoder.write_all(&coded)?;
/// assert_eq!(decoder.finish()?, b"to be or not to be");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "call finish() to learn whether the input was complete"]
pub struct BzDecoder<W: Write>(Writer<W>);

impl<W: Write> BzDecoder<W> {
    /// A decoder with the stations of [`Pool::global`](crate::Pool::global).
    pub fn new(inner: W) -> Self {
        Self::with_settings(inner, &Settings::new())
    }

    /// A decoder with these settings.
    pub fn with_settings(inner: W, settings: &Settings) -> Self {
        let pump = Driver::decompress(settings);
        BzDecoder(Writer::new(inner, pump))
    }
}

impl<W: Write> Write for BzDecoder<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.drain(true)?;
        self.0.inner.as_mut().map_or(Ok(()), W::flush)
    }
}

/// Gives both writers the same accessors.
macro_rules! accessors {
    ($name:ident) => {
        impl<W: Write> $name<W> {
            /// The inner writer.
            pub fn get_ref(&self) -> &W {
                self.0.inner.as_ref().expect("only `finish` takes it, and that takes `self`")
            }

            /// The inner writer. Writing to it corrupts the output.
            pub fn get_mut(&mut self) -> &mut W {
                self.0.inner.as_mut().expect("only `finish` takes it, and that takes `self`")
            }

            /// Completes the output. After an error (this call's or an earlier one's) the output is not complete.
            pub fn try_finish(&mut self) -> io::Result<()> {
                self.0.try_finish()
            }

            /// Completes the output and returns the inner writer, which is not flushed.
            pub fn finish(mut self) -> io::Result<W> {
                self.0.try_finish()?;
                Ok(self.0.inner.take().expect("only this takes it"))
            }

            /// What became of the stream so far; complete after `try_finish`.
            pub fn summary(&self) -> StreamSummary {
                self.0.summary()
            }
        }
    };
}
accessors!(BzEncoder);
accessors!(BzDecoder);
