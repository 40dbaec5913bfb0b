//! How a text is cut: into lines, or into records of a fixed length. (In the other files, a record is what a line
//! becomes.)
//!
//! A record of a fixed length becomes a line, too, so the byte that ends lines must not occur in it. That byte and the
//! one before it take two bytes, whose order is that of the two: 192 is written as 192 0, and 193 as 192 1. (Neither
//! occurs in UTF-8, and other numbers are more frequent in most data.)

use crate::text::{Ends, last_end, lines};
use std::ops::Range;

/// Ends the lines that records of a fixed length become.
pub(super) const END: u8 = 193;
/// Begins the two bytes for itself and for [`END`].
pub(super) const ESCAPE: u8 = 192;

/// Whether a byte of a record takes two bytes.
fn is_escaped(byte: u8) -> bool {
    byte | 1 == END
}

/// What a text consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Lines, with the byte that ends each.
    Lines(u8),
    /// Records, with their length.
    Fixed(usize),
}

impl Cut {
    /// The length of the whole lines or records at the start of a text.
    pub fn whole(self, text: &[u8]) -> usize {
        match self {
            Cut::Lines(end) => last_end(text, end).map_or(0, |at| at + 1),
            Cut::Fixed(len) => text.len() / len * len,
        }
    }

    /// How many bytes of a text belong to a line or record, the first `held` bytes of which have come before. `None` if
    /// it does not end here.
    pub fn rest_of_first(self, held: usize, text: &[u8]) -> Option<usize> {
        match self {
            Cut::Lines(end) => Ends::new(text, end).next().map(|at| at + 1),
            Cut::Fixed(len) => Some(len - held).filter(|&missing| missing <= text.len()),
        }
    }

    /// The length of whole lines or records at the start of a text that consists of them: at most `most` bytes, or one
    /// of them.
    pub fn part(self, text: &[u8], most: usize) -> usize {
        match self.whole(&text[..most.min(text.len())]) {
            0 => self.rest_of_first(0, text).unwrap_or(text.len()),
            len => len,
        }
    }

    /// Where the first line or record begins that begins in a text; the text is at an offset of another one.
    pub fn first_in(self, text: &[u8], at: u64) -> usize {
        match self {
            _ if at == 0 => 0,
            Cut::Lines(end) => Ends::new(text, end).next().map_or(text.len(), |at| at + 1),
            Cut::Fixed(len) => ((at.next_multiple_of(len as u64) - at) as usize).min(text.len()),
        }
    }

    /// The lines of a text, without their ends, or its records. The last line may lack its end.
    pub fn each(self, text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        let (lines, records) = match self {
            Cut::Lines(end) => (Some(lines(text, end)), None),
            Cut::Fixed(len) => (None, Some((0..text.len() / len).map(move |n| n * len..(n + 1) * len))),
        };
        lines.into_iter().flatten().chain(records.into_iter().flatten())
    }

    /// Appends a line or record as a part of a line.
    pub fn append(self, item: &[u8], out: &mut Vec<u8>) {
        let Cut::Fixed(_) = self else { return out.extend_from_slice(item) };
        let mut rest = item;
        while let Some(at) = rest.iter().position(|&byte| is_escaped(byte)) {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(&[ESCAPE, rest[at] - ESCAPE]);
            rest = &rest[at + 1..];
        }
        out.extend_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    #[test]
    fn records_keep_their_order() {
        let mut rng = Rng(51);
        let letters = [0, 1, 10, 191, ESCAPE, END, 194, 255];
        let records: Vec<Vec<u8>> = (0..200).map(|_| (0..3).map(|_| letters[rng.below(8)]).collect()).collect();
        let written = |record: &[u8]| {
            let mut out = Vec::new();
            Cut::Fixed(3).append(record, &mut out);
            assert!(!out.contains(&END));
            out
        };
        for a in &records {
            for b in &records {
                assert_eq!(written(a).cmp(&written(b)), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn texts_are_cut() {
        let (lines, records) = (Cut::Lines(b'\n'), Cut::Fixed(3));
        assert_eq!((lines.whole(b"a\nbc\nd"), records.whole(b"a\nbc\nd")), (5, 6));
        assert_eq!((lines.part(b"a\nbc\nd\n", 3), records.part(b"a\nbc\nd\n12", 8)), (2, 6));
        assert_eq!((lines.part(b"abc\nd\n", 2), records.part(b"abcdef", 2)), (4, 3));
        assert_eq!((lines.rest_of_first(1, b"ab"), records.rest_of_first(1, b"a")), (None, None));
        assert_eq!((lines.rest_of_first(1, b"a\n"), records.rest_of_first(1, b"ab")), (Some(2), Some(2)));
        assert_eq!((lines.first_in(b"ab\ncd", 7), records.first_in(b"abcd", 7)), (3, 2));
        assert_eq!(records.each(b"abcdefg").collect::<Vec<_>>(), [0..3, 3..6]);
    }
}
