//! An encoder and decoders that implement [`Read`], and take their input from an inner [`Read`].
//!
//! | type | reads | is read as |
//! |---|---|---|
//! | [`BzEncoder`] | text | one `.bz2` stream, or one of another [`Encoding`](crate::Encoding) |
//! | [`BzDecoder`] | the first stream | its text |
//! | [`MultiBzDecoder`] | all streams that follow each other | their texts, one after the other |
//!
//! Names and contracts are those of the `bzip2` crate. The differences:
//!
//! - The default [`Level`] is 9, as in the `bzip2` program, and not 6.
//! - Bytes are handed out only once the CRC of their block has been checked.
//! - Damaged data are an error of kind `InvalidData`, not `InvalidInput`, with an [`Error`] inside.
//! - [`MultiBzDecoder`] ignores trailing garbage, as the program does, unless [`Settings::trailing_garbage`] forbids
//!   it.
//!
//! Readers read ahead, as far as the pool's memory allows, so that all stations have work. They start no thread of
//! their own: blocks go to the pool while `read` runs.
//!
//! An inner reader may be a live pipe or a socket whose other side sends nothing before it gets an answer. The text of
//! every stream that has ended is handed out before the inner reader is called again, if its last read returned less
//! than was asked for and no later block has begun. Other blocks may be handed out only after the next read of the
//! inner reader, because it is unknown whether that read blocks. If the inner reader returns
//! [`WouldBlock`](std::io::ErrorKind::WouldBlock) instead of blocking, all text that the input so far contains is
//! handed out: the error comes after that text, and the next `read` resumes.
//!
//! # Errors
//!
//! An error of the inner reader, of whatever kind, is returned after everything that was read before it, and the next
//! `read` resumes without loss. (`Interrupted` is never returned: the inner reader is called again.) After damaged data
//! every further `read` returns the same error, never `Ok(0)`: `UnexpectedEof` if the input ends too early, otherwise
//! `InvalidData`.

use crate::adapter::{Exact, Reader, Whole, reader};
use crate::error::Error;
use crate::flow::one_stream::Driver;
use crate::formats::bzip2::header::Level;
use crate::index::Recorder;
use crate::settings::Settings;
use std::io::{BufReader, Read};

/// The size of [`BzDecoder`]'s reads, and so the maximum that it reads past the end of the stream.
const READ_CHUNK: usize = 64 << 10;

/// Compresses the text in `R`; reading yields one `.bz2` stream with bzip2's exact bytes.
///
/// ```
/// use std::io::Read;
/// let mut encoder = hybz::read::BzEncoder::new(&b"to be or not to be"[..], hybz::Level::BEST);
/// let mut coded = Vec::new();
/// encoder.read_to_end(&mut coded)?;
/// assert!(coded.starts_with(b"BZh9"));
/// # std::io::Result::Ok(())
/// ```
pub struct BzEncoder<R>(Reader<Whole<R>>);

impl<R: Read> BzEncoder<R> {
    /// An encoder at `level`, with the stations of [`Pool::global`](crate::Pool::global).
    ///
    /// ```
    /// let mut encoder = hybz::read::BzEncoder::new(std::io::empty(), hybz::Level::BEST);
    /// assert_eq!(std::io::copy(&mut encoder, &mut std::io::sink())?, 14); // bytes of an empty stream
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new(inner: R, level: Level) -> Self {
        Self::with_settings(inner, &Settings::new().level(level))
    }

    /// An encoder with these settings.
    ///
    /// ```
    /// let settings = hybz::Settings::new().level(hybz::Level::FASTEST);
    /// let mut encoder = hybz::read::BzEncoder::with_settings(&b"text"[..], &settings);
    /// assert!(std::io::copy(&mut encoder, &mut std::io::sink())? > 0);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        BzEncoder(Reader::new(Whole::new(inner), Driver::compress(settings)))
    }
}

reader!(
    BzEncoder, Read, "read", "let text = b\"to be or not to be\";", "(&text[..], hybz::Level::BEST)",
    inner => inner, inner, inner
);

/// Decodes the first stream in `R`, of any format that hybz reads; reading yields its text.
///
/// At the end of the stream `read` returns `Ok(0)` and reads no more from `R`. `R` is read through a buffer of 64 KiB,
/// so up to that much after the end of the stream is lost; [`bufread::BzDecoder`](crate::bufread::BzDecoder) loses
/// nothing.
///
/// ```
/// use std::io::Read;
/// let settings = hybz::Settings::new();
/// let two = [hybz::compress(b"to be or ", &settings)?, hybz::compress(b"not to be", &settings)?].concat();
/// let mut text = String::new();
/// hybz::read::BzDecoder::new(&two[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "to be or ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BzDecoder<R>(Reader<Exact<BufReader<R>>>);

