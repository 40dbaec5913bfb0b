//! An encoder and decoders that implement `Read`, and take their input from an inner [`BufRead`].
//!
//! [`BzDecoder`] consumes exactly the bytes of the first stream: the bytes after that stream can then be read from the
//! inner reader. The encoder and the decoder of all streams are those of [`read`](crate::read); both read to the end.
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

pub use crate::read::{BzEncoder, MultiBzDecoder};

use crate::adapter::{Exact, Reader, reader};
use crate::flow::one_stream::Driver;
use crate::settings::Settings;
use std::io::BufRead;

/// Decodes the first stream in `R`, of any format that hybz reads; reading yields its text. Leaves `R` exactly at the
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
        BzDecoder(Reader::new(Exact::new(inner), Driver::decompress(&settings.first_stream(), false)))
    }
}

reader!(
    BzDecoder, BufRead, "bufread", "let coded = hybz::compress(b\"to be\", &hybz::Settings::new()).unwrap();",
    "(&coded[..])", inner => inner, inner, inner
);
