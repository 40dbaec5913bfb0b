//! An encoder and decoders that implement [`Write`], and write their output to an inner [`Write`].
//!
//! | type | takes | writes |
//! |---|---|---|
//! | [`BzEncoder`] | text | one `.bz2` stream, or one of another [`Encoding`](crate::Encoding) |
//! | [`BzDecoder`] | the first stream | its text |
//! | [`MultiBzDecoder`] | all streams that follow each other | their texts, one after the other |
//!
//! Names and contracts are those of the `bzip2` crate. The differences, in addition to those that [`read`](crate::read)
//! lists:
//!
//! - The `bzip2` crate has no [`MultiBzDecoder`] here.
//! - Writing to a finished encoder is an error and not a panic.
//! - [`BzDecoder::finish`] takes the decoder by value.
//! - A drop during a panic does not finish the stream: it stays cut, so that no reader mistakes half a text for the
//!   whole text.
//!
//! The caller's thread does all writing, inside `write`, `flush`, `try_finish`, `finish` and `drop`; the inner writer
//! need not be `Send`. Blocks go to the pool as they fill up, and the results are written in order as they come back.
//!
//! # Errors
//!
//! An error of the inner writer, of whatever kind, loses nothing: output that is not written yet is kept, and the next
//! `write`, `flush` or `try_finish` resumes with it. A `write` that returns an error has taken none of its bytes.
//! (`Interrupted` is never returned: the inner writer is called again.) After damaged data every further call returns
//! the same error.

use crate::adapter::StreamState;
use crate::flow::one_stream::Driver;
use crate::formats::bzip2::header::Level;
use crate::gate::Gate;
use crate::index::Recorder;
use crate::settings::Settings;
use crate::summary::StreamSummary;
use crate::writer::Writer;
use std::fmt;
use std::io::{self, Write};

/// Takes text, and writes it to `W` as one `.bz2` stream with bzip2's exact bytes.
///
/// Call [`finish`](Self::finish) at the end: dropping the encoder completes the stream too (except during a panic), but
/// cannot return errors.
///
/// `flush` ends the current block, as it does in bzip2, and writes all whole bytes: use it sparingly. Before any text
/// it writes nothing (the crate `bzip2` writes `BZh`).
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
    ///
    /// ```
    /// let encoder = hybz::write::BzEncoder::new(Vec::new(), hybz::Level::BEST);
    /// assert_eq!(encoder.finish()?.len(), 14); // bytes of an empty stream
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new(inner: W, level: Level) -> Self {
        Self::with_settings(inner, &Settings::new().level(level))
    }

    /// An encoder with these settings.
    ///
    /// ```
    /// let settings = hybz::Settings::new().level(hybz::Level::FASTEST);
    /// let encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
    /// assert!(encoder.finish()?.starts_with(b"BZh1"));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn with_settings(inner: W, settings: &Settings) -> Self {
        BzEncoder(Writer::new(inner, Driver::compress(settings), None))
    }

    /// An encoder with these settings that also makes an index of the output ([`recorder`](Self::recorder)).
    ///
    /// ```
    /// use hybz::{Settings, write::BzEncoder};
    /// use std::io::Write;
    /// let mut encoder = BzEncoder::recording(Vec::new(), &Settings::new());
    /// encoder.write_all(b"to be or not to be")?;
    /// encoder.try_finish()?;
    /// let index = encoder.recorder().cloned().expect("it records").finish()?;
    /// assert_eq!((index.blocks(), index.text_len()), (1, 18));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recording(inner: W, settings: &Settings) -> Self {
        let mut encoder = Self::with_settings(inner, settings);
        encoder.0.recorder = Some(Recorder::new());
        encoder
    }

    /// The blocks written so far, if the encoder [records](Self::recording) them: all of them after
    /// [`try_finish`](Self::try_finish). Line ends are not counted.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.0.recorder.as_ref()
    }
}

/// Takes the first stream, of any format that hybz reads, and writes its text to `W`.
///
/// `write` takes no byte after the end of the stream: it returns `Ok(0)` there, so `write_all` fails with `WriteZero`
/// if there is more. [`total_in`](Self::total_in) is then the length of the stream. Only bytes whose block has the
/// right CRC are written. Call [`finish`](Self::finish) at the end: only then is it known whether the input was
/// complete.
///
/// ```
/// use std::io::Write;
/// let coded = hybz::compress(b"to be or not to be", &hybz::Settings::new())?;
/// let input = [&coded[..], b"that is the question"].concat();
/// let mut decoder = hybz::write::BzDecoder::new(Vec::new());
/// let mut rest = &input[..];
/// loop {
///     match decoder.write(rest)? {
///         0 => break,
///         n => rest = &rest[n..],
///     }
/// }
/// assert_eq!(rest, b"that is the question");
/// assert_eq!(decoder.finish()?, b"to be or not to be");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "call finish() to learn whether the input was complete"]
pub struct BzDecoder<W: Write>(Writer<W>);

