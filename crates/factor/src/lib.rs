//! Exact LZ77 factors of a text, and what they and its suffix array tell about how repetitive it is.
//!
//! The factors are those of the literature (Crochemore, Kärkkäinen, Puglisi): from left to right, each is the longest
//! string that also occurs earlier in the text (the two may overlap); a byte that has not occurred before is a factor
//! by itself. There is no window and no min length, so this is a measure and not a format.
//!
//! ```
//! use hybz_factor::{Factor, expand, factors};
//! let all: Vec<Factor> = factors(b"abababc")?.collect();
//! let copy = Factor::Copy { source: 0, len: 4 };
//! assert_eq!(all, [Factor::Letter(b'a'), Factor::Letter(b'b'), copy, Factor::Letter(b'c')]);
//! assert_eq!(expand(all)?, b"abababc");
//! # Ok::<(), hybz_factor::Error>(())
//! ```
//!
//! # Algorithm
//!
//! libsais sorts the suffixes. The longest earlier occurrence of the text at position i begins at one of two places: at
//! the nearest suffix before i's in sorted order that begins earlier in the text (PSV, previous smaller value), or at
//! the nearest such suffix after it (NSV); Crochemore and Ilie, 2008. One pass over the suffix array with a stack finds
//! both for all positions ([`neighbours`]). They are stored next to each other, by position, as in KKP3 (Kärkkäinen,
//! Kempa, Puglisi, CPM 2013). The text is compared with both, at the same time, only at the start of a factor
//! ([`parse`]). All of it takes linear time for any text.
//!
//! [`tiled`] does the same in a way that suits a GPU, with many threads that share little. It is slower on a core, and
//! serves as the twin of the kernels in `cuda/`, which [`DeviceFactorizer`] runs.
//!
//! # Limits
//!
//! A text may have [`MAX_TEXT`] bytes: indices are `i32`. In addition to the text, [`factors`] takes at most 12 bytes
//! for each of its bytes and 8 kB ([`memory_needed`]), and keeps 8 for each while the iterator is alive. [`measure()`]
//! takes the same. Without enough memory, both return [`Error::NoMemory`]. Both use one thread; call them in several
//! threads to measure several texts at the same time.

mod device;
mod error;
mod measure;
pub mod neighbours;
pub mod parse;
pub mod suffixes;
pub mod tiled;

pub use device::DeviceFactorizer;
pub use error::Error;
pub use measure::{Measures, measure};
pub use measure::{Step, measure_in_steps};

use parse::Parse;
use std::iter::FusedIterator;

/// The max length of a text in bytes: 2^31 - 1.
pub const MAX_TEXT: usize = i32::MAX as usize;

/// The memory that [`factors`] and [`measure()`] take at most for each byte of the text: the suffix array and two
/// neighbours.
const BYTES_FOR_EACH: u64 = 12;

/// The memory in bytes that [`factors`] or [`measure()`] take for a text of `len` bytes, not counting the text.
pub fn memory_needed(len: u64) -> u64 {
    len.saturating_mul(BYTES_FOR_EACH).saturating_add(suffixes::ROOM as u64 * 4)
}

/// One factor of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    /// A byte that has not occurred before.
    Letter(u8),
    /// A copy of text that begins earlier. It may overlap its source: an `a` followed by a copy of 9 bytes from that
    /// `a` makes ten `a`s.
    Copy {
        /// The offset at which the source begins. Of two equally long candidates, the one with the smaller suffix is
        /// the source.
        source: u32,
        /// The length of the copy in bytes, at least 1.
        len: u32,
    },
}

impl Factor {
    /// The number of bytes that the factor stands for.
    pub fn text_len(&self) -> usize {
        match *self {
            Factor::Letter(_) => 1,
            Factor::Copy { len, .. } => len as usize,
        }
    }
}

/// The exact LZ77 factors of `text`, in order. The iterator finds them lazily.
///
/// # Errors
/// [`Error::TooLong`] for more than [`MAX_TEXT`] bytes, [`Error::NoMemory`] if there is not enough memory.
pub fn factors(text: &[u8]) -> Result<Factors<'_>, Error> {
    let pairs = neighbours::by_position(suffixes::sort(text)?)?;
    Ok(Factors { parse: Parse::new(text.len()), text, pairs })
}

/// The iterator that [`factors`] returns.
#[derive(Clone)]
pub struct Factors<'a> {
    text: &'a [u8],
    pairs: Vec<neighbours::Pair>,
    parse: Parse,
}

impl Factors<'_> {
    /// The offset in the text of the next factor; at the end, the length of the text.
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

/// Returns the text that these factors stand for.
///
/// # Errors
/// [`Error::BadFactor`] if a factor's source is not before it, or its length is 0; [`Error::TooLong`] if the text has
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
                // An overlapping copy repeats: each round copies everything copied so far, a whole number of periods,
                // so the next round copies twice as much.
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

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
