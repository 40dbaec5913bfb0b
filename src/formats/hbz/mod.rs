//! Looking into `.hbz` files: lists their blocks, reads a part of the text without decoding the rest, and finds the
//! good blocks of a damaged file. (Whole streams go through [`compress`](crate::compress),
//! [`decompress`](crate::decompress) and the encoders and decoders.) The format is specified in `docs/FORMAT.md`.
//!
//! ```
//! use hybz::{LargeBlocks, Settings};
//! let text: Vec<u8> = (0..50_000u32).flat_map(u32::to_le_bytes).collect();
//! let settings = Settings::new().encoding(LargeBlocks::try_new(60_000).unwrap());
//! let mut file = std::io::Cursor::new(hybz::compress(&text, &settings)?);
//! let list = hybz::hbz::List::read(&mut file)?;
//! assert_eq!(list.blocks().len(), 4);
//! assert_eq!(list.read_range(&mut file, 119_990..120_010)?, &text[119_990..120_010]);
//! # Ok::<(), hybz::Error>(())
//! ```

pub(crate) mod archive;
pub(crate) mod codec;
pub(crate) mod header;
pub(crate) mod stream;
mod walk;

pub use archive::{List, Listed};
