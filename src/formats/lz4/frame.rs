//! How a frame is written.

/// How a frame is written. Its blocks are not verified, whatever [`Settings::verify`](crate::Settings::verify) says: a
/// frame has a checksum of its text.
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
