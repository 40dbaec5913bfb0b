//! `.bz2` without a pool and without threads: the caller pushes bytes, and takes what they give.
//!
//! A [`Decoder`] and an [`Encoder`] do all of their work in the calling thread, when it takes output, and need nothing
//! of the system but memory. So they also run where there are no threads, as in WebAssembly, and in programs that
//! already have a thread for each file. The readers and writers of the library code with all cores, and are faster.
//!
//! ```
//! use hybz::{Level, push::{Decoder, Encoder}};
//! let (mut encoder, mut coded) = (Encoder::new(Level::BEST), Vec::new());
//! for word in ["to be ", "or not ", "to be"] {
//!     encoder.push(word.as_bytes());
//!     while let Some(bytes) = encoder.coded() {
//!         coded.extend_from_slice(bytes);
//!     }
//! }
//! encoder.finish();
//! while let Some(bytes) = encoder.coded() {
//!     coded.extend_from_slice(bytes);
//! }
//!
//! let (mut decoder, mut text) = (Decoder::new(), Vec::new());
//! for bytes in coded.chunks(10) {
//!     decoder.push(bytes);
//!     while let Some(bytes) = decoder.text()? {
//!         text.extend_from_slice(bytes);
//!     }
//! }
//! decoder.finish();
//! while let Some(bytes) = decoder.text()? {
//!     text.extend_from_slice(bytes);
//! }
//! assert_eq!(text, b"to be or not to be");
//! # Ok::<(), hybz::Error>(())
//! ```

mod block;
mod decoder;
mod encoder;

pub(in crate::formats) use block::whole;
pub use block::{Block, BlockDecoder, find_block};
pub use decoder::Decoder;
pub use encoder::Encoder;
