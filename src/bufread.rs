//! Encoder and decoders that are read from, and read their input from an inner [`BufRead`].
//!
//! They behave like those of [`read`](crate::read), with one difference: [`BzDecoder`] consumes exactly the bytes of
//! the first stream. The bytes after that stream can then be read from the inner reader.
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

use crate::adapter::{Exact, Reader, Whole, reader};
use crate::flow::driver::Driver;
use crate::formats::bzip2::header::Level;
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
        BzEncoder(Reader::new(Whole::new(inner), Driver::compress(settings)))
    }
}

reader!(
    BzEncoder, BufRead, "bufread", "let text = b\"to be or not to be\";", "(&text[..], hybz::Level::BEST)",
    inner => inner, inner, inner
);

/// Reads the first stream from `R`, of any format that hybz reads, and is read as its text. Leaves `R` exactly at the
/// end of the stream.
///
/// `R` never advances past the end of the stream, and is at the end once `read` has returned `Ok(0)`; before that it is
/// ahead of the text handed out. Its position after an error in the data is not specified.
///
/// Blocks are decoded in parallel, although a bzip2 stream does not state its length: it can end only after an end
/// magic of 48 bits. `R` is read ahead up to the next possible end magic, and past that only once all blocks before it
/// have been decoded. Inside a block these 48 bits appear by chance once in 2^48 bits; a file crafted to contain them
/// costs time, but the position is just as exact.
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

    /// A decoder with these settings, of which it uses only the pool.
    ///
    /// ```
    /// let settings = hybz::Settings::new().pool(&hybz::Pool::builder().build());
    /// let coded = hybz::compress(b"text", &settings)?;
    /// let decoder = hybz::bufread::BzDecoder::with_settings(&coded[..], &settings);
    /// assert_eq!(std::io::read_to_string(decoder)?, "text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        BzDecoder(Reader::new(Exact::new(inner), Driver::decompress(&settings.first_stream())))
    }
}

reader!(
    BzDecoder, BufRead, "bufread", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();",
    "(&coded[..])", inner => inner, inner, inner
);

/// Reads all consecutive streams from `R`, of any format that hybz reads, and is read as their text.
///
/// Reads `R` to its end. If garbage follows the streams, `R` is left somewhere in it.
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

    /// A decoder with these settings, of which it uses the pool and whether garbage may follow.
    ///
    /// ```
    /// let settings = hybz::Settings::new().trailing_garbage(false);
    /// let coded = [hybz::compress(b"text", &settings)?, b"garbage".to_vec()].concat();
    /// let decoder = hybz::bufread::MultiBzDecoder::with_settings(&coded[..], &settings);
    /// assert_eq!(std::io::read_to_string(decoder).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        MultiBzDecoder(Reader::new(Whole::new(inner), Driver::decompress(settings)))
    }
}

reader!(
    MultiBzDecoder, BufRead, "bufread", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();",
    "(&coded[..])", inner => inner, inner, inner
);
