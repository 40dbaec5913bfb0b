//! Encoder and decoder that are read from: they read their input from an inner reader.
//!
//! Both read ahead: as far as the pool's memory goes, so that all stations have work. They start no thread of their own; blocks
//! are handed to the pool while `read` runs.

use crate::block::Text;
use crate::codec::run_length::decode::Expander;
use crate::error::Error;
use crate::format::bzip2::Level;
use crate::settings::Settings;
use crate::stream::driver::Driver;
use crate::summary::StreamSummary;
use std::io::{self, Read};

/// How much of a run-length-coded text is expanded at once.
const EXPAND_CHUNK: usize = 128 << 10;

/// What both directions share: reads from `inner`, has blocks done, hands out what came back.
struct Reader<R> {
    inner: R,
    pump: Driver,
    /// Output that is not handed out yet: `bytes[at..]`, then what `runs` still expands to.
    bytes: Vec<u8>,
    at: usize,
    runs: Option<(Vec<u8>, Expander)>,
    bytes_out: u64,
    done: bool,
}

impl<R: Read> Reader<R> {
    fn new(inner: R, pump: Driver) -> Self {
        Reader { inner, pump, bytes: Vec::new(), at: 0, runs: None, bytes_out: 0, done: false }
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        while self.at == self.bytes.len() && !self.done {
            self.at = 0;
            self.bytes.clear();
            if let Some((coded, runs)) = &mut self.runs {
                self.bytes.resize(EXPAND_CHUNK, 0);
                let n = runs.next(coded, &mut self.bytes);
                self.bytes.truncate(n);
                if n == 0 {
                    self.runs = None;
                }
                continue;
            }
            // After an error there is nothing more; asking again gives an end, never a loop.
            self.done = true;
            match self.pump.pull(&mut self.inner)? {
                None => break,
                Some((Text::Plain(bytes), _)) => self.bytes = bytes,
                Some((Text::Parts(parts), _)) => parts.iter().for_each(|part| self.bytes.extend(part.as_slice())),
                Some((Text::RunLength { coded, .. }, _)) => self.runs = Some((coded, Expander::new())),
            }
            self.done = false;
        }
        let n = buf.len().min(self.bytes.len() - self.at);
        buf[..n].copy_from_slice(&self.bytes[self.at..self.at + n]);
        self.at += n;
        self.bytes_out += n as u64;
        Ok(n)
    }

    fn summary(&self) -> StreamSummary {
        StreamSummary { bytes_out: self.bytes_out, ..self.pump.summary() }
    }
}

/// Reads text from `R`, and is read as one `.bz2` stream with bzip2's exact bytes.
///
/// ```
/// use std::io::Read;
/// let mut encoder = hybz::read::BzEncoder::new(&b"to be or not to be"[..], hybz::Level::BEST);
/// let mut coded = Vec::new();
/// encoder.read_to_end(&mut coded)?;
/// assert!(coded.starts_with(b"BZh9"));
/// # std::io::Result::Ok(())
/// ```
pub struct BzEncoder<R>(Reader<R>);

impl<R: Read> BzEncoder<R> {
    /// An encoder at `level`, with the stations of [`Pool::global`](crate::Pool::global).
    pub fn new(inner: R, level: Level) -> Self {
        Self::with_settings(inner, &Settings::new().level(level))
    }

    /// An encoder with these settings.
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        BzEncoder(Reader::new(inner, Driver::compress(settings)))
    }
}

/// Reads `.bz2` streams from `R`, all that follow each other, and is read as what they hold.
///
/// Only bytes whose block has the right CRC come out. Damaged data give an [`io::Error`] with an [`Error`] inside
/// (`InvalidData`, or `UnexpectedEof` if the input is cut short); what came out before it was right.
///
/// ```
/// use std::io::Read;
/// let coded = hybz::compress(b"to be or not to be", &hybz::Settings::new())?;
/// let mut text = String::new();
/// hybz::read::BzDecoder::new(&coded[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "to be or not to be");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BzDecoder<R>(Reader<R>);

impl<R: Read> BzDecoder<R> {
    /// A decoder with the stations of [`Pool::global`](crate::Pool::global).
    pub fn new(inner: R) -> Self {
        Self::with_settings(inner, &Settings::new())
    }

    /// A decoder with these settings.
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        let pump = Driver::decompress(settings);
        BzDecoder(Reader::new(inner, pump))
    }
}

/// Gives both readers the same accessors.
macro_rules! accessors {
    ($name:ident) => {
        impl<R> $name<R> {
            /// The inner reader.
            pub fn get_ref(&self) -> &R {
                &self.0.inner
            }

            /// The inner reader. Reading from it loses what is read.
            pub fn get_mut(&mut self) -> &mut R {
                &mut self.0.inner
            }

            /// The inner reader; whatever was read ahead is lost.
            pub fn into_inner(self) -> R {
                self.0.inner
            }
        }

        impl<R: Read> $name<R> {
            /// What became of the stream so far; complete once a read has given 0 bytes.
            pub fn summary(&self) -> StreamSummary {
                self.0.summary()
            }
        }

        impl<R: Read> Read for $name<R> {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.0.read(buf)
            }
        }
    };
}
accessors!(BzEncoder);
accessors!(BzDecoder);

/// Reads all that `pump` makes of `input`.
pub(crate) fn whole(pump: Driver, mut input: &[u8]) -> Result<Vec<u8>, Error> {
    let mut pump = pump;
    let mut out = Vec::new();
    while let Some((text, _)) = pump.pull(&mut input)? {
        crate::stream::driver::write_text(&mut out, &text).map_err(Error::Write)?;
    }
    Ok(out)
}
