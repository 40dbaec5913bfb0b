//! Sorts lines on the stations of a pool: `LC_ALL=C sort`.
//!
//! Lines are compared as unsigned bytes, as a whole or by [`Keys`]. [`sorted`] and [`Sorter`] return the bytes that
//! `LC_ALL=C sort` writes with `-r`, `-u` and `-z` as [`Order`] says; [`lines`](fn@lines) and [`strings`] return
//! numbers instead.
//!
//! ```
//! use hysort::{Order, lines, pool, sorted};
//! let pool = pool().build();
//! let text = b"to\nbe\nor\nnot\nto\nbe\n";
//! assert_eq!(sorted(text, &Order::new().unique(true), &pool)?, b"be\nnot\nor\nto\n");
//! assert_eq!(lines(text, &Order::new(), &pool)?, [1, 5, 3, 2, 0, 4]);
//! # Ok::<(), hysort::Error>(())
//! ```
//!
//! # How
//!
//! ```text
//! text -> chunks -> sample, splitters -> (stations) a chunk's lines by range -> (stations) a range, sorted -> out
//!                                                            |                    ^
//!                                                            '-- temporary file --'  if memory is short
//! ```
//!
//! A sample of the lines gives splitters, which divide all possible lines into ranges. A chunk of text is partitioned
//! by one station, a range is sorted by one station, and ranges are written in their order: nothing is merged. A very
//! frequent line has a range of its own, whose lines are only counted.
//!
//! **On a device.** If the length of a text is known ([`Sorter::expect`]), is 2 to 16 GB and at most three eighths of
//! the memory, cores only count the lines of each range. As the text comes, a device sorts it in parts of 64 MB and
//! keeps them; a range is a slice of every part, and lanes of that device sort it where it is. So cores neither move
//! lines nor sort them: they read, count, check and write.
//!
//! ```text
//! text -> chunks -> (stations) lines and sum of each range ----------------> slices -> (lanes) a range, sorted -> out
//!             '-> parts -> (lanes) sorted, and kept on the device ----------'
//! ```
//!
//! **Long lines.** Lines of more than 1 MB, or of a 256th of the memory, are not partitioned: they are sorted in
//! place, in memory or in a temporary file of their own, are compared only as far as needed, and are inserted between
//! the other lines when those are written. So memory does not depend on their length.
//!
//! **Keys.** A line to be sorted by keys is sorted as a longer line, which begins with a code of its keys: bytes in
//! the order of the keys. The code is left out as lines are written. So all of the above applies to keys, too.
//!
//! **Memory.** Waiting text and jobs in flight hold permits of the pool's budget. [`Limits`] say how much a [`Sorter`]
//! may hold, and where it may put the rest.
//!
//! **Checks.** A station's output is checked before it is written: the order of all neighbours, and a sum over all
//! lines, which must equal the sum over the input lines. This also detects errors in between, such as those of a disk.
//! A wrong answer is counted ([`StationReport::wrong`](StationReport::wrong)), its station gets no more work, and a
//! core sorts the range again. Checking takes about a tenth of the time of sorting.

mod chunker;
mod cpu;
mod device;
mod error;
mod external;
mod flight;
#[cfg(test)]
mod flight_tests;
mod gpu;
#[cfg(test)]
mod gpu_fake;
#[cfg(test)]
mod gpu_tests;
mod keys;
mod limits;
mod local;
mod long;
mod merge;
mod order;
mod ordered;
mod partition;
mod parts;
mod range;
mod rank;
mod resident;
mod runs;
mod sample;
mod shares;
mod sorter;
mod spill;
mod splitters;
#[cfg(test)]
mod stations_tests;
#[cfg(test)]
mod steps_tests;
mod stored;
mod tasks;
mod text;
mod verify;
mod weave;
mod writer;

pub use device::DeviceSorter;
pub use error::Error;
pub use gpu::LineLanes;
pub use keys::{Key, KeyError, Keys, Options, Sorter, check, merge};
pub use limits::{Limits, Report};
pub use order::Order;
pub use ordered::Disorder;
pub use rank::{lines, strings};

/// Why a device failed.
pub use hybz_gpu::DeviceError;
pub use hybz_queue::{Pool, PoolBuilder, StationReport, Summary};

use hybz_queue::{Client, Permit};
#[cfg(test)]
use hybz_testkit::{faults, shapes, skip};

/// Starts the description of a pool for sorting: its memory budget has two ranges for each core.
pub fn pool() -> PoolBuilder {
    Pool::builder().memory_per_core(32 << 20)
}

/// Returns the lines of `text`, sorted by an [`Order`] or by [`Keys`]. Each has its end, even if the last line of
/// `text` lacks it.
///
/// ```
/// use hysort::{Order, pool, sorted};
/// let pool = pool().build();
/// assert_eq!(sorted(b"b\na\nc", &Order::new(), &pool)?, b"a\nb\nc\n");
/// # Ok::<(), hysort::Error>(())
/// ```
///
/// # Errors
/// [`Error::KeyPanicked`], and errors that the text does not cause: [`Error::Missorted`], [`Error::Internal`] and
/// [`Error::Forked`].
pub fn sorted(text: &[u8], keys: impl Into<Keys>, pool: &Pool) -> Result<Vec<u8>, Error> {
    let mut sorter = Sorter::new(keys, Limits::new(), pool);
    sorter.push(text)?;
    let mut out = Vec::with_capacity(text.len() + 1);
    sorter.write_to(&mut out)?;
    Ok(out)
}

/// A permit for bytes that wait. A budget that may grow does so; `None` if it is still too small.
fn hold(holder: &Client, bytes: u64) -> Option<Permit> {
    holder.try_permit(bytes).or_else(|| {
        holder.pool().budget().fit_station(bytes);
        holder.try_permit(bytes)
    })
}

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
