//! Encoder and decoders that are read from, and read their input from an inner [`BufRead`].
//!
//! As in [`read`](crate::read), in everything but one thing: [`BzDecoder`] takes from the inner reader exactly the bytes of the first
//! stream. What follows (another stream, another format, anything) is the next thing to be read from it.
//!
//! ```
//! use std::io::{BufRead, Read};
//! let coded = hybz::compress(b"to be or not to be", &hybz::Settings::new())?;
//! let mut input = std::io::Cursor::new([&coded[..], b"that is the question"].concat());
//! let mut text = String::new();
//! hybz::bufread::BzDecoder::new(&mut input).read_to_string(&mut text)?;
//! assert_eq!(text, "to be or not to be");
//! assert_eq!(input.fill_buf()?, b"that is the question");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`BzDecoder`] reads ahead like the others, and its blocks are decoded in parallel: it stops only where the stream may end, which is
//! known from the bits of the input (see its documentation).

use crate::adapter::{Exact, Reader, Whole, reader};
use crate::format::bzip2::Level;
use crate::pipeline::pump::Pump;
use crate::settings::Settings;
use std::io::BufRead;

/// Reads text from `R`, and is read as one `.bz2` stream with bzip2's exact bytes.
///
/// ```
/// use std::io::Read;
/// let mut encoder = hybz::bufread::BzEncoder::new(&b"to be or not to be"[..], hybz::Level::BEST);
/// let mut coded = Vec::new();
/// encoder.read_to_end(&mut coded)?;
/// assert!(coded.starts_with(b"BZh9"));
/// # std::io::Result::Ok(())
/// ```
pub struct BzEncoder<R>(Reader<Whole<R>>);

impl<R: BufRead> BzEncoder<R> {
    /// An encoder at `level`, with the stations of [`Pool::global`](crate::Pool::global).
    ///
    /// ```
    /// let mut encoder = hybz::bufread::BzEncoder::new(std::io::empty(), hybz::Level::BEST);
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
    /// let mut encoder = hybz::bufread::BzEncoder::with_settings(&b"text"[..], &settings);
    /// assert!(std::io::copy(&mut encoder, &mut std::io::sink())? > 0);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        BzEncoder(Reader::new(Whole::new(inner), Pump::compress(settings)))
    }
}

reader!(
    BzEncoder, BufRead, "bufread", "let text = b\"to be or not to be\";", "(&text[..], hybz::Level::BEST)",
    inner => inner, inner, inner
);

/// Reads the first stream from `R`, `.bz2` or `.hbz`, and is read as what it holds. Leaves `R` exactly behind the stream.
///
/// That is so once `read` has returned `Ok(0)`; before, `R` is ahead of the text handed out, but never behind the end of the stream.
/// After an error of the data it is somewhere in the stream, or a little behind the damage.
///
/// A bzip2 stream has no length, but it can end only behind its end magic, 48 bits. Where these are found, `R` is read no further
/// until the blocks before are decoded and have shown whether that is the end. Inside a block the same bits are found by
/// chance once in 2^48 bits (or on purpose, which costs speed but is as exact). So the end of the stream costs the wait for its last
/// blocks, and everything before it is decoded as by [`MultiBzDecoder`].
///
/// ```
/// use std::io::Read;
/// let settings = hybz::Settings::new();
/// let two = [hybz::compress(b"to be or ", &settings)?, hybz::compress(b"not to be", &settings)?].concat();
/// let mut input = &two[..];
/// let mut texts = Vec::new();
/// while !input.is_empty() {
///     let mut text = String::new();
///     hybz::bufread::BzDecoder::new(&mut input).read_to_string(&mut text)?;
///     texts.push(text);
/// }
/// assert_eq!(texts, ["to be or ", "not to be"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BzDecoder<R>(Reader<Exact<R>>);

impl<R: BufRead> BzDecoder<R> {
    /// A decoder with the stations of [`Pool::global`](crate::Pool::global).
    ///
    /// ```
    /// let coded = hybz::compress(b"text", &hybz::Settings::new())?;
    /// assert_eq!(std::io::read_to_string(hybz::bufread::BzDecoder::new(&coded[..]))?, "text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(inner: R) -> Self {
        Self::with_settings(inner, &Settings::new())
    }

    /// A decoder with these settings; of these it uses the pool.
    ///
    /// ```
    /// let settings = hybz::Settings::new().pool(&hybz::Pool::builder().build());
    /// let coded = hybz::compress(b"text", &settings)?;
    /// let decoder = hybz::bufread::BzDecoder::with_settings(&coded[..], &settings);
    /// assert_eq!(std::io::read_to_string(decoder)?, "text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        BzDecoder(Reader::new(Exact::new(inner), Pump::decompress(&settings.first_stream())))
    }
}

reader!(
    BzDecoder, BufRead, "bufread", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();",
    "(&coded[..])", inner => inner, inner, inner
);

/// Reads all streams that follow each other from `R`, `.bz2` or `.hbz`, and is read as what they hold.
///
/// It reads `R` to its end, or if garbage follows the streams to somewhere behind them.
///
/// ```
/// use std::io::Read;
/// let settings = hybz::Settings::new();
/// let two = [hybz::compress(b"to be or ", &settings)?, hybz::compress(b"not to be", &settings)?].concat();
/// let mut text = String::new();
/// hybz::bufread::MultiBzDecoder::new(&two[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "to be or not to be");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MultiBzDecoder<R>(Reader<Whole<R>>);

impl<R: BufRead> MultiBzDecoder<R> {
    /// A decoder with the stations of [`Pool::global`](crate::Pool::global).
    ///
    /// ```
    /// let coded = hybz::compress(b"text", &hybz::Settings::new())?;
    /// assert_eq!(std::io::read_to_string(hybz::bufread::MultiBzDecoder::new(&coded[..]))?, "text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(inner: R) -> Self {
        Self::with_settings(inner, &Settings::new())
    }

    /// A decoder with these settings; of these it uses the pool and whether garbage may follow.
    ///
    /// ```
    /// let settings = hybz::Settings::new().trailing_garbage(false);
    /// let coded = [hybz::compress(b"text", &settings)?, b"garbage".to_vec()].concat();
    /// let decoder = hybz::bufread::MultiBzDecoder::with_settings(&coded[..], &settings);
    /// assert_eq!(std::io::read_to_string(decoder).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        MultiBzDecoder(Reader::new(Whole::new(inner), Pump::decompress(settings)))
    }
}

reader!(
    MultiBzDecoder, BufRead, "bufread", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();",
    "(&coded[..])", inner => inner, inner, inner
);
