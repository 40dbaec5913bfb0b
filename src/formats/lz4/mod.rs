//! LZ4 frames: what `lz4` reads and writes, for [`Settings::encoding`](crate::Settings::encoding).
//!
//! hybz writes frames of independent blocks of 64 KiB, with the checksum of the text, and its length if that is known.
//! An index follows each frame in a skippable frame, which every reader of LZ4 skips. The index has the position of
//! each block and the length of its text, which a device must know before it decodes. No reader needs the index.
//!
//! All frames are read: linked and independent blocks of 64 KiB to 4 MiB, with and without checksums and lengths,
//! legacy and skippable ones, one after the other. A frame that needs a dictionary is an error.
//!
//! ```
//! use hybz::{Format, Settings, lz4::Frame};
//! let text = b"to be or not to be, that is the question. To be or not to be!";
//! let coded = hybz::compress(text, &Settings::new().encoding(Frame::new()))?;
//! assert_eq!(Format::of(&coded), Some(Format::Lz4));
//! assert_eq!(hybz::decompress(&coded, &Settings::new())?, text);
//! # Ok::<(), hybz::Error>(())
//! ```
//!
//! | file | |
//! |---|---|
//! | `walk` | the parts of frames, as their bytes come |
//! | `block` | one block, or several, by the library `lz4` |
//! | `index` | the positions of blocks, and the lengths of their texts |
//!
//! The package hybz-lz4-gpu decodes frames into the memory of a GPU.

pub(crate) mod block;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod stream;
pub(crate) mod walk;

/// How a frame is written. Its blocks are not verified, whatever [`Settings::verify`](crate::Settings::verify) says: it
/// carries a checksum of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub(crate) level: u8,
    pub(crate) text_len: Option<u64>,
    pub(crate) index: bool,
}

impl Default for Frame {
    fn default() -> Self {
        Frame { level: 1, text_len: None, index: true }
    }
}

impl Frame {
    /// The length of a block's text.
    pub const BLOCK_SIZE: u32 = 64 << 10;

    /// Level 1, with an index.
    ///
    /// ```
    /// assert_eq!(hybz::lz4::Frame::new(), hybz::lz4::Frame::default());
    /// ```
    pub fn new() -> Frame {
        Frame::default()
    }

    /// The level, 1 to 12 as in `lz4`: 1 and 2 are fast; files are smaller from 3 on. Values outside are clamped.
    ///
    /// ```
    /// use hybz::{Settings, lz4::Frame};
    /// let text = "to be or not to be? That is the question, or is it not? ".repeat(99);
    /// let coded = |frame| hybz::compress(text.as_bytes(), &Settings::new().encoding(frame));
    /// assert!(coded(Frame::new().level(9))?.len() <= coded(Frame::new())?.len());
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn level(mut self, level: u8) -> Frame {
        self.level = level.clamp(1, 12);
        self
    }

    /// The length of the text, to be written into the frame's header. Text of any other length is then an
    /// [`Error::TextLength`](crate::Error::TextLength). For texts of less than 1 MiB the length is known anyway, unless
    /// the writer is flushed earlier.
    ///
    /// ```
    /// use hybz::{Error, Settings, lz4::Frame};
    /// let settings = Settings::new().encoding(Frame::new().text_len(5));
    /// assert!(hybz::compress(b"hello", &settings).is_ok());
    /// let wrong = hybz::compress(b"hello!", &settings);
    /// assert!(matches!(wrong, Err(Error::TextLength { stated: 5, found: 6 })));
    /// ```
    pub fn text_len(mut self, len: u64) -> Frame {
        self.text_len = Some(len);
        self
    }

    /// Whether an index follows the frame.
    ///
    /// ```
    /// use hybz::{Settings, lz4::Frame};
    /// let with = hybz::compress(b"text", &Settings::new().encoding(Frame::new()))?;
    /// let without = hybz::compress(b"text", &Settings::new().encoding(Frame::new().index(false)))?;
    /// assert!(with.starts_with(&without) && with.len() > without.len());
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn index(mut self, index: bool) -> Frame {
        self.index = index;
        self
    }
}
