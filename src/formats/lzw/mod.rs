//! LZW: strips and tiles of TIFF files in both directions, and decoding of `.Z` files of `compress`.
//!
//! | | |
//! |---|---|
//! | [`StripEncoder`], [`StripDecoder`] | one strip or tile |
//! | [`encode_strips`], [`decode_strips`] | many, on all cores |
//! | `DeviceStrips` | many, decoded on a GPU (feature `cuda`) |
//! | [`decompress`] | a `.Z` file in memory |
//!
//! All decoders of [`read`](crate::read), [`bufread`](crate::bufread), [`write`](mod@crate::write) and
//! [`flow`](crate::flow) also read `.Z` files, in bounded memory however long their text is. `examples/tiff_lzw` shows
//! the other parts of a TIFF file.
//!
//! The algorithms are in `strip`, `stream_decoder` and `links`, the format in `header`, the twins in `plain`.

mod chunks;
mod copy;
#[cfg(any(test, feature = "cuda", feature = "internals"))]
mod device;
#[cfg(test)]
mod device_tests;
mod encode;
pub(crate) mod header;
mod links;
#[cfg(any(test, feature = "internals"))]
pub(crate) mod plain;
pub(crate) mod stream;
mod stream_decoder;
mod strip;
mod strips;
#[cfg(test)]
mod tests;

pub(crate) use chunks::{Chunk, ChunkDecoder};
#[cfg(any(test, feature = "cuda", feature = "internals"))]
pub use device::DeviceStrips;
pub use encode::StripEncoder;
#[cfg(any(test, feature = "cuda", feature = "internals"))]
pub use hybz_gpu::{DeviceError, StripForDevice};
use stream_decoder::StreamDecoder;
pub use strip::StripDecoder;
pub use strips::{decode_strips, encode_strips};

use crate::error::Error;
use crate::format::Format;

/// Decodes a `.Z` file in memory.
///
/// As for gzip and ncompress, the file ends where its bytes end: a truncated file looks like a complete one, and there
/// is no checksum of the text.
///
/// ```
/// let file = [0x1f, 0x9d, 0x90, 0x61, 0x02, 0x02];
/// assert_eq!(hybz::lzw::decompress(&file)?, b"aaa");
/// # Ok::<(), hybz::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotFormat`] if it does not begin as a `.Z` does, [`Error::Truncated`] if it ends within its header, and
/// [`Error::Data`] for a wrong code.
pub fn decompress(coded: &[u8]) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    match StreamDecoder::new().decode(coded, true, &mut text, usize::MAX) {
        Ok(_) => Ok(text),
        Err(trouble) => Err(match trouble.placed(0, coded.len() as u64) {
            Error::NotBzip2 => Error::NotFormat { format: Format::Lzw },
            error => error,
        }),
    }
}
