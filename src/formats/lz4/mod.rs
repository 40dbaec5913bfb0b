//! LZ4 frames: what `lz4` reads and writes, for [`Settings::encoding`](crate::Settings::encoding).
//!
//! hybz writes frames of independent blocks of 64 KiB, with the checksum of the text, and its length if that is known.
//! An index follows each frame in a skippable frame, which every reader of LZ4 skips. The index has the position of
//! each block and the length of its text, which a device must know before it decodes. No reader needs the index.
//!
//! Without the feature `lz4`, which needs a C compiler, hybz only recognises LZ4 frames: this module is missing, and
//! decompressing one is [`Error::NotBzip2`](crate::Error::NotBzip2).
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
//! | `frame` | how a frame is written |
//! | `block` | one block, or several, by the library `lz4` |
//! | `index` | the positions of blocks, and the lengths of their texts |
//!
//! The package hybz-lz4-gpu decodes frames into the memory of a GPU.

#[cfg(feature = "lz4")]
pub(crate) mod block;
#[cfg(feature = "lz4")]
mod frame;
pub(crate) mod header;
#[cfg(feature = "lz4")]
pub(crate) mod index;
#[cfg(feature = "lz4")]
pub(crate) mod stream;
#[cfg(feature = "lz4")]
pub(crate) mod walk;

#[cfg(feature = "lz4")]
pub use frame::Frame;
