//! LZW: strips and tiles of TIFF files, in both directions, and `.Z` files of `compress`, to be read.
//!
//! | | |
//! |---|---|
//! | [`StripEncoder`], [`StripDecoder`] | one strip or tile |
//! | [`encode_strips`], [`decode_strips`] | many, on all cores |
//! | [`DeviceStrips`] | many, decoded on a GPU |
//! | [`decompress`] | a `.Z` file in memory |
//!
//! `.Z` files are also read by all decoders of [`read`](crate::read), [`bufread`](crate::bufread),
//! [`write`](mod@crate::write) and [`flow`](crate::flow), in bounded memory whatever they stand for. What a TIFF file
//! is beside its strips, `examples/tiff_lzw` shows.
//!
//! How it is done: `strip`, `stream`, `links`; the format: `format::lzw`; the twins: `plain`.

mod chunks;
mod copy;
mod device;
#[cfg(test)]
mod device_tests;
mod encode;
mod links;
#[doc(hidden)]
pub mod plain;
mod stream;
mod strip;
mod strips;
#[cfg(test)]
mod tests;

pub use crate::format::lzw::MAGIC;
pub(crate) use chunks::{Chunk, ChunkDecoder};
pub use device::DeviceStrips;
pub use encode::StripEncoder;
use stream::StreamDecoder;
pub use strip::StripDecoder;
pub use strips::{decode_strips, encode_strips};

use crate::error::Error;

/// What a `.Z` file holds.
///
/// As for gzip and ncompress, it ends where its bytes do: nothing tells a file that was cut from a complete one, and
/// nothing says whether the text is right.
///
/// ```
/// let file = [0x1f, 0x9d, 0x90, 0x61, 0x02, 0x02];
/// assert_eq!(hybz::lzw::decompress(&file)?, b"aaa");
/// # Ok::<(), hybz::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotBzip2`] if it does not begin as a `.Z` does, [`Error::Truncated`] if it ends within its header, and
/// [`Error::Data`] where a code is wrong.
pub fn decompress(coded: &[u8]) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    match StreamDecoder::new().decode(coded, true, &mut text, usize::MAX) {
        Ok(_) => Ok(text),
        Err(trouble) => Err(trouble.placed(0, coded.len() as u64)),
    }
}