impl<R: Read> BzDecoder<R> {
    /// A decoder with the stations of [`Pool::global`](crate::Pool::global).
    ///
    /// ```
    /// let coded = hybz::compress(b"text", &hybz::Settings::new())?;
    /// assert_eq!(std::io::read_to_string(hybz::read::BzDecoder::new(&coded[..]))?, "text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(inner: R) -> Self {
        Self::with_settings(inner, &Settings::new())
    }

    /// A decoder with these settings, of which it uses only the pool.
    ///
    /// ```
    /// let settings = hybz::Settings::new().pool(&hybz::Pool::builder().build());
    /// let coded = hybz::compress(b"text", &settings)?;
    /// let decoder = hybz::read::BzDecoder::with_settings(&coded[..], &settings);
    /// assert_eq!(std::io::read_to_string(decoder)?, "text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        let inner = BufReader::with_capacity(READ_CHUNK, inner);
        BzDecoder(Reader::new(Exact::new(inner), Driver::decompress(&settings.first_stream(), false)))
    }
}

reader!(
    BzDecoder, Read, "read", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();", "(&coded[..])",
    inner => inner.get_ref(), inner.get_mut(), inner.into_inner()
);

/// Decodes all consecutive streams in `R`, of any format that hybz reads; reading yields their text.
///
/// ```
/// use std::io::Read;
/// let settings = hybz::Settings::new();
/// let two = [hybz::compress(b"to be or ", &settings)?, hybz::compress(b"not to be", &settings)?].concat();
/// let mut text = String::new();
/// hybz::read::MultiBzDecoder::new(&two[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "to be or not to be");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MultiBzDecoder<R>(Reader<Whole<R>>);

impl<R: Read> MultiBzDecoder<R> {
    /// A decoder with the stations of [`Pool::global`](crate::Pool::global).
    ///
    /// ```
    /// let coded = hybz::compress(b"text", &hybz::Settings::new())?;
    /// assert_eq!(std::io::read_to_string(hybz::read::MultiBzDecoder::new(&coded[..]))?, "text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(inner: R) -> Self {
        Self::with_settings(inner, &Settings::new())
    }

    /// A decoder with these settings, of which it uses the pool and whether trailing garbage is allowed.
    ///
    /// ```
    /// let settings = hybz::Settings::new().trailing_garbage(false);
    /// let coded = [hybz::compress(b"text", &settings)?, b"garbage".to_vec()].concat();
    /// let decoder = hybz::read::MultiBzDecoder::with_settings(&coded[..], &settings);
    /// assert_eq!(std::io::read_to_string(decoder).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        MultiBzDecoder(Reader::new(Whole::new(inner), Driver::decompress(settings, false)))
    }

    /// A decoder with these settings that also makes an index of the input ([`recorder`](Self::recorder)).
    ///
    /// ```
    /// use hybz::{Settings, read::MultiBzDecoder};
    /// let coded = hybz::compress(b"to be or not to be", &Settings::new())?;
    /// let mut decoder = MultiBzDecoder::recording(&coded[..], &Settings::new());
    /// std::io::copy(&mut decoder, &mut std::io::sink())?;
    /// let index = decoder.recorder().cloned().expect("it records").finish()?;
    /// assert_eq!((index.blocks(), index.text_len()), (1, 18));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recording(inner: R, settings: &Settings) -> Self {
        MultiBzDecoder(Reader::new(Whole::recording(inner), Driver::decompress(settings, false)))
    }
}

impl<R> MultiBzDecoder<R> {
    /// The blocks and streams known so far, if the decoder [records](Self::recording) them: all of them once `read`
    /// has returned `Ok(0)`, before that the blocks whose text has been handed out.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.0.source.recorder.as_ref()
    }
}

reader!(
    MultiBzDecoder, Read, "read", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();",
    "(&coded[..])", inner => inner, inner, inner
);

/// Reads the whole output of `driver` for `input`.
pub(crate) fn whole(mut driver: Driver, mut input: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    while let Some((text, _)) = driver.pull(&mut input)? {
        crate::stream::text::write_text(&mut out, &text).map_err(Error::Write)?;
    }
    Ok(out)
}