impl<W: Write> BzDecoder<W> {
    /// A decoder with the stations of [`Pool::global`](crate::Pool::global).
    ///
    /// ```
    /// use std::io::Write;
    /// let mut decoder = hybz::write::BzDecoder::new(Vec::new());
    /// decoder.write_all(&hybz::compress(b"text", &hybz::Settings::new())?)?;
    /// assert_eq!(decoder.finish()?, b"text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(inner: W) -> Self {
        Self::with_settings(inner, &Settings::new())
    }

    /// A decoder with these settings, of which it uses only the pool.
    ///
    /// ```
    /// use std::io::Write;
    /// let settings = hybz::Settings::new().pool(&hybz::Pool::builder().build());
    /// let mut decoder = hybz::write::BzDecoder::with_settings(Vec::new(), &settings);
    /// decoder.write_all(&hybz::compress(b"text", &settings)?)?;
    /// assert_eq!(decoder.finish()?, b"text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: W, settings: &Settings) -> Self {
        BzDecoder(Writer::new(inner, Driver::decompress(&settings.first_stream(), false), Some(Gate::new())))
    }

    /// Whether the stream has ended, and all of its text is written.
    ///
    /// ```
    /// use std::io::Write;
    /// let coded = hybz::compress(b"text", &hybz::Settings::new())?;
    /// let mut decoder = hybz::write::BzDecoder::new(Vec::new());
    /// decoder.write_all(&coded)?;
    /// decoder.flush()?;
    /// assert!(decoder.is_complete());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_complete(&self) -> bool {
        matches!(self.0.state, StreamState::Complete)
    }
}

/// Takes all consecutive streams, of any format that hybz reads, and writes their text to `W`.
///
/// Only bytes whose block has the right CRC are written. Trailing garbage is taken and ignored, unless
/// [`Settings::trailing_garbage`] forbids it. Call [`finish`](Self::finish) at the end: only then is it known whether
/// the input was complete.
///
/// ```
/// use std::io::Write;
/// let settings = hybz::Settings::new();
/// let mut decoder = hybz::write::MultiBzDecoder::new(Vec::new());
/// decoder.write_all(&hybz::compress(b"to be or ", &settings)?)?;
/// decoder.write_all(&hybz::compress(b"not to be", &settings)?)?;
/// assert_eq!(decoder.finish()?, b"to be or not to be");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "call finish() to learn whether the input was complete"]
pub struct MultiBzDecoder<W: Write>(Writer<W>);

impl<W: Write> MultiBzDecoder<W> {
    /// A decoder with the stations of [`Pool::global`](crate::Pool::global).
    ///
    /// ```
    /// use std::io::Write;
    /// let mut decoder = hybz::write::MultiBzDecoder::new(Vec::new());
    /// decoder.write_all(&hybz::compress(b"text", &hybz::Settings::new())?)?;
    /// assert_eq!(decoder.finish()?, b"text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(inner: W) -> Self {
        Self::with_settings(inner, &Settings::new())
    }

    /// A decoder with these settings, of which it uses the pool and whether trailing garbage is allowed.
    ///
    /// ```
    /// use std::io::Write;
    /// let settings = hybz::Settings::new().trailing_garbage(false);
    /// let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), &settings);
    /// decoder.write_all(&[hybz::compress(b"text", &settings)?, b"garbage".to_vec()].concat())?;
    /// assert_eq!(decoder.try_finish().unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: W, settings: &Settings) -> Self {
        MultiBzDecoder(Writer::new(inner, Driver::decompress(settings, false), None))
    }
}

