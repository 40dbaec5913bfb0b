//! hybz: bzip2 on every core of a machine.
//!
//! Compression writes exactly the bytes that bzip2 1.0.8 writes at the same level, whichever core or GPU coded each
//! block. Decompression reads everything that bzip2 1.0.8 reads.
//!
//! # In memory
//!
//! ```
//! use hybz::{Level, Settings};
//! let coded = hybz::compress(b"to be or not to be", &Settings::new().level(Level::FASTEST))?;
//! assert_eq!(hybz::decompress(&coded, &Settings::new())?, b"to be or not to be");
//! # Ok::<(), hybz::Error>(())
//! ```
//!
//! # Readers and writers
//!
//! [`read`], [`bufread`] and [`write`](mod@write) have encoders and decoders with the names and contracts of the
//! `bzip2` crate. Blocks are coded by all cores while the caller reads or writes.
//!
//! ```
//! use hybz::{Level, read::MultiBzDecoder, write::BzEncoder};
//! use std::io::{Read, Write};
//! let mut encoder = BzEncoder::new(Vec::new(), Level::BEST);
//! encoder.write_all(b"to be or not to be")?;
//! let coded = encoder.finish()?;
//!
//! let mut text = String::new();
//! MultiBzDecoder::new(&coded[..]).read_to_string(&mut text)?;
//! assert_eq!(text, "to be or not to be");
//! # std::io::Result::Ok(())
//! ```
//!
//! # Threads, memory and GPUs
//!
//! The work of all streams is done by the stations of a [`Pool`], which any number of streams share. Streams without a
//! pool of their own use [`Pool::global`], with a thread for each core. [`Lanes`] add the GPUs of a build with the
//! feature `cuda`.
//!
//! ```
//! use hybz::{Lanes, Pool, Settings};
//! use std::num::NonZero;
//! let pool = Pool::builder().threads(NonZero::new(2).unwrap()).accelerators(&Lanes::default()).build();
//! let settings = Settings::new().pool(&pool);
//! let coded = hybz::compress(b"to be or not to be", &settings)?;
//! assert_eq!(hybz::decompress(&coded, &settings)?, b"to be or not to be");
//! # Ok::<(), hybz::Error>(())
//! ```
//!
//! # Reading at any place
//!
//! A [`seek::Reader`] decodes only the blocks that hold the wanted text. It finds them by an [`index`](mod@index),
//! which is made once for each file.
//!
//! ```
//! use hybz::{Settings, index::Index, seek::Reader};
//! let file = hybz::compress(b"to be or not to be", &Settings::new())?;
//! let index = Index::build(&file[..], &Settings::new())?;
//! let mut word = [0; 3];
//! Reader::with_index(file, index, &Settings::new()).read_at(&mut word, 9)?;
//! assert_eq!(&word, b"not");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # And
//!
//! | | |
//! |---|---|
//! | [`Encoding`], [`Format`] | what is written and read: `.bz2`, [`.hbz`](hbz), [LZ4 frames](lz4), [`.Z`](lzw) |
//! | [`flow::run`] | many inputs through one pool, in order |
//! | [`push`] | `.bz2` in the calling thread: bytes in, bytes out, without a pool |
//! | [`shard`] | one file compressed in parts, by several machines |
//! | [`recover`](mod@recover) | the good blocks of damaged files |
//!
//! # Features
//!
//! | | |
//! |---|---|
//! | `cli` | the command |
//! | `libsais` | blocks are sorted by libsais where that is faster; without it the same bytes take more time |
//! | `lz4` | LZ4 frames are read and written; without it `Encoding` lacks them, and they are only recognised |
//! | `cuda` | GPUs |
//!
//! The first three are on by default. Without features the library needs no C compiler, and builds for
//! `wasm32-unknown-unknown`.
//!
//! `docs/ARCHITECTURE.md` says how a block gets through the library, who holds it and what bounds memory.

// Without `internals` the callers of some items are missing: the command, hysort, libbz2, tests.
#![cfg_attr(not(any(test, feature = "internals")), allow(dead_code, unused_imports))]

mod adapter;
mod bits;
mod block;
pub mod bufread;
mod codec;
#[cfg(target_arch = "x86_64")]
mod cpu;
mod crc;
mod encoding;
mod error;
mod flaw;
pub mod flow;
mod format;
mod formats;
mod gate;
pub mod index;
#[cfg(any(test, feature = "internals"))]
#[doc(hidden)]
pub mod internals;
pub mod read;
mod read_at;
pub mod recover;
pub mod seek;
mod settings;
pub mod shard;
mod station;
mod stream;
mod summary;
mod table;
pub mod write;
mod writer;

/// The queue that all stations of a process drain: a package of its own, for any kind of tasks.
pub use hybz_queue as schedule;

pub use encoding::Encoding;
pub use error::{Damage, Error};
pub use format::{Format, Formats};
pub use formats::bzip2::header::{InvalidLevel, Level};
pub use formats::bzip2::push;
pub use formats::bzip2::stream::Streams;
pub use formats::hbz::header::LargeBlocks;
#[cfg(feature = "lz4")]
pub use formats::lz4;
pub use formats::{hbz, lzw};
pub use hybz_queue::{Pool, PoolBuilder, StationReport, Summary};
pub use read_at::ReadAt;
pub use settings::Settings;
pub use station::gpu::Lanes;
pub use stream::coded::Verify;
pub use summary::{BlockInfo, StreamInfo, StreamSummary};

use flow::one_stream::Driver;

/// `text` as one `.bz2` stream: bzip2's exact bytes at the settings' level.
pub fn compress(text: &[u8], settings: &Settings) -> Result<Vec<u8>, Error> {
    read::whole(Driver::compress(settings), text)
}

/// The text of the streams in `coded`, all consecutive ones: `.bz2`, or another format that hybz reads, if the settings
/// do not exclude it.
pub fn decompress(coded: &[u8], settings: &Settings) -> Result<Vec<u8>, Error> {
    let driver = Driver::decompress(settings, false);
    read::whole(driver, coded)
}
