//! Lines within a text: their ends, their keys, and sums that identify lines.

use std::iter::FusedIterator;
use std::ops::Range;

/// This byte, eight times.
const fn all(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// The highest bit of each byte of `word` that is zero.
fn zeros(word: u64) -> u64 {
    // Exact in every byte, because there are no carries between bytes.
    !(((word & all(0x7f)) + all(0x7f)) | word | all(0x7f))
}

/// The positions of all bytes `end` in a text.
#[derive(Clone, Debug)]
pub(crate) struct Ends<'a> {
    words: std::slice::Iter<'a, [u8; 8]>,
    /// The bytes after the last whole word.
    tail: &'a [u8],
    end: u8,
    /// The position of the word that `found` describes.
    base: usize,
    /// The ends in it that are not returned yet.
    found: u64,
}

impl<'a> Ends<'a> {
    pub fn new(text: &'a [u8], end: u8) -> Ends<'a> {
        let (words, tail) = text.as_chunks();
        Ends { words: words.iter(), tail, end, base: 0_usize.wrapping_sub(8), found: 0 }
    }
}

impl Iterator for Ends<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            #[cfg(test)]
            steps::add(8);
            let word = match self.words.next() {
                Some(word) => *word,
                None if self.tail.is_empty() => return None,
                None => {
                    let mut word = [!self.end; 8];
                    word[..self.tail.len()].copy_from_slice(self.tail);
                    self.tail = &[];
                    word
                }
            };
            self.base = self.base.wrapping_add(8);
            self.found = zeros(u64::from_le_bytes(word) ^ all(self.end));
        }
        let at = self.base + self.found.trailing_zeros() as usize / 8;
        self.found &= self.found - 1;
        Some(at)
    }
}

impl FusedIterator for Ends<'_> {}

/// The lines of a text as ranges without their ends. A last line needs no end.
pub(crate) fn lines(text: &[u8], end: u8) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let rest = (text.last().is_some_and(|&last| last != end)).then_some(text.len());
    Ends::new(text, end).chain(rest).map(move |at| {
        let line = start..at;
        start = at + 1;
        line
    })
}

/// The last position of `end` in a text.
pub(crate) fn last_end(text: &[u8], end: u8) -> Option<usize> {
    let at = text.iter().rposition(|&byte| byte == end);
    #[cfg(test)]
    steps::add(text.len() - at.unwrap_or(0));
    at
}

/// Counts the bytes that each thread searches for the ends of lines and of codes.
#[cfg(test)]
pub(crate) mod steps {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<usize> = const { Cell::new(0) });

    pub fn add(bytes: usize) {
        STEPS.set(STEPS.get() + bytes);
    }

    /// The steps of some work on this thread.
    pub fn of(work: impl FnOnce()) -> usize {
        let before = STEPS.get();
        work();
        STEPS.get() - before
    }
}

/// The next 8 bytes of a line that has `left` bytes from `at` on, as a big-endian number; zeros after its end.
///
/// Keys of lines are in the order of the lines, except that equal keys do not mean equal lines if a line has ended:
/// ended lines come before longer ones, the shorter first.
pub(crate) fn key(text: &[u8], at: usize, left: usize) -> u64 {
    let word = match text.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let rest = text.get(at..).unwrap_or_default();
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(bytes)
        }
    };
    if left >= 8 { word } else { word & !(u64::MAX >> (8 * left)) }
}

/// How many bytes at the beginning of both are equal.
pub(crate) fn common(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a_words, b_words) = (a[..len].as_chunks::<8>().0, b[..len].as_chunks::<8>().0);
    for (i, (x, y)) in a_words.iter().zip(b_words).enumerate() {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return i * 8 + differ.trailing_zeros() as usize / 8;
        }
    }
    let start = a_words.len() * 8;
    start + a[start..len].iter().zip(&b[start..len]).take_while(|(x, y)| x == y).count()
}

/// Mixes all bits of a number.
pub(crate) fn mix(number: u64) -> u64 {
    let mut x = number;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number for a line (without its end). Sums of them tell whether two texts have the same lines, in any order. The
/// function is not secret, but a machine's errors are not made to fit it.
///
/// Adds a number to each half of each word, adds up the products of the halves, and mixes the sum once (NH: Black and
/// others 1999). No step waits for the one before it.
pub(crate) fn line_sum(line: &[u8]) -> u64 {
    line_sum_at(line, 0, line.len())
}

/// The same for a line of `len` bytes in a text. (When the last bytes were copied from the line alone, partitioning and
/// checking waited longest for these copies.)
#[inline]
pub(crate) fn line_sum_at(text: &[u8], at: usize, len: usize) -> u64 {
    if len < FEW { sum_at(text, at, len, Words::add_few) } else { long_sum_at(text, at, len) }
}

#[inline(never)]
fn long_sum_at(text: &[u8], at: usize, len: usize) -> u64 {
    sum_at(text, at, len, Words::add)
}

#[inline(always)]
fn sum_at(text: &[u8], at: usize, len: usize, add: impl Fn(&mut Words, &[u8])) -> u64 {
    let left = len % 8;
    let mut words = Words::default();
    add(&mut words, &text[at..at + len - left]);
    let rest = &text[at + len - left..];
    let last = match rest.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes) & ((1 << (8 * left)) - 1),
        None => rest[..left].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    words.finish(last, len as u64)
}

/// Shorter lines are summed by simpler code, without preparations that pay only for longer ones.
const FEW: usize = 32;

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The sum of a line without its last bytes.
#[derive(Clone, Debug)]
struct Words {
    /// The number that is added to the next word.
    number: u64,
    sum: u64,
}

impl Default for Words {
    fn default() -> Words {
        Words { number: 0x2545_f491_4f6c_dd1d, sum: 0 }
    }
}