/// Gives all writers the same accessors. `$new`, `$input` and `$output` are for their examples: the code that makes a
/// writer, bytes that are written to it, and the bytes that it then writes.
macro_rules! accessors {
    ($name:ident, $new:literal, $input:literal, $output:literal, $flushes:literal) => {
        impl<W: Write> Write for $name<W> {
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                self.0.write(buf)
            }

            /// Ends the current block of an encoder; a decoder writes the text of all blocks that are known to be
            /// whole. Flushes the inner writer.
            fn flush(&mut self) -> io::Result<()> {
                if $flushes {
                    self.0.driver.flush();
                }
                self.0.flush()
            }
        }

        impl<W: Write> $name<W> {
            /// The inner writer.
            ///
            /// ```
            #[doc = concat!("let writer = hybz::write::", $new, ";")]
            /// assert!(writer.get_ref().is_empty());
            /// ```
            pub fn get_ref(&self) -> &W {
                self.0.inner.as_ref().expect("whatever takes it takes `self`")
            }

            /// The inner writer. Writing to it corrupts the output.
            ///
            /// ```
            #[doc = concat!("let mut writer = hybz::write::", $new, ";")]
            /// writer.get_mut().reserve(1000);
            /// ```
            pub fn get_mut(&mut self) -> &mut W {
                self.0.inner.as_mut().expect("whatever takes it takes `self`")
            }

            /// Completes the output, and keeps the inner writer, which is not flushed.
            ///
            /// ```
            /// use std::io::Write;
            #[doc = concat!("let mut writer = hybz::write::", $new, ";")]
            #[doc = concat!("writer.write_all(", $input, ")?;")]
            /// writer.try_finish()?;
            #[doc = concat!("assert_eq!(writer.get_ref(), ", $output, ");")]
            /// # std::io::Result::Ok(())
            /// ```
            ///
            /// # Errors
            ///
            /// Those of the inner writer: call it again to go on. For a decoder also damaged data (`InvalidData`) and
            /// input that ends before its stream does (`UnexpectedEof`), with an [`Error`](crate::Error) inside: called
            /// again it returns the same.
            pub fn try_finish(&mut self) -> io::Result<()> {
                self.0.try_finish()
            }

            /// Completes the output and returns the inner writer, which is not flushed.
            ///
            /// ```
            /// use std::io::Write;
            #[doc = concat!("let mut writer = hybz::write::", $new, ";")]
            #[doc = concat!("writer.write_all(", $input, ")?;")]
            #[doc = concat!("assert_eq!(&writer.finish()?, ", $output, ");")]
            /// # std::io::Result::Ok(())
            /// ```
            ///
            /// # Errors
            ///
            /// Those of [`try_finish`](Self::try_finish). The inner writer is dropped then: call that first where it is
            /// to be kept.
            pub fn finish(mut self) -> io::Result<W> {
                self.0.try_finish()?;
                Ok(self.0.inner.take().expect("whatever takes it takes `self`"))
            }

            /// Stops, without completing the output, and returns the inner writer. Work that is underway is
            /// cancelled, and nothing waits for it.
            ///
            /// ```
            /// use std::io::Write;
            #[doc = concat!("let mut writer = hybz::write::", $new, ";")]
            #[doc = concat!("writer.write_all(", $input, ")?;")]
            /// assert!(writer.cancel().is_empty());
            /// # std::io::Result::Ok(())
            /// ```
            pub fn cancel(mut self) -> W {
                // Without an inner writer, a drop finishes nothing.
                self.0.inner.take().expect("whatever takes it takes `self`")
            }

            /// The number of bytes taken so far by `write`.
            ///
            /// ```
            /// use std::io::Write;
            #[doc = concat!("let mut writer = hybz::write::", $new, ";")]
            #[doc = concat!("writer.write_all(", $input, ")?;")]
            #[doc = concat!("assert_eq!(writer.total_in(), ", $input, ".len() as u64);")]
            /// # std::io::Result::Ok(())
            /// ```
            pub fn total_in(&self) -> u64 {
                self.0.total_in
            }

            /// The number of bytes written so far to the inner writer.
            ///
            /// ```
            /// use std::io::Write;
            #[doc = concat!("let mut writer = hybz::write::", $new, ";")]
            #[doc = concat!("writer.write_all(", $input, ")?;")]
            /// writer.try_finish()?;
            /// assert_eq!(writer.total_out(), writer.get_ref().len() as u64);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn total_out(&self) -> u64 {
                self.0.bytes_out
            }

            /// The summary of the stream so far; complete after [`try_finish`](Self::try_finish).
            ///
            /// ```
            /// use std::io::Write;
            #[doc = concat!("let mut writer = hybz::write::", $new, ";")]
            #[doc = concat!("writer.write_all(", $input, ")?;")]
            /// writer.try_finish()?;
            /// assert_eq!(writer.summary().streams, 1);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn summary(&self) -> StreamSummary {
                self.0.summary()
            }
        }

        impl<W: Write + fmt::Debug> fmt::Debug for $name<W> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("inner", &self.0.inner).field("progress", &self.0).finish()
            }
        }
    };
}
accessors!(
    BzEncoder,
    "BzEncoder::new(Vec::new(), hybz::Level::BEST)",
    r#"b"""#,
    r#"b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0""#,
    true
);
accessors!(BzDecoder, "BzDecoder::new(Vec::new())", r#"b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0""#, r#"b"""#, false);
accessors!(
    MultiBzDecoder,
    "MultiBzDecoder::new(Vec::new())",
    r#"b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0""#,
    r#"b"""#,
    false
);
