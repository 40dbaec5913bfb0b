//! The lazy parse: the longest earlier occurrence is computed only where a factor begins.

use super::Factor;
use super::neighbours::{NONE, Pair};

/// The state of a parse.
#[derive(Clone, Copy, Debug)]
pub struct Parse {
    at: usize,
    end: usize,
}

impl Parse {
    /// A parse of a whole text.
    pub fn new(len: usize) -> Parse {
        Parse { at: 0, end: len }
    }

    /// A parse of the bytes `at..end` of a text. The last factor is cut at `end`; sources may lie before `at`.
    pub fn part(at: usize, end: usize) -> Parse {
        Parse { at, end }
    }

    /// The position of the next factor.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next factor of the text, given its neighbours.
    pub fn next(&mut self, text: &[u8], pairs: &[Pair]) -> Option<Factor> {
        if self.at >= self.end {
            return None;
        }
        let factor = factor_at(&text[..self.end], pairs[self.at], self.at);
        self.at += factor.text_len();
        Some(factor)
    }
}

/// The factor that begins at `at`.
pub fn factor_at(text: &[u8], pair: Pair, at: usize) -> Factor {
    let (source, len) = match pair {
        [NONE, NONE] => (NONE, 0),
        [one, NONE] | [NONE, one] => (one, common(text, one as usize, at, 0)),
        [smaller, larger] => longer(text, smaller, larger, at),
    };
    match len {
        0 => Factor::Letter(text[at]),
        _ => Factor::Copy { source: source as u32, len: len as u32 },
    }
}

/// Which of the two positions shares the longer prefix with the text at `at`, and that prefix's length; `first` on a
/// tie. Both are compared at the same time, so that their cache misses overlap.
fn longer(text: &[u8], first: i32, second: i32, at: usize) -> (i32, usize) {
    let (one, two) = (first as usize, second as usize);
    let mut len = 0;
    while let Some(here) = word(text, at + len) {
        let (Some(a), Some(b)) = (word(text, one + len), word(text, two + len)) else { break };
        match (here ^ a, here ^ b) {
            (0, 0) => len += 8,
            (0, _) => return (first, common(text, one, at, len + 8)),
            (_, 0) => return (second, common(text, two, at, len + 8)),
            (a, b) => {
                let (a, b) = (a.trailing_zeros() as usize / 8, b.trailing_zeros() as usize / 8);
                return if a >= b { (first, len + a) } else { (second, len + b) };
            }
        }
    }
    let (a, b) = (common(text, one, at, len), common(text, two, at, len));
    if a >= b { (first, a) } else { (second, b) }
}

/// The length of the common prefix of the suffixes at `before` and at `at`, which is later; `len` bytes are known to
/// be common.
pub fn common(text: &[u8], before: usize, at: usize, mut len: usize) -> usize {
    while let (Some(a), Some(b)) = (word(text, before + len), word(text, at + len)) {
        if a != b {
            return len + (a ^ b).trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    len + text[at + len..].iter().zip(&text[before + len..]).take_while(|(a, b)| a == b).count()
}

/// Eight bytes, the first one lowest.
fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}
