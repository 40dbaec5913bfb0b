//! Settings that a caller can choose.

use crate::encoding::Encoding;
use crate::format::Formats;
use crate::formats::bzip2::header::Level;
use crate::formats::bzip2::stream::Streams;
use crate::stream::coded::Verify;
use crate::stream::piece::Extent;
use hybz_queue::Pool;
use std::fmt;

/// How to compress or decompress a stream, and with which pool. Start from [`Settings::new`].
///
/// ```
/// use hybz::{Level, Pool, Settings};
/// let pool = Pool::builder().build();
/// let settings = Settings::new().level(Level::FASTEST).pool(&pool);
/// let coded = hybz::compress(b"to be or not to be", &settings)?;
/// assert_eq!(hybz::decompress(&coded, &settings)?, b"to be or not to be");
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone)]
pub struct Settings {
    pub(crate) encoding: Encoding,
    pub(crate) verify: Verify,
    pub(crate) formats: Formats,
    trailing_garbage: bool,
    first_stream: bool,
    pool: Option<Pool>,
    pub(crate) scan_chunk: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            encoding: Encoding::default(),
            verify: Verify::Off,
            formats: Formats::All,
            trailing_garbage: true,
            first_stream: false,
            pool: None,
            scan_chunk: None,
        }
    }
}

impl Settings {
    /// Level 9, trailing garbage ignored as by bzip2, and the process's own pool.
    ///
    /// ```
    /// let settings = hybz::Settings::new();
    /// assert!(hybz::compress(b"", &settings)?.starts_with(b"BZh9"));
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The block size to compress with.
    ///
    /// ```
    /// use hybz::{Level, Settings};
    /// let settings = Settings::new().level(Level::try_from(4)?);
    /// assert!(hybz::compress(b"", &settings)?.starts_with(b"BZh4"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn level(mut self, level: Level) -> Self {
        if let Encoding::Bzip2 { level: block_size, .. } | Encoding::Perturbed { level: block_size, .. } =
            &mut self.encoding
        {
            *block_size = level;
        }
        self
    }

    /// The output format. This replaces earlier choices; [`level`](Self::level) and [`streams`](Self::streams) are
    /// settings of `.bz2`, and change nothing for another format.
    ///
    /// ```
    /// use hybz::{Encoding, Format, Level, Settings};
    /// let coded = hybz::compress(b"text", &Settings::new().encoding(Level::FASTEST))?;
    /// assert_eq!(Format::of(&coded), Some(Format::Bzip2));
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn encoding(mut self, encoding: impl Into<Encoding>) -> Self {
        self.encoding = encoding.into();
        self
    }

    /// Compress to several consecutive `.bz2` streams instead of one. Each has the bytes that bzip2 writes for its
    /// text. (Other formats are always one stream.)
    ///
    /// ```
    /// use hybz::{Settings, Streams, bufread::BzDecoder};
    /// use std::io::Read;
    /// let streams = Streams::try_new(10).expect("more than nothing").split_lines(true);
    /// let coded = hybz::compress(b"to be or not\nto\nbe\n", &Settings::new().streams(streams))?;
    ///
    /// let mut first = String::new();
    /// BzDecoder::new(&coded[..]).read_to_string(&mut first)?;
    /// assert_eq!(first, "to be or not\n");
    /// assert_eq!(hybz::decompress(&coded, &Settings::new())?, b"to be or not\nto\nbe\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn streams(mut self, streams: Streams) -> Self {
        if let Encoding::Bzip2 { streams: lengths, .. } = &mut self.encoding {
            *lengths = Some(streams);
        }
        self
    }

    /// Which coded blocks are decoded again and compared with their text before they are written; by default none.
    ///
    /// A station other than its maker decodes each block: always a core, and another core if there is one. Only lanes
    /// may prove their own blocks ([`Lanes::verified`](crate::Lanes::verified)). A wrong block is counted
    /// ([`StationReport::wrong`](crate::StationReport::wrong)) and coded again by a core; if it is wrong again, that is
    /// [`Error::Miscoded`](crate::Error::Miscoded). With [`Verify::All`] compressing takes a quarter longer.
    ///
    /// ```
    /// use hybz::{Settings, Verify};
    /// let text = b"to be or not to be";
    /// let coded = hybz::compress(text, &Settings::new().verify(Verify::All))?;
    /// assert_eq!(coded, hybz::compress(text, &Settings::new())?);
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn verify(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Whether bytes that are not a stream may follow the last stream (bzip2 allows and ignores them).
    ///
    /// ```
    /// use hybz::{Error, Settings};
    /// let coded = [hybz::compress(b"text", &Settings::new())?, b"garbage".to_vec()].concat();
    /// assert_eq!(hybz::decompress(&coded, &Settings::new())?, b"text");
    /// let strict = hybz::decompress(&coded, &Settings::new().trailing_garbage(false));
    /// assert!(matches!(strict, Err(Error::TrailingGarbage { offset }) if offset as usize == coded.len() - 7));
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn trailing_garbage(mut self, allowed: bool) -> Self {
        self.trailing_garbage = allowed;
        self
    }

    /// The formats that a decoder reads: all, or only those that bzip2 reads.
    ///
    /// ```
    /// use hybz::{Error, Formats, LargeBlocks, Settings};
    /// let settings = Settings::new().encoding(LargeBlocks::try_new(1 << 20).expect("a size that is allowed"));
    /// let coded = hybz::compress(b"text", &settings)?;
    /// assert_eq!(hybz::decompress(&coded, &settings)?, b"text");
    /// assert!(matches!(hybz::decompress(&coded, &settings.formats(Formats::Bzip2)), Err(Error::NotBzip2)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// The pool whose stations work for the stream; the default is [`Pool::global`].
    ///
    /// ```
    /// use hybz::{Pool, Settings};
    /// let pool = Pool::builder().threads(std::num::NonZeroUsize::MIN).build();
    /// hybz::compress(b"to be or not to be", &Settings::new().pool(&pool))?;
    /// assert_eq!(pool.summary().stations.len(), 1);
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn pool(mut self, pool: &Pool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// The number of bytes of compressed input scanned in one step, so that tests can put boundaries at any position.
    #[cfg(any(test, feature = "internals"))]
    pub fn scan_chunk(mut self, bytes: usize) -> Self {
        self.scan_chunk = Some(bytes);
        self
    }

    /// The same settings for a decoder that ends with the first stream.
    pub(crate) fn first_stream(&self) -> Settings {
        Settings { first_stream: true, ..self.clone() }
    }

    /// The extent of the input that a decoder takes.
    pub(crate) fn extent(&self) -> Extent {
        if self.first_stream { Extent::Streams(1) } else { Extent::all(self.trailing_garbage) }
    }

    pub(crate) fn allows_garbage(&self) -> bool {
        self.trailing_garbage
    }

    pub(crate) fn get_pool(&self) -> &Pool {
        self.pool.as_ref().unwrap_or_else(|| Pool::global())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("encoding", &self.encoding)
            .field("verify", &self.verify)
            .field("formats", &self.formats)
            .field("trailing_garbage", &self.trailing_garbage)
            .field("own_pool", &self.pool.is_some())
            .finish()
    }
}
