//! Encoder and decoders that are read from: they read their input from an inner [`Read`].
//!
//! | type | reads | is read as |
//! |---|---|---|
//! | [`BzEncoder`] | text | one `.bz2` (or `.hbz`) stream |
//! | [`BzDecoder`] | the first stream | its text |
//! | [`MultiBzDecoder`] | all streams that follow each other | their texts, one after the other |
//!
//! Names and contracts are those of the `bzip2` crate, with these differences: a [`Level`] is 9 by default, and there are no levels
//! but 1 to 9; only bytes whose block has the right CRC are handed out; damage is `InvalidData` and not `InvalidInput`, with an
//! [`Error`] inside; and [`MultiBzDecoder`] ignores trailing garbage unless
//! [`Settings::trailing_garbage`] forbids it.
//!
//! [`BzEncoder`] and [`MultiBzDecoder`] read ahead, as far as the pool's memory goes, so that all stations have work. No thread is
//! started for a stream; blocks are handed to the pool while `read` runs. So `read` may wait for more input although the block
//! before it is done: where the other side waits for an answer first, use one stream for each message and [`BzDecoder`].
//!
//! # Errors
//!
//! An error of the inner reader is returned once everything that was read before it has been handed out, and loses nothing: the next `read`
//! goes on. (`Interrupted` is not returned at all: the inner reader is asked again.) Damaged data are the end: every further `read`
//! returns the same error, never `Ok(0)`.

use crate::adapter::{Exact, Reader, Whole, reader};
use crate::error::Error;
use crate::format::bzip2::Level;
use crate::pipeline::pump::Pump;
use crate::settings::Settings;
use std::io::{BufReader, Read};

/// How much [`BzDecoder`] reads at once, so at most how far it reads past the end of the stream.
const READ_CHUNK: usize = 64 << 10;

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
        BzEncoder(Reader::new(Whole::new(inner), Pump::compress(settings)))
    }
}

reader!(
    BzEncoder, Read, "read", "let text = b\"to be or not to be\";", "(&text[..], hybz::Level::BEST)",
    inner => inner, inner, inner
);

/// Reads the first stream from `R`, `.bz2` or `.hbz`, and is read as what it holds.
///
/// After the stream `read` returns `Ok(0)` and reads no more from `R`. Up to there `R` is read in chunks of 64 KiB, so it is left
/// somewhere behind the stream's end; [`bufread::BzDecoder`](crate::bufread::BzDecoder) leaves it exactly there.
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

    /// A decoder with these settings; of these it uses the pool.
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
        BzDecoder(Reader::new(Exact::new(inner), Pump::decompress(&settings.first_stream())))
    }
}

reader!(
    BzDecoder, Read, "read", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();", "(&coded[..])",
    inner => inner.get_ref(), inner.get_mut(), inner.into_inner()
);

/// Reads all streams that follow each other from `R`, `.bz2` or `.hbz`, and is read as what they hold.
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

    /// A decoder with these settings; of these it uses the pool and whether garbage may follow.
    ///
    /// ```
    /// let settings = hybz::Settings::new().trailing_garbage(false);
    /// let coded = [hybz::compress(b"text", &settings)?, b"garbage".to_vec()].concat();
    /// let decoder = hybz::read::MultiBzDecoder::with_settings(&coded[..], &settings);
    /// assert_eq!(std::io::read_to_string(decoder).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_settings(inner: R, settings: &Settings) -> Self {
        MultiBzDecoder(Reader::new(Whole::new(inner), Pump::decompress(settings)))
    }
}

reader!(
    MultiBzDecoder, Read, "read", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();", "(&coded[..])",
    inner => inner, inner, inner
);

/// Reads all that `pump` makes of `input`.
pub(crate) fn whole(mut pump: Pump, mut input: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    while let Some((text, _)) = pump.pull(&mut input)? {
        crate::pipeline::pump::write_text(&mut out, &text).map_err(Error::Write)?;
    }
    Ok(out)
}