impl Words {
    #[inline]
    fn product(&self, word: u64) -> u64 {
        let low = (word as u32).wrapping_add(self.number as u32);
        let high = ((word >> 32) as u32).wrapping_add((self.number >> 32) as u32);
        u64::from(low) * u64::from(high)
    }

    /// Adds whole words.
    #[inline]
    fn add(&mut self, text: &[u8]) {
        self.add_each(text.as_chunks().0.iter());
    }

    /// Adds the whole words of a line of fewer than [`FEW`] bytes.
    #[inline]
    fn add_few(&mut self, text: &[u8]) {
        self.add_each(text.as_chunks().0.iter().take(FEW / 8 - 1));
    }

    #[inline(always)]
    fn add_each<'a>(&mut self, all: impl Iterator<Item = &'a [u8; 8]>) {
        // A copy in registers: most lines are short, and this is done for each of them.
        let mut words = self.clone();
        for word in all {
            words.sum = words.sum.wrapping_add(words.product(u64::from_le_bytes(*word)));
            words.number = words.number.wrapping_add(STEP);
        }
        *self = words;
    }

    /// The sum of the line, with its last bytes. If there are none, this adds a number that depends on the length
    /// alone.
    #[inline]
    fn finish(self, last: u64, len: u64) -> u64 {
        mix(self.sum.wrapping_add(len.wrapping_mul(STEP)).wrapping_add(self.product(last)))
    }
}

/// [`line_sum`] of a line that comes in parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineSum {
    words: Words,
    len: u64,
    /// The bytes after the last whole word.
    rest: [u8; 8],
}

impl LineSum {
    /// Adds a part.
    pub fn add(&mut self, mut text: &[u8]) {
        let have = (self.len % 8) as usize;
        self.len += text.len() as u64;
        if have > 0 {
            let more = text.len().min(8 - have);
            self.rest[have..have + more].copy_from_slice(&text[..more]);
            if have + more < 8 {
                return;
            }
            self.words.add(&self.rest);
            text = &text[more..];
        }
        let whole = text.len() / 8 * 8;
        self.words.add(&text[..whole]);
        self.rest[..text.len() - whole].copy_from_slice(&text[whole..]);
    }

    /// The sum of the line.
    pub fn finish(self) -> u64 {
        let left = self.len % 8;
        let last = u64::from_le_bytes(self.rest) & ((1 << (8 * left)) - 1);
        self.words.finish(last, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    #[test]
    fn ends_are_where_a_plain_search_finds_them() {
        let mut rng = Rng(1);
        for len in (0..70).chain([1000]) {
            for letters in [1, 2, 5, 256] {
                let text: Vec<u8> = (0..len).map(|_| rng.below(letters) as u8 + (letters == 5) as u8 * 8).collect();
                for end in [0, 10, 255, text.first().copied().unwrap_or_default()] {
                    let plain: Vec<usize> = (0..len).filter(|&at| text[at] == end).collect();
                    assert_eq!(Ends::new(&text, end).collect::<Vec<_>>(), plain, "{text:?}");
                    let mut split: Vec<&[u8]> = text.split(|&byte| byte == end).collect();
                    if split.last().is_some_and(|last| last.is_empty()) {
                        split.pop(); // no line follows the last end
                    }
                    let ours: Vec<&[u8]> = lines(&text, end).map(|line| &text[line]).collect();
                    assert_eq!(ours, split);
                    assert_eq!(last_end(&text, end), plain.last().copied());
                }
            }
        }
    }

    #[test]
    fn keys_are_in_the_order_of_the_lines() {
        let lines: [&[u8]; 10] =
            [b"", b"\0", b"\0\0", b"a", b"a\0", b"a\0b", b"abcdefg", b"abcdefgh", b"abcdefgh\0", b"abcdefghi"];
        for (i, a) in lines.iter().enumerate() {
            for b in &lines[i..] {
                let of = |line: &[u8]| key(&[line, b"zzzzzzzzz"].concat(), 0, line.len());
                assert!(of(a) <= of(b), "{a:?} {b:?}");
                assert_eq!(of(a), key(a, 0, a.len()), "at the very end of a text");
                let same = common(a, b);
                assert!(a[..same] == b[..same] && a.get(same) != b.get(same) || same == a.len().min(b.len()));
            }
        }
    }

    #[test]
    fn sums_tell_lines_apart() {
        let mut rng = Rng(2);
        let mut sums = std::collections::BTreeSet::new();
        let mut count = 0;
        for len in 0..40 {
            let line: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
            count += usize::from(sums.insert(line_sum(&line)));
            for at in 0..len {
                for bit in 0..8 {
                    let mut other = line.clone();
                    other[at] ^= 1 << bit;
                    count += usize::from(sums.insert(line_sum(&other)));
                }
            }
        }
        assert_eq!(count, 40 + 8 * (0..40).sum::<usize>());
        // The same words in another order, and zeros, which differ from no bytes only in length.
        assert_ne!(line_sum(b"aaaaaaaabbbbbbbb"), line_sum(b"bbbbbbbbaaaaaaaa"));
        assert_ne!(line_sum(b"ab"), line_sum(b"ab\0"));
    }
    #[test]
    fn a_sum_of_parts_is_that_of_the_line() {
        let mut rng = Rng(3);
        for len in (0..100).chain([1000]) {
            let line: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
            for most in [1, 3, 8, 20, 1001] {
                let mut sum = LineSum::default();
                let mut rest = &line[..];
                while !rest.is_empty() {
                    let (part, after) = rest.split_at(rest.len().min(1 + rng.below(most)));
                    sum.add(part);
                    rest = after;
                }
                assert_eq!(sum.finish(), line_sum(&line), "{len} bytes in parts of up to {most}");
            }
        }
    }
}
