//! hybz: bzip2 on every core of a machine.
//!
//! Compression writes exactly the bytes that bzip2 1.0.8 writes at the same level, whichever core or GPU coded each
//! block; decompression reads everything that bzip2 1.0.8 reads.
//!
//! ```
//! use hybz::{Level, Settings};
//! let coded = hybz::compress(b"to be or not to be", &Settings::new().level(Level::FASTEST))?;
//! assert_eq!(hybz::decompress(&coded, &Settings::new())?, b"to be or not to be");
//! # Ok::<(), hybz::Error>(())
//! ```
//!
//! For streams there are encoders and decoders in [`read`], [`bufread`] and [`write`](mod@write), with the names and
//! contracts of the `bzip2` crate; for many inputs through one queue, [`flow::run`]. All share the stations of a
//! [`Pool`].
//!
//! # The life of a block
//!
//! ```text
//! input -> cut -> queue -> station -> join -> output
//! ```
//!
//! **Compressing**: the splitter (`formats::bzip2::stream::split`) reads text into a buffer and looks for the end of
//! the block, which bzip2 defines by run-length tokens. The block becomes a task, which goes on the queue
//! ([`schedule`]); its ticket, the receiving end of its output, goes to the joiner
//! (`formats::bzip2::stream::assemble`), both in input order. A station takes the task and codes the block with the
//! steps in `codec`. The joiner waits for the oldest ticket only, so outputs need no sorting; it appends the block's
//! bits to the stream. (With accelerators, for which one reader is too slow, several threads read a long file and find
//! the runs in it, and only the block ends are found sequentially: `formats::bzip2::stream::parallel_read`.)
//!
//! **Decompressing**: block starts are not stored. A block has a 48-bit magic at any bit offset and no length. The
//! scanner (`formats::bzip2::stream::scan`) cuts the input at everything that looks like a magic, and stations decode
//! each span on trust. The joiner (`formats::bzip2::stream::chain`) believes a result only if the block before it ended
//! exactly where this span begins. Blocks of `.hbz` streams have lengths; a long one is decoded in stages, and the task
//! that completes a stage submits the next (`formats::hbz::stream::stages`).
//!
//! **Who holds a block.** The splitter, then the queue, then a station, which only reads it; the answer, then the
//! joiner, then the writer. A block therefore survives a station that fails or panics: a CPU core does it again with a
//! fresh codec, and it is counted as a fallback ([`StationReport::fallbacks`]).
//!
//! **Who verifies it.** If [`Settings::verify`] asks for it, a coded block goes back on the queue before the joiner
//! gets it: another core decodes it and compares the text (`stream::verify`).
//!
//! **Who codes it.** One rule decides (the queue's `policy`): a core starts a block only if it will be done before the
//! accelerators get to it. An accelerator may do a part of a task and forward the rest; cores take such continuations
//! first.
//!
//! **What bounds memory.** Every piece needs a permit of the pool's memory budget, in bytes, before it is put on the
//! queue, and the permit is dropped when its result has been written. Text that is nearly all runs is kept
//! run-length-coded ([`Text`]), so a block is never larger than 2 MiB or its own coded size, though it may stand for 46
//! MB. A stream without any permit always gets one, whatever the budget says.
//!
//! **Why there is no deadlock.** A station waits only for the queue (and a lane for its device, with a timeout), and
//! every task that it takes is completed or forwarded. The queue itself has no bound (the budget has one), so putting a
//! job on it never waits. The joiner waits for its oldest ticket: that job is done, being done, or in the queue before
//! every younger one. A job that the rule leaves to the accelerators is reconsidered when they should have taken it,
//! and when one of them leaves. A thread that waits for memory waits for the joiner, and the joiner releases what it
//! holds before it asks for more.

mod adapter;
mod bits;
mod block;
pub mod bufread;
mod codec;
mod crc;
mod error;
pub mod factor;
mod formats;
mod gate;
pub mod gpu;
pub mod index;
mod lines;
mod output;
pub mod read;
mod read_at;
pub mod recover;
pub mod seek;
mod settings;
pub mod shard;
mod station;
mod stream;
mod summary;
pub mod write;

/// The queue that all stations of a process drain: a package of its own, for any kind of tasks.
pub use hybz_queue as schedule;

pub use block::{CodedBlock, Compact, DecodedBlock, Expand, Part, Text};
pub use error::{Damage, DecodeError, Error};
pub use formats::bzip2::header::{InvalidLevel, Level};
pub use formats::bzip2::stream::Streams;
pub use formats::encoding::Encoding;
pub use formats::hbz::header::LargeBlocks;
pub use formats::kinds::{Format, Formats};
pub use formats::{hbz, lz4, lzw};
pub use read_at::ReadAt;
pub use schedule::{Pool, PoolBuilder, StationReport, Summary};
pub use settings::Settings;
pub use station::gpu::Lanes;
pub use stream::flow;
pub use stream::verify::Verify;
pub use summary::{BlockInfo, StreamInfo, StreamSummary};

#[cfg(test)]
use hybz_testkit::{shapes, skip};
use stream::driver::Driver;

pub(crate) use schedule::Client;

/// What tests, benches and other packages of this repository use and nobody else should: it may change with every
/// version.
#[cfg(any(test, feature = "internals"))]
#[doc(hidden)]
#[allow(missing_docs)]
pub mod internals {
    pub mod bits {
        pub use crate::bits::*;
    }
    pub mod codec {
        pub use crate::codec::*;
    }
    pub mod crc {
        pub use crate::crc::*;
    }
    pub mod formats {
        pub use crate::formats::kinds::{Blocks, IndexKind};
        pub mod bzip2 {
            pub use crate::formats::bzip2::header::*;
        }
        pub mod hbz {
            pub use crate::formats::hbz::codec::*;
            pub use crate::formats::hbz::header::*;
        }
        pub mod lzw {
            pub use crate::formats::lzw::header::*;
        }
    }
    pub mod station {
        pub use crate::station::*;
    }
    /// The tasks of all formats, for tests of stations.
    pub mod tasks {
        pub use crate::formats::bzip2::stream::tasks::*;
        pub use crate::formats::hbz::stream::tasks::*;
        pub use crate::formats::lz4::stream::tasks::*;
        pub use crate::formats::lzw::stream::tasks::*;
    }
}

/// `text` as one `.bz2` stream: bzip2's exact bytes at the settings' level.
pub fn compress(text: &[u8], settings: &Settings) -> Result<Vec<u8>, Error> {
    read::whole(Driver::compress(settings), text)
}

/// The text of the streams in `coded`, all consecutive ones: `.bz2`, or another format that hybz reads, if the settings
/// do not exclude it.
pub fn decompress(coded: &[u8], settings: &Settings) -> Result<Vec<u8>, Error> {
    let driver = Driver::decompress(settings);
    read::whole(driver, coded)
}
