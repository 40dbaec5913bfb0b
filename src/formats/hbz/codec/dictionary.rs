//! The dictionary of a block: what its codes, the bytes of its last column, stand for. Most codes stand for a byte of
//! the text, the others for strings that the text uses often, the phrases.
//!
//! Phrases replace bzip2's run-length step 1, which the suffix sorter does not need and which gains nothing in size.
//! They shorten the sort and, more importantly, the walk, which is the slowest step of decoding. The strings are words,
//! cut at `_`, and sequences of blanks and zeros, chosen by occurrences times bytes saved. Replacing pairs of bytes
//! repeatedly (byte-pair encoding) would shorten the text twice as much (linux: to 59 % instead of 76), but it cuts
//! words at odd places, and the result is 0.2 % larger. Words make it 0.4 % smaller, as the first letters of a word
//! are no longer coded one by one. Thousands of words as codes of two bytes gain no more than their list costs.
//!
//! A large block has all 256 byte values, some of them only a few times. These get no code: each is written as an
//! **escape** and its number among the bytes without a code, and their codes become free for phrases.
//!
//! The order of the codes decides which contexts are neighbours in the last column. A phrase therefore comes after its
//! first letter, and the letters are ordered so that similar ones are neighbours (B. Chapin and S. Tate, "Higher
//! compression from the Burrows-Wheeler transform by modified sorting", DCC 1998). Measured: 0.3 and 0.15 % smaller, at
//! no cost for readers.

use super::words::WordCutter;
use crate::formats::hbz::header::MAX_PHRASE;
use foldhash::HashMap;

/// With fewer occurrences a phrase does not repay its description.
const MIN_OCCURRENCES: u32 = 16;
/// The part of a block that is examined: `SAMPLES` pieces of `SAMPLE` bytes.
const SAMPLES: usize = 32;
const SAMPLE: usize = 16 << 10;
/// An escaped byte costs as much as a phrase saves with this many bytes.
const ESCAPE_COST: u64 = 8;

/// The meaning of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A byte.
    Byte(u8),
    /// A string of 2 to [`MAX_PHRASE`] bytes.
    Phrase(Vec<u8>),
    /// Together with the code after it, a byte that has no code.
    Escape,
}

/// The meanings of all codes of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary {
    codes: Vec<Meaning>,
}

/// The order of the codes: for each byte, the rank of the codes that begin with it. Bytes that are in neither list come
/// between the blanks and the digits if they are below 128, and at the end otherwise.
fn code_order() -> [u8; 256] {
    const BLANKS: &[u8] = b"\n\t ";
    const LETTERS: &[u8] = b"0123456789_AOEIUBCDGFHRLSMNPQJKTWVXYZaoeiubcdgfhrlsmnpqjktwvxyz";
    let others = (0..128).filter(|byte| !BLANKS.contains(byte) && !LETTERS.contains(byte));
    let order = BLANKS.iter().copied().chain(others).chain(LETTERS.iter().copied()).chain(128..=255);
    let mut ranks = [0; 256];
    order.zip(0..=255).for_each(|(byte, rank)| ranks[usize::from(byte)] = rank);
    ranks
}

impl Dictionary {
    /// The dictionary that a reader has found in a payload. Returns `None` if a byte has two codes, if there are two
    /// escapes, or if a phrase has a wrong length.
    pub fn new(codes: Vec<Meaning>) -> Option<Self> {
        let mut seen = [false; 256];
        let mut escapes = 0;
        let good = codes.iter().all(|code| match code {
            Meaning::Byte(byte) => !std::mem::replace(&mut seen[usize::from(*byte)], true),
            Meaning::Phrase(string) => (2..=MAX_PHRASE).contains(&string.len()),
            Meaning::Escape => {
                escapes += 1;
                escapes == 1
            }
        });
        (good && (1..=256).contains(&codes.len())).then_some(Dictionary { codes })
    }

    /// The meanings of the codes, from code 0 on.
    pub fn codes(&self) -> &[Meaning] {
        &self.codes
    }

