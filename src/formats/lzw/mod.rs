//! Decoding of the `.Z` files of `compress`, which are LZW-coded: [`decompress`] decodes a whole file in memory.
//!
//! All decoders of [`read`](crate::read), [`bufread`](crate::bufread), [`write`](mod@crate::write) and
//! [`flow`](crate::flow) also read `.Z` files, in bounded memory however long their text is. Strips of TIFF files are
//! in the package hybz-tiff-lzw.
//!
//! The algorithms are in `stream_decoder` and `links`, the format in `header`, the twin in `plain`.

mod chunks;
pub(crate) mod copy;
pub(crate) mod header;
mod links;
#[cfg(any(test, feature = "internals"))]
pub(crate) mod plain;
pub(crate) mod stream;
mod stream_decoder;
#[cfg(test)]
mod tests;

pub(crate) use chunks::{Chunk, ChunkDecoder};
use stream_decoder::StreamDecoder;

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
    match StreamDecoder::new().decode(coded, 0, true, &mut text, usize::MAX) {
        Ok(_) => Ok(text),
        Err(Error::NotBzip2) => Err(Error::NotFormat { format: Format::Lzw }),
        Err(error) => Err(error),
    }
}
