//! Measures of how repetitive a text is.

use super::parse::Parse;
use super::{Error, neighbours, suffixes};

/// How repetitive a text is: what [`measure`] returns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measures {
    /// The length of the text, n.
    pub bytes: u64,
    /// The number of different bytes in it.
    pub alphabet: u32,
    /// The order-0 entropy in bits per byte: a lower bound for codes of single bytes.
    pub entropy: f64,
    /// The number of runs of equal letters in the Burrows-Wheeler transform of the text and an end mark (r).
    pub runs: u64,
    /// The number of exact LZ77 factors (z).
    pub factors: u64,
    /// The length of the longest factor.
    pub longest: u64,
}

impl Measures {
    /// The mean length of a factor, n / z; 0 for an empty text.
    pub fn mean(&self) -> f64 {
        ratio(self.bytes, self.factors)
    }

    /// The mean length of a run of the transform, n / r; 0 for an empty text.
    pub fn mean_run(&self) -> f64 {
        ratio(self.bytes, self.runs)
    }
}

fn ratio(bytes: u64, parts: u64) -> f64 {
    if parts > 0 { bytes as f64 / parts as f64 } else { 0.0 }
}

/// The progress of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The suffixes are sorted.
    Sorted,
    /// The neighbours are found.
    Neighbours,
    /// This many bytes are factorized.
    Parsed(u64),
}

/// The number of bytes between reports of progress.
const OFTEN: usize = 1 << 20;

/// Measures a text.
///
/// ```
/// let found = hybz_factor::measure(b"abracadabra")?;
/// assert_eq!((found.bytes, found.alphabet, found.runs, found.factors, found.longest), (11, 5, 8, 8, 4));
/// assert_eq!(found.mean(), 11.0 / 8.0);
/// # Ok::<(), hybz_factor::Error>(())
/// ```
///
/// # Errors
/// See [`factors`](super::factors).
pub fn measure(text: &[u8]) -> Result<Measures, Error> {
    measure_in_steps(text, &mut |_| ())
}

/// Like [`measure`], but calls `done` after each step.
pub fn measure_in_steps(text: &[u8], done: &mut dyn FnMut(Step)) -> Result<Measures, Error> {
    let sorted = suffixes::sort(text)?;
    done(Step::Sorted);
    let mut found = of_bytes(text);
    found.runs = suffixes::runs(text, &sorted);
    let pairs = neighbours::by_position(sorted)?;
    done(Step::Neighbours);
    let (mut parse, mut told) = (Parse::new(text.len()), 0);
    while let Some(factor) = parse.next(text, &pairs) {
        found.factors += 1;
        found.longest = found.longest.max(factor.text_len() as u64);
        if parse.position() - told >= OFTEN {
            told = parse.position();
            done(Step::Parsed(told as u64));
        }
    }
    done(Step::Parsed(text.len() as u64));
    Ok(found)
}

/// Measures the counts of bytes.
pub(super) fn of_bytes(text: &[u8]) -> Measures {
    let counts = counts(text);
    Measures {
        bytes: text.len() as u64,
        alphabet: counts.iter().filter(|count| **count > 0).count() as u32,
        entropy: entropy(&counts, text.len()),
        ..Measures::default()
    }
}

fn counts(text: &[u8]) -> [u64; 256] {
    // Four tables of counts, so that counting equal neighbouring bytes is not serialized.
    let mut tables = [[0u64; 256]; 4];
    let (fours, rest) = text.as_chunks::<4>();
    for four in fours {
        four.iter().zip(&mut tables).for_each(|(&byte, table)| table[usize::from(byte)] += 1);
    }
    rest.iter().for_each(|&byte| tables[0][usize::from(byte)] += 1);
    std::array::from_fn(|byte| tables.iter().map(|table| table[byte]).sum())
}

fn entropy(counts: &[u64; 256], len: usize) -> f64 {
    // libm's logarithm gives the same digits on all machines.
    let part = |&count: &u64| {
        let share = count as f64 / len as f64;
        -share * libm::log2(share)
    };
    // `sum()` is not used, because it returns -0 for no terms.
    counts.iter().filter(|count| **count > 0 && **count < len as u64).map(part).fold(0.0, |sum, part| sum + part)
}
