//! The format that text is compressed to, with its options.

use crate::format::Format;
use crate::formats::bzip2::header::Level;
use crate::formats::bzip2::stream::Streams;
use crate::formats::hbz::header::LargeBlocks;
#[cfg(feature = "lz4")]
use crate::formats::lz4::{self, Frame};
use crate::formats::{bzip2, hbz};
use crate::stream::piece::{BlockOptions, Ends};
use hybz_queue::Pool;
use std::num::NonZeroU32;

/// The format that text is compressed to, with its options.
///
/// ```
/// use hybz::{Encoding, Format, Level};
/// assert_eq!(Encoding::default(), Encoding::Bzip2 { level: Level::BEST, streams: None });
/// assert_eq!(Encoding::from(hybz::lz4::Frame::new()).format(), Format::Lz4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// One `.bz2` stream, or several consecutive ones.
    Bzip2 {
        /// The block size.
        level: Level,
        /// The lengths of the streams; `None`: one stream.
        streams: Option<Streams>,
    },
    /// One `.bz2` stream whose text is perturbed, after empty streams that tell hybz so: hybz decodes it to the text,
    /// and other programs to the text with the inserted bytes. Such a file is decoded from its beginning only; to a
    /// decoder of a single stream it is empty.
    ///
    /// ```
    /// use hybz::{Encoding, Level, Settings};
    /// let interval = std::num::NonZero::new(1000).unwrap();
    /// let settings = Settings::new().encoding(Encoding::Perturbed { level: Level::BEST, interval, seed: 0 });
    /// let coded = hybz::compress(&[7; 5000], &settings)?;
    /// assert_eq!(hybz::decompress(&coded, &Settings::new())?, [7; 5000]);
    /// # Ok::<(), hybz::Error>(())
    /// ```
    Perturbed {
        /// The block size.
        level: Level,
        /// A byte is inserted after every `interval` bytes of text.
        interval: NonZeroU32,
        /// The seed of the generator of these bytes.
        seed: u64,
    },
    /// One `.hbz` stream.
    Hbz(LargeBlocks),
    /// One LZ4 frame (feature `lz4`).
    #[cfg(feature = "lz4")]
    Lz4(Frame),
}

impl Default for Encoding {
    fn default() -> Encoding {
        Level::BEST.into()
    }
}

impl From<Level> for Encoding {
    fn from(level: Level) -> Encoding {
        Encoding::Bzip2 { level, streams: None }
    }
}

impl From<LargeBlocks> for Encoding {
    fn from(large: LargeBlocks) -> Encoding {
        Encoding::Hbz(large)
    }
}

#[cfg(feature = "lz4")]
impl From<Frame> for Encoding {
    fn from(frame: Frame) -> Encoding {
        Encoding::Lz4(frame)
    }
}

impl Encoding {
    /// The format of the output.
    pub fn format(self) -> Format {
        match self {
            Encoding::Bzip2 { .. } | Encoding::Perturbed { .. } => Format::Bzip2,
            Encoding::Hbz(_) => Format::Hbz,
            #[cfg(feature = "lz4")]
            Encoding::Lz4(_) => Format::Lz4,
        }
    }

    /// The input and the output end of a stream to be written.
    pub(crate) fn encode(self, pool: &Pool, options: BlockOptions) -> Ends {
        match self {
            Encoding::Bzip2 { level, streams } => bzip2::stream::encode(level, streams, options),
            Encoding::Perturbed { level, interval, seed } => {
                bzip2::stream::encode_perturbed(level, interval, seed, options)
            }
            Encoding::Hbz(large) => hbz::stream::encode(large, pool, options.verify),
            #[cfg(feature = "lz4")]
            Encoding::Lz4(frame) => lz4::stream::encode(frame),
        }
    }
}

/// What the command asks of an encoding.
#[cfg(any(test, feature = "internals"))]
impl Encoding {
    /// The blocks, if they are larger than bzip2's.
    pub fn large_blocks(self) -> Option<LargeBlocks> {
        match self {
            Encoding::Hbz(large) => Some(large),
            _ => None,
        }
    }

    /// The same encoding for text of this length, which is stored if the format has a field for it.
    pub fn text_len(self, len: u64) -> Encoding {
        match self {
            #[cfg(feature = "lz4")]
            Encoding::Lz4(frame) => Encoding::Lz4(frame.text_len(len)),
            other => other,
        }
    }
}
