//! Exact LZ77 factors of a text, and what they and its suffix array say about how repetitive it is.
//!
//! The factors are those of the literature (Crochemore, Kärkkäinen, Puglisi): from left to right, each is the longest
//! string that also begins earlier in the text, where the two may overlap; a byte that has not occurred before is a
//! factor by itself. There is no window and no smallest length, so this is a measure and no format.
//!
//! ```
//! use hybz::factor::{Factor, expand, factors};
//! let all: Vec<Factor> = factors(b"abababc")?.collect();
//! let copy = Factor::Copy { source: 0, len: 4 };
//! assert_eq!(all, [Factor::Letter(b'a'), Factor::Letter(b'b'), copy, Factor::Letter(b'c')]);
//! assert_eq!(expand(all)?, b"abababc");
//! # Ok::<(), hybz::Error>(())
//! ```
//!
//! # How
//!
//! libsais sorts the suffixes. The longest earlier occurrence of what begins at position i begins at one of two places:
//! at the nearest suffix before i's in sorted order that begins earlier in the text (PSV, previous smaller value), or
//! at the nearest behind it (NSV); Crochemore and Ilie, 2008. One pass over the suffix array with a stack finds both
//! for all positions ([`neighbours`]), and they lie beside each other in memory, by position, as in KKP3 (Kärkkäinen,
//! Kempa, Puglisi, CPM 2013). Only where a factor begins is the text compared with both, at the same time ([`parse`]).
//! All of it takes linear time for any text.
//!
//! [`tiled`] does the same in the way of a GPU: many threads that share little. It is slower on a core, and there as
//! the twin of the kernels in `cuda/`, which [`DeviceFactorizer`] runs.
//!
//! # Limits
//!
//! A text may have [`MAX_TEXT`] bytes: indices are `i32`. Beside the text, [`factors`] takes at most 12 bytes for each
//! of its bytes and 8 kB ([`memory_needed`]), and keeps 8 for each while factors are taken from it. [`measure`] takes
//! the same. If there is not so much, they return [`Error::NoMemory`]. They use one thread:
//! several texts are measured at the same time by calling them in several.

mod device;
mod measure;
#[doc(hidden)]
pub mod neighbours;
#[doc(hidden)]
pub mod parse;
#[doc(hidden)]
pub mod suffixes;
#[doc(hidden)]
pub mod tiled;

pub use device::DeviceFactorizer;
pub use measure::{Measures, measure};
#[doc(hidden)]
pub use measure::{Step, measure_in_steps};

use crate::Error;
use parse::Parse;
use std::iter::FusedIterator;

/// The longest text that can be factorized, in bytes: 2^31 - 1.
pub const MAX_TEXT: usize = i32::MAX as usize;

/// What [`factors`] and [`measure`] take for each byte of the text at most: the suffix array and two neighbours.
const BYTES_FOR_EACH: u64 = 12;

/// How much memory [`factors`] or [`measure`] take for a text of `len` bytes, beside the text, in bytes.
pub fn memory_needed(len: u64) -> u64 {
    len.saturating_mul(BYTES_FOR_EACH).saturating_add(suffixes::ROOM as u64 * 4)
}

/// One factor of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    /// A byte that has not occurred before.
    Letter(u8),
    /// What begins at an earlier position. It may reach into the factor itself: `a`, then a copy of 9 bytes from where
    /// that `a` is, are ten of them.
    Copy {
        /// Where it begins. Of two places with equally long copies it is that whose suffix is the smaller one.
        source: u32,
        /// How many bytes it has: at least 1.
        len: u32,
    },
}

impl Factor {
    /// How many bytes of the text it stands for.
    pub fn text_len(&self) -> usize {
        match *self {
            Factor::Letter(_) => 1,
            Factor::Copy { len, .. } => len as usize,
        }
    }
}

/// The exact LZ77 factors of `text`, in order. They are found while the iterator is read.
///
/// # Errors
/// [`Error::TooLong`] for more than [`MAX_TEXT`] bytes, [`Error::NoMemory`] if there is not enough of it.
pub fn factors(text: &[u8]) -> Result<Factors<'_>, Error> {
    let pairs = neighbours::by_position(suffixes::sort(text)?)?;
    Ok(Factors { parse: Parse::new(text.len()), text, pairs })
}

/// The factors of a text: what [`factors`] returns.
#[derive(Clone)]
pub struct Factors<'a> {
    text: &'a [u8],
    pairs: Vec<neighbours::Pair>,
    parse: Parse,
}

impl Factors<'_> {
    /// Where in the text the next factor begins; its length, if there is none.
    pub fn position(&self) -> usize {
        self.parse.position()
    }
}

impl Iterator for Factors<'_> {
    type Item = Factor;

    fn next(&mut self) -> Option<Factor> {
        self.parse.next(self.text, &self.pairs)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.text.len() - self.position();
        (left.min(1), Some(left))
    }
}

impl FusedIterator for Factors<'_> {}

impl std::fmt::Debug for Factors<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (position, len) = (self.position(), self.text.len());
        f.debug_struct("Factors").field("position", &position).field("text_len", &len).finish_non_exhaustive()
    }
}

/// The text that these factors stand for.
///
/// # Errors
/// [`Error::BadFactor`] if a factor copies from where nothing is yet, or nothing; [`Error::TooLong`] if the text has
/// more than [`MAX_TEXT`] bytes; [`Error::NoMemory`].
pub fn expand(factors: impl IntoIterator<Item = Factor>) -> Result<Vec<u8>, Error> {
    let mut text: Vec<u8> = Vec::new();
    for (number, factor) in (1..).zip(factors) {
        let needs = text.len() + factor.text_len();
        if needs > MAX_TEXT {
            return Err(Error::TooLong { len: needs as u64, max: MAX_TEXT as u64 });
        }
        text.try_reserve(factor.text_len()).map_err(|_| Error::NoMemory { needs: needs as u64 })?;
        match factor {
            Factor::Letter(letter) => text.push(letter),
            Factor::Copy { source, len } => {
                let (source, len) = (source as usize, len as usize);
                if source >= text.len() || len == 0 {
                    return Err(Error::BadFactor { number });
                }
                // What overlaps repeats: each round copies all that is there, a whole number of periods, so that the
                // next one copies twice as much.
                let mut left = len;
                while left > 0 {
                    let part = left.min(text.len() - source);
                    text.extend_from_within(source..source + part);
                    left -= part;
                }
            }
        }
    }
    Ok(text)
}
