//! The flow of one stream: cut, issued to the stations, joined, written. One folder for each format.
//!
//! | file | |
//! |---|---|
//! | `piece` | the roles: [`Cut`](piece::Cut), [`Join`](piece::Join), and the two ends made of them |
//! | `bzip2` | `.bz2`: `split` or `parallel_read`, `assemble` when compressing; `scan`, `chain` when decompressing |
//! | `hbz` | `.hbz`: `blocks`, `assemble` when compressing; `scan`, `chain`, `index` when decompressing |
//! | `lz4` | LZ4 frames: `texts`, `assemble` when compressing; `scan`, `relay`, `chain` when decompressing |
//! | `lzw` | `.Z`, only read: `chunks`, `relay`, `join` |
//! | `copy` | an input that is only copied |
//! | `formats` | the table of formats |
//! | `detect` | detection of an input's format |
//! | `mixed` | streams of different formats one after the other |
//! | `open` | one stream as the settings say |
//! | `driver` | one stream on the caller's own thread: the basis of `read` and `write` |
//! | `verify` | coded blocks that are decoded again before they are written |
//! | `flow` | many inputs through one pool, with a manager's thread: the engine of the command |

pub(crate) mod bzip2;
mod copy;
mod detect;
pub(crate) mod driver;
pub mod flow;
pub(crate) mod formats;
pub(crate) mod hbz;
pub(crate) mod lz4;
pub(crate) mod lzw;
mod mixed;
mod open;
pub(crate) mod piece;
#[cfg(test)]
mod toy;
pub(crate) mod verify;

pub use bzip2::Streams;
pub use formats::Encoding;
pub(crate) use piece::Extent;