    /// Chooses a good dictionary for this text of at least one byte.
    pub fn choose(text: &[u8]) -> Self {
        let counts = count(text);
        let mut bytes: Vec<u8> = (0..=255).filter(|&byte| counts[usize::from(byte)] > 0).collect();
        bytes.sort_by_key(|&byte| counts[usize::from(byte)]);
        let free = 256 - bytes.len();
        let phrases = candidates(text);

        // Escaping `n` bytes makes room for n - 1 more phrases, which pays as long as they save more than the escapes
        // cost.
        let (mut escaped, mut balance, mut best) = (0, 0i64, 0);
        for (n, &byte) in (1..bytes.len()).zip(&bytes) {
            balance -= (ESCAPE_COST * counts[usize::from(byte)]) as i64;
            if n > 1 {
                let Some((saved, _)) = phrases.get(free + n - 2) else { break };
                balance += *saved as i64;
            }
            if balance > best {
                (escaped, best) = (n, balance);
            }
        }
        let room = free + escaped - usize::from(escaped > 0);
        let mut codes: Vec<Meaning> = bytes.drain(escaped..).map(Meaning::Byte).collect();
        codes.extend(phrases.into_iter().take(room).map(|(_, string)| Meaning::Phrase(string.to_vec())));
        codes.extend((escaped > 0).then_some(Meaning::Escape));
        Dictionary::sorted(codes)
    }

    /// The dictionary with one code for each byte of this text, and no phrases.
    pub fn without_phrases(text: &[u8]) -> Self {
        let mut used = [false; 256];
        text.iter().for_each(|&byte| used[usize::from(byte)] = true);
        Dictionary::sorted((0..=255).filter(|&byte| used[usize::from(byte)]).map(Meaning::Byte).collect())
    }

    fn sorted(mut codes: Vec<Meaning>) -> Self {
        let order = code_order();
        codes.sort_by_cached_key(|code| match code {
            Meaning::Byte(byte) => (order[usize::from(*byte)], Vec::new()),
            Meaning::Phrase(string) => (order[usize::from(string[0])], string.clone()),
            Meaning::Escape => (255, vec![255]),
        });
        Dictionary { codes }
    }

    /// The bytes that have no code, ascending.
    pub(super) fn escaped(&self) -> Vec<u8> {
        (0..=255).filter(|byte| !self.codes.contains(&Meaning::Byte(*byte))).collect()
    }

    /// Whether `code` stands for this phrase.
    pub(super) fn is_phrase(&self, code: u8, string: &[u8]) -> bool {
        matches!(&self.codes[usize::from(code)], Meaning::Phrase(own) if own == string)
    }
}

/// How often each byte occurs. Four tables are used in turn, so that a byte equal to the one before it need not wait
/// for its count.
fn count(text: &[u8]) -> [u64; 256] {
    let mut counts = [[0u32; 256]; 4];
    let (fours, rest) = text.as_chunks::<4>();
    for four in fours {
        for (counts, &byte) in counts.iter_mut().zip(four) {
            counts[usize::from(byte)] += 1;
        }
    }
    rest.iter().for_each(|&byte| counts[0][usize::from(byte)] += 1);
    std::array::from_fn(|byte| counts.iter().map(|counts| u64::from(counts[byte])).sum())
}

/// The strings that could be phrases, and the number of bytes that each would save in this text, best first.
fn candidates(text: &[u8]) -> Vec<(u64, &[u8])> {
    // The standard library's hash took 1.5 times as long.
    let mut counts: HashMap<&[u8], u32> = HashMap::default();
    let stride = (text.len() / SAMPLES).max(SAMPLE);
    let mut seen = 0;
    for piece in text.chunks(stride) {
        let sample = &piece[..piece.len().min(SAMPLE)];
        seen += sample.len() as u64;
        WordCutter::default().cut(sample, 0..sample.len(), |piece| *counts.entry(&sample[piece]).or_default() += 1);
    }
    let saved = |times: u32, len: usize| u64::from(times) * (len as u64 - 1) * text.len() as u64 / seen;
    let mut best: Vec<(u64, &[u8])> = counts
        .into_iter()
        .filter(|(_, times)| *times >= MIN_OCCURRENCES)
        .map(|(string, times)| (saved(times, string.len()), string))
        .collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.truncate(256);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_an_order() {
        let mut places = code_order();
        places.sort_unstable();
        assert!(places.iter().zip(0..=255).all(|(place, n)| *place == n));
    }

    #[test]
    fn dictionaries_that_mean_nothing() {
        for codes in [
            vec![],
            vec![Meaning::Byte(1), Meaning::Byte(1)],
            vec![Meaning::Escape, Meaning::Escape],
            vec![Meaning::Phrase(vec![1])],
        ] {
            assert_eq!(Dictionary::new(codes), None);
        }
    }
}
